"""Rules: what every rule has, the three that PenguiFlow brings, the registry of those that a
gateway judges by, and the inbox of those that are DEEP; how long an event waits for these, and what
their silence means, by the risk of its tool."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, Literal, Protocol

import msgspec

from stanchion.dialects.errors import DialectError
from stanchion.dialects.penguiflow.events import (
    EVENT_TYPES,
    ContextSnapshotV1,
    GuardrailEvent,
    ToolRiskTier,
)
from stanchion.dialects.penguiflow.words import GuardrailDecision, RuleCost, shown, typed
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion.policy.nearest import hint

LONGEST_MS: Final = 60_000
"""How long a call waits for a rule at the most."""
OnTimeout = Literal["allow", "pause", "stop"]


class RiskRoutingDecision(msgspec.Struct, frozen=True):
    """How long an event waits, and what happens without an answer. Every DEEP rule is asked:
    nothing takes one out."""

    async_wait_ms: float = 0.0
    on_timeout: OnTimeout = "allow"


class DefaultRiskRouter:
    """Routes by the risk of the tool: a critical call is stopped without an answer, one of high
    risk waits for a person, others go ahead."""

    def __init__(
        self,
        high_risk_wait_ms: float = 200.0,
        medium_risk_wait_ms: float = 100.0,
        critical_fail_closed: bool = True,
    ) -> None:
        self.changes = 0
        """How often the times were given: a gateway puts them in force when they change."""
        self.set_waits(high_risk_wait_ms, medium_risk_wait_ms)
        if critical_fail_closed is not True:
            raise DialectError("`critical_fail_closed` cannot be switched off: leave it out")

    def set_waits(self, high_risk_wait_ms: float, medium_risk_wait_ms: float) -> None:
        """Say how long calls of high and critical risk wait, and those of medium risk, in
        milliseconds."""
        for name, value in (
            ("high_risk_wait_ms", high_risk_wait_ms),
            ("medium_risk_wait_ms", medium_risk_wait_ms),
        ):
            if type(value) not in (int, float) or not 0 <= value <= LONGEST_MS:
                raise DialectError(
                    f"`{name}` is `{value}`: give milliseconds from 0 to {LONGEST_MS:,}"
                )
        self.high_risk_wait_ms, self.medium_risk_wait_ms = high_risk_wait_ms, medium_risk_wait_ms
        self.changes += 1

    def route(
        self, event: GuardrailEvent, context_snapshot: ContextSnapshotV1
    ) -> RiskRoutingDecision:
        """How long this event waits; what is no call of a tool is of medium risk."""
        tool = context_snapshot.current_tool
        risk = ToolRiskTier.MEDIUM if tool is None else tool.risk_tier
        match risk:
            case ToolRiskTier.CRITICAL:
                return RiskRoutingDecision(self.high_risk_wait_ms, "stop")
            case ToolRiskTier.HIGH:
                return RiskRoutingDecision(self.high_risk_wait_ms, "pause")
            case ToolRiskTier.MEDIUM:
                return RiskRoutingDecision(self.medium_risk_wait_ms)
            case ToolRiskTier.LOW:
                return RiskRoutingDecision()


EVALUATE: Final = "def evaluate(self, event, context_snapshot)"
SETTINGS: Final = ("id", "enabled", "config", "mode", "effects")
"""What an entry of a pack says of a rule."""


class GuardrailRule(Protocol):
    """A rule of one's own. `evaluate(event, context_snapshot)` gives a decision, or `None` to pass,
    sync or async."""

    rule_id: str
    cost: RuleCost
    supports_event_types: frozenset[str]
    enabled: bool

    def evaluate(self, event: GuardrailEvent, context_snapshot: ContextSnapshotV1, /) -> Any: ...


class ToolAllowlistRule(msgspec.Struct, kw_only=True):
    """Stops calls of tools that are denied, or that are not among those allowed; an empty list
    allows none. Without either it lets every call pass, until a pack says which."""

    rule_id: ClassVar[str] = "tool-allowlist"
    supports_event_types: ClassVar[frozenset[str]] = frozenset({"tool_call_start"})
    cost: ClassVar[RuleCost] = RuleCost.FAST
    enabled: bool = True
    denied_tools: frozenset[str] | None = None
    allowed_tools: frozenset[str] | None = None

    def __post_init__(self) -> None:
        typed(self)

    def config(self) -> dict[str, Any]:
        """What a pack would say of it."""
        said = {"denied_tools": self.denied_tools, "allowed_tools": self.allowed_tools}
        return {name: sorted(tools) for name, tools in said.items() if tools is not None}


class SecretRedactionRule(msgspec.Struct, kw_only=True):
    """Takes secrets out of results and replies: those that Stanchion knows, and those of further
    patterns by name."""

    rule_id: ClassVar[str] = "secret-redaction"
    supports_event_types: ClassVar[frozenset[str]] = frozenset(
        {"tool_call_result", "llm_stream_chunk"}
    )
    cost: ClassVar[RuleCost] = RuleCost.FAST
    enabled: bool = True
    patterns: Mapping[str, str | re.Pattern[str]] = {}

    def __post_init__(self) -> None:
        typed(self, "enabled")
        fits = isinstance(self.patterns, Mapping) and all(
            isinstance(name, str) and isinstance(one, str | re.Pattern)
            for name, one in self.patterns.items()
        )
        if not fits:
            raise DialectError(
                "SecretRedactionRule.patterns does not fit: give a dict of patterns by their names"
            )

    def config(self) -> dict[str, Any]:
        """What a pack would say of it."""
        return (
            {"patterns": {name: _source(one) for name, one in self.patterns.items()}}
            if self.patterns
            else {}
        )


class InjectionPatternRule(msgspec.Struct, kw_only=True):
    """Stops texts that try to command the agent: those that Stanchion finds, and those of further
    patterns, each with what such a text wants."""

    rule_id: ClassVar[str] = "injection-patterns"
    supports_event_types: ClassVar[frozenset[str]] = frozenset({"llm_before", "tool_call_result"})
    cost: ClassVar[RuleCost] = RuleCost.FAST
    enabled: bool = True
    patterns: Iterable[tuple[str, str]] = ()

    def __post_init__(self) -> None:
        typed(self, "enabled")
        given: Any = self.patterns
        listed = (
            ()
            if isinstance(given, str | Mapping) or not isinstance(given, Iterable)
            else tuple(given)
        )
        pairs = [one for one in listed if isinstance(one, tuple | list) and len(one) == 2]
        if (
            not all(isinstance(part, str) for one in pairs for part in one)
            or len(pairs) < len(listed)
            or (not listed and given != () and given != [])
        ):
            raise DialectError(
                "InjectionPatternRule.patterns does not fit: give pairs, each a pattern and what "
                "such a text wants"
            )
        self.patterns = listed

    def config(self) -> dict[str, Any]:
        """What a pack would say of it."""
        said = [{"pattern": pattern, "intent": str(intent)} for pattern, intent in self.patterns]
        return {"patterns": said} if said else {}


def _source(pattern: str | re.Pattern[str]) -> str:
    if isinstance(pattern, str):
        return pattern
    return f"(?i){pattern.pattern}" if pattern.flags & re.IGNORECASE else pattern.pattern


BUILT_IN: Final = (ToolAllowlistRule, SecretRedactionRule, InjectionPatternRule)
BuiltIn = ToolAllowlistRule | SecretRedactionRule | InjectionPatternRule


class RuleOverrides(msgspec.Struct, frozen=True):
    """What a pack says of a rule of one's own, over what the rule says itself."""

    enabled: bool | None = None
    mode: str = "enforce"
    effects: tuple[str, ...] = ()


class RuleRegistry:
    """The rules of a gateway, in the order in which they were registered."""

    def __init__(self) -> None:
        self.changes = 0
        """How often something was registered or told: a gateway puts it in force."""
        self._own: dict[str, Any] = {}
        self._fast: set[str] = set()
        self._built_in: dict[str, BuiltIn] = {}
        self.told: dict[str, RuleOverrides] = {}
        """What a pack says of rules of one's own, by their ids."""
        self.sealed = ""
        """Why no more rules can be registered; empty where they can."""

    def register(self, rule: Any) -> None:
        """Have a gateway judge by a rule: inline where its cost is FAST, from a queue where it is
        DEEP."""
        self._enter(rule, _cost(rule) is RuleCost.FAST)

    def register_sync(self, rule: Any) -> None:
        """Have a gateway judge by a rule inline, whatever its cost is."""
        self._enter(rule, True)

    def _enter(self, rule: Any, fast: bool) -> None:
        if self.sealed:
            raise DialectError(self.sealed)
        name = _id(rule)
        if name in self._own or name in self._built_in:
            raise DialectError(
                f"there is a rule `{name}` already: give this one a `rule_id` of its own"
            )
        if isinstance(rule, BUILT_IN):
            _carried_out(rule, name)
            self._built_in[name] = rule
        else:
            _checked(rule, name)
            self._own[name] = rule
            if fast:
                self._fast.add(name)
        self.changes += 1

    def is_fast(self, rule_id: str) -> bool:
        """Whether a rule of one's own is judged inline."""
        return rule_id in self._fast

    def get_sync_rules(self, event_type: str) -> list[Any]:
        """The rules that are judged inline at an event: PenguiFlow's, then one's own."""
        own = [rule for rule in self._at(event_type) if rule.rule_id in self._fast]
        built_in = self._built_in.values()
        return [
            *[one for one in built_in if one.enabled and event_type in one.supports_event_types],
            *own,
        ]

    def get_async_rules(self, event_type: str) -> list[Any]:
        """The rules of one's own that are judged from the queue at an event."""
        return [rule for rule in self._at(event_type) if rule.rule_id not in self._fast]

    def _at(self, event_type: str) -> list[Any]:
        known_event(event_type)
        return [
            one
            for one in self._own.values()
            if self.is_enabled(one) and event_type in one.supports_event_types
        ]

    def is_enabled(self, rule: Any) -> bool:
        """Whether a rule of one's own is judged: as a pack says, or else as the rule does."""
        told = self.told.get(rule.rule_id)
        own = bool(getattr(rule, "enabled", True))
        return own if told is None or told.enabled is None else told.enabled

    @property
    def own(self) -> dict[str, Any]:
        """The rules of one's own, by their ids."""
        return dict(self._own)

    def all_rules(self) -> list[Any]:
        """Every rule that was registered: PenguiFlow's, then one's own."""
        return [*self._built_in.values(), *self._own.values()]

    def entries(self) -> dict[str, dict[str, Any]]:
        """PenguiFlow's rules as a pack would list them, by their ids."""
        return {name: _entry(rule, name) for name, rule in self._built_in.items()}


def _entry(rule: Any, name: str) -> dict[str, Any]:
    """One of PenguiFlow's rules as a pack would list it."""
    return {"id": name, "enabled": rule.enabled, "config": rule.config()}


def says_nothing(entry: dict[str, Any]) -> bool:
    """Whether it is the entry of a rule that needs settings and has none yet."""
    return entry["id"] == ToolAllowlistRule.rule_id and not entry.get("config")


def _carried_out(rule: Any, name: str) -> None:
    """Raise where a rule of PenguiFlow's says what cannot be carried out, as a pattern can."""
    entry = _entry(rule, name)
    if says_nothing(entry):
        return
    try:
        load_policy({"policy_pack": "rule", "version": "1", "sync_rules": [entry]})
    except PolicyError as error:
        raise DialectError(f"{type(rule).__name__}: {error.faults[0].message}") from None


def known_event(event_type: str) -> None:
    """Raise where there is no such event."""
    if event_type not in EVENT_TYPES:
        raise DialectError(
            f"there is no event `{event_type}`: {hint(str(event_type), EVENT_TYPES)}"
        )


def answer_of(rule_id: str, answer: Any) -> GuardrailDecision | None:
    """What a rule answered, if it is an answer."""
    if answer is None or isinstance(answer, GuardrailDecision):
        return answer
    raise DialectError(
        f"the rule `{rule_id}` answered with `{type(answer).__name__}`: give a GuardrailDecision "
        f"or None"
    )


def _id(rule: Any) -> str:
    name = getattr(rule, "rule_id", None)
    if isinstance(rule, type):
        raise DialectError(
            f"`{rule.__name__}` is a class: register one of its objects, `{rule.__name__}()`"
        )
    if not isinstance(name, str) or not name:
        raise DialectError(
            f"`{type(rule).__name__}` has no `rule_id`: a rule needs one to be known by"
        )
    return name


def _cost(rule: Any) -> RuleCost:
    cost = getattr(rule, "cost", None)
    if cost is None:
        raise DialectError(
            f"the rule `{_id(rule)}` has no `cost`: give `RuleCost.FAST` or `RuleCost.DEEP`"
        )
    try:
        return RuleCost(cost)
    except ValueError:
        raise DialectError(
            f"the rule `{_id(rule)}` has the cost `{cost}`: {hint(str(cost), list(RuleCost))}"
        ) from None


def takes_both(method: Any) -> bool:
    """Whether it can be called with an event and what goes with it; where nobody can say, the first
    event tells."""
    try:
        parameters = inspect.signature(method)
    except (TypeError, ValueError):
        return True
    try:
        parameters.bind(None, None)
    except TypeError:
        return False
    return True


def _checked(rule: Any, name: str) -> None:
    if not callable(getattr(rule, "evaluate", None)):
        raise DialectError(f"the rule `{name}` has no method `evaluate(event, context_snapshot)`")
    if not takes_both(rule.evaluate):
        raise DialectError(
            f"`evaluate` of the rule `{name}` takes other parameters: write `{EVALUATE}`"
        )
    enabled = getattr(rule, "enabled", True)
    if not isinstance(enabled, bool):
        raise DialectError(
            f"the rule `{name}` has `enabled` as {shown(enabled)}: give True or False"
        )
    events = getattr(rule, "supports_event_types", None)
    if (
        events is None
        or isinstance(events, str)
        or not isinstance(events, Iterable)
        or not list(events)
    ):
        raise DialectError(
            f"the rule `{name}` has no `supports_event_types`: name the events that it judges"
        )
    for event in events:
        known_event(event)


class AsyncRuleEvaluator:
    """Says which DEEP rules are asked about an event: all that judge it, whatever the event
    says."""

    def __init__(self, registry: RuleRegistry) -> None:
        if not isinstance(registry, RuleRegistry):
            raise DialectError(
                f"AsyncRuleEvaluator was given a `{type(registry).__name__}`: give it the "
                f"RuleRegistry"
            )
        self.registry = registry

    def rules(self, event_type: str) -> list[Any]:
        """The DEEP rules that are asked about such an event."""
        return self.registry.get_async_rules(event_type)


class InMemoryGuardInbox:
    """Has DEEP rules asked in this process. What they answer too late enters the run's next
    event."""

    def __init__(self, evaluator: AsyncRuleEvaluator) -> None:
        if not isinstance(evaluator, AsyncRuleEvaluator):
            raise DialectError(
                f"InMemoryGuardInbox was given a `{type(evaluator).__name__}`: give it "
                f"AsyncRuleEvaluator(registry)"
            )
        self.evaluator = evaluator


def checked_inbox(given: Any, registry: RuleRegistry) -> InMemoryGuardInbox:
    """The inbox of a gateway, which asks the rules of its registry; made where none was given."""
    if given is None:
        return InMemoryGuardInbox(AsyncRuleEvaluator(registry))
    if not isinstance(given, InMemoryGuardInbox):
        raise DialectError(
            f"`guard_inbox` is a `{type(given).__name__}`: give an InMemoryGuardInbox, or leave it "
            f"out"
        )
    if given.evaluator.registry is not registry:
        raise DialectError(
            "`guard_inbox` asks the rules of another RuleRegistry: give it "
            "AsyncRuleEvaluator(registry)"
        )
    return given
