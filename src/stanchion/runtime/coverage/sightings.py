"""Sightings: what was seen in one run beside its calls; each thing once with how often, or only a
count."""

from __future__ import annotations

import os
from collections import deque
from typing import Any, Final

from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.kernel.tuples import NamedTuple
from stanchion.runtime.coverage.stack import Seen
from stanchion.runtime.coverage.touches import Touch
from stanchion.runtime.standing.veil import tell

ESCAPED, UNGUARDED, WATCHED = "coverage.escaped", "coverage.unguarded", "coverage.watched"
CONTEXT, TIME = "context", "time"
"""How it is known which run something belongs to: its context says so, or this run was open in the
process then."""

TOOL, CLIENT, AGENT = "tool", "client", "agent"
"""What has escaped: code that does something, a client that talks to somebody, an agent inside a
tool."""

MOST: Final = 200
"""How many different things are written down of one run; more are counted."""


class Escape(NamedTuple):
    """Something that was done, or was about to be, outside every call that was decided."""

    what: str
    name: str
    touch: Touch
    seen: Seen
    by: str
    stopped: bool

    @property
    def why(self) -> str:
        """What is wrong with it."""
        at = f" at {self.seen.place}" if self.seen.place else ""
        if self.what == AGENT:
            return (
                f"`{self.seen.through}` asks a model{at} inside the tool `{self.name}`, and no "
                f"request was decided"
            )
        return f"`{self.touch.event}` of `{self.touch.target}`{at} is in no call that was decided"

    @property
    def key(self) -> tuple[str, ...]:
        """What makes it the same as another."""
        return (self.what, self.touch.event, self.touch.target, self.seen.place)

    def data(self) -> dict[str, Any]:
        """It as a record keeps it."""
        return {
            "what": self.what,
            "name": self.name,
            "kind": self.touch.kind,
            "event": self.touch.event,
            "target": self.touch.target,
            "place": self.seen.place,
            "within": list(self.seen.within),
            "through": self.seen.through,
            "by": self.by,
            "stopped": self.stopped,
        }


class Sightings:
    """What was seen of one run. It takes no lock: whoever notes something may be anywhere, also
    inside a lock of ours. What it has to write waits until somebody comes who holds none."""

    def __init__(self, desk: Any, mode: str, number: int) -> None:
        self.mode, self.number = mode, number
        """How it is watched, and as which of this process."""
        self.is_open = True
        self.vouched, self.unsure, self.left_out = 0, 0, 0
        self._desk = desk
        self._times: dict[tuple[str, ...], int] = {}
        self._waiting: deque[Fact] = deque(maxlen=MOST)
        self._pid = os.getpid()
        self._is_left = False

    def note(self, escape: Escape) -> None:
        """Something has escaped. The first time it is written down, now or soon."""
        self._mine()
        key = escape.key
        if key in self._times:
            self._times[key] += 1
            return
        if len(self._times) >= MOST:
            self.left_out += 1
            return
        self._times[key] = 1
        self._waiting.append(
            self._fact(ESCAPED, f"{escape.what}:{escape.name}", escape.why, escape.data())
        )
        if escape.seen.alone:
            self.write()

    def found(self, what: str, name: str, where: str) -> None:
        """An adapter has found something registered that nothing guards."""
        self._mine()
        key = (what, name, where)
        if key not in self._times and len(self._times) < MOST:
            self._times[key] = 0
            data = {"what": what, "name": name, "place": where}
            self._waiting.append(
                self._fact(UNGUARDED, f"{what}:{name}", "no guard is around it", data)
            )
        self.write()

    def write(self) -> None:
        """Write down what waits; where the trail cannot be written it waits on."""
        while self._waiting:
            fact = self._waiting.popleft()
            try:
                tell(self._desk.shield, fact)
            except AuditLost:
                self._waiting.appendleft(fact)
                return

    def leave(self) -> None:
        """The run has ended: write down how it was watched, and what was only counted. Once, and
        not for a run that has done nothing."""
        self._mine()
        self.write()
        seen = self._times or self.vouched or self.unsure
        if self._is_left or (self._desk.told is None and not seen):
            return
        self._is_left = True
        counts = {
            "escaped": sum(self._times.values()),
            "different": sum(1 for times in self._times.values() if times),
            "left_out": self.left_out,
            "vouched": self.vouched,
            "unsure": self.unsure,
        }
        data = {"mode": self.mode, **{name: count for name, count in counts.items() if count}}
        self._waiting.append(self._fact(WATCHED, f"run:{self._desk.info.id}", "", data))
        self.write()

    def _mine(self) -> None:
        """In a forked process: what the parent has seen is the parent's to write down."""
        if self._pid != os.getpid():
            self._pid = os.getpid()
            self._times.clear()
            self._waiting.clear()
            self.vouched = self.unsure = self.left_out = 0
            self._is_left = False

    def _fact(self, what: str, about: str, why: str, data: dict[str, Any]) -> Fact:
        info = self._desk.info
        if info.parents:
            data = {
                **data,
                "parents": list(info.parents),
            }  # a run that decides nothing has no other record of them
        return Fact(
            self._desk.shield.clock(), what, about, info.tenant, info.id, info.agent, why, data
        )
