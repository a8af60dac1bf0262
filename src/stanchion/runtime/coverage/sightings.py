"""Sightings: what was seen in one run beside its calls; each thing once with how often, or only a
count."""

from __future__ import annotations

import os
from collections import deque
from types import FrameType
from typing import Any, Final

from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.kernel.tuples import NamedTuple
from stanchion.runtime.coverage.touches import Touch
from stanchion.runtime.standing.veil import tell

MOST_FRAMES: Final = 500
MOST_NAMES: Final = 4
MOST_FILES: Final = 20_000

PROGRAM, STANDARD, IMPORTING, OURS, DRIVING, THROUGH = "", ".", "import", "=", "driving", "~"
"""What a file is: the program's, Python's, the import system, Stanchion's own work, its drivers, or
what of Stanchion only passes calls on. Any other text is the name of an installed package."""

_ROOT: Final = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), ""
)
_PYTHON: Final = os.path.join(os.path.dirname(os.path.abspath(os.__file__)), "")
_INSTALLED: Final = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_PASSES_ON: Final = (
    "runtime/calling/bound.py",
    "runtime/coverage/",
    "telemetry/otel/",
    "hosts/",
    "testing/",
    "ops/demo/",
    "cli/",
)
"""Where Stanchion calls code that nobody has judged."""
_SENDS: Final = ("hosts/http/", "hosts/clients/", "hosts/mcp/")
"""Hosts that send by themselves what was judged."""

_files: dict[str, str] = {}


class StackSighting(NamedTuple):
    """What a stack tells. `covered`: it is Stanchion's `own` work, or what Stanchion has called for
    this run. `alone`: no frame of Stanchion is on it, so this thread holds none of its locks.
    `place` and `within` are where in the program it is, `through` the package that the program
    called, `packages` all that are at work, the innermost first.
    """

    covered: bool
    alone: bool
    place: str = ""
    within: tuple[str, ...] = ()
    through: str = ""
    packages: tuple[str, ...] = ()
    own: bool = False


def look(frame: FrameType | None, desk: Any) -> StackSighting:
    """Walk a stack from the inside out. What a driver calls for `desk` is covered; for another
    run's desk it is not, because the run has begun inside of that. Without a desk every driver
    covers."""
    if frame is not None and kind_of(frame.f_code.co_filename) == IMPORTING:
        return StackSighting(True, False)
    packages: list[str] = []
    within: list[str] = []
    place, outside, alone, elsewhere = "", "", True, False
    for _ in range(MOST_FRAMES):
        if frame is None:
            break
        kind = kind_of(frame.f_code.co_filename)
        if kind == PROGRAM:
            place = place if place else _place(frame)
            if len(within) < MOST_NAMES:
                within.append(frame.f_code.co_name)
        elif kind == OURS and not elsewhere:
            where = (place if place else outside, tuple(within), "", tuple(packages))
            return StackSighting(True, False, *where, own=not within)
        elif kind == DRIVING:
            alone = False
            world = frame.f_locals.get("world")
            if world is not None:
                if desk is None or world is desk:
                    return StackSighting(
                        True,
                        False,
                        place if place else outside,
                        tuple(within),
                        packages=tuple(packages),
                    )
                elsewhere = True
        elif kind not in (STANDARD, IMPORTING, THROUGH, OURS):
            outside = outside if outside else _place(frame)
            if not place and kind not in packages:
                packages.append(kind)
        frame = frame.f_back
    through = packages[-1 if place else 0] if packages else ""
    return StackSighting(
        False, alone, place if place else outside, tuple(within), through, tuple(packages)
    )


def kind_of(file: str) -> str:
    """Whose file it is."""
    known = _files.get(file)
    if known is None:
        known = _kind(file)
        if len(_files) < MOST_FILES:
            _files[file] = known
    return known


def _kind(file: str) -> str:
    if file.startswith("<"):
        if file.startswith("<frozen importlib"):
            return IMPORTING
        return PROGRAM if file in ("<string>", "<stdin>") else STANDARD
    if file.startswith(_ROOT):
        return _ours(file[len(_ROOT) :].replace(os.sep, "/"))
    for mark in _INSTALLED:
        if mark in file:
            return _package(file.rpartition(mark)[2].split(os.sep))
    return STANDARD if file.startswith(_PYTHON) else PROGRAM


def _package(parts: list[str]) -> str:
    """The package that an installed file belongs to; of those that many share, the part of it."""
    shared = parts[0] == "google" and len(parts) > 1
    return ".".join(parts[:2] if shared else parts[:1]).removesuffix(".py")


def _ours(file: str) -> str:
    if file.startswith("runtime/driving/"):
        return DRIVING
    return THROUGH if file.startswith(_PASSES_ON) and not file.startswith(_SENDS) else OURS


def _place(frame: FrameType) -> str:
    file = frame.f_code.co_filename
    here = os.path.join(os.getcwd(), "")
    return f"{file.removeprefix(here)}:{frame.f_lineno}"


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
    seen: StackSighting
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
