"""What a command prints: lines of JSON for programs, and tables for people, with columns aligned, a
heading that stands back and no line longer than the terminal is wide."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from stanchion.cli.terminal import Terminal, put_lines, visible
from stanchion.ops.views.encode import json_line

GAP = "  "


def table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Collection[str],
    terminal: Terminal,
    styles: Sequence[dict[str, str]] = (),
) -> Iterator[str]:
    """Lines of a table; columns named in `numbers` stand to the right, and `styles` paints cells
    row by row."""
    cells = [tuple(columns), *[tuple(visible(cell) for cell in row) for row in rows]]
    widths = [max(len(row[at]) for row in cells) for at in range(len(columns))]
    for number, row in enumerate(cells):
        room = terminal.width
        parts = []
        for name, cell, width in zip(columns, row, widths, strict=True):
            text = cell.rjust(width) if name in numbers else cell.ljust(width)
            if room is not None:
                if room <= 0:
                    break
                text = text if len(text) <= room else f"{text[: room - 1]}…"
                room -= len(text) + len(GAP)
            style = "" if number == 0 or not styles else styles[number - 1].get(name, "")
            parts.append(terminal.paint(text, style) if style else text)
        line = GAP.join(parts).rstrip()
        yield terminal.paint(line, "dim") if number == 0 else line


def put_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: Collection[str],
    styles: Sequence[dict[str, str]] = (),
) -> None:
    """Print a table on standard output."""
    put_lines(table(columns, rows, numbers, Terminal.of_stdout(), styles))


def put_json(*values: Any) -> None:
    """Print values on standard output, one a line."""
    sys.stdout.buffer.write(b"".join(map(json_line, values)))
    sys.stdout.buffer.flush()
