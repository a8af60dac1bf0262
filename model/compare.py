"""Comparing: what a decision, a replay and a store are, and what the model says they should be."""

from __future__ import annotations

import msgspec

from holdfast.kernel.decision import Decision, Inputs
from holdfast.kernel.replay import replay
from holdfast.kernel.state import Batch
from holdfast.stores.memory import MemoryStore
from model.decide import Expected
from model.drawn.moments import Step
from model.drawn.policy import DrawnPolicy
from model.history import History


def compare(decision: Decision, expected: Expected, where: object) -> None:
    """Complain about every part in which a decision is not the expected one."""
    reply = decision.inputs.reply
    got = Expected(
        decision.action,
        decision.policy,
        decision.findings,
        decision.skipped,
        decision.shadow,
        decision.patches,
        decision.effects,
        decision.held,
        decision.inputs.mode,
        reply.go if reply is not None else None,
        reply.settled if reply is not None else (),
        decision.passed,
    )
    for name, is_, should in zip(Expected._fields, got, expected, strict=True):
        if is_ != should:
            raise AssertionError(f"{where}: `{name}` is\n  {is_!r}\nand should be\n  {should!r}\nin {decision!r}")


def compare_replay(policy: DrawnPolicy, step: Step, decision: Decision) -> None:
    """Complain where a decision made again from what is written of it is not the same to the byte."""
    written = msgspec.json.encode(decision, order="deterministic")
    inputs = msgspec.json.decode(msgspec.json.encode(decision.inputs), type=Inputs)
    again = replay(policy, step.moment.events[0].run, step.moment, inputs, policy.can)
    if msgspec.json.encode(again, order="deterministic") != written:
        raise AssertionError(f"replay gives\n  {again!r}\nand should give\n  {decision!r}")


def compare_state(store: MemoryStore, history: History, where: object) -> None:
    """Complain about every counter and record that is not what history makes of it."""
    history.at(store.carry(Batch("last")).now)
    for name in {take.line.key for take in history.takes}:
        if store.read(name)[0] != history.total(name):
            raise AssertionError(f"{where}: `{name}` is {store.read(name)[0]} and should be {history.total(name)}")
    for name in {name for name, _ in history.puts}:
        if store.read(name) != history.record(name):
            raise AssertionError(f"{where}: `{name}` is {store.read(name)} and should be {history.record(name)}")
