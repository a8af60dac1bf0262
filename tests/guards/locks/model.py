"""Locks as plainly as they can be said: files instead of names, and everything worked out anew each
time."""

from __future__ import annotations

from typing import Final, NamedTuple

LEASE_MS: Final = 60_000
LINE_MS: Final = 5_000

FILES: Final = {
    "a": frozenset({"a"}),
    "b": frozenset({"b"}),
    "d/x": frozenset({"d/x"}),
    "d/y": frozenset({"d/y"}),
    "d/**": frozenset({"d", "d/x", "d/y"}),
}
"""What each name stands for."""
ABOVE: Final = {"ann": (), "bob": (), "eve": (), "kid": ("ann",)}
"""The runs, and those that each works for."""

Wants = tuple[tuple[str, bool], ...]


class Held(NamedTuple):
    """Something that a run has locked."""

    name: str
    exclusive: bool
    run: str
    until: int


class Waits(NamedTuple):
    """A call that waits."""

    call: str
    run: str
    wants: Wants
    until: int


class Model:
    """Who has locked what, and who waits."""

    def __init__(self) -> None:
        self.held: list[Held] = []
        self.line: list[Waits] = []

    def pass_to(self, now: int) -> None:
        """Time passes."""
        self.held = [one for one in self.held if one.until > now]
        self.line = [one for one in self.line if one.until > now]

    def blockers(self, run: str, wants: Wants, line: list[Waits]) -> set[str]:
        """The runs that somebody would wait for, behind that line."""
        family = {run, *ABOVE[run]}
        found: set[str] = set()
        for name, exclusive in wants:
            near = [one for one in self.held if FILES[one.name] & FILES[name]]
            found |= {
                one.run for one in near if one.run not in family and (one.exclusive or exclusive)
            }
            if not family & {one.run for one in near}:
                for waits in line:
                    if waits.run != run and any(
                        FILES[n] & FILES[name] and (e or exclusive) for n, e in waits.wants
                    ):
                        found.add(waits.run)
        return found

    def never_ends(self, run: str, blockers: set[str]) -> bool:
        """Whether one of those would wait, at last, for this run or for one that it works for."""
        pairs = {
            (whose, blocker)
            for at, waits in enumerate(self.line)
            for blocker in self.blockers(waits.run, waits.wants, self.line[:at])
            for whose in (waits.run, *ABOVE[waits.run])
        }
        for middle in ABOVE:
            pairs |= {(x, z) for x, y in pairs for w, z in pairs if y == w == middle}
        family = {run, *ABOVE[run]}
        return any(
            (blocker, one) in pairs for blocker in blockers for one in family if one != blocker
        )

    def call(self, call: str, run: str, wants: Wants, now: int) -> str:
        """A call is judged: it `goes`, `waits`, or meets a `deadlock`."""
        self.pass_to(now)
        own = [one for one in self.held if one.run == run]
        lacks = tuple(
            [
                (name, exclusive)
                for name, exclusive in wants
                if not any(
                    FILES[one.name] >= FILES[name] and (one.exclusive or not exclusive)
                    for one in own
                )
            ]
        )
        at = next((at for at, waits in enumerate(self.line) if waits.call == call), len(self.line))
        blockers = self.blockers(run, lacks, self.line[:at])
        if not blockers:
            self.line = [one for one in self.line if one.call != call]
            self.held = [
                one
                for one in self.held
                if (one.run, one.name) not in {(run, name) for name, _ in lacks}
            ]
            strongest = {name: any(e for n, e in lacks if n == name) for name, _ in lacks}
            self.held += [
                Held(name, exclusive, run, now + LEASE_MS) for name, exclusive in strongest.items()
            ]
            self.active(run, now)
            return "goes"
        if self.never_ends(run, blockers):
            return "deadlock"
        if at == len(self.line):
            self.line.append(Waits(call, run, lacks, now + LINE_MS))
        elif self.line[at].until - now <= LINE_MS // 2:
            self.line[at] = Waits(call, run, lacks, now + LINE_MS)
        return "waits"

    def active(self, run: str, now: int) -> None:
        """A run has done something: what it and those above it have locked lasts on, if something
        of it ends soon."""
        family = {run, *ABOVE[run]}
        if any(one.run in family and one.until - now <= LEASE_MS // 2 for one in self.held):
            self.held = [
                one._replace(until=now + LEASE_MS) if one.run in family else one
                for one in self.held
            ]

    def release(self, run: str, now: int, name: str = "") -> None:
        """A run releases something, or all of it."""
        self.pass_to(now)
        self.held = [
            one
            for one in self.held
            if one.run != run or (name and not FILES[one.name] <= FILES[name])
        ]
