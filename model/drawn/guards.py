"""Guards of all four kinds whose judgement is a small table, made for being drawn."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.content import content_of
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.guard import Kind, Ruling, Switch
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Line, When, key
from stanchion.readings import Reading

SECRET = "secret"
GONE = "[gone]"

PATHS: dict[Stage, tuple[str | int, ...]] = {
    Stage.TOOL_CALL: ("text",),
    Stage.TOOL_RESULT: ("text",),
    Stage.MODEL_CALL: ("messages", 0, "text"),
    Stage.EGRESS: ("payload", "text"),
    Stage.HANDOFF: ("text",),
    Stage.HANDOFF_DONE: ("text",),
}
"""Where a drawn event has its text, by stage; the others are a text themselves."""


def mark_of(event: Event) -> int:
    """The small number by which drawn guards tell events apart; no patch touches it."""
    return int(event.call)


def text_of(event: Event) -> str:
    """The text of a drawn event; a charge has none."""
    if event.stage == Stage.CHARGE:
        return ""
    value = content_of(event)
    for step in PATHS.get(event.stage, ()):
        value = value[step]
    return str(value)


def parity_of(_event: Event) -> str:
    """A reading that tells nothing: no guard is to be found under it that has a better one."""
    return "any"


class Rule(msgspec.Struct, frozen=True):
    """What is said of events with that mark (-1: any) and that word: a finding, an error, or
    nonsense."""

    mark: int
    word: str = ""
    says: Finding | None = None
    edit: str = ""
    raises: bool = False
    nonsense: bool = False

    def matches(self, mark: int, text: str) -> bool:
        """Whether the rule speaks of such an event."""
        return self.mark in (-1, mark) and self.word in text

    def say(self, event: Event) -> Any:
        """The rule's answer."""
        if self.raises:
            raise LookupError("drawn to fail")
        if self.nonsense or self.says is None:
            return "nonsense" if self.nonsense else None
        return (
            msgspec.structs.replace(self.says, patches=edits(self.edit, event))
            if self.edit
            else self.says
        )


def edits(kind: str, event: Event) -> tuple[Patch, ...]:
    """Patches of a kind: those that fit, that must be made again, that do not fit, that fit no
    event at all."""
    path = PATHS.get(event.stage, ())
    text = text_of(event)
    at = text.find(SECRET)
    match kind:
        case "span" if at >= 0:
            return (Patch(path, GONE, at, at + len(SECRET)),)
        case "whole":
            return (Patch(path, f"nothing {GONE}"),)
        case "stays" if at >= 0:
            return (Patch(path, SECRET, at, at + len(SECRET)),)
        case "wide":
            return (Patch(path, GONE, len(text), len(text) + 1),)
        case "lost":
            return (Patch(("nowhere",), 1),)
        case "odd":
            return (Patch((), 7),)
        case _:
            return ()


def _first(rules: tuple[Rule, ...], mark: int, event: Event) -> Any:
    """The first rule that speaks of the event; its text is read only where a rule has its mark."""
    text: str | None = None
    for rule in rules:
        if rule.mark in (-1, mark):
            text = text_of(event) if text is None else text
            if rule.matches(mark, text):
                return rule.say(event)
    return None


class Watcher(msgspec.Struct, frozen=True):
    """A pure guard by rules."""

    kind: ClassVar[Kind] = Kind.PURE
    rules: tuple[Rule, ...] = ()
    switched: bool = False
    only_marks: bool = False

    @property
    def switches(self) -> tuple[Switch, ...]:
        """The marks without which no rule matches; none where a rule speaks of any."""
        marks = frozenset(rule.mark for rule in self.rules)
        return (
            ((mark_of, marks), (parity_of, frozenset({"any"})))
            if self.switched and -1 not in marks
            else ()
        )

    def judge(self, reading: Reading[Event]) -> Any:
        """The first rule that matches."""
        event = reading.event
        return _first(self.rules, mark_of(event), event)


class Asker(msgspec.Struct, frozen=True):
    """An asking guard: the answer is a mark for its rules. It does not ask of one mark, and fails
    at another."""

    kind: ClassVar[Kind] = Kind.ASKING
    rules: tuple[Rule, ...] = ()
    deep: bool = False
    silent: int = -1
    raises: int = -1

    def ask(self, reading: Reading[Event]) -> Lookup | None:
        """A question that only tells the mark."""
        event = reading.event
        if mark_of(event) == self.raises:
            raise LookupError("drawn to fail")
        return None if mark_of(event) == self.silent else Lookup("", mark_of(event), 50)

    def judge(self, reading: Reading[Event], value: Any) -> Any:
        """The first rule that matches the answer."""
        event = reading.event
        return _first(self.rules, int(value), event)


class Looper(msgspec.Struct, frozen=True):
    """A record guard that keeps the last marks and speaks when one repeats."""

    kind: ClassVar[Kind] = Kind.RECORD
    name: str
    repeats: int
    says: Finding
    writes: When = When.JUDGED
    raises: int = -1
    nonsense: int = -1

    def key(self, event: Event) -> str:
        """One record for all runs of a tenant."""
        return key(event.run.tenant, "loop", self.name)

    def judge(self, reading: Reading[Event], value: Any, now: int) -> Any:
        """Speaks when a mark is among the last five often enough."""
        event = reading.event
        mark = mark_of(event)
        if mark == self.raises:
            raise LookupError("drawn to fail")
        marks: list[int] = [*(value if value is not None else []), mark][-5:]
        if mark == self.nonsense:
            return Ruling("nonsense", marks)  # type: ignore[arg-type]  # a guard may return anything
        return Ruling(self.says if marks.count(mark) >= self.repeats else None, marks)


class Grumbler(Looper, frozen=True):
    """A looper that also keeps the marks of what was refused, by whichever guard, and says so when
    one repeats."""

    def refused(self, reading: Reading[Event], value: Any, finding: Finding) -> Any:
        """Speaks when a mark was refused often enough; it has nothing to say of what it refused
        itself."""
        mark = mark_of(reading.event)
        if mark == self.raises:
            raise LookupError("drawn to fail")
        if finding.guard == self.name:
            return None
        marks: list[int] = [*(value if value is not None else []), mark][-5:]
        if mark == self.nonsense:
            return Ruling("nonsense", marks)  # type: ignore[arg-type]  # a guard may return anything
        args = (finding.guard, finding.code, finding.about)
        says = (
            msgspec.structs.replace(self.says, args=args)
            if marks.count(mark) >= self.repeats
            else None
        )
        return Ruling(says, marks)


class Breaker(msgspec.Struct, frozen=True):
    """A record guard that one mark opens for a while; what it says depends on the store's time."""

    kind: ClassVar[Kind] = Kind.RECORD
    name: str
    trips: int
    for_ms: int
    says: Finding
    writes: When = When.PROCEED

    def key(self, event: Event) -> str:
        """One record for each tool."""
        return key(event.run.tenant, "breaker", self.name, event.tool)

    def judge(self, reading: Reading[Event], value: Any, now: int) -> Ruling | None:
        """Speaks while it is open."""
        event = reading.event
        put = {"until": event.at + self.for_ms} if mark_of(event) == self.trips else None
        if value is None:
            return Ruling(put=put) if put is not None else None
        if now < value["until"]:
            return Ruling(self.says, put, until=value["until"])
        return Ruling(put=put, since=value["until"])


class Meter(msgspec.Struct, frozen=True):
    """A meter on drawn lines. At one tool it cannot say them; at one mark it cannot word what was
    found."""

    kind: ClassVar[Kind] = Kind.METER
    drawn: tuple[Line, ...] = ()
    fails_at: str = ""
    wordless: int = -1
    milder: int = -1
    effects: tuple[str, ...] = ()
    edit: str = ""

    def lines(self, event: Event) -> tuple[Line, ...]:
        """The drawn lines, on counters of the tenant, the task and the run."""
        if event.tool == self.fails_at:
            raise LookupError("drawn to fail")
        scopes = {"tenant": event.run.tenant, "task": event.run.task, "run": event.run.id}
        return tuple(
            [line._replace(key=scoped(line.key, event.run.tenant, scopes)) for line in self.drawn]
        )

    def word(
        self, event: Event, action: Action, values: tuple[int, ...], said: tuple[int, ...]
    ) -> Any:
        """The values and what their bands said, as they are."""
        if mark_of(event) == self.wordless:
            return None
        milder = Action.ALLOW if mark_of(event) == self.milder else action
        return Finding(
            milder,
            "drawn.meter",
            (*values, *said),
            effects=self.effects,
            patches=edits(self.edit, event),
        )


def scoped(name: str, tenant: str, scopes: dict[str, str]) -> str:
    """A drawn counter's key: its name says whose it is."""
    scope, _, counter = name.partition("/")
    return key(tenant, scope, scopes[scope], counter)
