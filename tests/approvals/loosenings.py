"""Everything that lets more through than before: how it comes to be refused, how it is let go on,
and whether it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from stanchion import PolicyLoosens, Refused, Shield
from stanchion.approvals import State
from stanchion.approvals.act import Purpose
from stanchion.approvals.answerers import By, Signer
from stanchion.approvals.digest import Request
from stanchion.approvals.operators import Operator
from stanchion.audit.retention import Keep
from stanchion.guards.secrets.told import fingerprint
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.state import EPOCH, key
from stanchion.policy.load import policy_hash
from stanchion.runtime.deciding.start import START_MS
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.operating.allowances import Allowances
from stanchion.runtime.operating.retention import RETENTION, SUBJECT, permitted
from stanchion.runtime.people.enrol import enrol
from stanchion.stores.memory import MemoryStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock
from stanchion.testing.operators import operator
from tests.operators import ANN, KNOWN

SECRET = "AKIAQ3EGRXYZ5ABCD7WQ"
CALLED = fingerprint("aws-access-token", SECRET)
_, CAROL = operator("carol")
SPEND = key("default", "budget", "spend", "tokens", "run", "r1")


def policy(steps: int) -> dict[str, Any]:
    """A policy under which each of them is refused, the milder the more steps it gives."""
    asks = {"use": "tool_denylist", "id": "ask-first", "tools": ["pay"], "action": "escalate"}
    others = [
        {"use": "secrets", "action": "block"},
        {"use": "breaker", "failure_threshold": 1, "applies_to": {"tools": ["search"]}},
        {"use": "locks", "timeout_s": 0, "applies_to": {"tools": ["edit", "unlock_file"]}},
        {"use": "schema"},
        {"use": "budget", "id": "words", "tokens": 1_000, "applies_to": {"tools": ["write"]}},
        {"use": "budget", "id": "spend", "tokens": 1_000, "applies_to": {"tools": ["draw"]}},
    ]
    return {"name": "p", "guards": [asks, *others, {"use": "step_limit", "max_steps": steps}]}


class World:
    """One shield on a file, or in memory, with a policy from a file."""

    def __init__(self, folder: Path, *known: Operator, lasting: bool = True) -> None:
        self.clock = FakeClock()
        self.state, self.policy, self.steps = folder / "state.db", folder / "policy.yaml", 1_000
        self.policy.write_text(json.dumps(policy(self.steps)), encoding="utf-8")
        store = SqliteStore(self.state, self.clock) if lasting else MemoryStore(self.clock)
        self.known = known
        self.listed = 0
        self.held = ""
        self.shield = Shield.load(
            self.policy,
            store=store,
            journal="memory:",
            clock=self.clock,
            safe_mode=False,
            operators=known,
        )
        self.run = self.shield.run("bot", "bills", id="r1")

    def cells(self) -> dict[str, tuple[int, Any]]:
        """All that the store keeps, but for the epoch, which whoever comes to an empty store
        makes."""
        return {
            cell.key: (cell.number, cell.value)
            for cell in self.shield.store.look()
            if cell.key != EPOCH
        }

    def refusals(self) -> list[Any]:
        """The answers that were refused, as the trail tells them."""
        return [fact for fact in self.shield.journal.facts() if fact.what == "answer.refused"]

    def wipe(self) -> None:
        """Have the store lose what it held."""
        for end in ("", "-wal", "-shm"):
            self.state.with_name(self.state.name + end).unlink(missing_ok=True)
        self.clock.advance(1_001)

    def tools(self) -> dict[str, Any]:
        """What a server lists, as it describes it by now."""
        return {
            "tools": [
                {
                    "name": "find",
                    "description": f"find, {self.listed}",
                    "inputSchema": {"type": "object"},
                }
            ]
        }

    def trusting(self) -> Request:
        """The request to trust the policy's file as it is."""
        digest = policy_hash(self.policy, None)
        return Request(
            purpose=Purpose.POLICY, tenant=FLEET, subject=digest, said={"policy": "policy.yaml"}
        )


class Loosening(NamedTuple):
    """`tightens` has something refused, again and again; `loosens` lets it go on; `holds` says
    whether it is refused. `kept` is said of a yes that counts for only as long as whoever gave it
    is an operator."""

    tightens: Callable[[World], object]
    loosens: Callable[[World, By], object]
    holds: Callable[[World], bool]
    critical: bool = False
    kept: bool = False


def _refuses(tool: str, args: dict[str, Any]) -> Callable[[World], bool]:
    return lambda world: not world.run.check(tool, args).proceeds


def _ask(world: World) -> None:
    for _, grant in world.shield.grants():
        world.shield.revoke(grant.id, by="ann")
    assert not world.run.check("pay", {"amount": 5}).proceeds


def _approve(scope: str) -> Callable[[World, By], object]:
    def approve(world: World, by: By) -> object:
        now = ("pay", State.OPEN, world.shield.policy.hash)
        (ticket,) = [
            one for one in world.shield.tickets() if (one.tool, one.state, one.policy) == now
        ]
        return world.shield.approve(ticket.id, by=by, scope=scope)

    return approve


def _change_definition(world: World) -> None:
    if not world.listed:
        world.shield.ingest(world.tools())
    world.listed += 1
    assert world.shield.ingest(world.tools()).changed


def _transfer() -> None:
    raise TimeoutError("no answer from the bank")


def _locks(world: World) -> None:
    world.run.check("unlock_file", {"path": "a"})
    world.shield.run("other", id="other").check("edit", {"path": "a"})


def _starts(world: World) -> bool:
    try:
        world.run.call_once("invoice-7", world.shield.tool(name="transfer")(_transfer))
    except TimeoutError:
        return True
    except Refused as refused:
        return refused.decision.code != "ledger.outcome_unknown"
    raise AssertionError("the bank answers")


def _reserve(world: World) -> None:
    world.held = world.run.check("write", {}, tokens=900).id
    world.clock.advance(2 * START_MS)


def _release(world: World, by: By) -> None:
    world.shield.release_call(world.held, by=by)


def _still_held(world: World) -> bool:
    return any(hold.id == world.held for hold in world.shield.store.holds())


def _use_up(world: World) -> None:
    left = 1_000 - world.shield.store.read(SPEND)[0]
    call = world.run.check("draw", {}, tokens=left).id
    world.run.result("draw", {}, "done", call=call, tokens=left)


def _forget_store(world: World) -> None:
    assert world.run.check("read", {}).proceeds
    world.wipe()
    assert world.run.check("read", {}).code == "kernel.store_forgot"


def _write_milder(world: World) -> None:
    world.steps += 1_000
    world.policy.write_text(json.dumps(policy(world.steps)), encoding="utf-8")


def _reload_refused(world: World) -> bool:
    try:
        world.shield.reload()
    except PolicyLoosens:
        return True
    return False


def _retain(world: World, days: float | None, by: By) -> None:
    said = {"days": days, "megabytes": None, "why": ""}
    world.shield.act(
        Request(purpose=Purpose.RETENTION, tenant=FLEET, subject=SUBJECT, said=said), by
    )


def _retain_all(world: World) -> None:
    if world.shield.store.read(RETENTION)[0]:
        _retain(world, None, ANN)


def _roster(world: World) -> dict[str, Operator]:
    return drive(world.shield.authority.roster(), world.shield).operators


def _dismiss(world: World) -> None:
    if "carol" in _roster(world):
        enrol(world.shield, "revoke", CAROL, ANN)


LOOSENINGS: dict[str, Loosening] = {
    "a ticket": Loosening(_ask, _approve("once"), _refuses("pay", {"amount": 5}), kept=True),
    "a ticket for its run": Loosening(
        _ask, _approve("run"), _refuses("pay", {"amount": 5}), kept=True
    ),
    "a halt": Loosening(
        lambda world: world.shield.halt("drill"),
        lambda world, by: world.shield.resume(by=by),
        _refuses("read", {}),
    ),
    "a halt of the fleet": Loosening(
        lambda world: world.shield.halt("drill", scope="fleet"),
        lambda world, by: world.shield.resume(scope="fleet", by=by),
        _refuses("read", {}),
    ),
    "a quarantine": Loosening(
        lambda world: world.shield.quarantine("tool:read"),
        lambda world, by: world.shield.resume(scope="tool:read", by=by),
        _refuses("read", {}),
    ),
    "safe mode": Loosening(
        lambda world: world.shield.safe_mode(True),
        lambda world, by: world.shield.safe_mode(False, by=by),
        _refuses("read", {}),
    ),
    "a breaker": Loosening(
        lambda world: world.run.error("search", ConnectionError("down"), fault="system"),
        lambda world, by: world.shield.reset_tool("search", by=by),
        _refuses("search", {}),
    ),
    "a lock": Loosening(
        _locks,
        lambda world, by: world.shield.break_lock("a", by=by),
        _refuses("edit", {"path": "a"}),
    ),
    "an allowance": Loosening(
        lambda world: Allowances(world.shield).forget(CALLED),
        lambda world, by: Allowances(world.shield).allow(CALLED, why="of the docs", by=by),
        _refuses("send", {"body": SECRET}),
        kept=True,
    ),
    "an effect": Loosening(
        _starts,
        lambda world, by: world.run.settle_effect("invoice-7", happened=False, by=by),
        lambda world: not _starts(world),
    ),
    "a hold": Loosening(_reserve, _release, _still_held),
    "a budget": Loosening(
        _use_up,
        lambda world, by: world.shield.top_up("spend/run:r1", {"tokens": 500}, by=by),
        lambda world: not world.run.check("draw", {}, tokens=1).proceeds,
    ),
    "a store": Loosening(
        _forget_store,
        lambda world, by: world.shield.accept_store("flushed", by=by),
        lambda world: world.run.check("read", {}).code == "kernel.store_forgot",
    ),
    "a definition": Loosening(
        _change_definition,
        lambda world, by: world.shield.ingest(world.tools(), repin=True, by=by),
        _refuses("find", {}),
    ),
    "a policy": Loosening(
        _write_milder,
        lambda world, by: world.shield.act(world.trusting(), by),
        _reload_refused,
        critical=True,
        kept=True,
    ),
    "retention": Loosening(
        _retain_all,
        lambda world, by: _retain(world, 90.0, by),
        lambda world: permitted(Keep(days=3), world.shield.store, (KNOWN,)) == Keep(),
        critical=True,
        kept=True,
    ),
    "an operator": Loosening(
        _dismiss,
        lambda world, by: enrol(world.shield, "add", CAROL, by),
        lambda world: "carol" not in _roster(world),
        critical=True,
    ),
}


class Elsewhere(Signer, frozen=True):
    """An operator who signs on another machine: what they sign is carried by hand, and nothing is
    done there."""

    def signed(self, act: Any) -> Any:
        """Their answer, for whoever carries it."""
        raise Carried(super().signed(act))


class Carried(Exception):
    """An answer on its way."""
