"""The feature table: every requirement of the founding documents, with its place and its test."""

from typing import assert_never

from tools.features import DOCUMENTS, Document, Done, Open, Ruled, read

PATH = "docs/features/features.md"

INTRODUCTION = """\
# Feature table

Stanchion joins five documented systems. Each row is one requirement of one of them, with the lines of the
document that state it. A row is *done* when it names the module that meets it and the test that shows it,
*deviates* when it does and something is otherwise than it is
written (the top of the document's page says it, too), *ruled* when it is deliberately not met as written, with the reason, and *open* until then. The rows live in
`docs/features/*.yaml`; a test keeps them complete and their links real. For each done row `model/rows/` has a fault
of its module that breaks what the row says, and `make mutants` shows that the row's tests notice it.
"""


def render() -> str:
    """Render the counts, then one table for each document."""
    documents = [read(name) for name in DOCUMENTS]
    return "\n".join(
        [INTRODUCTION, *_counts(documents), *(line for each in documents for line in _table(each))]
    )


def _counts(documents: list[Document]) -> list[str]:
    lines = ["| document | done | open | ruled | all |", "|---|--:|--:|--:|--:|"]
    totals = [0, 0, 0]
    for document in documents:
        counts = [
            sum(isinstance(row, kind) for row in document.rows) for kind in (Done, Open, Ruled)
        ]
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        lines.append(_counted(document.document, counts))
    return [*lines, _counted("all", totals), ""]


def _counted(title: str, counts: list[int]) -> str:
    return _line([title, *map(str, counts), str(sum(counts))])


def _table(document: Document) -> list[str]:
    lines = [
        f"## {document.document}",
        "",
        "| id | lines | requirement | status | where, or why not |",
        "|---|---|---|---|---|",
    ]
    lines += [_line([row.id, row.lines, row.says, *_standing(row)]) for row in document.rows]
    return [*lines, ""]


def _standing(row: Open | Done | Ruled) -> tuple[str, str]:
    match row:
        case Open():
            return "open", ""
        case Done():
            places = ", ".join(f"`{place}`" for place in [*row.modules, *row.tests])
            said = f"otherwise than written: {row.deviates}. {places}" if row.deviates else places
            return "deviates" if row.deviates else "done", said
        case Ruled():
            return "ruled", row.ruling
        case _:
            assert_never(row)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
