"""The faster sieve: all patterns at once, by Hyperscan, where that is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Final, Protocol

from stanchion.readings.scan.pattern import Pattern
from stanchion.readings.scan.window_sieve import Regions

ANYTHING: Final = r"[\x00-\xff]"
FORM: Final = "1"
"""The form of the expressions; it changes when they are written otherwise."""


class KeptScan(Protocol):
    """Keeps what was compiled, so that it is there the next time. It may forget, and never fails.
    `later` does a piece of work in its own time, beside everything else."""

    def get(self, name: str, /) -> bytes | None: ...

    def put(self, name: str, made: bytes, /) -> None: ...

    def later(self, work: Callable[[], None], /) -> None: ...


def installed() -> bool:
    """Whether Hyperscan can be used here."""
    try:
        import hyperscan  # noqa: F401
    except ImportError:
        return False
    return True


class HyperSieve:
    """Says which patterns may match at all. It does not say where: Hyperscan promises no order of
    what it tells."""

    def __init__(self, database: Any) -> None:
        self._database = database
        self._idle: list[Any] = [self._scratch()]

    def _scratch(self) -> Any:
        import hyperscan

        return hyperscan.Scratch(self._database)

    def regions(self, flat: bytes) -> dict[int, Regions]:
        """Where patterns may match, by their numbers."""
        found: dict[int, Regions] = {}
        whole = [(0, len(flat))]
        # Two threads must not share what a scan works on: each takes one that is idle.
        try:
            scratch = self._idle.pop()
        except IndexError:
            scratch = self._scratch()
        self._database.scan(
            flat, match_event_handler=_noted, context=(found, whole), scratch=scratch
        )
        self._idle.append(scratch)
        return found


def _noted(
    number: int, _start: int, _end: int, _flags: int, noted: tuple[dict[int, Regions], Regions]
) -> None:
    found, whole = noted
    found[number] = whole


def name_of(patterns: Sequence[Pattern]) -> str:
    """What the compiled form of these patterns is called."""
    import hyperscan

    lines = [
        FORM,
        getattr(hyperscan, "__version__", ""),
        *[repr((pattern.text, pattern.block)) for pattern in patterns],
    ]
    return sha256("\n".join(lines).encode("latin-1", "backslashreplace")).hexdigest()


def loaded(made: bytes) -> HyperSieve | None:
    """The sieve that was kept; `None` where it cannot be used here."""
    import hyperscan

    try:
        return HyperSieve(hyperscan.loadb(made, hyperscan.HS_MODE_BLOCK))
    except hyperscan.error:
        return None


def compiled(patterns: Sequence[Pattern]) -> tuple[HyperSieve, bytes]:
    """The sieve of these patterns, which takes seconds for hundreds of them, and what is to be kept
    of it."""
    import hyperscan

    expressions = [pattern.sieved for pattern in patterns]
    try:
        database = _database(expressions)
    except hyperscan.error:
        database = _database([_able(expression) for expression in expressions])
    return HyperSieve(database), hyperscan.dumpb(database)


def _database(expressions: list[str]) -> Any:
    import hyperscan

    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[expression.encode("latin-1") for expression in expressions],
        ids=list(range(len(expressions))),
        elements=len(expressions),
        flags=[hyperscan.HS_FLAG_SINGLEMATCH] * len(expressions),
    )
    return database


def _able(expression: str) -> str:
    """An expression that Hyperscan takes: one that it refuses is left to RE2, whatever the text."""
    import hyperscan

    try:
        _database([expression])
    except hyperscan.error:
        return ANYTHING
    return expression
