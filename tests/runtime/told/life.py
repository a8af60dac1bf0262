"""The life of an agent that runs into everything: refused, asked for, denied, taken away,
forgotten, cut off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from stanchion import Shield
from stanchion.approvals.errors import TicketError
from stanchion.kernel.state import StoreLost
from stanchion.runtime.errors import StateError
from stanchion.testing import shield_for
from tests.runtime.told.agent import WHERE, Agent, BreakingJournal, BreakingStore

KEY: Final = "AKIAQ3EGRXYZ5ABCD7WQ"
OPERATOR: Final = "ada-of-the-night-shift"
ROLE: Final = "head-of-treasury"
ASKS: Final = {"action": "escalate", "use": "tool_denylist"}

POLICY: Final[dict[str, Any]] = {
    "name": "told",
    "tools": {
        "transfer": {"annotations": ["once"], "risk": "critical"},
        "look": {"effect": "read"},
        "shaky": {"annotations": ["idempotent"]},
    },
    "guards": [
        {"use": "secrets", "action": "block"},
        {**ASKS, "id": "ask-first", "tools": ["pay", "publish"]},
        {"use": "loops"},
        {"use": "recovery", "max_retries": 2, "backoff_base_s": 0},
        {"use": "error_rate", "calls": 4, "min_calls": 2, "repeats": 3},
        {"use": "budget", "cost_usd": 5},
    ],
    "escalation": {"roles": [ROLE], "timeout_s": 60},
}

CODES: Final = {
    "approval.denied",
    "approval.expired",
    "kernel.audit_lost",
    "kernel.cancelled",
    "kernel.deadline",
    "kernel.halted",
    "kernel.quarantined",
    "kernel.store_lost",
    "kernel.too_large",
    "kernel.unread",
    "ledger.in_progress",
    "ledger.other_call",
    "ledger.outcome_unknown",
    "ledger.result_not_kept",
}
"""What it is told on the way, when all goes well and when the store or the trail breaks."""


class Names(NamedTuple):
    """Who the agent is, and where."""

    agent: str = "ann"
    tenant: str = "tenant-of-acme"
    task: str = "invoices"
    run: str = "run-of-ann"


class World:
    """A shield that breaks where it is told to, and an operator beside it."""

    def __init__(self, store: BreakingStore, journal: BreakingJournal, clock: Any) -> None:
        self.store, self.journal, self.clock = store, journal, clock
        self.shield: Shield = shield_for(POLICY, clock=clock, store=store, journal=journal)

    def answers(self, agent: Agent, yes: bool, comment: str = "") -> None:
        """What a person says to the ticket that the agent waits for; a store that is lost has
        none."""
        if not agent.tickets:
            return
        say = self.shield.approve if yes else self.shield.deny
        try:
            say(agent.tickets[-1], by=OPERATOR, comment=comment)
        except (TicketError, StoreLost):
            return

    def operates(self, name: str, *args: Any, **options: Any) -> None:
        """An operator does something; a store that is lost does not take it."""
        try:
            getattr(self.shield, name)(*args, by=OPERATOR, **options)
        except (StateError, StoreLost):
            return


def live(world: World, names: Names, chapter: str) -> Agent:
    """Live a chapter of it through, and give the agent that has."""
    run = world.shield.run(names.agent, names.task, tenant=names.tenant, id=names.run)
    agent = Agent(run)
    CHAPTERS[chapter](world, agent, names)
    agent.does(run.rollback)
    agent.does(run.close)
    agent.does(lambda: run.check("look", {}))
    return agent


def kept_from(agent: Agent, names: Names) -> tuple[str, ...]:
    """The names that the agent may not read."""
    return (*WHERE, OPERATOR, ROLE, names.tenant, names.run, *agent.tickets)


def _asks(world: World, agent: Agent, _: Names) -> None:
    def pay(amount: int) -> str:
        return f"paid {amount}"

    agent.tries(pay, 1)
    world.answers(agent, yes=False, comment="the wrong account")
    agent.tries(pay, 1)
    agent.tries(pay, 2)
    world.answers(agent, yes=True)
    world.clock.advance(1_000_000)
    agent.tries(pay, 2)
    agent.tries(pay, 3)
    world.clock.advance(61_000)
    agent.tries(pay, 3)
    agent.tries(pay, 4)
    world.answers(agent, yes=True)
    agent.tries(pay, 4)
    agent.does(lambda: agent.run.check("publish", {"text": "news"}))


def _does_once(world: World, agent: Agent, names: Names) -> None:
    def transfer(amount: int) -> Any:
        if amount == 13:
            raise ConnectionError("no route")
        return "x" * 70_000 if amount == 70 else {"receipt": amount}

    def other(amount: int) -> int:
        return amount

    def nested(depth: int) -> str:
        if not begun:
            begun.append(depth)
            agent.tries(nested, depth, once="nested")
        return "done"

    begun: list[int] = []
    agent.tries(transfer, 1)
    agent.tries(transfer, 13)
    again = Agent(world.shield.run(names.agent, names.task, tenant=names.tenant, id=names.run))
    again.tries(transfer, 13)
    again.tries(transfer, 1, once="invoice")
    again.tries(other, 1, once="invoice")
    again.tries(transfer, 70, once="long")
    again.tries(transfer, 70, once="long")
    agent.tries(nested, 5, once="nested")
    _joined(agent, again)


def _fails(_: World, agent: Agent, __: Names) -> None:
    tried = iter(range(100))

    def shaky(n: int) -> str:
        if next(tried) % 3 < 2:
            raise TimeoutError("late")
        return "went well"

    def broken(n: int) -> str:
        raise ValueError("no such thing")

    for n in range(3):
        agent.tries(shaky, n)
    for n in range(6):
        agent.tries(broken, n)
    for _again in range(6):
        agent.does(lambda: agent.run.check("look", {"same": 1}))


def _says_too_much(_: World, agent: Agent, __: Names) -> None:
    def send(body: Any) -> str:
        return "sent"

    agent.tries(send, f"the key is {KEY}")
    agent.tries(send, object())
    agent.does(lambda: agent.run.check("send", {"body": "x" * 9_000_000}))
    agent.does(lambda: agent.run.judge("model_reply", text=f"the key is {KEY}"))


def _is_stopped(world: World, agent: Agent, names: Names) -> None:
    for scope in ("tool:look", f"agent:{names.agent}", f"run:{names.run}", "", "fleet"):
        given = {"tenant": names.tenant, "scope": scope}
        world.operates("halt", "a drill", **given)
        agent.does(lambda: agent.run.check("look", {}))
        world.operates("resume", **given)
    world.operates("quarantine", "tool:look", tenant=names.tenant)
    agent.does(lambda: agent.run.check("look", {}))


def _has_children(world: World, agent: Agent, names: Names) -> None:
    def spend(n: int) -> str:
        return "spent"

    def born() -> str:
        with agent.run.spawn("child", budget={"cost_usd": 1}, deadline_s=5) as child:
            inner = Agent(child)
            inner.does(lambda: child.check("spend", {"n": 1}, cost_usd=2))
            world.clock.advance(6_000)
            inner.tries(spend, 2)
            _joined(agent, inner)
        return "back"

    agent.does(born)
    agent.does(lambda: agent.run.check("spend", {"n": 3}, cost_usd=9))
    agent.does(lambda: agent.run.check("spend", {"n": 4}, cost_usd=9))
    other = world.shield.run(names.agent, names.task, tenant=names.tenant)
    cut = Agent(other)
    cut.does(lambda: other.cancel("nobody needs it"))
    cut.tries(spend, 5)
    _joined(agent, cut)


def _joined(agent: Agent, other: Agent) -> None:
    """What another one has read counts as its own."""
    agent.read += other.read
    agent.codes |= other.codes
    agent.tickets += other.tickets


CHAPTERS: Final[dict[str, Callable[[World, Agent, Names], None]]] = {
    "asks": _asks,
    "does once": _does_once,
    "fails": _fails,
    "says too much": _says_too_much,
    "is stopped": _is_stopped,
    "has children": _has_children,
}
