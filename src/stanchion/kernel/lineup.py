"""The lineup: the guards that apply to some events, in order and sorted by what they ask; the same
for every run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from operator import itemgetter
from typing import Any, Final

from stanchion.kernel.actions import Action
from stanchion.kernel.autonomy import EXHAUSTED, LOCKDOWN
from stanchion.kernel.contract.powers import having
from stanchion.kernel.contract.values import GuardGate
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Trace
from stanchion.kernel.guard import Kind, Placed, Reading, Switch, order
from stanchion.kernel.regex import Finds, finders
from stanchion.kernel.stages import UNTALLIED, Stage
from stanchion.kernel.state import FOREVER
from stanchion.kernel.table import carried

COUNTING: Final = (Kind.METER, Kind.RECORD)
"""Kinds of guard that count a moment once, at the first of its events they stand at."""
MOST: Final = 4_096
"""How many lineups are remembered."""

MOST_SHAPES: Final = 1_024
"""For how many shapes of arguments it is remembered which gates are open."""

MOST_HEARD: Final = 256
"""How many selections of a lineup's guards are remembered."""

Judge = Callable[[Any], Any]
Pure = tuple[int, Judge, int]
"""A pure guard in a lineup: its place, its judgement, its event."""
Asks = list[tuple[int, Any, int]]
"""Guards that may want to ask something: their places, and their events."""
Listening = tuple[list[Pure], Asks]
Chains = tuple[tuple[Placed, ...], ...]
"""The guards that apply, event by event."""


class Lineup:
    """The guards of some chains, one for each event: which are judged alone, which are switched on
    by what an event says, which ask, and which keep something of a run."""

    def __init__(
        self, chains: Chains, stages: tuple[Stage, ...], can: tuple[Action, ...], mode: str
    ) -> None:
        self.chains = chains
        self._gates: list[dict[int, GuardGate]] = [{} for _ in chains]
        self.guards: list[Placed] = []
        self.event_of: list[int] = []
        for index, chain in enumerate(chains):
            seated = {placed.id for placed in self.guards}
            here = [
                p
                for p in chain
                if p.id not in seated or getattr(p.guard, "kind", None) not in COUNTING
            ]
            self.guards += sorted(here, key=order)
            self.event_of += [index] * len(here)
        self.end = len(self.guards)
        self.trace = Trace(tuple([(placed.id, placed.whole) for placed in self.guards]))
        self.passes = tuple(dict.fromkeys([placed.id for placed in self.guards if placed.log_pass]))
        self.cells = [_carried(stage, can, mode) for stage in stages]
        self.redacts = Action.REDACT in can
        self.tallied = [stage not in UNTALLIED for stage in stages]
        self.pure: list[Pure] = []
        self.all_pure: list[Pure] = []
        self.switches: list[tuple[Judge, int, dict[Any, list[tuple[int, Judge]]]]] = []
        self.asks: Asks = []
        self.counting: list[tuple[int, Placed]] = []
        self._passing: list[Pure] = []
        self._hearings: dict[tuple[int, ...], Audience] = {}
        self._sort_out(stages)

    def _sort_out(self, stages: tuple[Stage, ...]) -> None:
        offered: list[tuple[int, Judge, int, tuple[Switch, ...]]] = []
        for pos, placed in enumerate(self.guards):
            try:
                self._enter(pos, placed, stages[self.event_of[pos]], offered)
            except Exception as error:  # noqa: BLE001 - a guard may raise anything, and fails closed
                broken = (pos, always_raises(error), self.event_of[pos])
                self.pure.append(broken)
                self.all_pure.append(broken)
        self._switch(offered)
        self.gates: list[tuple[int, GateSet]] = []
        with suppress(Exception):  # a guard may say anything of its gate: then all are asked
            self.gates = [(at, GateSet(gates)) for at, gates in enumerate(self._gates) if gates]

    def _enter(
        self,
        pos: int,
        placed: Placed,
        stage: Stage,
        offered: list[tuple[int, Judge, int, tuple[Switch, ...]]],
    ) -> None:
        """Enter one guard by its kind; one that offers switches waits until all of them are
        known."""
        guard, index = placed.guard, self.event_of[pos]
        match placed.kind:
            case Kind.PURE:
                self.all_pure.append((pos, guard.judge, index))
                switched = having(guard, "switches")
                if switched is not None and (switches := switched.switches):
                    offered.append((pos, guard.judge, index, switches))
                else:
                    self._gate(pos, guard, stage)
                    self.pure.append((pos, guard.judge, index))
                    passing = having(guard, "passes_all")
                    if passing is not None:
                        self._passing.append((pos, passing.passes_all, index))
            case Kind.ASKING:
                self._gate(pos, guard, stage)
                self.asks.append((pos, guard, index))
            case Kind.METER | Kind.RECORD:
                self.counting.append((pos, placed))

    def _gate(self, pos: int, guard: Any, stage: Stage) -> None:
        """Enter the gate of a guard; a piece of a stream is judged with what stands before it."""
        gated = None if stage is Stage.MODEL_CHUNK else having(guard, "gate")
        if gated is not None and gated.gate is not None:
            self._gates[self.event_of[pos]][pos] = gated.gate

    def _switch(self, offered: list[tuple[int, Judge, int, tuple[Switch, ...]]]) -> None:
        """Put each guard under the switch whose values it shares with the fewest others."""
        shared = Counter(
            [(asks, index, v) for _, _, index, all_ in offered for asks, vs in all_ for v in vs]
        )
        tables: dict[tuple[Judge, int], dict[Any, list[tuple[int, Judge]]]] = {}
        for pos, judge, index, switches in offered:
            crowds = [
                sum([shared[asks, index, value] for value in values]) for asks, values in switches
            ]
            asks, values = switches[crowds.index(min(crowds))]
            table = tables.setdefault((asks, index), {})
            for value in values:
                table.setdefault(value, []).append((pos, judge))
        self.switches += [(asks, index, table) for (asks, index), table in tables.items()]

    def hearing(self, events: tuple[Event, ...]) -> Audience:
        """The pure guards that may have something to say about such events. One that fails to say
        so is asked: its judgement tells what follows."""
        silent: tuple[int, ...] = ()
        for pos, passes_all, index in self._passing:
            with suppress(Exception):
                silent += (pos,) if passes_all(events[index]) else ()
        known = self._hearings.get(silent)
        if known is None:
            if len(self._hearings) >= MOST_HEARD:
                self._hearings.clear()
            asked = [one for one in self.pure if one[0] not in silent]
            known = self._hearings[silent] = Audience(asked, self.asks, self.gates)
        return known

    @cached_property
    def redactors(self) -> list[Pure]:
        """The pure guards that may want something hidden; found when they are first needed."""
        return [one for one in self.all_pure if _may_redact(self.guards[one[0]].guard)]

    @cached_property
    def clearing(self) -> list[Placed]:
        """The guards whose findings in the first event a person can allow."""
        return [
            placed for placed in self._of_first if having(placed.guard, "fingerprints") is not None
        ]

    @property
    def _of_first(self) -> list[Placed]:
        return [
            placed for placed, index in zip(self.guards, self.event_of, strict=True) if not index
        ]


class Audience:
    """Who is asked about an event: the pure guards before the first that has a gate, and behind it
    those whose gates it opens."""

    __slots__ = ("_asks", "_known", "early", "gates", "pure")

    def __init__(self, pure: list[Pure], asks: Asks, gates: list[tuple[int, GateSet]]) -> None:
        self.pure, self._asks, self.gates = pure, asks, gates
        self._known: dict[tuple[int, ...], Listening] = {}
        first = min([at for _, own in gates for at in own.everybody], default=FOREVER)
        self.early = [one for one in pure if one[0] < first]

    def joined_by(self, pure: list[Pure]) -> Audience:
        """The same with further guards, who are always asked, and first of all."""
        joined = Audience(sorted([*self.pure, *pure], key=itemgetter(0)), self._asks, self.gates)
        joined.early = sorted({*joined.early, *pure}, key=itemgetter(0))
        return joined

    def listening(self, readings: tuple[Reading, ...]) -> Listening:
        """The pure guards behind the first that has a gate, and the asking ones, that may have
        something to say: those with a gate only where something of it is in their event."""
        heard: tuple[int, ...] = ()
        try:
            for index, own in self.gates:
                heard += readings[index].heard(own)
        except Exception:  # noqa: BLE001 - a guard's own work may raise: it is asked, and fails there
            return [one for one in self.pure if one not in self.early], self._asks
        known = self._known.get(heard)
        if known is None:
            gated = {at for _, own in self.gates for at in own.everybody}
            silent = gated.difference(heard).union([one[0] for one in self.early])
            if len(self._known) >= MOST_HEARD:
                self._known.clear()
            known = self._known[heard] = (
                [one for one in self.pure if one[0] not in silent],
                [one for one in self._asks if one[0] not in silent],
            )
        return known


class GateSet:
    """The gates of guards that stand at one event, by their places in the chain."""

    def __init__(self, gates: Mapping[int, GuardGate]) -> None:
        self.everybody = tuple(sorted(gates))
        self.lengths = {at: gate.shortest for at, gate in gates.items()}
        """How long the texts are, at least, about which a guard has something to say."""
        self.least, self.most = min(self.lengths.values()), max(self.lengths.values())
        self._gates = gates
        self.works = [(at, work) for at, gate in gates.items() for work in gate.works]
        self._opens = [(at, gate.opens) for at, gate in gates.items() if gate.opens is not None]
        self._shapes: dict[tuple[Any, ...], tuple[int, ...]] = {}

    @cached_property
    def searches(self) -> list[tuple[bool, Finds, tuple[int, ...]]]:
        """What looks for expressions, in the texts as they are or in what patterns go by, and whose
        each is."""
        gates = self._gates.items()
        raw = [(one, at) for at, gate in gates for one in gate.expressions]
        flat = [(one, at) for at, gate in gates for one in gate.flat]
        return [
            (is_flat, find, owners)
            for is_flat, owned in ((False, raw), (True, flat))
            for find, owners in finders(owned)
        ]

    def open_to(self, event: Any) -> tuple[int, ...]:
        """The guards whose gates an event opens whatever its texts say. They are asked once for
        arguments of the same names and types."""
        if not self._opens:
            return ()
        args = getattr(event, "args", {})
        shape = (event.tool, event.traits, event.run.task, *args, *map(type, args.values()))
        found = self._shapes.get(shape)
        if found is None:
            if len(self._shapes) >= MOST_SHAPES:
                self._shapes.clear()
            found = self._shapes[shape] = tuple([at for at, asks in self._opens if asks(event)])
        return found


class Lineups:
    """The lineups of one policy, each made once, whichever run first needs it."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Lineup] = {}

    def of(
        self, chains: Chains, stages: tuple[Stage, ...], can: tuple[Action, ...], mode: str
    ) -> Lineup:
        """The lineup of chains. They are known by which they are, and kept as long as their lineup
        is."""
        asked = (*map(id, chains), stages, can, mode)
        known = self._known.get(asked)
        if known is None:
            if len(self._known) >= MOST:
                self._known.clear()
            known = self._known[asked] = Lineup(chains, stages, can, mode)
        return known


def _may_redact(guard: Any) -> bool:
    """Whether a guard may patch content; one that does not say what it can answer may, and so may
    one whose findings hide what they are about, whatever becomes of it (`veils`)."""
    answering = having(guard, "actions")
    return (
        answering is None
        or having(guard, "veils") is not None
        or Action.REDACT in answering.actions()
    )


def _carried(stage: Stage, can: tuple[Action, ...], mode: str) -> tuple[Action, ...]:
    """What each action becomes at a stage; where little is left of a budget a warning refuses."""
    cells = carried(stage, can)
    if mode not in (LOCKDOWN, EXHAUSTED):
        return cells
    return tuple(
        [cells[Action.BLOCK] if action == Action.WARN else cells[action] for action in Action]
    )


def always_raises(error: Exception) -> Judge:
    """A judgement for a guard that could not even be planned: it fails as any guard that raises."""

    def judge(_reading: Any) -> Any:
        raise error

    return judge
