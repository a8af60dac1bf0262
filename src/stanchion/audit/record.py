"""The record of a decision: what it was about, what was found, and everything it was made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from stanchion.audit.redaction import masked
from stanchion.kernel.actions import NAMES, Risk
from stanchion.kernel.content import content_of
from stanchion.kernel.decision import Decision, Inputs, Known
from stanchion.kernel.events import Event, Moment, ToolCall, ToolResult
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.lookups import Answer, Answered
from stanchion.kernel.patches import PatchError, apply
from stanchion.kernel.shown import json_safe
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import LiveRecord, Stake
from stanchion.kernel.units import JUST_ONE, Amounts

VERSION: Final = 3

GENESIS: Final = "0" * 64
"""What stands for the hash before the first record."""

LONGEST: Final = 262_144
"""How long a record may get with its content; the content of a longer one is kept as a digest."""

DEFAULT: Final = "default"
"""The tenant of a run that names none. Defaults are left out of records where they are these very
objects."""

FINDING: Final = "$finding"
"""The key under which an answer that is a finding stands, so that it is one again when it is
read."""

USUAL_RISK: Final = "medium"
RISKS: Final = tuple(USUAL_RISK if risk is Risk.MEDIUM else risk.name.lower() for risk in Risk)

INTENT, OUTCOME, EVENT = "intent", "outcome", "event"
KINDS: Final = {
    **dict.fromkeys(Stage, EVENT),
    **dict.fromkeys((Stage.TOOL_CALL, Stage.MODEL_CALL, Stage.EGRESS, Stage.HANDOFF), INTENT),
    **dict.fromkeys(
        (Stage.TOOL_RESULT, Stage.MODEL_REPLY, Stage.ERROR, Stage.HANDOFF_DONE), OUTCOME
    ),
}
"""What a record of each stage is: about to happen, what came of it, or neither."""

BESIDE: Final[dict[Stage, tuple[str, ...]]] = {
    Stage.PROMPT: ("source", "trusted"),
    Stage.MODEL_CALL: ("duration_ms",),
    Stage.MODEL_CHUNK: ("channel", "index"),
    Stage.MODEL_REPLY: ("model", "final"),
    Stage.TOOL_CALL: ("duration_ms",),
    Stage.TOOL_RESULT: ("args", "part"),
    Stage.EGRESS: ("method",),
    Stage.ERROR: ("error", "args", "status", "attempt", "bases", "fault"),
    Stage.CHARGE: ("tokens", "cost_microusd", "model", "settled"),
    Stage.HANDOFF: ("to", "duration_ms"),
    Stage.HANDOFF_DONE: ("to",),
}
"""The fields of an event beside its content, its identity and its tool. Arguments of a call whose
intent is recorded stand there."""


class RecordedFinding(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A finding as it is written down: code and arguments, the words can be made again."""

    guard: str
    action: str
    code: str
    args: tuple[Any, ...] = ()
    text: str = ""


class RecordEntry(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """The record of one decision: what it was about, what was found, and everything it was made
    from.

    `prev` is the hash of the record before; content is as it went ahead, after redaction. `judged`
    is the time the engine judged by, `now` the store's; both are left out where they say nothing
    new. `left` names those records judged on that are as the run's records before it left them;
    they are not in `records`.
    """

    v: int
    prev: str
    seq: int
    chain: str
    kind: str
    at: int
    id: str
    run: str
    stage: str
    action: str
    policy: str
    tenant: str = DEFAULT
    agent: str = ""
    task: str = ""
    call: str = ""
    tool: str = ""
    risk: str = USUAL_RISK
    traits: tuple[str, ...] = ()
    content: Any = None
    beside: dict[str, Any] = {}
    findings: tuple[RecordedFinding, ...] = ()
    skipped: tuple[str, ...] = ()
    shadow: tuple[RecordedFinding, ...] = ()
    passed: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    with_: tuple[str, ...] = msgspec.field(default=(), name="with")
    amounts: Amounts = JUST_ONE
    late: tuple[Finding, ...] = ()
    attempt: int = 1
    stakes: tuple[Stake, ...] = ()
    granted: str = ""
    again: bool = False
    settles: tuple[tuple[str, Amounts | None], ...] = ()
    mode: str = ""
    judged: int = 0
    stale: int = 0
    can: tuple[int, ...] = ()
    lost: str = ""
    taken: str = ""
    confirmed: tuple[int, int] | None = None
    records: tuple[tuple[str, int, Any], ...] = ()
    answers: tuple[tuple[str, Answer], ...] = ()
    now: int = 0
    went: bool = True
    values: tuple[int, ...] = ()
    actions: tuple[int, ...] = ()
    settled: tuple[str, ...] = ()
    refused: tuple[tuple[str, int, Any], ...] = ()
    lifts: tuple[str, ...] = ()
    bypasses: tuple[str, ...] = ()
    crowd: tuple[int, int] | None = None
    left: str = ""


NOTHING: Final[Mapping[str, Any]] = {}


class Quiet(msgspec.Struct, frozen=True, gc=False):
    """What is written down of a quiet event besides its line."""

    run: str
    id: str
    call: str
    content: Any
    records: tuple[Known, ...]
    beside: Any = NOTHING
    answers: Any = ()

    def sealed(self) -> Quiet:
        """The same as it is now, which can be written: its host and guards may change their own
        data later."""
        encoded(self.call)
        records = [
            one
            if one[2] is None or isinstance(one[2], LiveRecord)
            else (*one[:2], msgspec.Raw(encoded(one[2])))
            for one in self.records
        ]
        content = None if self.content is None else msgspec.Raw(encoded(self.content))
        beside = msgspec.Raw(encoded(self.beside)) if self.beside else NOTHING
        answers = msgspec.Raw(encoded(self.answers)) if self.answers else ()
        return Quiet(self.run, self.id, self.call, content, tuple(records), beside, answers)


UNASKED: Final = (0, True, (), (), ())
"""What a record has in the place of a reply where the store was not asked."""


def plain(value: Any) -> Any:
    """What JSON does not have, from a guard or a host: a text or number of a type of its own is one
    all the same, anything else is named by its type."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, LiveRecord):
        return value.text()
    return f"$type {type(value).__name__}"


encoded: Final = msgspec.json.Encoder(order="deterministic", enc_hook=plain).encode
"""Canonical JSON of a value, as part of what is made safe to look at as a whole."""


def canonical(value: Any) -> bytes:
    """Canonical JSON in which nothing stands that a terminal would act upon: a trail can be looked
    at as it is."""
    return safe(encoded(value))


def safe(body: bytes) -> bytes:
    """JSON that says the same, in which nothing stands that a terminal would act upon."""
    return body if body.isascii() and b"\x7f" not in body else json_safe(body)


Redact = Callable[[Any], Any]
"""Makes data fit to be written down."""


def entry_of(
    moment: Moment,
    decision: Decision,
    seq: int,
    prev: str,
    chain: str,
    notes: tuple[str, ...] = (),
    redact: Redact = masked,
    hide: tuple[Patch, ...] = (),
) -> RecordEntry:
    """The record of a decision about a moment, placed behind the record with hash `prev`. `hide` is
    what guards would have redacted that were no longer asked."""
    events = moment.events
    event = events[0]
    run = event.run
    inputs = decision.inputs
    reply = inputs.reply
    stage = event.stage
    content = event.args if type(event) is ToolCall else content_of(event)
    if decision.findings or decision.shadow or hide:
        content = patched(content, decision, hide)
    names = (*BESIDE[stage], "cleared") if event.cleared else BESIDE[stage]
    beside = _beside(event, names) if names else {}
    return RecordEntry(
        VERSION,
        prev,
        seq,
        chain,
        KINDS[stage],
        event.at,
        decision.id,
        run.id,
        stage,
        NAMES[decision.action],
        decision.policy,
        DEFAULT if run.tenant == DEFAULT else run.tenant,
        run.agent,
        run.task,
        event.call,
        event.tool,
        RISKS[event.risk],
        event.traits,
        redact(content),
        redact(beside) if beside else beside,
        _said(decision.findings, redact) if decision.findings else (),
        decision.skipped,
        _said(decision.shadow, redact) if decision.shadow else (),
        decision.passed,
        decision.effects,
        tuple([redact(note) for note in notes]) if notes else (),
        tuple([other.stage.value for other in events[1:]]),
        JUST_ONE if moment.amounts == JUST_ONE else moment.amounts,
        moment.late,
        moment.attempt,
        tuple([stake._replace(value=redact(stake.value)) for stake in moment.stakes])
        if moment.stakes
        else (),
        moment.granted,
        moment.again,
        moment.settles,
        inputs.mode,
        inputs.now if inputs.now != event.at else 0,
        inputs.stale,
        inputs.can,
        inputs.lost,
        inputs.taken,
        inputs.confirmed,
        judged_on(inputs, redact),
        _answers(inputs, redact),
        *(
            (reply.now, reply.go, reply.values, reply.actions, reply.settled)
            if reply is not None
            else UNASKED
        ),
        _redacted(inputs.refused, redact),
        moment.lifts,
        moment.bypasses,
        inputs.crowd,
    )


def quiet_of(moment: Moment, decision: Decision, redact: Redact) -> Quiet:
    """What is written down of an event that was decided straight."""
    event: Any = moment.events[0]
    content = redact(moment.readings[0].content)
    records = judged_on(decision.inputs, redact)
    kind = type(event)
    alone = event.call if kind is ToolResult else kind is ToolCall and not event.duration_ms
    beside = NOTHING if alone else redact(_beside(event, BESIDE[event.stage]))
    answers = _answers(decision.inputs, redact) if decision.inputs.answers else ()
    return Quiet(event.run.id, decision.id, event.call, content, records, beside, answers)


def judged_on(inputs: Inputs, redact: Redact) -> tuple[tuple[str, int, Any], ...]:
    """The records that were judged on; those that were not there need not be named, unless a
    refusal was entered into
    them: then they were there, later."""
    if not inputs.records:
        return ()
    later = [name for name, _, _ in inputs.refused] if inputs.refused else ()
    kept = []
    for record in inputs.records:
        name, version, value = record
        if version or name in later:
            shown = value if value is None else redact(value)
            kept.append(record if shown is value else (name, version, shown))
    return tuple(kept)


def _redacted(
    records: Iterable[tuple[str, int, Any]], redact: Redact
) -> tuple[tuple[str, int, Any], ...]:
    """Records as they may be written down; one that has nothing to hide is the very same."""
    return tuple(
        [one if (value := redact(one[2])) is one[2] else (one[0], one[1], value) for one in records]
    )


def _answers(inputs: Inputs, redact: Redact) -> tuple[tuple[str, Answer], ...]:
    return tuple([(name, _answer(answer, redact)) for name, answer in inputs.answers])


def _answer(answer: Answer, redact: Redact) -> Answer:
    """An answer as it may be written down; one that is no data is named by its type."""
    if not isinstance(answer, Answered):
        return answer
    try:
        value = redact(msgspec.to_builtins(answer.value, enc_hook=plain))
        return Answered({FINDING: value} if isinstance(answer.value, Finding) else value)
    except (TypeError, ValueError, RecursionError):
        return Answered(plain(answer.value))


def _beside(event: Any, names: tuple[str, ...]) -> dict[str, Any]:
    kind = type(event)
    usual = _defaults[kind] if kind in _defaults else _usual(kind)
    said: dict[str, Any] = {}
    for name in names:
        value = getattr(event, name)
        if value == usual.get(name) or (name == "args" and event.call):
            continue
        # No guard has seen the arguments of a call that nobody announced.
        said[name] = digest_of(value) if name == "args" else value
    return said


_defaults: dict[type[Any], dict[str, Any]] = {}


def _usual(kind: type[Event]) -> dict[str, Any]:
    """What an event's fields are where nobody says anything."""
    fields = msgspec.structs.fields(kind)
    made = _defaults[kind] = {field.name: field.default for field in fields if not field.required}
    return made


def patched(content: Any, decision: Decision, hide: tuple[Patch, ...] = ()) -> Any:
    """Content as it may be written down: the patches of every finding apply, whether or not the
    action went ahead, and those of guards in shadow mode as well."""
    found = (*decision.findings, *decision.shadow)
    patches = (*[patch for finding in found for patch in (*finding.patches, *finding.hides)], *hide)
    try:
        return apply(content, patches) if patches else content
    except PatchError:
        return {"$withheld": "its redaction does not fit"}


def digest_of(content: Any) -> dict[str, Any]:
    """What stands for content that is not kept: its length and its hash."""
    from hashlib import sha256

    body = canonical(content)
    return {"$bytes": len(body), "$sha256": sha256(body).hexdigest()}


def spelled_out(value: Any) -> Any:
    """Data as JSON has it: halves of characters are written out as `\\udc00`, and names that are no
    texts made ones."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_name(name): spelled_out(item) for name, item in value.items()}
    return [spelled_out(item) for item in value] if isinstance(value, list | tuple) else value


def _name(name: Any) -> str:
    return (
        str(spelled_out(name)) if isinstance(name, str | int | float | None) else str(plain(name))
    )


def _said(findings: tuple[Finding, ...], redact: Redact) -> tuple[RecordedFinding, ...]:
    return tuple(
        [
            RecordedFinding(
                f.guard,
                NAMES[f.action],
                f.code,
                tuple(redact(f.args)),
                redact(f.text) if f.text else "",
            )
            for f in findings
        ]
    )
