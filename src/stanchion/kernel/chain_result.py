"""Chain results: what each guard of a chain said, in the chain's order, in four verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

from stanchion.kernel.actions import Action
from stanchion.kernel.findings import Finding, Trace
from stanchion.kernel.tuples import NamedTuple

Verdict = Literal["pass", "warn", "escalate", "block"]
VERDICTS: Final[tuple[Verdict, ...]] = ("pass", "warn", "escalate", "block")
"""From the mildest to the severest."""

VERDICT_OF: Final[dict[Action, Verdict]] = {
    Action.ALLOW: "pass",
    Action.WARN: "warn",
    Action.REDACT: "warn",
    Action.DEGRADE: "warn",
    Action.RETRY: "block",
    Action.QUEUE: "block",
    Action.ESCALATE: "escalate",
    Action.BLOCK: "block",
    Action.QUARANTINE: "block",
    Action.HALT: "block",
}
"""What each action is among the verdicts: what goes ahead changed is a warning, what does not go
ahead is a block."""


class GuardrailResult(NamedTuple):
    """What one guard said: its id, its verdict, why, and how long it took where that was
    measured."""

    guardrail_id: str
    result: Verdict
    message: str
    duration_ms: float | None


class ChainResult(NamedTuple):
    """What a chain said: its verdict, what each guard said that was reached, and those that a block
    skipped."""

    final_verdict: Verdict
    details: tuple[GuardrailResult, ...]
    skipped: tuple[str, ...]


def chain_result(trace: Trace, findings: Iterable[Finding], skipped: Iterable[str]) -> ChainResult:
    """The result of a chain. What spoke without a place in it (a gate, a late answer) stands before
    it."""
    found = list(findings)
    wholes = dict(trace.chain)
    passed_by = frozenset(skipped)
    took = None if trace.took_ns is None else _summed(trace.took_ns, wholes)
    reached = [whole for guard, whole in trace.chain if guard not in passed_by]
    spoke = [wholes.get(finding.guard, finding.guard) for finding in found]
    order = dict.fromkeys([*[whole for whole in spoke if whole not in reached], *reached])
    details = tuple([_result(whole, list(_of(whole, found, wholes)), took) for whole in order])
    worst = max([VERDICTS.index(one.result) for one in details], default=0)
    return ChainResult(
        VERDICTS[worst],
        details,
        tuple(dict.fromkeys([whole for _, whole in trace.chain if whole not in order])),
    )


def _of(whole: str, findings: list[Finding], wholes: dict[str, str]) -> Iterator[Finding]:
    return (finding for finding in findings if wholes.get(finding.guard, finding.guard) == whole)


def _result(whole: str, findings: list[Finding], took: dict[str, int] | None) -> GuardrailResult:
    """The worst of what the parts of one guard said; the first of equals."""
    worst = max(
        findings, key=lambda finding: VERDICTS.index(VERDICT_OF[finding.action]), default=None
    )
    duration = None if took is None else took.get(whole, 0) / 1_000_000
    if worst is None:
        return GuardrailResult(whole, "pass", "", duration)
    return GuardrailResult(whole, VERDICT_OF[worst.action], worst.message, duration)


def _summed(took: Iterable[tuple[str, Any]], wholes: dict[str, str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for guard, ns in took:
        whole = wholes.get(guard, guard)
        found[whole] = found.get(whole, 0) + ns
    return found
