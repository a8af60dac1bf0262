"""The table of locks: their names, who holds and who waits, and what a call wants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, Final, NamedTuple

import msgspec

from stanchion import typed
from stanchion.kernel.events import Handoff, ToolCall
from stanchion.kernel.state import FOREVER
from stanchion.readings import Reading
from stanchion.readings.paths.place import PathPlace, is_device, is_url, joined, place_of
from stanchion.readings.paths.spelling import spelling
from stanchion.readings.paths.targets import PathTarget, Seeing, targets, targets_in
from stanchion.readings.word_lists import Strings

LONGEST: Final = 300
"""How long a name is kept as it is."""
BELOW: Final = "/**"
ALL: Final = "**"


def kept(name: str) -> str:
    """A name as it is kept, so that a table stays small. Instead of a file with a long name the
    folder is locked that it is in, with everything below it; another name that is long is kept by
    its hash."""
    if len(name) <= LONGEST:
        return name
    folder, slash, _ = name[:LONGEST].rpartition("/")
    return (
        f"{folder}{BELOW}" if slash else sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    )


def whole(name: str) -> str:
    """A file or folder together with everything below it."""
    if name.endswith(BELOW) or name in (ALL, "."):
        return ALL if name == "." else name
    return f"{name.rstrip('/')}{BELOW}"


def base(name: str) -> str:
    """The file or folder itself, of one that may be locked with everything below it."""
    return "." if name == ALL else name.removesuffix(BELOW) or "/"


def covers(one: str, other: str) -> bool:
    """Whether whoever has locked `one` has locked `other`."""
    if one in (other, ALL):
        return True
    return one.endswith(BELOW) and (base(one) == other or other.startswith(one.removesuffix(ALL)))


def overlap(one: str, other: str) -> bool:
    """Whether two names have a file in common."""
    return covers(one, other) or covers(other, one)


KEPT_FOR: Final = "agent "
"""What stands before an agent's name where a lock is kept for it, and no run of it has it yet."""


class Want(NamedTuple):
    """Something to be locked: for its holder alone, or shared with others that do not change it."""

    name: str
    exclusive: bool = True


class Who(NamedTuple):
    """A run, its agent, and the runs that it works for."""

    run: str
    agent: str = ""
    above: Strings = ()

    @property
    def family(self) -> frozenset[str]:
        """The runs whose locks do not stand in its way."""
        return frozenset((self.run, *self.above))


class HeldLock(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Something that a run has locked, until it was inactive for so long."""

    name: str
    exclusive: bool
    run: str
    agent: str
    until: int


class LockWaiter(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A call that waits for all that it wants; its place in line is kept until then."""

    call: str
    run: str
    agent: str
    above: Strings
    wants: tuple[Want, ...]
    until: int


class Blocker(NamedTuple):
    """What stands in the way of a call: somebody has locked it, or came earlier and waits for
    it."""

    name: str
    run: str
    agent: str
    until: int
    waits: bool = False


class LockTable(msgspec.Struct, frozen=True):
    """What is locked, who waits in which order, and how often somebody has broken a lock."""

    held: tuple[HeldLock, ...] = ()
    waiting: tuple[LockWaiter, ...] = ()
    breaks: int = 0

    def span(self, now: int) -> tuple[int, int]:
        """The time around `now` in which nothing of it ends."""
        ends = [*[lock.until for lock in self.held], *[waiter.until for waiter in self.waiting]]
        return max([end for end in ends if end <= now], default=0), min(
            [end for end in ends if end > now], default=FOREVER
        )

    def at(self, now: int) -> LockTable:
        """The same without what has ended."""
        return self._with(
            tuple([one for one in self.held if one.until > now]),
            tuple([one for one in self.waiting if one.until > now]),
        )

    def lacking(self, who: Who, wants: Iterable[Want]) -> tuple[Want, ...]:
        """What a run has not locked yet."""
        own = [one for one in self.held if one.run == who.run]
        return tuple(
            [
                want
                for want in wants
                if not any(
                    covers(one.name, want.name) and one.exclusive >= want.exclusive for one in own
                )
            ]
        )

    def blockers(self, who: Who, call: str, wants: Iterable[Want]) -> list[Blocker]:
        """What a call has to wait for: what others have locked, and what others wait for who came
        earlier.

        Where the run, or one that it works for, has locked a part already, nobody who waits for
        that stands in its
        way: they wait for it anyway, and both would wait for ever.
        """
        family = who.family
        found: list[Blocker] = []
        for want in wants:
            near = [one for one in self.held if overlap(one.name, want.name)]
            found += [
                Blocker(one.name, one.run, one.agent, one.until)
                for one in near
                if one.run not in family and (one.exclusive or want.exclusive)
            ]
            if not any(one.run in family for one in near):
                found += self._earlier(who, call, want)
        return found

    def _earlier(self, who: Who, call: str, want: Want) -> list[Blocker]:
        found: list[Blocker] = []
        for waiter in self.waiting:
            if waiter.call == call:
                break
            if waiter.run != who.run and any(
                overlap(other.name, want.name) and (other.exclusive or want.exclusive)
                for other in waiter.wants
            ):
                found.append(Blocker(want.name, waiter.run, waiter.agent, waiter.until, True))
        return found

    def circle(self, who: Who, blockers: Iterable[Blocker]) -> Blocker | None:
        """The first of those in a call's way who waits, perhaps by way of others, for the run of
        the call itself."""
        return next((one for one in blockers if who.family & self._awaited(one.run)), None)

    def _awaited(self, run: str) -> set[str]:
        """Every run that somebody waits for, and those who work for it, and those whom these wait
        for."""
        reached: set[str] = set()
        found = {run}
        while found:
            reached |= found
            found = {
                blocker.run
                for waiter in self.waiting
                if waiter.run in found or not found.isdisjoint(waiter.above)
                for blocker in self.blockers(
                    Who(waiter.run, "", waiter.above), waiter.call, waiter.wants
                )
            } - reached
        return reached - {run}

    def taken(self, who: Who, wants: Iterable[Want], until: int) -> LockTable:
        """The table once a run has locked something."""
        new = {
            want.name: want.exclusive for want in sorted(wants)
        }  # an exclusive one comes last, and stays
        rest = [one for one in self.held if not (one.run == who.run and one.name in new)]
        locks = [
            HeldLock(name, exclusive, who.run, who.agent, until) for name, exclusive in new.items()
        ]
        return self._with((*rest, *locks))

    def lined_up(self, waiter: LockWaiter) -> LockTable:
        """The table with somebody in line: at its place, or at the end."""
        if any(one.call == waiter.call for one in self.waiting):
            return self._with(
                self.held,
                tuple([waiter if one.call == waiter.call else one for one in self.waiting]),
            )
        return self._with(self.held, (*self.waiting, waiter))

    def renewed(self, family: frozenset[str], now: int, lease_ms: int) -> LockTable:
        """The table in which what some runs have locked lasts on; only what would end soon is
        changed."""
        soon = now + lease_ms // 2
        if not any(one.run in family and one.until <= soon for one in self.held):
            return self
        held = [
            msgspec.structs.replace(one, until=max(one.until, now + lease_ms))
            if one.run in family
            else one
            for one in self.held
        ]
        return self._with(tuple(held))

    def without(self, run: str, name: str = "") -> LockTable:
        """The table once a run has released something, or all of it."""
        return self._with(
            tuple(
                [
                    one
                    for one in self.held
                    if one.run != run or (name and not covers(name, one.name))
                ]
            )
        )

    def handed(self, run: str, agent: str, until: int) -> LockTable:
        """The table once what a run has locked is kept for another agent, whose next run gets
        it."""
        held = [
            HeldLock(one.name, one.exclusive, f"{KEPT_FOR}{agent}", agent, until)
            if one.run == run
            else one
            for one in self.held
        ]
        return self._with(tuple(held))

    def adopted(self, who: Who) -> LockTable:
        """The table in which a run has what was kept for its agent."""
        kept = f"{KEPT_FOR}{who.agent}"
        if not any(one.run == kept for one in self.held):
            return self
        held = [
            msgspec.structs.replace(one, run=who.run) if one.run == kept else one
            for one in self.held
        ]
        return self._with(tuple(held))

    def without_runs(self, runs: frozenset[str]) -> LockTable:
        """The table once some runs have ended."""
        return self._with(
            tuple([one for one in self.held if one.run not in runs]),
            tuple([one for one in self.waiting if one.run not in runs]),
        )

    def without_calls(self, calls: frozenset[str]) -> LockTable:
        """The table without the places of some calls in line."""
        return self._with(self.held, tuple([one for one in self.waiting if one.call not in calls]))

    def broken(self, name: str) -> LockTable:
        """The table in which nobody has locked something any more."""
        left = tuple([one for one in self.held if one.name != name])
        return LockTable(left, self.waiting, self.breaks + 1)

    def _with(
        self, held: tuple[HeldLock, ...], waiting: tuple[LockWaiter, ...] | None = None
    ) -> LockTable:
        return LockTable(held, self.waiting if waiting is None else waiting, self.breaks)


def table_of(value: Any) -> LockTable:
    """A record as it was written."""
    return LockTable() if value is None else typed.convert(value, LockTable)


def plain(table: LockTable) -> Any:
    """A table as it is written."""
    return msgspec.to_builtins(table)


LOCK: Final = "lock_file"
UNLOCK: Final = "unlock_file"
"""The tools by which an agent locks and releases something itself."""

HANDED: Final = Seeing(lambda _tool: "write", {"artifacts": "write", "artifact": "write"})
"""How a handoff is read: its artifacts are files, and the other agent is going to work on what it
names."""


class PathView(NamedTuple):
    """How paths are seen: from a folder, and whether those that are read count."""

    root: PathPlace
    reads: bool

    def names(self, text: str, start: str = "") -> Iterator[str]:
        """The names under which a path is locked: one for every way in which it may be read."""
        spelled = spelling(text)
        for at, one in enumerate((spelled.text, *spelled.lenient)):
            place = place_of(one, at > 0)
            if start and not place.root:
                place = joined(place_of(start, at > 0), place)
            place = joined(self.root, place) if self.root.root else place
            if not is_device(place):
                yield place.text

    def wanted(self, reading: Reading[ToolCall]) -> tuple[Want, ...]:
        """What a call has to lock, once each."""
        event = reading.event
        if event.tool == LOCK:
            return tuple(self._asked(event.args, event.args.get("lock_type") != "shared"))
        found = [
            one
            for one in reading.of(targets_in)
            if one.sure and not is_url(one.text) and (self.reads or one.use != "read")
        ]
        return tuple(dict.fromkeys(self._files(found)))

    def released(self, args: Mapping[str, Any]) -> Strings:
        """What a call of `unlock_file` releases."""
        return tuple([want.name for want in self._asked(args, True)])

    def handed(self, event: Handoff) -> tuple[Want, ...]:
        """The files that a handoff names."""
        return tuple(dict.fromkeys(self._files(targets("", (), event.payload, HANDED, ()))))

    def _files(self, found: Iterator[PathTarget] | list[PathTarget]) -> Iterator[Want]:
        for target in found:
            exclusive = target.use != "read"
            # What is deleted or unpacked into is changed with everything below it.
            deep = target.use == "delete" or (exclusive and target.how == "deep")
            for name in self.names(target.text, target.base) if not is_url(target.text) else ():
                yield Want(kept(whole(name) if deep else name), exclusive)

    def _asked(self, args: Mapping[str, Any], exclusive: bool) -> Iterator[Want]:
        path, resource = args.get("path"), args.get("resource")
        if type(path) is str and path:
            below = path.endswith(BELOW) or path == BELOW[1:]
            for name in self.names(path.removesuffix(BELOW[1:]) or "."):
                yield Want(kept(whole(name) if below else name), exclusive)
        if type(resource) is str and resource:
            yield Want(kept(resource), exclusive)
