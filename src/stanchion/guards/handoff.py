"""Handoff: control passes only to an agent that is known and can do what is needed, with all that
it needs to know."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar, Final

import msgspec

from stanchion import typed
from stanchion.kernel.actions import Category
from stanchion.kernel.contract.values import UNSAID, PolicySaid, keep_said
from stanchion.kernel.events import SPAWNED, Event, Handoff as Handing, HandoffDone
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind, Ruling
from stanchion.kernel.option import (
    ACTIONS,
    More,
    On,
    PlainActionName,
    list_actions,
)
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import When, key
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading
from stanchion.readings.canonical import canonical

CODES: Final = declare(
    {
        "handoff.incomplete": Words(
            "the handoff to agent `{}` has no `{}`",
            "add what the other agent needs to know, and hand over again",
        ),
        "handoff.malformed": Words(
            "the handoff to agent `{}` says `{}` under `{}`, and it has to be {}",
            "correct it, and hand over again",
        ),
        "handoff.unknown": Words(
            "agent `{}` is not known: it is not in the policy",
            "hand over to an agent that the policy names",
        ),
        "handoff.unable": Words(
            "the handoff needs `{}`, which agent `{}` cannot do",
            "hand over to an agent that has this capability",
        ),
        "handoff.too_deep": Words(
            "the work has been escalated {} times in a row, and {} is the most",
            "do not pass it on again: ask a person, or do it with what you have",
        ),
        "handoff.rerouted": Words(
            "this handoff has been sent to other agents {} times, and nobody accepted it; {} is "
            "the most",
            "ask a person, or go on without it",
        ),
    }
)

MAX_DEPTH: Final = 3
"""How often work may be escalated in a row."""
MAX_REROUTES: Final = 3
"""How often a handoff that nobody has accepted may be sent to somebody else."""
KEPT: Final = 16
"""How many handoffs are remembered that nobody has accepted yet."""
TYPES: Final = ("sequential", "delegation", "broadcast", "escalation")
"""What a handoff can be."""
PLACES: Final = {
    "context": (("context",),),
    "artifacts": (("artifacts",), ("context", "artifacts")),
    "rationale": (("rationale",), ("audit", "decision_rationale"), ("reason",)),
    "capabilities": (("required_capabilities",), ("validation", "required_capabilities")),
}
"""Where each field stands in a payload; any other stands where its name says, as
`return_protocol.timeout` does."""
KINDS: Final[Mapping[str, tuple[tuple[type, ...], str]]] = {
    "context": ((dict, str), "a mapping or a text"),
    "artifacts": ((list,), "a list of names"),
    "rationale": ((str,), "a text"),
}
"""What the fields that every handoff has can be, and how that is said."""
ROUTING: Final = frozenset({"id", "timestamp", "to_agent"})
"""What of a payload changes when the same handoff is sent to somebody else."""

Found = Callable[[str], Any]


class Sent(msgspec.Struct, frozen=True, array_like=True):
    """A handoff that nobody has accepted yet: what it is, how often it went to somebody else since,
    the last call, and whether it escalates."""

    what: str
    rerouted: int
    call: str
    escalates: bool


class Route(msgspec.Struct, frozen=True, array_like=True):
    """The way of some work: how often it was escalated in a row, and what is on its way."""

    depth: int = 0
    sent: tuple[Sent, ...] = ()


class Handoff(msgspec.Struct, frozen=True, dict=True):
    """Refuses a handoff that lacks what the receiver needs, and one to a receiver that is not known
    or not able.

    A handoff is complete when its payload has everything in `require`. It needs the capabilities
    that it names. Work is escalated three times in a row at most, and one handoff goes to somebody
    else three times at most before somebody accepts it.
    """

    name: ClassVar = "handoff"
    kind: ClassVar = Kind.RECORD
    writes: ClassVar = {
        **dict.fromkeys(Stage, When.JUDGED),
        Stage.HANDOFF: When.PROCEED,
    }
    stages: ClassVar = frozenset({Stage.HANDOFF, Stage.HANDOFF_DONE})
    answers_at: ClassVar = frozenset({Stage.HANDOFF})
    category: ClassVar = Category.COMPLIANCE
    priority: ClassVar = 20
    reads: ClassVar = frozenset(
        {("agents", "role"), ("agents", "capabilities"), ("roles", "capabilities")}
    )

    require: More[tuple[str, ...]] = ("context", "artifacts", "rationale")
    """What the payload must have: `context`, `artifacts`, `rationale`, or a field by its path, such
    as `return_protocol.timeout`."""
    known: On[bool] = True
    """If `true`, the receiver must be in `agents`."""
    action: PlainActionName = "block"
    """The action for a handoff that is incomplete, or that goes to an agent which may not get it.
    """
    counter: str | None = None
    """Guards with the same counter share what they remember; if absent, each entry has its own."""

    def __post_init__(self) -> None:
        if not all(part for name in self.require for part in name.split(".")):
            raise ValueError(
                "`require` has an empty name: write the name of a field, such as `rationale`"
            )

    said: ClassVar[PolicySaid] = UNSAID
    scoped = keep_said

    @cached_property
    def _tables(self) -> tuple[Found, Found, Found]:
        found, able = self.said.found, "capabilities"
        return found("agents", "role"), found("agents", able), found("roles", able)

    def key(self, event: Event, /) -> str:
        """The way of a task's work; without a task, that of a run and all that belong to it."""
        run = event.run
        whose = ("task", run.task) if run.task else ("run", run.root)
        return key(run.tenant, "handoff", "" if self.counter is None else self.counter, *whose)

    def judge(self, reading: Reading[Event], value: Any, _now: int, /) -> Ruling | None:
        """Judge a handoff, and keep where work goes."""
        event = reading.event
        route = Route() if value is None else typed.convert(value, Route)
        if isinstance(event, HandoffDone):
            left = _accepted(route, event)
            return None if left == route else Ruling(None, msgspec.to_builtins(left))
        if not isinstance(event, Handing) or SPAWNED in event.traits:
            return None
        wrong = next(self._faults(event), None)
        if wrong is not None:
            return Ruling(Finding(ACTIONS[self.action], *wrong))
        return self._sent(event, route)

    def _faults(self, event: Handing) -> Iterator[tuple[str, tuple[Any, ...]]]:
        """What is wrong with a handoff itself, as codes and what they say."""
        to, payload = event.to, event.payload
        for name in self.require:
            if not any(_given(found) for found in _at(payload, name)):
                yield "handoff.incomplete", (to, name)
        for name in KINDS:
            for found in _at(payload, name):
                wanted = _not_of_its_kind(name, found)
                if wanted:
                    yield "handoff.malformed", (to, _short(found), name, wanted)
        for name, said in (("from_agent", event.run.agent), ("to_agent", to)):
            if name in payload and payload[name] != said:
                yield "handoff.malformed", (to, _short(payload[name]), name, f"`{said}`")
        if "type" in payload and payload["type"] not in TYPES:
            yield (
                "handoff.malformed",
                (to, _short(payload["type"]), "type", f"one of {', '.join(TYPES)}"),
            )
        role_of, able, by_role = self._tables
        role = role_of(to)
        if self.known and role is None:
            yield "handoff.unknown", (to,)
        can = {*_listed(able(to)), *_listed(by_role(role) if role else None)}
        for needed in _needed(payload):
            if not isinstance(needed, str):
                yield (
                    "handoff.malformed",
                    (to, _short(needed), "required_capabilities", "a list of names"),
                )
            elif needed not in can:
                yield "handoff.unable", (needed, to)

    def _sent(self, event: Handing, route: Route) -> Ruling | None:
        """Let a handoff go, unless the work was passed on too often."""
        escalates = event.payload.get("type") == "escalation"
        if escalates and route.depth >= MAX_DEPTH:
            return self._refused("handoff.too_deep", route.depth, MAX_DEPTH)
        if event.payload.get("type") == "broadcast":
            return None
        what = _what(event.payload)
        before = next((one for one in route.sent if one.what == what), None)
        rerouted = 0 if before is None else before.rerouted + 1
        if rerouted > MAX_REROUTES:
            return self._refused("handoff.rerouted", rerouted - 1, MAX_REROUTES)
        others = [one for one in route.sent if one.what != what]
        sent = (*others, Sent(what, rerouted, event.id, escalates))[-KEPT:]
        return Ruling(None, msgspec.to_builtins(Route(route.depth, sent)))

    def _refused(self, code: str, *args: int) -> Ruling:
        return Ruling(Finding(ACTIONS[self.action], code, args))

    actions = list_actions


def _accepted(route: Route, event: HandoffDone) -> Route:
    """The way once somebody has accepted: an escalation leads one deeper, anything else back to the
    top."""
    done = next((one for one in route.sent if one.call == event.call), None)
    if done is None:
        return route
    return Route(
        route.depth + 1 if done.escalates else 0, tuple([one for one in route.sent if one != done])
    )


def _at(payload: Mapping[str, Any], name: str) -> Iterator[Any]:
    """What a payload has at the places of a field."""
    for path in PLACES.get(name, (tuple(name.split(".")),)):
        found: Any = payload
        for part in path:
            found = found.get(part) if isinstance(found, dict) else None
        yield found


def _given(value: Any) -> bool:
    """Whether a field says something: a list may be empty, a text and a mapping may not."""
    if isinstance(value, str):
        return bool(value.strip())
    return value is not None and value != {}


def _not_of_its_kind(name: str, value: Any) -> str:
    """What a field has to be where it is something else; empty where it is that, or not there."""
    kinds, wanted = KINDS[name]
    if value is None:
        return ""
    if isinstance(value, list) and list in kinds:
        return (
            ""
            if all(
                isinstance(each, dict) or (isinstance(each, str) and each.strip()) for each in value
            )
            else wanted
        )
    return "" if isinstance(value, kinds) else wanted


def _needed(payload: Mapping[str, Any]) -> Iterator[Any]:
    """The capabilities that a handoff asks for; what is no list of names is given as it is."""
    for found in _at(payload, "capabilities"):
        if isinstance(found, list):
            yield from found
        elif found is not None:
            yield {"not": found}


def _what(payload: Mapping[str, Any]) -> str:
    """What is handed over, whoever gets it: by the handoff's own id, or by what it says."""
    own = payload.get("id")
    said = (
        own
        if isinstance(own, str) and own
        else {name: each for name, each in payload.items() if name not in ROUTING}
    )
    return sha256(canonical(said).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _listed(value: Any) -> tuple[str, ...]:
    return tuple(value) if value is not None else ()


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else type(value).__name__
    return "".join([char if char.isprintable() and char != "`" else "?" for char in text[:80]])
