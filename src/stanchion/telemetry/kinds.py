"""The kinds of occurrences, how grave each is, and which one ends which."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec


class Severity(StrEnum):
    """How grave something is, from what is good to know to what needs somebody at once."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"


class Kind(StrEnum):
    """What can occur."""

    TICKET_OPENED = "ticket.opened"
    TICKET_PASSED = "ticket.passed"
    TICKET_ANSWERED = "ticket.answered"
    BYPASS_REQUESTED = "bypass.requested"
    BYPASS_ANSWERED = "bypass.answered"
    BYPASS_OVERRIDDEN = "bypass.overridden"
    REVIEW_MISSED = "review.missed"
    RUN_HALTED = "run.halted"
    RUN_FLAGGED = "run.flagged"
    ALERT = "guard.alert"
    HANDED_OVER = "handoff.done"
    HANDOFF_WARNED = "handoff.warned"
    HALTED = "state.halt"
    QUARANTINED = "state.quarantine"
    SAFE_MODE = "state.safe_mode"
    NORMAL = "state.normal"
    STORE_LOST = "store.lost"
    STORE_BACK = "store.back"
    STORE_FORGOT = "store.forgot"
    TRAIL_LOST = "trail.lost"
    TRAIL_BACK = "trail.back"
    TRAIL_TAMPERED = "trail.tampered"
    POLICY_REFUSED = "policy.refused"
    POLICY_LOADED = "policy.loaded"
    ANSWER_REFUSED = "answer.refused"
    DEFINITION_CHANGED = "definition.changed"
    DEFINITION_SUSPECT = "definition.suspect"
    ESCAPED = "coverage.escaped"
    FORGED = "host.forged"
    HIGH_BLOCK_RATE = "alert.high_block_rate"
    BYPASS_ABUSE = "alert.bypass_abuse"
    GUARDRAIL_SLOW = "alert.guardrail_slow"
    NOTICES_FAILING = "notices.failing"
    NOTICES_BACK = "notices.back"
    NOTICES_LOST = "notices.lost"
    TEST = "notices.test"


class Meaning(msgspec.Struct, frozen=True):
    """How grave a kind is, and what it means."""

    severity: Severity
    words: str


_INFO, _WARNING, _CRITICAL = Severity.INFO, Severity.WARNING, Severity.CRITICAL

MEANINGS: Final[dict[Kind, Meaning]] = {
    Kind.TICKET_OPENED: Meaning(_WARNING, "an agent waits for a person"),
    Kind.TICKET_PASSED: Meaning(
        _WARNING, "nobody has answered a ticket in time: the next role is asked as well"
    ),
    Kind.TICKET_ANSWERED: Meaning(_INFO, "a person has answered a ticket"),
    Kind.BYPASS_REQUESTED: Meaning(_WARNING, "an agent asks to go past a guardrail"),
    Kind.BYPASS_ANSWERED: Meaning(
        _INFO, "a request to go past a guardrail was answered or used, or an override reviewed"
    ),
    Kind.BYPASS_OVERRIDDEN: Meaning(
        _CRITICAL, "an action went past a guardrail in an emergency, before any answer"
    ),
    Kind.REVIEW_MISSED: Meaning(_CRITICAL, "nobody has reviewed such an emergency in time"),
    Kind.RUN_HALTED: Meaning(_CRITICAL, "a guard has ended a run"),
    Kind.RUN_FLAGGED: Meaning(_WARNING, "a guard has flagged a run: somebody should look at it"),
    Kind.ALERT: Meaning(
        _CRITICAL, "a guard has found something that its policy wants told at once"
    ),
    Kind.HANDED_OVER: Meaning(_INFO, "an agent has handed its work to another one"),
    Kind.HANDOFF_WARNED: Meaning(_WARNING, "the same, and a guard has something to say about it"),
    Kind.HALTED: Meaning(_CRITICAL, "a tenant, the fleet, a tool, an agent or a run is halted"),
    Kind.QUARANTINED: Meaning(_WARNING, "a tool, an agent or a run is isolated for a time"),
    Kind.SAFE_MODE: Meaning(_WARNING, "safe mode is on: tool calls and retries are refused"),
    Kind.NORMAL: Meaning(
        _INFO, "something that was halted, isolated or in safe mode is back to normal"
    ),
    Kind.STORE_LOST: Meaning(
        _CRITICAL, "the state store does not answer: what needs it is refused"
    ),
    Kind.STORE_BACK: Meaning(_INFO, "the state store answers again"),
    Kind.STORE_FORGOT: Meaning(
        _CRITICAL, "the state store was emptied, or restored from an older copy"
    ),
    Kind.TRAIL_LOST: Meaning(
        _CRITICAL, "the audit trail cannot be written: what cannot be recorded is refused"
    ),
    Kind.TRAIL_BACK: Meaning(_INFO, "the audit trail can be written again"),
    Kind.TRAIL_TAMPERED: Meaning(_CRITICAL, "the audit trail is not as it was written"),
    Kind.POLICY_REFUSED: Meaning(
        _CRITICAL, "a changed policy did not load: the previous one stays in force"
    ),
    Kind.POLICY_LOADED: Meaning(_INFO, "a policy that had been refused is now in force"),
    Kind.ANSWER_REFUSED: Meaning(
        _WARNING, "an operator's answer or command was refused, or differs from what they signed"
    ),
    Kind.DEFINITION_CHANGED: Meaning(
        _WARNING, "a tool describes itself differently than when it was pinned"
    ),
    Kind.DEFINITION_SUSPECT: Meaning(
        _WARNING, "a tool's definition gives orders, hides something or asks for secrets"
    ),
    Kind.FORGED: Meaning(
        _CRITICAL, "somebody else than its host has spoken for a session of a coding agent"
    ),
    Kind.ESCAPED: Meaning(
        _CRITICAL, "something was done that no call covers, or nothing guards it"
    ),
    Kind.HIGH_BLOCK_RATE: Meaning(
        _WARNING, "more than 30 % of an agent's actions in the last 10 minutes were blocked"
    ),
    Kind.BYPASS_ABUSE: Meaning(
        _CRITICAL,
        "an agent has asked more than 5 times in an hour to get past a guardrail: a person has to "
        "look at it",
    ),
    Kind.GUARDRAIL_SLOW: Meaning(_WARNING, "a guardrail takes more than 500 ms on average"),
    Kind.NOTICES_FAILING: Meaning(_WARNING, "a destination does not accept notices"),
    Kind.NOTICES_BACK: Meaning(_INFO, "a destination accepts notices again"),
    Kind.NOTICES_LOST: Meaning(_CRITICAL, "notices were given up, or there was no room for them"),
    Kind.TEST: Meaning(_INFO, "`stanchion notify test` was run"),
}

ENDS: Final[dict[Kind, Kind]] = {
    Kind.STORE_BACK: Kind.STORE_LOST,
    Kind.TRAIL_BACK: Kind.TRAIL_LOST,
    Kind.POLICY_LOADED: Kind.POLICY_REFUSED,
    Kind.NOTICES_BACK: Kind.NOTICES_FAILING,
}
"""What is over when something else occurs; where it had not begun, nothing is told."""

LASTING: Final = frozenset(ENDS.values())
"""Trouble that lasts until its end is told."""

COUNTED: Final = LASTING | {
    Kind.STORE_FORGOT,
    Kind.TRAIL_TAMPERED,
    Kind.ANSWER_REFUSED,
    Kind.DEFINITION_CHANGED,
    Kind.DEFINITION_SUSPECT,
    Kind.NOTICES_LOST,
}
"""Kinds of which repeated ones are counted. Each of the others is told."""

WORDED: Final = frozenset({Kind.POLICY_REFUSED})
"""Kinds that are told at once where their words are new: a person is at work on it."""


class AskedNotice(msgspec.Struct, frozen=True):
    """What a notice of a ticket tells those who may answer it elsewhere: what a link to it is bound
    to, and what would go ahead, where that is short enough to be shown whole."""

    digest: str
    generation: int
    shown: str


class Occurrence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that has occurred: what, when, in words for people, and what it is about. Nothing
    in it is secret.

    `at` and `since` are milliseconds since 1970. `times` says how often, from `since` on, where it
    was more than once. What has `hourly` is found by every process that starts: a host sends it
    once an hour.
    """

    kind: Kind
    at: int
    text: str
    about: str = ""
    tenant: str = ""
    run: str = ""
    agent: str = ""
    tool: str = ""
    ticket: str = ""
    decision: str = ""
    times: int = 1
    since: int = 0
    hourly: bool = False
    id: str = ""
    asked: AskedNotice | None = None
    """For those who answer: no log has it."""

    @property
    def severity(self) -> Severity:
        """How grave it is."""
        return MEANINGS[self.kind].severity
