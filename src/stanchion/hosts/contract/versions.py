"""Versions: an adapter knows the seams of the framework that it was tried with, and refuses any
other."""

from __future__ import annotations

from itertools import takewhile

from stanchion.kernel.shown import StanchionError


class UnknownVersion(StanchionError, ImportError):
    """A framework that is not there, or of a version whose seams nobody has tried: nothing would be
    guarded."""


def tried(distribution: str, at_least: str, below: str) -> str:
    """The version of an installed framework; raises `UnknownVersion` where the adapter was not
    tried with it.

    An adapter calls this where it is imported, before anything of the framework is: a seam that has
    moved would let everything pass, and nobody would notice.
    """
    from importlib.metadata import PackageNotFoundError, version

    wanted = f"`{distribution}>={at_least},<{below}`"
    try:
        found = version(distribution)
    except PackageNotFoundError:
        raise UnknownVersion(f"`{distribution}` is not installed: install {wanted}") from None
    if not _parts(at_least) <= _parts(found) < _parts(below):
        unknown = (
            f"`{distribution}` {found} was not tried with this adapter, and calls might pass it "
            f"unjudged"
        )
        raise UnknownVersion(f"{unknown}: install {wanted}")
    return found


def _parts(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with; none for one that begins with something else, which
    is never known."""
    numbers = [int(part) for part in takewhile(str.isdigit, version.split("."))]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
