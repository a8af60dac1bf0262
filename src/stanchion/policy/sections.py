"""The sections of a policy file that are about people and about the engine itself."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from stanchion.kernel.lookups import WAITS_MS

Seconds = Annotated[float, msgspec.Meta(gt=0)]


class FileSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a file as it is written: a key that it does not know is a mistake."""


class Escalation(FileSection, frozen=True):
    """Whom an escalated action waits for, first to last, and how long; without an answer it is
    refused."""

    roles: tuple[str, ...] = ("reviewer", "architect", "human_operator")
    timeout_s: Seconds = 1800.0
    next_after_s: Seconds | None = None
    quorum: Annotated[int, msgspec.Meta(ge=1)] | None = None
    wait_s: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    tickets_for_a_run: Annotated[int, msgspec.Meta(ge=1)] = 100
    tickets_a_minute: Annotated[int, msgspec.Meta(ge=1)] = 30
    dialogs: tuple[str, ...] = ()


class Bypassing(FileSection, frozen=True):
    """How long a request to go past a guard waits for each authority, and what an emergency may do
    without one."""

    timeout_s: Seconds = 900.0
    emergency_s: Seconds = 60.0
    review_s: Seconds = 86400.0
    safety_responses: tuple[str, ...] = ()


class ApprovedEntry(FileSection, frozen=True, kw_only=True):
    """A call that nobody is asked about any more, for a time: people have said yes to it often."""

    tool: str
    args: dict[str, Any] = {}
    patterns: dict[str, str] = {}
    guards: tuple[str, ...]
    agents: tuple[str, ...]
    tasks: tuple[str, ...] = ("",)
    until: str
    why: str = ""


class OperatorEntry(FileSection, frozen=True):
    """Somebody who may do what an agent may not: their public key as OpenSSH writes it, what they
    may answer as, and the agents that work for them, whose requests somebody else answers."""

    key: str
    roles: tuple[str, ...] = ("human_operator",)
    agents: tuple[str, ...] = ()


class Degrade(FileSection, frozen=True):
    """What a lesser request is: a cheaper model, fewer messages, a shorter reply, a slower pace."""

    models: dict[str, str] = {}
    keep_messages: Annotated[int, msgspec.Meta(ge=1)] | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    pause_s: Seconds | None = None


class Experience(FileSection, frozen=True):
    """What is kept of the outcomes of calls, where and for how long; nothing unless a tier is
    named."""

    tier: Literal["none", "session", "process", "persistent"] = "none"
    days: Annotated[int, msgspec.Meta(ge=1, le=36_500)] = 90
    rows: Annotated[int, msgspec.Meta(ge=1, lt=10**12)] = 1_000_000


class Strikes(FileSection, frozen=True):
    """What findings with the effect `increment_strike` lead to, from a certain number on; each is
    forgotten in time."""

    per: Literal["run", "agent", "tenant"] = "run"
    decay_s: Annotated[float, msgspec.Meta(gt=0, le=10**8)] = 86_400.0
    escalate_at: Annotated[int, msgspec.Meta(ge=1, le=1_000)] | None = 3
    quarantine_at: Annotated[int, msgspec.Meta(ge=1, le=1_000)] | None = 5
    quarantine_s: Annotated[float, msgspec.Meta(gt=0, le=432_000)] = 300.0


class Deep(FileSection, frozen=True):
    """How deep rules are asked: how long by the risk of a call, how many questions at once, and
    when not."""

    critical_wait_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = WAITS_MS["critical"]
    high_wait_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = WAITS_MS["high"]
    medium_wait_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = WAITS_MS["medium"]
    low_wait_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = WAITS_MS["low"]
    questions_for_a_run: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 32
    time_box_s: Seconds = 30.0
    rest_after: Annotated[int, msgspec.Meta(ge=1)] = 20
    rest_s: Seconds = 30.0
    answers_kept: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 4_096

    def waits(self) -> dict[str, int]:
        """How many milliseconds a call waits, by its risk."""
        return {risk: getattr(self, f"{risk}_wait_ms") for risk in WAITS_MS}


class Advice(FileSection, frozen=True):
    """In which style an agent is told what is known of its tools, and how many tokens that may take
    in a prompt."""

    style: Literal["concise", "expert", "friendly"] = "concise"
    tokens: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 300
