"""Drawing on a terminal by hand: labelled lines, colours and a status line; plain text everywhere
else.

Every write is whole in itself: it resets its colours and leaves the cursor visible. Whenever the
program ends, even by a signal, the terminal is as it was.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import time
from collections.abc import Mapping
from typing import Final, TextIO

from msgspec import Struct

from stanchion.cli.terminal import visible

PLAIN_WIDTH: Final = 80
MAX_WIDTH: Final = 96
"""Longer lines are hard to read."""
NARROW: Final = 50
"""Below this width a label stands above its text, not beside it."""
LABEL: Final = 11
"""How wide the column of labels is."""

_ERASE: Final = "\r\x1b[K"
_RESET: Final = "\x1b[0m"
STYLES: Final = {
    "title": "1",
    "dim": "2",
    "bar": "7",
    "good": "1;32",
    "note": "1;33",
    "change": "1;36",
    "wait": "1;35",
    "bad": "1;31",
    "on good": "1;30;42",
    "on note": "1;30;43",
    "on change": "1;30;46",
    "on wait": "1;97;45",
    "on bad": "1;97;41",
}


class ScreenLook(Struct, frozen=True):
    """What a stream can show."""

    live: bool = False
    """It is a terminal that understands escape codes: a status line and pauses make sense."""
    colour: bool = False
    unicode: bool = False


def look_of(stream: TextIO, environ: Mapping[str, str] = os.environ) -> ScreenLook:
    """Find out what a stream can show. `NO_COLOR` takes the colours, `TERM=dumb` everything."""
    old_console = os.name == "nt" and not (environ.get("WT_SESSION") or environ.get("TERM"))
    live = stream.isatty() and environ.get("TERM") != "dumb" and not old_console
    try:
        "━✓×".encode(stream.encoding)
        unicode = live
    except (UnicodeEncodeError, LookupError, TypeError):
        unicode = False
    return ScreenLook(live, live and not environ.get("NO_COLOR"), unicode)


class Screen:
    """A stream to draw on. On a terminal the status line stays last, below everything that is put
    above it."""

    def __init__(self, stream: TextIO, look: ScreenLook, hurry: bool = False) -> None:
        self._stream = stream
        self._look = look
        self._hurry = hurry
        self._status = ""

    @classmethod
    def on_stdout(cls, hurry: bool = False) -> Screen:
        """The screen that standard output is."""
        return cls(sys.stdout, look_of(sys.stdout), hurry)

    @property
    def width(self) -> int:
        """How many columns there are to fill now."""
        if not self._look.live:
            return PLAIN_WIDTH
        return max(12, min(MAX_WIDTH, shutil.get_terminal_size().columns))

    def sign(self, unicode: str, plain: str) -> str:
        """The sign where the terminal has it, its plain form otherwise."""
        return unicode if self._look.unicode else plain

    def paint(self, text: str, style: str) -> str:
        """Text in a colour, where there are colours."""
        return (
            f"\x1b[{STYLES[style]}m{text}{_RESET}" if style and text and self._look.colour else text
        )

    def text(self, text: str = "", style: str = "", indent: int = 0) -> None:
        """Put a paragraph, wrapped to the width; without words an empty line."""
        lines = self._wrapped(text, self.width - indent)
        self._put([" " * indent + self.paint(line, style) for line in lines])

    def labelled(self, label: str, text: str, style: str = "", label_style: str = "dim") -> None:
        """Put a text with a label beside it, or above it where there is little room."""
        if self.width < NARROW:
            body = [f"   {self.paint(line, style)}" for line in self._wrapped(text, self.width - 3)]
            self._put([f" {self.paint(self._clean(label), label_style)}", *body])
            return
        lines = self._wrapped(text, self.width - 4 - LABEL)
        before, word, after = "    ", self._clean(label), " " * (LABEL - len(label))
        if label_style.startswith("on ") and self._look.colour:
            before, word, after = before[1:], f" {word} ", after[1:]
        marks = [
            f"{before}{self.paint(word, label_style)}{after}",
            *[" " * (4 + LABEL)] * (len(lines) - 1),
        ]
        self._put(
            [f"{mark}{self.paint(line, style)}" for mark, line in zip(marks, lines, strict=True)]
        )

    def status(self, *forms: str) -> None:
        """Say how things stand, in the last line of a terminal: the first form that fits. Elsewhere
        nothing is said."""
        if self._look.live:
            room = self.width - 1
            shown = [self._clean(form) for form in forms]
            self._status = next(
                (form for form in shown if len(form) <= room), shown[-1][:room]
            ).ljust(room)
            self._put([])

    def pause(self, seconds: float) -> None:
        """Let a person read; whoever is in a hurry, and whatever is no person, need not wait."""
        if self._look.live and not self._hurry:
            time.sleep(seconds)

    def close(self) -> None:
        """Take the status line away."""
        if self._status:
            self._status = ""
            self._put([])

    def _put(self, lines: list[str]) -> None:
        above = "".join(f"{line.rstrip()}\n" for line in lines)
        if self._look.live:
            above = f"{_ERASE}{above}{self.paint(self._status, 'bar')}"
        self._stream.write(above)
        self._stream.flush()

    def _wrapped(self, text: str, width: int) -> list[str]:
        lines = textwrap.wrap(self._clean(text), max(8, width), break_on_hyphens=False)
        return lines if lines else [""]

    def _clean(self, text: str) -> str:
        """No control characters from anywhere, and nothing that the stream cannot encode."""
        shown = visible(text)
        return shown if self._look.unicode else shown.encode("ascii", "backslashreplace").decode()
