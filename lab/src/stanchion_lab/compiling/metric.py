"""The metric: what an episode is worth, by what the Tutor said of it. What brings no fact is worth
nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import msgspec

from stanchion.readings.claims.claim import normal
from stanchion.readings.shell.parse import single
from stanchion.tutor.bundles.file import MetricConfig, Weights
from stanchion.tutor.law.ledger import TRIVIAL
from stanchion_lab.compiling.replaying import Step, Watched

VERSION: Final = "1.0.0"
WINDOW: Final = 3
"""Among how many turns before one its move is a repetition."""
LOW_INFO: Final = ("ASSERT", "REFORMULATE", "RESPOND")
"""Moves that are words alone: one that brings nothing is a no-op."""


class Paid(msgspec.Struct, frozen=True):
    """What the metric gives for what."""

    goal: float = 200
    time: float = -1
    """For each turn."""
    provable: float = 5
    refutable: float = 3
    undecidable: float = -10
    ill_typed: float = -20
    illegal: float = -30
    evidence_node: float = 1
    """For each fact of the world that was not proven before."""
    evidence_edge: float = 1
    """For the derivation of each such fact."""
    undecidable_resolved: float = 5
    repetition_penalty: float = -10
    noop_penalty: float = -5


PAID: Final = Paid()


def metric_config(paid: Paid = PAID) -> MetricConfig:
    """The metric as a bundle names it."""
    weights = Weights(
        **{name: float(value) for name, value in msgspec.structs.asdict(paid).items()}
    )
    return MetricConfig(
        version=VERSION, weights=weights, repetition_window=WINDOW, low_info_actions=LOW_INFO
    )


def worth(watched: Watched, paid: Paid = PAID) -> tuple[float, ...]:
    """What each turn of an episode is worth; a goal that is reached counts in the last."""
    open_claims: set[str] = set()
    known: set[str] = set()
    signed: list[str] = []
    found = []
    for step in watched.steps:
        resolved = open_claims & step.settled
        tells = _tells(step, known)
        gain = _gained(step, len(resolved), tells, paid)
        found.append(paid.time + gain + _lost(step, gain, signed[-WINDOW:], paid))
        signed.append(_signature(step))
        open_claims = (open_claims | ({step.opened} if step.opened else set())) - resolved
        known |= step.proven | ({_denial(step)} if tells else set())
    if watched.won and found:
        found[-1] += paid.goal
    return tuple(found)


def total(watched: Watched, paid: Paid = PAID) -> float:
    """What an episode is worth."""
    return sum(worth(watched, paid))


def _gained(step: Step, resolved: int, tells: bool, paid: Paid) -> float:
    gain = (
        step.facts * (paid.evidence_node + paid.evidence_edge)
        + resolved * paid.undecidable_resolved
    )
    if step.check == "provable" and step.facts:
        gain += paid.provable
    return gain + (paid.refutable if tells else 0)


def _lost(step: Step, gain: float, before: Sequence[str], paid: Paid) -> float:
    """What is taken off. Cases, in this order: nobody read the reply; it was no move, or one that
    says nothing; its claim was open; it was words and brought nothing. A repetition counts beside
    them."""
    lost = (
        paid.repetition_penalty if step.action is not None and _signature(step) in before else 0.0
    )
    if step.withheld:
        return 0.0
    if step.ill_typed:
        return lost + paid.ill_typed
    if step.verdict == "illegal":
        return lost + paid.illegal
    if step.check == "undecidable":
        return lost + paid.undecidable
    idle = step.verdict == "legal" and step.action in LOW_INFO and gain == 0
    return lost + (paid.noop_penalty if idle else 0.0)


def _tells(step: Step, known: set[str]) -> bool:
    """Whether a refuted claim tells what was not known. It does if the law would count its
    opposite: that is about the world, nobody has proven it, and it does not just deny one of many
    values."""
    claim = step.claim if step.check == "refutable" else None
    if claim is None or claim.predicate in TRIVIAL or (claim.polarity and claim.value is not None):
        return False
    return _denial(step) not in known


def _denial(step: Step) -> str:
    claim = step.claim
    return "" if claim is None else normal(claim).denied().text


def _signature(step: Step) -> str:
    """By what moves are compared: their action and what they do, however a command is written."""
    move = {
        name: value
        for name, value in step.move.items()
        if name not in ("intent", "argv", "command")
    }
    argv = step.move.get("argv") or single(step.move.get("command") or "")
    return json.dumps([step.action, argv, move], sort_keys=True, default=list)
