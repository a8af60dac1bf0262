"""The page's part that is measured: a table for each host, written and read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "coding-agents.md"
BEGIN, END = "<!-- measured by make test-agents -->\n", "<!-- end of what is measured -->\n"

Columns = dict[tuple[str, str], dict[str, str]]
"""What came of each row, by the heading of a host with its version and that of a column."""


def table(found: Columns) -> str:
    """The page's part."""
    parts = []
    for host in dict.fromkeys(host for host, _ in found):
        columns = {way: cells for (one, way), cells in found.items() if one == host}
        rows = dict.fromkeys(name for cells in columns.values() for name in cells)
        lines = [
            f"### {host}\n",
            f"| | {' | '.join(columns)} |",
            f"|---|{'---|' * len(columns)}",
            *(
                f"| {name} | {' | '.join(_bold(one.get(name, '–')) for one in columns.values())} |"
                for name in rows
            ),
        ]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def read_table(text: str) -> Columns:
    """The columns of the page's part."""
    found: Columns = {}
    for part in text.split("### ")[1:]:
        host, heads, _, *rows = [line.strip("| ") for line in part.splitlines() if line.strip()]
        for row in rows:
            name, *cells = row.split(" | ")
            for way, came in zip(heads.split(" | "), cells, strict=True):
                found.setdefault((host, way), {})[name] = came.strip("*")
    return found


def write_page(found: Mapping[tuple[str, str], dict[str, str]], is_part: bool) -> None:
    """Write what was found; if it is a part, the page keeps what else it has."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    tables, _, after = rest.partition(END)
    whole = read_table(tables) if is_part else {}
    for way, cells in found.items():
        whole[way] = {**whole.get(way, {}), **cells}
    PAGE.write_text(f"{before}{BEGIN}\n{table(whole)}\n{END}{after}")


def _bold(came: str) -> str:
    return f"**{came}**" if came.startswith(("runs ", "no call")) else came
