"""The structs that are the schema of a PenguiFlow policy pack."""

from __future__ import annotations

from typing import Annotated, Any, Literal

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

    timeout_ms: Milliseconds = 15.0
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


class Tools(FileSection, frozen=True):
    """Which tools may be called: those of a list, or all but those of a list."""

    allowed_tools: tuple[str, ...] | None = None
    denied_tools: tuple[str, ...] | None = None


class OwnCode(FileSection, frozen=True):
    """A rule of one's own: the code that judges, as `module:name`, and the events that it is asked
    about."""

    call: str
    events: tuple[EventName, ...] = ("tool_call_start",)
