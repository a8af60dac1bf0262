"""What a command prints: JSON, tables for people, and how far long work is."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TextIO

from stanchion.cli.terminal import Terminal, put_lines, tell, visible
from stanchion.kernel.actions import Action
from stanchion.kernel.chain_result import VERDICTS
from stanchion.kernel.tuples import NamedTuple
from stanchion.ops.views.amounts import counted, framed, size
from stanchion.ops.views.veiled import json_line
from stanchion.ops.views.verdicts import SKIPPED, VerdictView

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


def put_json(*values: Any) -> None:
    """Print values on standard output, one a line."""
    sys.stdout.buffer.write(b"".join(map(json_line, values)))
    sys.stdout.buffer.flush()


def shortened(text: str, most: int) -> str:
    """A text, cut where it is longer."""
    return text if len(text) <= most else f"{text[:most]}…"


INDENT: Final = 11


def row(label: str, words: str, terminal: Terminal, style: str = "dim") -> list[str]:
    """A labelled text as lines; on a terminal they are wrapped to its width."""
    lines = [visible(line) for line in words.split("\n")]
    if terminal.width is not None:
        import textwrap

        room = terminal.width - INDENT
        lines = [
            part
            for line in lines
            for part in textwrap.wrap(line, room, drop_whitespace=False) or [""]
        ]
    first = "  " + terminal.paint(f"{label:<{INDENT - 3}} ", style)
    return [first + lines[0], *[" " * INDENT + line for line in lines[1:]]]


def labelled(rows: Iterable[tuple[str, str]], terminal: Terminal) -> Iterator[str]:
    """Labelled texts as lines, without those that say nothing."""
    for label, words in rows:
        if words:
            yield from row(label, words, terminal)


def headline(action: str, happens: str, terminal: Terminal) -> Iterator[str]:
    """What was decided and what becomes of it, above everything else that is known."""
    yield f"{terminal.paint(action, style_of(Action[action]))}  {happens}"
    yield ""


def event_in(stage: str, run: str, tool: str, agent: str, task: str, role: str = "") -> str:
    """Which event of which run it was, and who was at work on what."""
    who = f"{framed(' by agent `', agent, '`')}{framed(' (', role, ')')}"
    on = framed(" on task `", task, "`")
    return f"{stage}{framed(' of tool `', tool, '`')}{who}{on} in run `{run}`"


def style_of(action: Action) -> str:
    """How an action's name is painted."""
    if action == Action.ALLOW:
        return "good"
    if action <= Action.DEGRADE:
        return "mild"
    return "asks" if action <= Action.ESCALATE else "bad"


RESULTS: Final = (*reversed(VERDICTS), SKIPPED)
"""From the severest on."""


def verdict_words(verdicts: Iterable[VerdictView]) -> str:
    """Guardrails by what they said, one line for each verdict, in the order of the chain."""
    said: dict[str, list[str]] = {}
    for one in verdicts:
        said.setdefault(one.result, []).append(one.guardrail_id)
    return "\n".join(
        [f"{result:<8}  {', '.join(said[result])}" for result in RESULTS if result in said]
    )


class Layout(NamedTuple):
    """How things of a kind become a table: its columns, the cells of a thing and their styles, the
    columns of numbers, and what is said where there is nothing."""

    columns: Sequence[str]
    cells: Callable[[Any], Sequence[str]]
    numbers: Collection[str] = ()
    nothing: str = ""
    styles: Callable[[Any], dict[str, str]] | None = None

    def lines(self, found: Sequence[Any], terminal: Terminal) -> Iterator[str]:
        """The lines of the table."""
        styles = () if self.styles is None else [self.styles(one) for one in found]
        rows = [self.cells(one) for one in found]
        return table(self.columns, rows, self.numbers, terminal, styles)


def sections(*parts: tuple[Sequence[Any], Layout]) -> Iterator[str]:
    """The tables of what there is, with a line between two."""
    between: tuple[str, ...] = ()
    for found, layout in parts:
        if found:
            yield from (*between, *layout.lines(found, Terminal.of_stdout()))
            between = ("",)


def put_view(
    found: Any, lines: Callable[[Any, Terminal], Iterable[str]], as_json: bool = False
) -> int:
    """Print a thing on standard output, as JSON or in lines; the status is that all went well."""
    if as_json:
        put_json(found)
    else:
        put_lines(lines(found, Terminal.of_stdout()))
    return 0


def put_found(found: Sequence[Any], layout: Layout, as_json: bool) -> None:
    """Print things on standard output, as JSON or as a table."""
    if as_json:
        put_json(*found)
    elif found:
        put_lines(layout.lines(found, Terminal.of_stdout()))
    elif layout.nothing:
        tell(layout.nothing)


EVERY_S: Final = 0.1
AFTER_S: Final = 0.3
"""Work that is done by then shows no progress at all."""

_ERASE: Final = "\r\x1b[K"

Told = Callable[[int, int], None]
"""Hears how much is done, of how much: bytes of files, or records of a database."""


class Progress:
    """Draws how far some work is."""

    def __init__(
        self,
        what: str,
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
        amount: Callable[[int], str] | None = None,
    ) -> None:
        self._what, self._stream, self._clock = what, stream, clock
        self._amount = size if amount is None else amount
        self._next = clock() + AFTER_S
        self._drawn = False

    def __call__(self, done: int, total: int) -> None:
        """Say how far it is; drawn only now and then."""
        now = self._clock()
        if now < self._next or total <= 0:
            return
        self._next = now + EVERY_S
        self._drawn = True
        share = min(100, done * 100 // total)
        self._stream.write(
            f"{_ERASE}{self._what}  {self._amount(done)} of {self._amount(total)}  {share}%"
        )
        self._stream.flush()

    def erase(self) -> None:
        """Take the line away."""
        if self._drawn:
            self._drawn = False
            self._stream.write(_ERASE)
            self._stream.flush()


@contextmanager
def progress(what: str, amount: Callable[[int], str] | None = None) -> Iterator[Progress | None]:
    """Progress on standard error while something is done; `None` where nobody would see it. It is
    told in bytes, unless `amount` says how."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    drawn = Progress(what, sys.stderr, amount=amount)
    try:
        yield drawn
    finally:
        drawn.erase()


def records(count: int) -> str:
    """A number of records as people read it."""
    return counted(count, "record")
