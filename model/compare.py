"""Comparing: what a decision, a replay and a store are, and what the model says they should be."""

from __future__ import annotations

import msgspec

from model.decide import Expected
from model.drawn.moments import Step
from model.drawn.policy import DrawnPolicy
from model.history import History
from stanchion.kernel.decision import Decision, Inputs
from stanchion.kernel.replay import replay
from stanchion.kernel.state import Batch, Line, When
from stanchion.stores.protocol import Store


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
            raise AssertionError(
                f"{where}: `{name}` is\n  {is_!r}\nand should be\n  {should!r}\nin "
                f"{msgspec.structs.asdict(decision)}"
            )


def compare_replay(policy: DrawnPolicy, step: Step, decision: Decision) -> None:
    """Complain where a decision made again from what is written of it is not the same to the
    byte."""
    written = msgspec.json.encode(decision, order="deterministic")
    inputs = msgspec.json.decode(msgspec.json.encode(decision.inputs), type=Inputs)
    again = replay(policy, step.moment.events[0].run, step.moment, inputs, policy.can)
    if msgspec.json.encode(again, order="deterministic") != written:
        raise AssertionError(
            f"replay gives\n  {msgspec.structs.asdict(again)}\nand should give\n  "
            f"{written.decode()}"
        )


def compare_state(store: Store, history: History, where: object) -> None:
    """Complain about every counter and record that is not what history makes of it, to batches and
    to people."""
    names = sorted({take.line.key for take in history.takes})
    reply = store.carry(Batch("last", lines=tuple([Line(name, when=When.LOOK) for name in names])))
    history.at(reply.now)
    for name, value in zip(names, reply.values, strict=True):
        got, total = (value, store.read(name)[0]), history.total(name)
        if got != (total, total):
            raise AssertionError(
                f"{where}: `{name}` is {got[0]} (read: {got[1]}) and should be {total}"
            )
    for name in {name for name, _ in history.puts}:
        if store.read(name) != history.record(name):
            raise AssertionError(
                f"{where}: `{name}` is {store.read(name)} and should be {history.record(name)}"
            )
