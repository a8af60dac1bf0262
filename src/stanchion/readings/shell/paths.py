"""Paths in a shell text: which files its commands would read, write and delete."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from stanchion.readings.act import Use
from stanchion.readings.shell.analysis import analyse

KNOWN: Final = ("$HOME", "${HOME}", "$PWD", "${PWD}", "$(pwd)")
"""What a path may begin with and still be known."""


class Used(NamedTuple):
    """A path, how it is used, and the folder that it is seen from."""

    path: str
    use: Use
    base: str


def paths_in(text: str) -> Iterator[Used]:
    """The paths that a shell text would use, as far as it is known which they are."""
    for command in analyse(text):
        uses: tuple[tuple[Use, tuple[str, ...]], ...] = (
            ("read", command.reads),
            ("write", command.writes),
            ("delete", command.deletes),
        )
        for use, paths in uses:
            for path in paths:
                if path != "-" and "; " not in path and (not path.startswith("$") or path.startswith(KNOWN)):
                    yield Used(str(path), use, command.cwd)
