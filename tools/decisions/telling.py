"""What is told of a decision, on two levels: what a caller and its agent get, and what is written
down of it. Nothing that differs between two runs of the same code is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.approvals.ticket import Ticket
from stanchion.audit.journal import Fact
from stanchion.audit.record import patched
from stanchion.kernel.actions import NAMES, Risk
from stanchion.kernel.content import content_of
from stanchion.kernel.decision import Decision, Known
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.lookups import Answered
from stanchion.kernel.state import Batch
from stanchion.kernel.units import JUST_ONE
from stanchion.telemetry.catalogue import BY_NAME, STORE_FAILURES, STORE_SECONDS, TRAIL_WAITING
from stanchion.telemetry.registry import Series

Told = dict[str, Any]

DURATION: Final = re.compile(r"\b\d+(?= ms\b)")
"""How long something took, in words that are written down beside a decision."""

LENGTH: Final = 16
"""How many digits of a hash are kept."""

OF_STORES: Final = frozenset({STORE_SECONDS.name, STORE_FAILURES.name})
"""Figures whose label is the kind of the store: two stores are asked equally often."""

GOT: Final = "got"
"""The field of a line under which stands what a caller gets: the first level. Lines without it are
the second."""

CONTENT: Final = {
    "tool_call": ("args",),
    "tool_result": ("result",),
    "model_call": ("model", "messages", "params"),
    "egress": ("url", "headers", "payload"),
    "handoff": ("payload",),
    "handoff_done": ("payload",),
}
"""Which fields of an event are its content; the text of any other stage."""


ASKED: Final = (
    "stage",
    "tool",
    "risk",
    "content",
    "beside",
    "evidence",
    "guard",
    "code",
    "message",
    "roles",
)
"""What a person sees of a ticket."""


def show_decision(decision: Decision, stage: str, fields: Told) -> Told:
    """A decision as caller and agent see it: its words, in order, and the content with which the
    host goes on."""
    return _said(
        action=NAMES[decision.action],
        code=decision.code,
        message=decision.message,
        advice=decision.advice,
        findings=[_shown(one) for one in decision.findings],
        patches=[_patch(one) for one in decision.patches],
        goes=_patched(decision, stage, fields) if decision.patches and decision.proceeds else None,
        held=decision.held,
        withheld=decision.withheld,
    )


def _patched(decision: Decision, stage: str, fields: Told) -> str:
    names = CONTENT.get(stage, ("text",))
    content = (
        fields.get(names[0]) if len(names) == 1 else {name: fields.get(name) for name in names}
    )
    try:
        return digest(decision.patched(content))
    except ValueError as error:
        return f"does not fit: {error}"


def _shown(finding: Finding) -> Told:
    own = _finding(finding)
    return {
        name: own[name] for name in ("guard", "action", "code", "message", "advice") if name in own
    }


def of_decision(decision: Decision) -> Told:
    """A decision as its caller has it. Words are left out that are those of the determining
    finding; big things that only replay reads stand as their hashes."""
    inputs, reply = decision.inputs, decision.inputs.reply
    own = decision.determining
    return _said(
        action=NAMES[decision.action],
        code=decision.code,
        message=None if own is not None and decision.message == own.message else decision.message,
        advice=None if own is not None and decision.advice == own.advice else decision.advice,
        findings=[_finding(one) for one in decision.findings],
        shadow=[_finding(one) for one in decision.shadow],
        skipped=list(decision.skipped),
        passed=list(decision.passed),
        patches=[_patch(one) for one in decision.patches],
        effects=list(decision.effects),
        held=decision.held,
        withheld=decision.withheld,
        records=_records(inputs.records),
        refused=_records(inputs.refused),
        wrote=_records(decision.wrote),
        answers=[[name, _answer(answer)] for name, answer in inputs.answers],
        reply=None
        if reply is None
        else [reply.go, list(reply.values), list(reply.actions), list(reply.settled)],
        mode=inputs.mode,
        lost=inputs.lost,
        taken=inputs.taken,
        stale=inputs.stale,
        can=list(inputs.can),
    )


def of_record(
    moment: Moment, decision: Decision, notes: tuple[str, ...], hide: tuple[Patch, ...]
) -> Told:
    """A decision as it is written down: with what it is about, what it costs, and what goes ahead,
    by its hash."""
    event = moment.events[0]
    return _said(
        stage=event.stage,
        tool=event.tool,
        risk="" if event.risk is Risk.MEDIUM else event.risk.name,
        traits=list(event.traits),
        **of_decision(decision),
        notes=list(untimed(notes)),
        content=digest(patched(content_of(event), decision, hide)),
        hidden=[_patch(one) for one in hide],
        beside=[other.stage for other in moment.events[1:]],
        amounts=None if moment.amounts == JUST_ONE else list(moment.amounts),
        settles=[[call, amounts] for call, amounts in moment.settles],
        late=[_finding(one) for one in moment.late],
        attempt=0 if moment.attempt == 1 else moment.attempt,
        granted=moment.granted,
        lifts=list(moment.lifts),
        again=moment.again,
    )


def untimed(notes: tuple[str, ...]) -> tuple[str, ...]:
    """Notes without how long something took."""
    return tuple([DURATION.sub("…", note) for note in notes])


def of_ticket(ticket: Ticket) -> Told:
    """A ticket as the person sees it who is to answer it."""
    return _said(kind=ticket.kind.value, **{name: getattr(ticket, name) for name in ASKED})


def of_batch(batch: Batch) -> list[Any]:
    """What is sent to the store: how much of everything, and all of it by its hash."""
    parts = (batch.expects, batch.settles, batch.lines, batch.puts)
    return [batch.go, *map(len, parts), digest([parts, batch.amounts, batch.ceiling])]


def list_figures(figures: Iterable[Series]) -> list[Any]:
    """What telemetry counted: of a histogram how many times there are, not how long they were, of
    stores not of which kind they are, and nothing of how far the disk has come."""
    told = []
    for one in figures:
        if one.metric != TRAIL_WAITING.name:
            timed = BY_NAME[one.metric].kind == "histogram"
            labels = () if one.metric in OF_STORES else one.labels
            told.append([one.metric, labels, sum(one.values[1:]) if timed else one.values])
    return sorted(told, key=repr)


def of_figures(figures: Iterable[Series]) -> Told:
    """What telemetry counted, by the names of metrics."""
    told: Told = {"figures": True}
    for metric, labels, value in list_figures(figures):
        told.setdefault(metric, []).append([labels, value])
    return told


def of_trail(folder: Path) -> list[Told]:
    """The files of a trail, by the hashes of their bytes."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return [
        {
            "trail": [
                [str(file.relative_to(folder)), sha256(file.read_bytes()).hexdigest()]
                for file in files
            ]
        }
    ]


def of_fact(fact: Fact) -> Told:
    """Something that is written down beside decisions."""
    return _said(
        fact=fact.what, about=fact.about, by=fact.by, why=fact.why, data=digest(dict(fact.data))
    )


def digest(value: Any) -> str:
    """A short hash of data, the same in every process."""
    return sha256(spelled(value)).hexdigest()[:LENGTH]


def spelled(value: Any) -> bytes:
    """Data as JSON in one spelling. What JSON does not have is named by its type, half of a pair by
    its number."""
    text = json.dumps(
        value, sort_keys=True, default=_other, separators=(",", ":"), ensure_ascii=False
    )
    return text.encode("utf-8", "xmlcharrefreplace")


def _other(value: Any) -> Any:
    try:
        return msgspec.to_builtins(value)
    except (TypeError, ValueError, RecursionError):
        return f"$type {type(value).__name__}"


def _said(**fields: Any) -> Told:
    """The fields that say something."""
    return {
        name: value for name, value in fields.items() if value not in (None, "", [], {}, 0, False)
    }


def _finding(finding: Finding) -> Told:
    terms = finding.terms
    return _said(
        guard=finding.guard,
        action=NAMES[finding.action],
        said=None if finding.said is None else NAMES[finding.said],
        code=finding.code,
        args=list(finding.args),
        message=finding.message,
        advice=finding.advice,
        detail=finding.detail,
        patches=[_patch(one) for one in finding.patches],
        hides=[_patch(one) for one in finding.hides],
        effects=list(finding.effects),
        terms=None if terms is None else msgspec.to_builtins(terms),
        about=finding.about,
        shadow=finding.shadow,
    )


def _patch(patch: Patch) -> list[Any]:
    """A patch; a value that is long stands as its hash."""
    value = patch.value if len(spelled(patch.value)) <= 200 else {"$sha256": digest(patch.value)}
    return [list(patch.path), value, patch.start, patch.end, patch.kind]


def _records(records: tuple[Known, ...]) -> list[Any]:
    return [[name, version, digest(_text_of(value))] for name, version, value in records]


def _text_of(value: Any) -> Any:
    """A record's value as others have it, by earlier code as well."""
    text = getattr(value, "text", None)
    return value if text is None else text()


def _answer(answer: Any) -> Any:
    return digest(answer.value) if isinstance(answer, Answered) else repr(answer)
