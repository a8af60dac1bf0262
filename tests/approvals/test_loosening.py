"""Whatever lets more through than before is an operator's: nobody else's answer counts, and each
refusal is written down and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stanchion import Shield
from stanchion.approvals.answerers import By, Signer
from stanchion.approvals.errors import TicketError
from stanchion.approvals.operators import RECORD, RosterChange
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.state import Batch, When
from stanchion.runtime.people.enrol import enrol
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.redis import RedisStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing.operators import operator
from tests.approvals.loosenings import LOOSENINGS, Carried, Elsewhere, Loosening, World
from tests.operators import ANN, BOB, KNOWN, KNOWN_BOB
from tests.stores import redis_server
from tests.stores.servers import Place, place
from tests.stores.several import TakingTurns

server = redis_server.server
__all__ = ["place", "server"]

STRANGER, KNOWN_STRANGER = operator("mallory")
UNSIGNED = "an operator"
"""Who is enrolled by a change of their own, which no answer carries."""

WRONG: dict[str, By] = {
    "a name": "ann",
    "nobody in particular": "an operator",
    "a stranger": STRANGER,
    "a stranger with a name that counts": Signer("ann", STRANGER.key),
    "somebody revoked": BOB,
    "an operator in a role that they do not have": Signer("ann", ANN.key, "supervisor"),
}
every = pytest.mark.parametrize("what", LOOSENINGS)
signed = pytest.mark.parametrize("what", [one for one in LOOSENINGS if one != UNSIGNED])


def counts(what: str, who: str) -> bool:
    """Whether it matters there who answers like that: operators are changed by who has the role,
    not who says so."""
    return what != UNSIGNED or who != "an operator in a role that they do not have"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A world that ann is an operator of, and bob was."""
    made = World(tmp_path, KNOWN)
    enrol(made.shield, "add", KNOWN_BOB, ANN)
    enrol(made.shield, "revoke", KNOWN_BOB, ANN)
    yield made
    made.shield.close()


def assert_refused(world: World, loosening: Loosening, by: By) -> None:
    """Nobody but an operator: an error, one record of it, the store as it was, and what was refused
    still is."""
    cells, told = world.cells(), world.refusals()
    with pytest.raises(TicketError) as said:
        loosening.loosens(world, by)
    (fact,) = world.refusals()[len(told) :]
    assert (fact.what, fact.why) == ("answer.refused", str(said.value))
    assert world.cells() == cells
    assert loosening.holds(world)


def elsewhere(world: World, loosening: Loosening, by: Signer = ANN) -> Any:
    """An answer that was signed on another machine, and has done nothing yet."""
    cells = world.cells()
    with pytest.raises(Carried) as carried:
        loosening.loosens(world, Elsewhere(by.name, by.key))
    assert world.cells() == cells
    return carried.value.args[0]


@pytest.mark.parametrize(
    ("what", "who"), [(what, who) for what in LOOSENINGS for who in WRONG if counts(what, who)]
)
def test_nobody_else_loosens(what: str, who: str, world: World) -> None:
    loosening = LOOSENINGS[what]
    loosening.tightens(world)
    assert loosening.holds(world)
    assert_refused(world, loosening, WRONG[who])


@every
def test_a_name_is_no_answer_where_nobody_is_an_operator_yet(what: str, tmp_path: Path) -> None:
    loosening, world = LOOSENINGS[what], World(tmp_path)
    with world.shield:
        loosening.tightens(world)
        if what == "retention":
            assert loosening.holds(world), "it is asked of those who are pinned elsewhere"
        assert_refused(world, loosening, "ann")


@every
def test_an_operator_loosens_and_the_trail_says_who_it_was(what: str, world: World) -> None:
    loosening = LOOSENINGS[what]
    loosening.tightens(world)
    assert loosening.holds(world)
    before = len(world.shield.journal.facts())
    loosening.loosens(world, ANN)
    told = world.shield.journal.facts()[before:]
    assert {fact.by for fact in told if fact.data.get("proven")} == {"ann"}
    assert not loosening.holds(world)


@signed
def test_an_answer_that_is_carried_counts_once(what: str, world: World) -> None:
    loosening = LOOSENINGS[what]
    loosening.tightens(world)
    answer = elsewhere(world, loosening)
    assert loosening.holds(world)
    loosening.loosens(world, answer)
    assert not loosening.holds(world)
    loosening.tightens(world)
    assert loosening.holds(world)
    assert_refused(world, loosening, answer)


@signed
def test_an_answer_counts_for_what_it_was_given_for(what: str, world: World) -> None:
    """The answer to each of the others is none to this one."""
    loosening = LOOSENINGS[what]
    for name, other in LOOSENINGS.items():
        if name in (what, UNSIGNED, "a store") or {name, what} <= {
            "a ticket",
            "a ticket for its run",
        }:
            continue
        other.tightens(world)
        answer = elsewhere(world, other)
        other.loosens(world, ANN)
        assert not other.holds(world)
        loosening.tightens(world)
        assert_refused(world, loosening, answer)
        loosening.loosens(world, ANN)
        assert not loosening.holds(world)


@pytest.mark.parametrize("what", [one for one in LOOSENINGS if one not in (UNSIGNED, "a store")])
def test_an_answer_of_somebody_who_was_revoked_meanwhile_does_not_count(
    what: str, world: World
) -> None:
    loosening = LOOSENINGS[what]
    enrol(world.shield, "add", KNOWN_BOB, ANN)
    loosening.tightens(world)
    answer = elsewhere(world, loosening, BOB)
    enrol(world.shield, "revoke", KNOWN_BOB, ANN)
    assert_refused(world, loosening, answer)


@pytest.mark.parametrize("what", [name for name, one in LOOSENINGS.items() if one.kept])
def test_a_yes_that_is_kept_ends_with_who_gave_it(what: str, world: World) -> None:
    loosening = LOOSENINGS[what]
    enrol(world.shield, "add", KNOWN_BOB, ANN)
    loosening.tightens(world)
    loosening.loosens(world, BOB)
    enrol(world.shield, "revoke", KNOWN_BOB, ANN)
    assert loosening.holds(world)


@pytest.mark.parametrize("what", [name for name in LOOSENINGS if name != "a store"])
def test_in_memory_a_name_counts_unless_it_is_critical(what: str, tmp_path: Path) -> None:
    loosening, world = LOOSENINGS[what], World(tmp_path, lasting=False)
    loosening.tightens(world)
    assert loosening.holds(world)
    if loosening.critical:
        assert_refused(world, loosening, "ann")
    else:
        loosening.loosens(world, "ann")
        assert not loosening.holds(world)


def test_who_was_revoked_does_not_come_back_with_another_history(world: World) -> None:
    """An older copy of who is an operator, and a change on top of it that they signed when they
    were one."""
    shield = world.shield
    added = enrol(shield, "add", KNOWN_BOB, ANN).changes
    enrol(shield, "revoke", KNOWN_BOB, ANN)
    shield.halt("drill")
    assert_refused(world, LOOSENINGS["a halt"], BOB)
    forged = RosterChange(
        kind="add", operator=KNOWN_STRANGER, at=1, before=added[-1].hash, by="bob"
    )
    forged = msgspec.structs.replace(forged, signature=BOB.key.sign(forged.message).hex())
    for history in ((*added, forged), added, ()):
        value = msgspec.to_builtins(history)
        shield.store.carry(
            Batch(f"forge-{len(history)}", FLEET, puts=((RECORD, value, When.JUDGED, 0, 0),))
        )
        for by in (BOB, STRANGER):
            assert_refused(world, LOOSENINGS["a halt"], by)
    shield.resume(by=ANN)
    assert not LOOSENINGS["a halt"].holds(world), (
        "whom the program pins is an operator whatever the store says"
    )


def test_the_brake_that_a_shield_was_started_with_stays_on(tmp_path: Path) -> None:
    policy = {"name": "p"}
    with Shield.load(
        policy, store=tmp_path / "state.db", safe_mode=True, operators=[KNOWN]
    ) as shield:
        with pytest.raises(TicketError, match="a name proves nothing"):
            shield.safe_mode(False)
        assert shield.run("bot").check("read", {}).code == "safe_mode.tool_refused"
        shield.safe_mode(False, by=ANN)
        assert shield.run("bot").check("read", {}).proceeds


@pytest.mark.parametrize("kind", ["sqlite", "postgres", "redis"])
def test_a_name_is_no_answer_on_any_store_that_lasts(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    opens: dict[str, Callable[[], Store]] = {
        "sqlite": lambda: SqliteStore(tmp_path / "state.db"),
        "postgres": lambda: _place(request).open(),
        "redis": lambda: RedisStore(request.getfixturevalue("server").url),
    }
    with Shield.load({"name": "p"}, store=opens[kind](), operators=[KNOWN]) as shield:
        shield.halt("drill")
        with pytest.raises(TicketError):
            shield.resume(by="ann")
        assert shield.run("bot").check("read", {}).code == "kernel.halted"
        shield.resume(by=ANN)
        assert shield.run("bot").check("read", {}).proceeds


def test_a_store_that_does_not_say_where_it_is_may_be_anywhere() -> None:
    store = MemoryStore()
    shield = Shield.load({"name": "p"}, store=TakingTurns([store, store]), operators=[KNOWN])
    shield.halt("drill")
    with pytest.raises(TicketError, match="a name proves nothing"):
        shield.resume(by="ann")
    assert shield.run("bot").check("read", {}).code == "kernel.halted"


def _place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.getfixturevalue("place")
    return found
