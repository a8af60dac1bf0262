"""Guards compared: those that are gone, that changed, and that were added where they may hide
others.

Rules are compared by the shape of what they say. A condition is true, false, or fails. Two
comparisons of one thing with two numbers of one type fail on the same events, so only their numbers
matter. Parts that are joined are compared part by part, as three-valued logic has it: a part that
decides makes the failure of another one of no matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from stanchion.kernel.actions import STOPS, Action, severer
from stanchion.kernel.contract.powers import answers_at, having
from stanchion.kernel.guard import Kind, order
from stanchion.kernel.names import Names
from stanchion.kernel.option import ACTIONS as NAMED, Stricter, Strictness
from stanchion.kernel.stages import Stage
from stanchion.policy.compiled import CompiledPolicy, GuardSeat
from stanchion.policy.conditions.parser import parse
from stanchion.policy.conditions.syntax import (
    Binary,
    FunctionCall,
    Literal,
    Logic,
    Node,
    Spot,
    Unary,
)
from stanchion.policy.loosening.directions import Loosening, changed, directions_within, keeps
from stanchion.policy.schema import Placement, id_of, use_of, ways_of

MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The same comparison with its sides exchanged."""

LOOPS: Final = frozenset({"exists", "exists_one", "all", "filter", "map"})
"""What may take more steps than an evaluation has. Nothing absorbs that failure, so it is not
compared."""


def rule_keeps(old: Any, new: Any, option: str, fails_closed: bool) -> bool:
    """Whether a rule with another `when` or `check` is known to act on every event on which it
    acted.

    1. Where both are one comparison with a number, they fail alike, and only where they are true
       counts.
    2. Otherwise failing and acting have to come to the same: both block, and neither fails open.
    3. `when` is wider if it is false nowhere else; with a `check` behind it, failing and being true
       are two things.
    4. `check` is narrower if it is true nowhere else; without one the rule acts wherever `when` is
       true.
    """
    blocks = fails_closed and old.action == "block" and new.action == "block"
    if option == "when":
        before, after = parse(old.when), parse(new.when)
        if _compared(before) is not None and _compared(after) is not None:
            return _implies(before, after)
        return blocks and new.check is None and _plain(before, after) and _falls(after, before)
    if old.check is None or new.check is None:
        return blocks and new.check is None
    before, after = parse(old.check), parse(new.check)
    if _compared(before) is not None and _compared(after) is not None:
        return _implies(after, before)
    return blocks and _plain(before, after) and _implies(after, before)


def _implies(one: Node, other: Node) -> bool:
    """Whether the other is known to be true wherever the one is."""
    if _same(one, other) or _reaches(one, other):
        return True
    if isinstance(one, Unary) and isinstance(other, Unary) and one.op == other.op == "!":
        return _falls(one.of, other.of)
    return _by_parts(one, other, "&&", "||", _implies)


def _falls(one: Node, other: Node) -> bool:
    """Whether the other is known to be false wherever the one is."""
    if _same(one, other) or _reaches(other, one):
        return True
    if isinstance(one, Unary) and isinstance(other, Unary) and one.op == other.op == "!":
        return _implies(one.of, other.of)
    return _by_parts(one, other, "||", "&&", _falls)


def _by_parts(one: Node, other: Node, every: str, some: str, known: Any) -> bool:
    """The same of parts: with `every`, all have a value where the whole has it; with `some`, one of
    them has."""
    if isinstance(other, Logic) and other.op == every:
        return all(known(one, part) for part in other.parts)
    if isinstance(one, Logic) and one.op == some:
        return all(known(part, other) for part in one.parts)
    if isinstance(one, Logic) and any(known(part, other) for part in one.parts):
        return True
    return isinstance(other, Logic) and any(known(one, part) for part in other.parts)


def _reaches(one: Node, other: Node) -> bool:
    """Whether both compare one thing with a number, in one direction, and the other number is
    passed no later."""
    left, right = _compared(one), _compared(other)
    if left is None or right is None:
        return False
    (thing, op, limit), (same, over, bound) = left, right
    if op[0] != over[0] or type(limit) is not type(bound) or not _same(thing, same):
        return False
    if limit == bound:
        return op == over or len(over) > len(op)
    return bool(bound < limit) == (op[0] == ">")


def _compared(node: Node) -> tuple[Node, str, Any] | None:
    """What is compared with which number, the number on the right; nothing where it is something
    else."""
    if not isinstance(node, Binary) or node.op not in MIRRORED:
        return None
    left, right = _number(node.left), _number(node.right)
    if (left is None) == (right is None):
        return None
    return (node.left, node.op, right) if left is None else (node.right, MIRRORED[node.op], left)


def _number(node: Node) -> Any:
    if isinstance(node, Unary) and node.op == "-":
        value = _number(node.of)
        return None if value is None else -value
    return node.value if isinstance(node, Literal) and type(node.value) in (int, float) else None


def _same(one: Any, other: Any) -> bool:
    """Whether two parts say the same, wherever they stand."""
    if isinstance(one, Spot):
        return type(one) is type(other) and all(
            _same(getattr(one, name), getattr(other, name))
            for name in one.__struct_fields__[len(_PLACE) :]
        )
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and bool(one == other)


_PLACE: Final = Spot.__struct_fields__


def _plain(*nodes: Any) -> bool:
    """Whether nothing in them goes through a list or a map."""
    for node in nodes:
        if isinstance(node, FunctionCall) and node.name in LOOPS:
            return False
        if isinstance(node, msgspec.Struct) and not _plain(
            *[getattr(node, name) for name in node.__struct_fields__]
        ):
            return False
        if isinstance(node, tuple) and not _plain(*node):
            return False
    return True


NOT_LOOKED_AT: Final = (None, "allow")
"""Actions by which nothing is found."""

PLACEMENT: Final = directions_within(Placement)
"""Directions of where a guard stands and whom it concerns, in effect."""


class _Guard:
    """A guard of a policy: its entry as it is written, and its seat."""

    def __init__(self, entry: Any, seat: GuardSeat) -> None:
        self.entry, self.seat, self.placed = entry, seat, seat.placed
        self.use = use_of(entry)
        self.what = f"guard {seat.placed.id}"

    def answers(self) -> dict[Stage, tuple[Action, ...]]:
        """What it can answer at each of its stages."""
        return {stage: answers_at(self.placed.guard, stage) for stage in self.placed.stages}

    def worst(self, stage: Stage) -> Action:
        """The most severe of what it answers in its place of the chain. What a guard says of
        refusals it says wherever they come from, so nothing in front hides that."""
        if having(self.placed.guard, "refused") is not None:
            known = ways_of(self.use)
            named = [
                NAMED[getattr(self.entry, name)]
                for name, stricter in known.items()
                if stricter is Stricter.ACTION
            ]
            return max(
                [
                    *named,
                    *(action for some in self.answers().values() for action in some if not known),
                ]
            )
        return max(self.answers().get(stage, ()), default=Action.ALLOW)

    def standing(self) -> dict[str, Any]:
        """Where it stands, and whom it concerns."""
        seat = self.seat
        listed = {
            "agents": seat.agents,
            "tasks": seat.tasks,
            "tools": seat.tools,
            "risks": seat.risks,
        }
        return {
            "priority": self.placed.priority,
            "category": self.placed.category,
            "stages": tuple(sorted(self.placed.stages)),
            "fail_open": self.placed.fail_open,
            "log_pass": self.placed.log_pass,
            "part_of": self.placed.part_of,
            "ends_chain": self.placed.ends,
            "always": self.entry.always,
            "bypass": (self.entry.bypass.requires_approval,) if self.entry.bypass.allowed else (),
            "effects": self.placed.effects,
            **{f"applies_to.{kind}": _listed(names) for kind, names in listed.items()},
        }


def guards_loosened(
    old: CompiledPolicy, new: CompiledPolicy, told: frozenset[str]
) -> Iterator[Loosening]:
    """What of the guards may let more through. A guard that only watches refuses nothing, so it is
    as good as none.

    `told` are the guards, by their `use`, that read something else in the tables than before.
    """
    before, after = _enforced(old), _enforced(new)
    news: list[_Guard] = []
    for guard_id, guard in before.items():
        now = after.get(guard_id)
        if now is None:
            watches = any(seat.placed.id == guard_id for seat in new.seats)
            yield Loosening(guard.what, "enforced → shadow" if watches else "it is gone")
        elif now.use != guard.use:
            yield changed(guard.what, "use", guard.use, now.use)
        elif now.entry != guard.entry or now.standing() != guard.standing():
            news.append(now)
            yield from _changes(guard, now)
        elif now.use in told:
            news.append(now)
    added = [guard for guard_id, guard in after.items() if guard_id not in before]
    for guard in added:
        yield from _adding(guard, old)
    for guard in (*news, *added):
        yield from _hidden_by(
            guard, [one for one in before.values() if one.placed.id != guard.placed.id]
        )


def _enforced(policy: CompiledPolicy) -> dict[str, _Guard]:
    """The guards that refuse, by id; a seat beside another follows from that one's options."""
    seats = {seat.placed.id: seat for seat in policy.seats}
    entries = {id_of(entry): entry for entry in policy.file.guards if entry.enabled}
    found = {guard_id: _Guard(entry, seats[guard_id]) for guard_id, entry in entries.items()}
    return {guard_id: guard for guard_id, guard in found.items() if not guard.placed.shadow}


def _changes(old: _Guard, new: _Guard) -> Iterator[Loosening]:
    was, now = old.standing(), new.standing()
    for name in was:
        wanted = PLACEMENT[name]
        if not keeps(wanted, was[name], now[name]):
            yield changed(new.what, name, was[name], now[name], sure=wanted is not Stricter.SAME)
    options = ways_of(new.use)
    for name in new.entry.__struct_fields__:
        if name in _PLACED:
            continue
        before, after = getattr(old.entry, name), getattr(new.entry, name)
        stricter = options.get(name, Stricter.SAME)
        held = before == after or (
            _holds(old, new, name, stricter) and keeps(stricter, before, after)
        )
        if stricter is Stricter.BY_STAGE:
            held = before == after or _severer_everywhere(old, new)
        if not held and new.use == "rule" and name in ("when", "check"):
            closed = not (old.placed.fail_open or new.placed.fail_open)
            held = rule_keeps(old.entry, new.entry, name, closed)
        if not held:
            yield changed(new.what, name, before, after, sure=stricter is not Stricter.SAME)


def _holds(old: _Guard, new: _Guard, name: str, stricter: Strictness) -> bool:
    """Whether the direction of an option holds for this guard. A guard gives one finding: a mild
    one may stand in the place of a severe one.

    1. Words change nothing.
    2. Where an option has the last word, what finds more may take it away.
    3. A guard that says the worst, or has one answer, is as strict as what it finds.
    4. An action can be raised where it was found before; one that was not looked at has to be the
       severest.
    5. Everything else finds more, and that has to be refused, whatever it is.
    """
    if stricter is Stricter.WORDS:
        return True
    if stricter is not Stricter.LAST_ACTION and any(
        getattr(old.entry, other) not in NOT_LOOKED_AT
        for other, one in ways_of(new.use).items()
        if one is Stricter.LAST_ACTION
    ):
        return False
    if _one_answer(old) and _one_answer(new):
        return True
    if stricter not in (Stricter.ACTION, Stricter.LAST_ACTION, Stricter.GIVEN_ACTION):
        return all(
            min(some) >= Action.ESCALATE
            for guard in (old, new)
            for some in guard.answers().values()
        )
    before, after = getattr(old.entry, name), getattr(new.entry, name)
    worst = max(action for some in old.answers().values() for action in some)
    return before not in NOT_LOOKED_AT or after in NOT_LOOKED_AT or NAMED[after] >= worst


_PLACED: Final = frozenset(Placement.__struct_fields__) - {"effects"}


def _one_answer(guard: _Guard) -> bool:
    """Whether finding more can only lead to an answer that is as severe."""
    if having(guard.placed.guard, "says_worst") is not None:
        return True
    return all(len(set(some)) <= 1 for some in guard.answers().values())


def _severer_everywhere(old: _Guard, new: _Guard) -> bool:
    was, now = old.answers(), new.answers()
    return all(
        stage in now
        and len(some) == len(now[stage])
        and all(severer(*pair) for pair in zip(some, now[stage], strict=True))
        for stage, some in was.items()
    )


def _adding(guard: _Guard, old: CompiledPolicy) -> Iterator[Loosening]:
    """What stands against a guard being there at all: what it does besides refusing, or state that
    it shares."""
    own = guard.placed.guard
    if having(own, "does_more") is not None or _declares_nothing(guard.use):
        yield Loosening(guard.what, f"added, and `{guard.use}` does more than refuse")
    elif getattr(guard.entry, "effects", ()):
        yield Loosening(guard.what, "added, and it has effects besides refusing")
    elif guard.placed.kind in (Kind.RECORD, Kind.METER):
        alike = [
            placed
            for placed in (seat.placed for seat in old.seats)
            if placed.guard.name == guard.use
        ]
        # What only watches remembers apart.
        counting = [placed for placed in alike if not placed.shadow]
        shares = [
            placed.id
            for placed in counting
            if _counter(placed.guard) == _counter(guard.placed.guard)
        ]
        if shares:
            yield Loosening(guard.what, f"added, and it writes what guard `{shares[0]}` remembers")


def _declares_nothing(use: str) -> bool:
    """Whether a guard has options and says of none which way it becomes stricter: then nobody knows
    what it does."""
    said = ways_of(use).values()
    return bool(said) and all(stricter is Stricter.SAME for stricter in said)


def _counter(guard: Any) -> Any:
    return getattr(guard, "counter", None)


def _hidden_by(guard: _Guard, others: list[_Guard]) -> Iterator[Loosening]:
    """A refusal skips the guards behind it: one that ends the run or isolates a tool may not be
    reached any more."""
    for stage, some in guard.answers().items():
        stops = [action for action in some if action >= STOPS]
        for other in others if stops else ():
            behind = order(guard.placed) < order(other.placed)
            worst = other.worst(stage)
            if behind and worst > min(stops):
                how = (
                    f"it may now refuse before guard `{other.placed.id}`, which answers "
                    f"{worst.name.lower()}"
                )
                yield Loosening(guard.what, how)
                return


def _listed(names: Names | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(sorted((*names.exact, *names.globs)))
