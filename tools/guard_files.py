"""Say what the three files of a guard lack, each with the line that mends it: its code, its page,
its table of cases.

Run from the repository root: `python -m tools.guard_files [NAME …]`; without a name it looks at
every shipped guard.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from stanchion.guards import SHIPPED
from stanchion.kernel.words import Words
from stanchion.policy.json_schema import meanings
from stanchion.testing import read_table
from tools.docs import ROOT, complaints
from tools.pages import discover

HEADINGS = ["What it does", "Usage", "Options", "Codes", "When not to use it"]


def missing(name: str, root: Path) -> list[str]:
    """Say what a guard lacks beside its code."""
    found = []
    if not (root / f"tests/tables/{name}.yaml").is_file():
        found.append(f"guard `{name}` has no table; write `tests/tables/{name}.yaml`")
    page = root / f"docs/guards/{name}.md"
    if not page.is_file():
        return [*found, f"guard `{name}` has no page; write `docs/guards/{name}.md`"]
    text = page.read_text(encoding="utf-8")
    if (headings := re.findall(r"^## (.+?) *$", text, re.MULTILINE)) != HEADINGS:
        found.append(
            f"`docs/guards/{name}.md` has the headings {headings}; write exactly {HEADINGS}"
        )
    if not re.match(r"# [^\n]+\n\n[^#\n]", text):
        found.append(
            f"`docs/guards/{name}.md` does not say what it is for; write a sentence below its title"
        )
    return found


def lacking(name: str, root: Path) -> list[str]:
    """Say what a shipped guard lacks, down to the rows of its page and the cases of its table."""
    found = missing(name, root)
    if found:
        return found
    guard = SHIPPED[name]
    return [*_options(name, guard, root), *_codes(name, root)]


def _options(name: str, guard: type[Any], root: Path) -> Iterator[str]:
    listed = rows(root / f"docs/guards/{name}.md", "Options")
    for field in msgspec.structs.fields(guard):
        meaning = meanings(guard).get(field.name)
        if meaning is None:
            yield (
                f"guard `{name}` has no meaning of option `{field.name}`; write a sentence under "
                f'the field, as `"""…"""`'
            )
            continue
        row = f"| `{field.name}` | type | {written(field)} | {meaning} |"
        if listed.get(field.name, ())[1:] != [written(field), meaning]:
            yield (
                f"`docs/guards/{name}.md` has no row of option `{field.name}`; write `{row}` "
                f"below `## Options`"
            )


def _codes(name: str, root: Path) -> Iterator[str]:
    module = sys.modules[f"stanchion.guards.{name}"]
    declared: dict[str, Words] | None = getattr(module, "CODES", None)
    if declared is None:
        yield (
            f"`{module.__name__}` has no `CODES`; write `CODES: Final = declare({{…}})` with "
            f"what it says"
        )
        return
    listed = rows(root / f"docs/guards/{name}.md", "Codes")
    steps = [
        step
        for case in read_table(root / f"tests/tables/{name}.yaml").cases
        for step in case.steps()
    ]
    expected = {step.expect.code for step in steps}
    for code, words in declared.items():
        said = [text.replace("{}", "…") if text else "–" for text in (words.message, words.advice)]
        if listed.get(code) != said:
            row = f"| `{code}` | {said[0]} | {said[1]} |"
            yield (
                f"`docs/guards/{name}.md` has no row of code `{code}`; write `{row}` below `## "
                f"Codes`"
            )
        if code not in expected:
            yield (
                f"no case expects `{code}`; write one with `expect: {{code: {code}}}` into "
                f"`tests/tables/{name}.yaml`"
            )


def rows(page: Path, heading: str) -> dict[str, list[str]]:
    """The rows of the table under a heading of a page, by what stands in backticks in the first
    cell."""
    text = page.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = re.findall(r"^\| `([^`]+)` \| (.+) \|$", text, re.MULTILINE)
    return {first: [cell.strip() for cell in rest.split(" | ")] for first, rest in found}


def written(field: Any) -> str:
    """A field's default as a policy file writes it."""
    if field.required:
        return "required"
    return "absent" if field.default is None else f"`{json.dumps(field.default).strip(chr(34))}`"


def main(names: Sequence[str], root: Path = ROOT) -> int:
    """Print what is missing; the exit status is 1 where something is."""
    found = [line for name in names or list(SHIPPED) for line in lacking(name, root)]
    if not found:  # pages are generated from what is complete
        found = complaints(discover(), root)
    print("\n".join(found) if found else "nothing is missing")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
