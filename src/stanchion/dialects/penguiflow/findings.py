"""What a rule decides as a finding, and what Stanchion decides in PenguiFlow's words. The words of
a rule that ended a run, or has it wait, are kept in the store, so that every process tells them."""

from __future__ import annotations

from copy import copy
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.dialects.errors import DialectError
from stanchion.dialects.penguiflow.redactions import Path, patches_of, specs_of
from stanchion.dialects.penguiflow.words import (
    AGAIN,
    ASKED,
    REFUSED,
    RESERVED,
    GuardrailAction,
    GuardrailDecision,
    GuardrailSeverity,
    PauseSpec,
    RetrySpec,
    StopSpec,
)
from stanchion.kernel.actions import Action
from stanchion.kernel.compare_and_set import LEFT, change
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Finding, Patch, Pause, Retry
from stanchion.kernel.gates import PAUSED, Ending, ending_key, stop_of
from stanchion.kernel.state import ABSENT, StoreLost, key
from stanchion.policy.sections import Escalation
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.run_memory import paused
from stanchion.runtime.driving.flow import Flow

OWN: Final = "penguiflow."
"""How the codes of findings begin that are decisions of rules of one's own."""
NOBODY: Final = "__default__"
"""The rule of a decision that no rule has anything to say to."""
NOTHING: Final = "no rule has anything against it"
FAILED: Final = frozenset({"kernel.lookup_expired", "kernel.lookup_failed", "kernel.guard_error"})
"""The codes by which a rule could not be heard."""
TOLD: Final = {
    Action.RETRY: "a rule wants this step done in another way",
    Action.ESCALATE: "a rule has a person look at this first",
}
MARKED: Final = "a rule has changed or marked this"
"""What an agent is told of a rule's decision: why the rule made it is for operators, in the
arguments of its finding."""
REFUSES: Final = ", so it is refused"
"""What Stanchion says at the end of that, which is not so where rules fail open."""
LATE: Final = "kernel.late_answer"
"""The code of a late answer; what the finding itself says comes behind the guard and its words."""
SAID: Final = 7
"""How much a rule of one's own says in its finding."""
LONGEST: Final = 1_000
"""How many characters of a classifier's result are kept."""

TO_ACTION: Final = {
    GuardrailAction.ALLOW: Action.ALLOW,
    GuardrailAction.REDACT: Action.REDACT,
    GuardrailAction.RETRY: Action.RETRY,
    GuardrailAction.PAUSE: Action.ESCALATE,
    GuardrailAction.STOP: Action.HALT,
}
FROM_ACTION: Final = {
    Action.ALLOW: GuardrailAction.ALLOW,
    Action.WARN: GuardrailAction.ALLOW,
    Action.REDACT: GuardrailAction.REDACT,
    Action.DEGRADE: GuardrailAction.REDACT,
    Action.RETRY: GuardrailAction.RETRY,
    Action.QUEUE: GuardrailAction.PAUSE,
    Action.ESCALATE: GuardrailAction.PAUSE,
    Action.BLOCK: GuardrailAction.STOP,
    Action.QUARANTINE: GuardrailAction.STOP,
    Action.HALT: GuardrailAction.STOP,
}
"""Every action of Stanchion has a word: PenguiFlow has none that refuses an action and lets its run
go on, so that a BLOCK is a STOP."""
CAN: Final = (Action.ALLOW, Action.WARN, Action.REDACT, Action.RETRY, Action.ESCALATE)
"""What a planner can carry out, beside what every host can."""

SEVERITIES: Final = {
    GuardrailAction.STOP: GuardrailSeverity.CRITICAL,
    GuardrailAction.PAUSE: GuardrailSeverity.HIGH,
}
ERROR_CODES: Final = {
    ("kernel.lookup_expired", True): "GUARDRAIL_SYNC_TIMEOUT",
    ("kernel.lookup_expired", False): "GUARDRAIL_TIMEOUT",
    ("kernel.lookup_failed", True): "GUARDRAIL_SYNC_ERROR",
    ("kernel.lookup_failed", False): "GUARDRAIL_ASYNC_ERROR",
    ("kernel.guard_error", True): "GUARDRAIL_SYNC_ERROR",
    ("tool.not_allowed", True): "TOOL_NOT_ALLOWED",
    ("tool.denied", True): "TOOL_DENIED",
}
"""What a STOP is called that no rule of one's own has named, by the code of its finding and whether
the rule is FAST; others by their code."""


def finding_of(
    decision: GuardrailDecision, content: Any, text: Any, place: Path | None
) -> Finding | None:
    """A rule's decision as a finding about content; `place` is where that has the event's text, if
    it has one."""
    action = TO_ACTION[decision.action]
    if action is Action.ALLOW and not decision.effects and not decision.redactions:
        return None
    specs = () if decision.redactions is None else decision.redactions
    patches: list[Patch] = []
    for spec in specs:
        if place is None and spec.path == "text":
            raise DialectError(
                "a redaction is for `text`, which a tool call does not have: name an argument"
            )
        if (
            spec.path == "text"
            and not isinstance(spec.replacement, str)
            and (place or isinstance(content, str))
        ):
            raise DialectError(
                "RedactionSpec.replacement is data, and `text` is a text: give a text"
            )
        patches += patches_of(content, text, () if place is None else place, spec)
    if patches and action is Action.ALLOW:
        action = Action.REDACT
    stop = StopSpec() if decision.stop is None else decision.stop
    said = _or(stop.user_message, REFUSED) if action is Action.HALT else TOLD.get(action, MARKED)
    guidance = ""
    terms: Retry | Pause | None = None
    if action is Action.RETRY:
        retry = RetrySpec() if decision.retry is None else decision.retry
        guidance, terms = corrective(retry), Retry(retry.max_attempts)
    elif action is Action.ESCALATE:
        pause = PauseSpec() if decision.pause is None else decision.pause
        terms = Pause(
            _or(pause.prompt, ASKED),
            tuple(pause.approver_roles),
            round(pause.timeout_s * 1_000),
            pause.scope,
        )
    return Finding(
        action,
        f"{OWN}{decision.action.lower()}",
        _args(decision, stop),
        said,
        guidance,
        tuple(patches),
        tuple(decision.effects),
        terms,
    )


def corrective(retry: RetrySpec) -> str:
    """What the model is told when it tries again."""
    return _or(retry.corrective_message, AGAIN)


def _or(said: str, usual: str) -> str:
    """What a person or a model is told: never the reason of a rule, which is for operators."""
    return said if said.strip() else usual


def _args(decision: GuardrailDecision, stop: StopSpec) -> tuple[str | float | None, ...]:
    """What else a decision says, as a finding's arguments; `_own` reads it back."""
    kept: str | None = None
    if decision.classifier_result is not None:
        kept = msgspec.json.encode(decision.classifier_result, enc_hook=str).decode()
        if len(kept) > LONGEST:
            kept = '{"left_out":"it is too long"}'
    return (
        decision.reason, str(decision.severity), decision.confidence, decision.correlation_id,
        stop.error_code, stop.internal_reason, kept,
    )  # fmt: skip


Seated = dict[str, tuple[str, bool]]
"""Guards by their ids: the rule that each is part of, and whether that is judged inline."""


PASSED: Final = GuardrailDecision(GuardrailAction.ALLOW, NOBODY, NOTHING)
"""What most decisions are; none of its fields can be changed."""


def passed(decision_id: str) -> GuardrailDecision:
    """That no rule has anything against an event, under the id of its decision."""
    made = copy(PASSED)
    msgspec.structs.force_setattr(made, "decision_id", decision_id)
    return made


def decision_of(
    decision: Decision, place: Path, content: Any, usual: Escalation, seated: Seated
) -> GuardrailDecision:
    """What Stanchion has decided. `place` is where the content has the event's text, `usual` how a
    person is asked."""
    action = GuardrailAction.PAUSE if decision.code == PAUSED else FROM_ACTION[decision.action]
    patches = decision.patches
    if not decision.proceeds:
        patches = tuple([patch for finding in decision.findings for patch in finding.patches])
    redactions = specs_of(patches, place, content)
    if action is GuardrailAction.ALLOW and redactions:
        action = GuardrailAction.REDACT
    finding = decision.determining
    if finding is None:
        reason = NOTHING if not decision.shadow else f"in shadow mode: {_would(decision, seated)}"
        return GuardrailDecision(action, NOBODY, reason, decision.id, redactions=redactions or None)
    rule, fast = seated.get(finding.guard, (finding.guard, True))
    own = _said(finding)
    fields: dict[str, Any] = _own(own) if own else {"reason": decision.message}
    if not own and action in SEVERITIES:
        fields["severity"] = SEVERITIES[action]
    if action is GuardrailAction.RETRY:
        terms = finding.terms if isinstance(finding.terms, Retry) else Retry()
        fields["retry"] = RetrySpec(
            terms.max_attempts, decision.advice if decision.advice else AGAIN
        )
    elif action is GuardrailAction.PAUSE:
        fields["pause"] = _pause(decision, finding, usual)
    elif action is GuardrailAction.STOP:
        fields["stop"] = _stop(finding, own, fast)
    return GuardrailDecision(
        action, rule, decision_id=decision.id, was_sync=fast,
        effects=tuple([one for one in decision.effects if one not in RESERVED]),
        redactions=redactions or None, **fields,
    )  # fmt: skip


def stopped(ending: Ending, seated: Seated) -> GuardrailDecision | None:
    """The STOP by which a run has ended, in the words of its rule; `None` where no rule had the
    last word."""
    last = ending.last
    if last is None:
        return None
    finding = Finding(Action.HALT, last.code, last.args, ending.why, guard=last.guard)
    rule, fast = seated.get(last.guard, (last.guard, True))
    return GuardrailDecision(GuardrailAction.STOP, rule, stop=_stop(finding, _said(finding), fast))


def _said(finding: Finding) -> tuple[Any, ...]:
    """What a rule of one's own says in its finding, or in a late one; nothing where it is none."""
    said: tuple[Any, ...] = finding.args if finding.code.startswith(OWN) else ()
    said = finding.args[2:] if finding.code == LATE else said
    return said if len(said) == SAID else ()


def failed(said: GuardrailDecision, fault: str, proceeds: bool) -> GuardrailDecision:
    """A decision about an event of which a rule could not be heard: why, and what comes of it."""
    reason = (
        f"the rule `{said.rule_id}` failed: {fault}"
        if fault
        else said.reason.replace("guard `", "the rule `", 1)
    )
    if proceeds:
        reason = f"{reason.removesuffix(REFUSES)}; rules fail open, so it goes ahead"
    stop = (
        said.stop
        if said.stop is None
        else msgspec.structs.replace(said.stop, internal_reason=reason)
    )
    return msgspec.structs.replace(said, reason=reason, stop=stop)


def _own(args: tuple[Any, ...]) -> dict[str, Any]:
    """What a rule of one's own said, read back from its finding."""
    reason, severity, confidence, correlation, _code, _internal, kept = args
    try:
        result = None if kept is None else msgspec.json.decode(kept, type=dict[str, Any])
    except msgspec.DecodeError:
        result = {"left_out": "it is too long"}
    return {
        "reason": reason, "severity": severity, "confidence": confidence,
        "correlation_id": correlation, "classifier_result": result,
    }  # fmt: skip


def _pause(decision: Decision, finding: Finding, usual: Escalation) -> PauseSpec:
    terms = finding.terms if isinstance(finding.terms, Pause) else Pause()
    asked = paused(decision, usual)
    return PauseSpec(
        terms.scope, tuple(asked.roles), terms.prompt if terms.prompt else ASKED, asked.timeout_s
    )


def _stop(finding: Finding, own: tuple[Any, ...], fast: bool) -> StopSpec:
    if own and finding.code == f"{OWN}stop":
        return StopSpec(str(own[4]), finding.message, str(own[5]))
    if own and finding.code == LATE and finding.action == Action.HALT:
        return StopSpec(str(own[4]), str(finding.args[1]), str(own[5]))
    if own:
        return StopSpec(internal_reason=str(own[0]))
    named = ERROR_CODES.get((finding.code, fast), finding.code.upper().replace(".", "_"))
    return StopSpec(named, internal_reason=finding.message)


def _would(decision: Decision, seated: Seated) -> str:
    """What would have happened, were rules enforced."""
    worst = max(decision.shadow, key=lambda finding: finding.action)
    rule = seated.get(worst.guard, (worst.guard, True))[0]
    return f"`{rule}` would {FROM_ACTION[worst.action]}"


WORDS: Final = "penguiflow"
"""The part of a key by which the words of a run are found."""


class LeftWords(msgspec.Struct, frozen=True):
    """What is kept of a decision: what a planner says of a run that is over or waits."""

    action: GuardrailAction
    rule_id: str
    stop: StopSpec | None = None
    pause: PauseSpec | None = None


def leave_words(desk: Desk, said: GuardrailDecision) -> Flow[None]:
    """Keep the words of a decision for other processes; without the store they have the usual
    ones."""
    words = msgspec.to_builtins(LeftWords(said.action, said.rule_id, said.stop, said.pause))
    try:
        yield from change(
            desk.shield.records,
            f"{said.decision_id}.words",
            desk.info.tenant,
            _key(desk),
            lambda *_: words,
        )
    except StoreLost:
        desk.tell(
            "the store could not be reached: other processes do not know yet in which words this "
            "run has ended"
        )


def last_words(desk: Desk, seated: Seated) -> GuardrailDecision | None:
    """The words of the rule that ended a run, as the end itself has them; `None` where no rule has
    ended it."""
    kept = desk.shield.records.get(ending_key(desk.info.tenant, desk.info.id), ABSENT)[1]
    ending = stop_of(kept) if desk.ended is None else desk.ended
    return stopped(ending, seated) if isinstance(ending, Ending) else None


def left_words(desk: Desk, decision_id: str) -> Flow[GuardrailDecision | None]:
    """The words that were kept last; `None` where there are none, or nobody can say."""
    kept: list[Any] = []

    def seen(value: Any, _now: int) -> Any:
        kept[:] = [value]
        return LEFT

    try:
        yield from change(
            desk.shield.records, f"{decision_id}.words", desk.info.tenant, _key(desk), seen
        )
        words = None if kept[0] is None else typed.convert(kept[0], LeftWords)
    except (StoreLost, msgspec.ValidationError):
        return None
    if words is None:
        return None
    return GuardrailDecision(words.action, words.rule_id, stop=words.stop, pause=words.pause)


def _key(desk: Desk) -> str:
    return key(desk.info.tenant, WORDS, desk.info.id)
