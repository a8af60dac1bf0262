"""The table of locks: who has locked what until when, and who waits, in the order in which they
came.

All of it is one record, so that a call gets everything it wants or nothing, and a circle of waiting
is seen before anybody enters it. Whoever holds a lock is a run. What a run has locked is open to
the runs that work for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import msgspec

from stanchion import typed
from stanchion.guards.locks.names import covers, overlap
from stanchion.kernel.state import FOREVER

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
    above: tuple[str, ...] = ()

    @property
    def family(self) -> frozenset[str]:
        """The runs whose locks do not stand in its way."""
        return frozenset((self.run, *self.above))


class Lock(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Something that a run has locked, until it was inactive for so long. `call` where it is for
    one call alone."""

    name: str
    exclusive: bool
    run: str
    agent: str
    until: int
    call: str = ""


class Waiter(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A call that waits for all that it wants; its place in line is kept until then."""

    call: str
    run: str
    agent: str
    above: tuple[str, ...]
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


class Table(msgspec.Struct, frozen=True):
    """What is locked, who waits in which order, and how often somebody has broken a lock."""

    held: tuple[Lock, ...] = ()
    waiting: tuple[Waiter, ...] = ()
    breaks: int = 0

    def span(self, now: int) -> tuple[int, int]:
        """The time around `now` in which nothing of it ends."""
        ends = [*[lock.until for lock in self.held], *[waiter.until for waiter in self.waiting]]
        return max([end for end in ends if end <= now], default=0), min(
            [end for end in ends if end > now], default=FOREVER
        )

    def at(self, now: int) -> Table:
        """The same without what has ended."""
        return self._with(
            tuple([one for one in self.held if one.until > now]),
            tuple([one for one in self.waiting if one.until > now]),
        )

    def lacking(self, who: Who, call: str, wants: Iterable[Want]) -> tuple[Want, ...]:
        """What a run has not locked yet, for itself or for this call."""
        own = [one for one in self.held if one.run == who.run and one.call in ("", call)]
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

    def taken(self, who: Who, call: str, wants: Iterable[Want], until: int) -> Table:
        """The table once a run, or one call of it, has locked something."""
        new = {
            want.name: want.exclusive for want in sorted(wants)
        }  # an exclusive one comes last, and stays
        rest = [
            one
            for one in self.held
            if not (one.run == who.run and one.call == call and one.name in new)
        ]
        locks = [
            Lock(name, exclusive, who.run, who.agent, until, call)
            for name, exclusive in new.items()
        ]
        return self._with((*rest, *locks))

    def lined_up(self, waiter: Waiter) -> Table:
        """The table with somebody in line: at its place, or at the end."""
        if any(one.call == waiter.call for one in self.waiting):
            return self._with(
                self.held,
                tuple([waiter if one.call == waiter.call else one for one in self.waiting]),
            )
        return self._with(self.held, (*self.waiting, waiter))

    def renewed(self, family: frozenset[str], now: int, lease_ms: int) -> Table:
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

    def without(self, run: str, name: str = "") -> Table:
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

    def handed(self, run: str, agent: str, until: int) -> Table:
        """The table once what a run has locked is kept for another agent, whose next run gets
        it."""
        held = [
            Lock(one.name, one.exclusive, f"{KEPT_FOR}{agent}", agent, until)
            if one.run == run
            else one
            for one in self.held
        ]
        return self._with(tuple(held))

    def adopted(self, who: Who) -> Table:
        """The table in which a run has what was kept for its agent."""
        kept = f"{KEPT_FOR}{who.agent}"
        if not any(one.run == kept for one in self.held):
            return self
        held = [
            msgspec.structs.replace(one, run=who.run) if one.run == kept else one
            for one in self.held
        ]
        return self._with(tuple(held))

    def without_runs(self, runs: frozenset[str]) -> Table:
        """The table once some runs have ended."""
        return self._with(
            tuple([one for one in self.held if one.run not in runs]),
            tuple([one for one in self.waiting if one.run not in runs]),
        )

    def without_calls(self, calls: frozenset[str]) -> Table:
        """The table without what some calls have locked for themselves, and without their places in
        line."""
        return self._with(
            tuple([one for one in self.held if one.call not in calls]),
            tuple([one for one in self.waiting if one.call not in calls]),
        )

    def broken(self, name: str) -> Table:
        """The table in which nobody has locked something any more."""
        left = tuple([one for one in self.held if one.name != name])
        return Table(left, self.waiting, self.breaks + 1)

    def _with(self, held: tuple[Lock, ...], waiting: tuple[Waiter, ...] | None = None) -> Table:
        return Table(held, self.waiting if waiting is None else waiting, self.breaks)


def table_of(value: Any) -> Table:
    """A record as it was written."""
    return Table() if value is None else typed.convert(value, Table)


def plain(table: Table) -> Any:
    """A table as it is written."""
    return msgspec.to_builtins(table)
