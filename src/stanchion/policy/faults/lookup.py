"""Telling whose a failure is: the policy's own entries first, then the shipped table."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, Final
from weakref import WeakKeyDictionary

from stanchion.kernel.faults import UNKNOWN
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.faults.entry import FaultEntries, TextEntry
from stanchion.policy.struct_check import shipped_table

HEAD: Final = 1_000
TAIL: Final = 3_000
"""How much of a text is read: its beginning, and more of its end, where tools say what went
wrong."""

NAMED: Final = rb"\b([A-Z][A-Za-z0-9]*(?:Error|Exception|Timeout|Expired|Refused))\b"
"""An error that a text names, as tracebacks do."""


class Faults:
    """Two tables ready for looking up. `unknown` leaves the answer to what is looked at next."""

    def __init__(self, own: FaultEntries, shipped: FaultEntries) -> None:
        self._types = {**shipped.types, **own.types}
        self._statuses: tuple[dict[str, Any], ...] = (own.status, shipped.status)
        self._own, self._shipped = _Patterns(own.text), _Patterns(shipped.text)
        self.of = lru_cache(maxsize=256)(self._of)

    def _of(self, error: str, bases: tuple[str, ...], status: int | None, text: str) -> str:
        """Whose a failure is; `text` is clipped already."""
        for name in (error, *bases):
            if name in self._types:
                if self._types[name] != UNKNOWN:
                    return self._types[name]
                break
        said = UNKNOWN if status is None else self._by_status(str(status))
        return said if said != UNKNOWN or not text else self._by_text(text)

    def _by_status(self, code: str) -> str:
        for table in self._statuses:
            for name in (code, f"{code[:-1]}x", f"{code[:-2]}xx"):
                if name in table:
                    return str(table[name])
        return UNKNOWN

    def _by_text(self, text: str) -> str:
        raw = text.encode("utf-8", "replace")
        said = self._own.first(raw)
        if said == UNKNOWN:
            named = [
                self._types.get(name.decode(), UNKNOWN) for name in reversed(_named().findall(raw))
            ]
            said = next((fault for fault in named if fault != UNKNOWN), UNKNOWN)
        return self._shipped.first(raw) if said == UNKNOWN else said


class _Patterns:
    """Patterns that are looked for together, in time that grows with the text alone; the first that
    is found counts."""

    def __init__(self, entries: tuple[TextEntry, ...]) -> None:
        self._faults = [entry.fault for entry in entries]
        self._set: Any = None
        if entries:
            import re2  # type: ignore[import-untyped]  # it ships no stubs

            options = re2.Options()
            options.case_sensitive = False
            options.log_errors = False
            self._set = re2.Set.SearchSet(options)
            for entry in entries:
                self._set.Add(entry.pattern.encode())
            self._set.Compile()

    def first(self, text: bytes) -> str:
        """What the first pattern says that is in the text."""
        found = None if self._set is None else self._set.Match(text)
        return self._faults[min(found)] if found else UNKNOWN


@cache
def _named() -> Any:
    import re2

    return re2.compile(NAMED)


@cache
def shipped() -> FaultEntries:
    """The table that came with this version; read when something has first failed."""
    return shipped_table("faults", FaultEntries)


_of_policy: WeakKeyDictionary[CompiledPolicy, Faults] = WeakKeyDictionary()


def fault_of(
    policy: CompiledPolicy, error: str, bases: tuple[str, ...], status: int | None, text: str
) -> str:
    """Whose a failure is: `system`, `user`, `business` or `unknown`.

    The error's type decides, or else the nearest base class that is known; then its status code;
    then its text.
    """
    faults = _of_policy.get(policy)
    if faults is None:
        faults = _of_policy[policy] = Faults(policy.file.faults, shipped())
    return faults.of(error, bases, status, clipped(text))


def clipped(text: str) -> str:
    """What of a text is read."""
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n{text[-TAIL:]}"
