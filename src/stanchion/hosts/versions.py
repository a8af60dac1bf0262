"""The versions of frameworks that adapters were tried with, and what becomes of any other: it is
known by the adapter's canary whether it holds there."""

from __future__ import annotations

from functools import partial
from itertools import takewhile
from typing import Any, Final

import msgspec

from stanchion.hosts.contract.frameworks import UNPROVEN
from stanchion.kernel.shown import StanchionError
from stanchion.locks import Lock
from stanchion.telemetry import loggers

_PROVING: Final = Lock()


class UnknownVersion(StanchionError, ImportError):
    """A framework that is not there, or of a version where its adapter does not hold: nothing would
    be guarded."""


class TriedVersion(msgspec.Struct, frozen=True):
    """The version of a framework that is installed, and those that its adapter was tried with.

    As a context it stands round the imports of the framework: one that fails says which version was
    found.
    """

    distribution: str
    found: str
    wanted: str

    def unknown(self, why: str) -> UnknownVersion:
        """What to raise where the adapter does not hold with this version."""
        return UnknownVersion(f"`{self.distribution}` {self.found} {why}: install `{self.wanted}`")

    def __enter__(self) -> None:
        """Nothing is to be done before."""

    def __exit__(self, _kind: Any, error: BaseException | None, _trace: Any) -> None:
        moved = isinstance(error, ImportError | AttributeError)
        if moved and not isinstance(error, UnknownVersion):
            raise self.unknown(f"does not fit this adapter ({error})") from error


def tried(distribution: str, at_least: str, below: str, of: str = "") -> TriedVersion:
    """The version of an installed framework; raises `UnknownVersion` where it is not there.

    An adapter calls this where it is imported, before anything of the framework is. A version
    outside of those it was tried with has to stop the adapter's canary before the first run begins:
    a seam that has moved would let everything pass, and nobody would notice. An adapter that has no
    canary refuses it at once. `of` names the package that has the canary, where that is another.
    """
    from importlib.metadata import PackageNotFoundError, version

    wanted = f"{distribution}>={at_least},<{below}"
    try:
        found = version(distribution)
    except PackageNotFoundError:
        raise UnknownVersion(f"`{distribution}` is not installed: install `{wanted}`") from None
    made = TriedVersion(distribution, found, wanted)
    if not _parts(at_least) <= _parts(found) < _parts(below):
        from stanchion.hosts.canaries import CANARIES

        package = of if of else distribution
        names = [name for name, one in CANARIES.items() if one.package == package]
        if not names:
            raise made.unknown("was not tried with this adapter, and calls might pass it unjudged")
        UNPROVEN.setdefault(names[0], {})[distribution] = partial(_prove, made, names)
    return made


def _prove(version: TriedVersion, names: list[str]) -> None:
    """Drive the canaries of an adapter, and say that they were stopped; raises `UnknownVersion`
    where one was not."""
    from stanchion.hosts.canaries import driven

    with _PROVING:
        for name in names:
            came = driven(name)
            if not came.caught:
                raise version.unknown(
                    f"was not tried with this adapter, and its canary was not stopped ({came.why})"
                )
        if UNPROVEN[names[0]].pop(version.distribution, None) is not None:
            loggers.say(
                loggers.CALLS,
                loggers.WARNING,
                f"`{version.distribution}` {version.found} was not tried with this adapter as "
                f"`{version.wanted}` was: its canary was stopped, and it starts",
            )


def _parts(version: str) -> tuple[int, ...]:
    """The numbers that a version begins with; none for one that begins with something else, which
    is never known."""
    numbers = [int(part) for part in takewhile(str.isdigit, version.split("."))]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
