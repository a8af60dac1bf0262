"""Writing for people: colours only where they are seen, control characters made visible, nothing
lost."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import Final, TextIO

from stanchion.kernel.shown import visible
from stanchion.kernel.tuples import NamedTuple

__all__ = ["Terminal", "note", "put", "put_line", "put_lines", "say", "tell", "visible", "warn"]

STYLES: Final = {
    "bold": "1",
    "dim": "2",
    "good": "1;32",
    "mild": "1;33",
    "asks": "1;35",
    "bad": "1;31",
}


class Terminal(NamedTuple):
    """What a stream can show; `width` is `None` where lines are left as long as they are."""

    colour: bool = False
    width: int | None = None

    @classmethod
    def of(cls, stream: TextIO, environ: Mapping[str, str]) -> Terminal:
        """A terminal has colours unless `NO_COLOR` is set or it says that it is dumb; anything else
        has none."""
        if not stream.isatty():
            return cls()
        import shutil

        colour = not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
        return cls(colour, max(40, shutil.get_terminal_size().columns))

    @classmethod
    def of_stdout(cls) -> Terminal:
        """What standard output can show."""
        return cls.of(sys.stdout, os.environ)

    def paint(self, text: str, style: str) -> str:
        """Text in a style, where there are colours."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.colour else text


def say(stream: TextIO, text: str) -> None:
    """Write one line that may hold anything; what the stream's encoding lacks is written out."""
    put(stream, visible(text))


def put(stream: TextIO, line: str) -> None:
    """Write one line as it is, styles included."""
    encoding = stream.encoding if stream.encoding else "utf-8"
    stream.write(line.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    stream.flush()


def note(text: str) -> None:
    """Write one line that may hold anything to standard error."""
    say(sys.stderr, text)


def warn(text: str) -> None:
    """Say on standard error what has gone wrong."""
    note(f"stanchion: {text}")


def tell(text: str) -> None:
    """Write one line that may hold anything to standard output."""
    say(sys.stdout, text)


def put_line(line: str) -> None:
    """Write one line to standard output as it is."""
    put(sys.stdout, line)


def put_lines(lines: Iterable[str]) -> None:
    """Write lines to standard output as they are."""
    for line in lines:
        put_line(line)
