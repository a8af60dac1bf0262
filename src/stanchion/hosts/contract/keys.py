"""Keys: what a host calls its own calls, and what was decided about each of them.

A framework may ask several times about one call, and asks again when it goes on after a pause. Each
call is judged
once: with the same arguments it gets the same answer until its outcome is reported.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from typing import Any, Final

import msgspec

from stanchion.hosts.contract.told import Told
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.stages import Stage
from stanchion.locks import Lock
from stanchion.runtime.values import Seen, Unreadable, read

MOST: Final = 10_000
"""How many calls a run on a host remembers; the oldest is forgotten first."""


class Known(msgspec.Struct, frozen=True):
    """A call that was judged: what it is, and what its host was told."""

    what: bytes | None
    told: Told


class Keys:
    """The calls of a run by the names that its host gives them. Safe between threads."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Known] = OrderedDict()
        self._lock = Lock()

    def told(self, key: str, what: bytes | None) -> Told | None:
        """What was said about this very call; `None` where it has to be judged: it is new, or
        waited for a person."""
        known = self._known.get(key) if what is not None else None
        if known is None or known.what != what or known.told.decision.action == Action.ESCALATE:
            return None
        return known.told

    def enter(self, key: str, what: bytes | None, told: Told) -> None:
        """Remember what was said about a call."""
        with self._lock:
            if key not in self._known and len(self._known) >= MOST:
                self._known.popitem(last=False)
            self._known[key] = Known(what, told)

    def over(self, key: str) -> Decision | None:
        """Forget a call whose outcome is reported; gives its decision, where it went ahead."""
        with self._lock:
            known = self._known.pop(key, None)
        return known.told.decision if known is not None and known.told.proceeds else None


def what_of(stage: Stage, fields: dict[str, Any]) -> bytes | None:
    """What a call is: equal for equal calls alone. `None` where its content does not tell it from
    others."""
    try:
        seen = read(fields)
    except Unreadable:
        return None
    if seen.seen is Seen.NOTHING:
        return None
    return blake2b(
        repr((stage.value, seen.content)).encode("utf-8", "backslashreplace"), digest_size=32
    ).digest()
