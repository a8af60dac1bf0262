"""The structs that are the schema of a PenguiFlow policy pack, and what each rule of a pack is
among the guards of a policy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec

from stanchion.kernel.actions import RiskName
from stanchion.policy.schema import FollowUpName
from stanchion.policy.sections import FileSection

Milliseconds = Annotated[float, msgspec.Meta(ge=0, le=86_400_000)]
Mode = Literal["enforce", "shadow"]
EventName = Literal["llm_before", "tool_call_start", "tool_call_result", "llm_stream_chunk"]
Intent = Literal[
    "jb_override",
    "exfil_prompt",
    "tool_escalation",
    "indirect_injection",
    "social_engineering",
    "benign",
]


class Sync(FileSection, frozen=True):
    """How fast rules are judged: how long a rule's own code may take, and whether one that breaks
    lets calls pass. `parallel` changes nothing: what is decided does not depend on the order in
    which rules are worked out."""

    timeout_ms: Milliseconds = 800.0
    parallel: bool = True
    fail_open: bool = False


class Async(FileSection, frozen=True):
    """Whether deep rules are judged at all, and whether one that breaks lets calls pass."""

    enabled: bool = True
    fail_open: bool = False


class Gateway(FileSection, frozen=True, rename={"deep": "async"}):
    """How rules are judged."""

    mode: Mode = "enforce"
    sync: Sync = Sync()
    deep: Async = Async()


class RuleEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A rule by its id, and its settings; one in shadow is judged and recorded, and changes
    nothing. Without `effects` it has those that PenguiFlow gives it."""

    id: str
    enabled: bool = True
    config: dict[str, Any] = {}
    mode: Mode = "enforce"
    effects: tuple[FollowUpName, ...] | None = None


class RiskRouter(FileSection, frozen=True):
    """How long a call waits for deep rules, by the risk of its tool."""

    high_risk_wait_ms: Milliseconds = 200.0
    medium_risk_wait_ms: Milliseconds = 100.0
    critical_fail_closed: bool = True


class Pack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One policy pack, in one of its environments or without any."""

    policy_pack: str
    version: str | int | float = "1"
    gateway: Gateway = Gateway()
    tool_risks: dict[str, RiskName] = {}
    sync_rules: tuple[RuleEntry, ...] = ()
    async_rules: tuple[RuleEntry, ...] = ()
    risk_router: RiskRouter = RiskRouter()


class NoConfig(FileSection, frozen=True):
    """A rule without settings."""


class Patterns(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Further kinds of secrets: a regular expression for each name."""

    patterns: dict[str, str] = {}


class JailbreakPattern(FileSection, frozen=True):
    """A regular expression, and what a text that matches it wants."""

    pattern: str
    intent: Intent = "jb_override"


class Jailbreaks(FileSection, frozen=True):
    """Further patterns of texts that are stopped."""

    patterns: tuple[JailbreakPattern, ...] = ()


class ToolLists(FileSection, frozen=True):
    """Which tools may be called: those of a list, or all but those of a list."""

    allowed_tools: tuple[str, ...] | None = None
    denied_tools: tuple[str, ...] | None = None


class OwnCode(FileSection, frozen=True):
    """A rule of one's own: the code that judges, as `module:name`, and the events that it is asked
    about."""

    call: str
    events: tuple[EventName, ...] = ("tool_call_start",)


STAGES: Final = {
    "llm_before": ("model_call",),
    "tool_call_start": ("tool_call",),
    "tool_call_result": ("tool_result", "error"),
    "llm_stream_chunk": ("model_chunk", "model_reply"),
}
"""Where each event is caught. What a tool fails with is a result as well, and a reply may come
whole."""
STOP: Final = "halt"
"""What a STOP is called in a policy: it ends the run."""
NOTHING: Final = "give `allowed_tools` or `denied_tools`, or leave the rule out"


class RuleGuard(NamedTuple):
    """One guard of a rule. `path` leads to where the rule's settings say it, `name` is what it is
    called behind the rule's id; the first has no name."""

    use: str
    options: dict[str, Any]
    name: str = ""
    path: tuple[str | int, ...] = ()


Parts = Callable[[Any, Pack, bool], Iterator[RuleGuard]]
"""Gives the guards of a rule by its settings, in a pack, as a deep rule or a fast one."""


class RuleBinding(NamedTuple):
    """What a rule's id stands for. `deep` is the list that it belongs to, `effects` are what it
    does besides its action; `lacks` is what this version does not have, so that the rule can be
    switched off and not on."""

    deep: bool
    config: Any
    parts: Parts
    effects: tuple[FollowUpName, ...] = ()
    lacks: str = ""


def _injection(config: Jailbreaks, _pack: Pack, _deep: bool) -> Iterator[RuleGuard]:
    stages = ["error", "handoff", "model_call", "prompt", "tool_result"]
    yield RuleGuard("injection", {"action": STOP, "users": True, "stages": stages})
    for at, one in enumerate(config.patterns):
        when = (
            f"event.text != null and "
            f"event.text.matches({json.dumps(f'(?i){one.pattern}', ensure_ascii=False)})"
        )
        said = {
            "when": when,
            "action": STOP,
            "stages": ["prompt"],
            "message": f"this looks like `{one.intent}`",
        }
        yield RuleGuard("rule", said, f"pattern-{at + 1}", ("patterns", at))


def _tools(config: ToolLists, _pack: Pack, _deep: bool) -> Iterator[RuleGuard]:
    if config.allowed_tools is not None:
        yield RuleGuard(
            "tool_allowlist",
            {"tools": config.allowed_tools, "action": STOP},
            "",
            ("allowed_tools",),
        )
    if config.denied_tools is not None:
        name = "" if config.allowed_tools is None else "denied"
        yield RuleGuard(
            "tool_denylist", {"tools": config.denied_tools, "action": STOP}, name, ("denied_tools",)
        )


def _secrets(config: Patterns, _pack: Pack, _deep: bool) -> Iterator[RuleGuard]:
    own = [
        {"kind": name.lower().replace("_", "-"), "pattern": said}
        for name, said in config.patterns.items()
    ]
    stages = [*STAGES["tool_call_result"], *STAGES["llm_stream_chunk"]]
    yield RuleGuard(
        "secrets", {"action": "redact", "patterns": own, "stages": stages}, "", ("patterns",)
    )


def unusable(config: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Where a rule's settings have a pattern of a secret that cannot be used, and why."""
    from stanchion.readings.scan.pattern import Pattern
    from stanchion.readings.scan.pattern_parser import PatternError

    for name, pattern in config.patterns.items() if isinstance(config, Patterns) else ():
        try:
            Pattern(pattern)
        except PatternError as error:
            yield ("patterns", name), str(error)


def _scope(_config: NoConfig, _pack: Pack, _deep: bool) -> Iterator[RuleGuard]:
    yield RuleGuard("scope_classifier", {"action": "warn"})


def waits_of(pack: Pack) -> dict[str, int]:
    """How long a call waits for deep rules, by its risk, in the words of a policy's section
    `deep`."""
    router = pack.risk_router
    high, medium = round(router.high_risk_wait_ms), round(router.medium_risk_wait_ms)
    return {"critical_wait_ms": high, "high_wait_ms": high, "medium_wait_ms": medium}


def _own(config: OwnCode, pack: Pack, deep: bool) -> Iterator[RuleGuard]:
    """A rule of one's own. What is asked cannot stop single pieces of a reply: it judges the whole
    one."""
    stages = [stage for event in config.events for stage in STAGES[event] if stage != "model_chunk"]
    options: dict[str, Any] = {
        "call": config.call,
        "deep": deep,
        "stages": list(dict.fromkeys(stages)),
    }
    if deep:
        options["deadline_ms"] = max(DEADLINE_MS, *waits_of(pack).values())
    else:
        options["deadline_ms"] = round(pack.gateway.sync.timeout_ms)
    yield RuleGuard("python", options, "", ("call",))


def _none(_config: Any, _pack: Pack, _deep: bool) -> Iterator[RuleGuard]:
    yield from ()


DEADLINE_MS: Final = 1_000
"""How long the code of a deep rule has at the least, whoever waits for it."""

BINDINGS: Final = {
    "injection-patterns": RuleBinding(
        False, Jailbreaks, _injection, ("flag_trajectory", "increment_strike")
    ),
    "tool-allowlist": RuleBinding(False, ToolLists, _tools),
    "secret-redaction": RuleBinding(False, Patterns, _secrets),
    "scope-classifier": RuleBinding(True, NoConfig, _scope),
    "hf-jailbreak": RuleBinding(
        True, dict, _none, lacks="classifier that loads a model by its name"
    ),
}
"""The rules that a pack can name."""


def binding_of(rule: RuleEntry, deep: bool) -> RuleBinding | None:
    """What a rule stands for: a rule of PenguiFlow's, or one's own, which names its code; `None`
    for no rule."""
    known = BINDINGS.get(rule.id)
    if known is None and "call" in rule.config:
        return RuleBinding(deep, OwnCode, _own)
    return known
