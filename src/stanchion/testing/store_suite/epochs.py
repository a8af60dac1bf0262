"""Cases about a store's epoch: it is made once, learned by all, never garbage, and every batch can
expect it."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from stanchion.kernel.epoch import IDS, MARKS, Epoch, expectation
from stanchion.kernel.epoch_change import begin, learn, mark
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import EPOCH, IDLE_S, Batch, Line, Records, Reply, key
from stanchion.testing.store_suite.desk import Desk, case, same

FIRST, LAST = 1, IDS - 1
COUNT = key(FLEET, "suite")
LINES = (Line(COUNT),)


@case
def an_epoch_is_made_once_and_learned_by_all(desk: Desk) -> None:
    one: Records = {}
    other: Records = {}
    _do(desk, learn(one, "one", LAST))
    _do(desk, learn(other, "other", FIRST))
    same(one[EPOCH], (LAST * MARKS + 1, {"at": desk.clock()}))
    same((other[EPOCH], desk.store.read(EPOCH)), (one[EPOCH], one[EPOCH]))


@case
def an_epoch_is_expected_as_it_was_seen_or_later(desk: Desk) -> None:
    known: Records = {}
    _do(desk, learn(known, "one", LAST))
    number = known[EPOCH][0]
    same(_expecting(desk, number).stale, False)
    same(_do(desk, mark(known, "mark")), True)
    same((known[EPOCH][0], _expecting(desk, number).stale), (number + 1, False))
    later = _expecting(desk, number + 2)
    same(
        (later.stale, later.fresh[0].number, later.fresh[0].value),
        (True, number + 1, known[EPOCH][1]),
    )
    same(desk.total(COUNT), 2)


@case
def an_epoch_is_never_garbage(desk: Desk) -> None:
    known: Records = {}
    _do(desk, learn(known, "one", LAST))
    desk.clock.advance(60 * IDLE_S * 1000)
    same(_expecting(desk, known[EPOCH][0]).stale, False)


@case
def an_operator_begins_another_epoch(desk: Desk) -> None:
    known: Records = {}
    _do(desk, learn(known, "one", LAST))
    before = known[EPOCH][0]
    desk.clock.advance(5)
    epoch = _do(desk, begin({}, "two", FIRST, Epoch(0, "restored", "ann", "drill")))
    same((epoch.at, desk.store.read(EPOCH)[0]), (desk.clock(), FIRST * MARKS + 1))
    said = _expecting(desk, before).fresh[0]
    same(said.value, {"at": desk.clock(), "how": "restored", "by": "ann", "why": "drill"})
    same((_do(desk, mark(known, "mark")), known[EPOCH][0]), (False, before))


def _expecting(desk: Desk, number: int) -> Reply:
    """Count something, if the store is in that epoch and not older."""
    return desk.store.carry(
        Batch(
            f"expect-{number}-{desk.total(COUNT)}", FLEET, True, (expectation(number),), (), LINES
        )
    )


def _do(desk: Desk, flow: Generator[Batch, Reply, Any]) -> Any:
    """Carry out what a flow asks for."""
    try:
        need = next(flow)
        while True:
            need = flow.send(desk.store.carry(need))
    except StopIteration as done:
        return done.value
