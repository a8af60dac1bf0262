"""What is told of a decision: everything that an agent, a person or replay sees of it, and nothing
that differs between two runs of the same code."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import Any, Final

import msgspec

from stanchion.audit.journal import Fact
from stanchion.audit.record import patched
from stanchion.kernel.actions import NAMES, Risk
from stanchion.kernel.content import content_of
from stanchion.kernel.decision import Decision, Known
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.lookups import Answered
from stanchion.kernel.units import JUST_ONE

Told = dict[str, Any]

DURATION: Final = re.compile(r"\b\d+(?= ms\b)")
"""How long something took, in words that are written down beside a decision."""

LENGTH: Final = 16
"""How many digits of a hash are kept."""


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
        notes=[DURATION.sub("…", note) for note in notes],
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


def of_fact(fact: Fact) -> Told:
    """Something that is written down beside decisions."""
    return _said(
        fact=fact.what, about=fact.about, by=fact.by, why=fact.why, data=digest(dict(fact.data))
    )


def digest(value: Any) -> str:
    """A short hash of data, the same in every process."""
    return sha256(spelled(value)).hexdigest()[:LENGTH]


def spelled(value: Any) -> bytes:
    """Data as JSON in one spelling. What JSON does not have is named by its type."""
    return json.dumps(value, sort_keys=True, default=_other, separators=(",", ":")).encode()


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
    return [[name, version, digest(value)] for name, version, value in records]


def _answer(answer: Any) -> Any:
    return digest(answer.value) if isinstance(answer, Answered) else repr(answer)
