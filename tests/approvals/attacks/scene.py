"""Where the attacks happen: a shield under which paying waits for a person, an agent, and perhaps
an operator."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from stanchion import Refused, Shield
from stanchion.approvals.act import Answer, Way
from stanchion.approvals.answerers import Signer
from stanchion.approvals.shelf import read
from stanchion.approvals.ticket import Ticket, key_of, wish_of
from stanchion.testing.operators import operator
from tests.approvals.homes import Home

PAYMENT: Final = ("mallory", 1000)
"""To whom the agent wants to pay, and how much."""

BOT: Final = "bot"
CELLS: Final = "SELECT owner, cells FROM kept WHERE owner LIKE ?"


ONE: Final = "escalation: {quorum: 1}\n"


class Setup(NamedTuple):
    """How Stanchion is set up: who is known to be an operator, from where, and how bad paying
    is."""

    name: str
    keys: str
    risk: str

    @property
    def has_keys(self) -> bool:
        """Whether an operator has a key."""
        return bool(self.keys)


class Scene:
    """One home, one shield in this process, one agent in a run; and a shell, a Python, a terminal
    and the state for that agent. `agreed` is what an operator said yes to, `paid` what really
    happened."""

    def __init__(self, home: Home, setup: Setup, ann: Signer) -> None:
        self.home = home
        self.setup = setup
        self.ann = ann
        self.mallory, _ = operator("mallory")
        self.paid: list[tuple[str, int]] = []
        self.agreed: list[tuple[str, int]] = []
        self.shield = self.opens()
        self.run = self.shield.run(BOT, "invoices", id="run-1")
        self.run.__enter__()
        self.refusal = self.wants()
        self.ticket = (
            "" if self.refusal is None or self.refusal.ticket is None else self.refusal.ticket
        )

    @property
    def pins(self) -> str:
        """What the policy says of operators: the yes of one is enough, so that one forged yes would
        be."""
        if self.setup.keys != "pinned":
            return ONE
        return (
            f"{ONE}operators:\n  ann: {{key: {self.ann.key.public.line}, roles: "
            f"[human_operator]}}\n"
        )

    def opens(self) -> Shield:
        """A shield as the host begins it."""
        shield: Shield = self.home.shield(self.setup.risk, self.pins)
        return shield

    def closes(self) -> None:
        """End the run, and the shield."""
        self.run.__exit__(None, None, None)
        self.shield.close()

    def pay(self, to: str, amount: int) -> str:
        """Send money."""
        self.paid.append((to, amount))
        return "paid"

    def wants(self, run: Any = None, **args: Any) -> Refused | None:
        """The agent calls the tool; gives how it was refused."""
        try:
            (self.run if run is None else run).call(
                self.pay, **{"to": PAYMENT[0], "amount": PAYMENT[1], **args}
            )
        except Refused as refused:
            return refused
        return None

    def wants_in_a_new_process(self) -> Refused | None:
        """The same under a shield that has begun only now."""
        with self.opens() as shield, shield.run(BOT, "invoices") as run:
            return self.wants(run)

    def asks(
        self, agent: str = BOT, task: str = "invoices", run: str | None = None, **args: Any
    ) -> str:
        """An agent asks for something in another run; gives the ticket."""
        with self.shield.run(agent, task, id=run) as other:
            refused = self.wants(other, **args)
        assert refused is not None
        assert refused.ticket is not None
        return refused.ticket

    def ann_agrees(self, **options: Any) -> Ticket:
        """An operator says yes to what the agent wants."""
        ticket = self.shield.approve(self.ticket, by=self.ann, **options)
        self.agreed.append(PAYMENT)
        return ticket

    def stolen(self) -> list[tuple[str, int]]:
        """What was paid though nobody agreed, or more often than that."""
        return list((Counter(self.paid) - Counter(self.agreed)).elements())

    def kept(self) -> Ticket:
        """The agent's ticket, as anybody can read it in the file."""
        ticket = read(self.value(key_of("default", self.ticket)))
        assert ticket is not None
        return ticket

    def value(self, key: str) -> Any:
        """What a record of the store says, read by whoever may read the file."""
        with closing(sqlite3.connect(self.home.store)) as db:
            found = db.execute(CELLS, (key,)).fetchone()
        return None if found is None else msgspec.msgpack.decode(found[1])[0][1][1]

    def writes(self, key: str, change: Callable[[Any], Any]) -> None:
        """Edit a record of the store, by whoever may write the file; its version goes up so that
        everybody sees it."""
        with closing(sqlite3.connect(self.home.store, timeout=30)) as db, db:
            at = self.shield.clock()
            none = (key, msgspec.msgpack.encode([(key, (0, None, None, 0, at, 1 << 62, 0))]))
            _, cells = db.execute(CELLS, (key,)).fetchone() or none
            ((_, (number, value, *rest)),) = msgspec.msgpack.decode(cells)
            new = [(key, (number + 1, msgspec.to_builtins(change(value)), *rest))]
            db.execute(
                "INSERT OR REPLACE INTO kept (owner, until, cells) VALUES (?, ?, ?)",
                (key, at + (1 << 62), msgspec.msgpack.encode(new)),
            )

    def resets(self, like: str) -> None:
        """Have counters of the store begin at nothing again."""
        with closing(sqlite3.connect(self.home.store, timeout=30)) as db, db:
            for owner, cells in db.execute(CELLS, (like,)).fetchall():
                none = [
                    (key, (0, {}, bucket, 0, *rest))
                    for key, (_, _, bucket, _, *rest) in msgspec.msgpack.decode(cells)
                ]
                db.execute(
                    "UPDATE kept SET cells = ? WHERE owner = ?",
                    (msgspec.msgpack.encode(none), owner),
                )

    def puts(self, key: str, value: Any) -> None:
        """Have a record of the store say something else."""
        self.writes(key, lambda _: value)

    def does(self, statement: str, *values: Any) -> None:
        """Change the store's file in any other way."""
        with closing(sqlite3.connect(self.home.store, timeout=30)) as db, db:
            db.execute(statement, values)

    def copies(self) -> sqlite3.Connection:
        """A copy of the store's file as it is now."""
        copy = sqlite3.connect(":memory:")
        with closing(sqlite3.connect(self.home.store, timeout=30)) as db:
            db.backup(copy)
        return copy

    def restores(self, copy: sqlite3.Connection) -> None:
        """Put a copy of the store's file in its place."""
        with closing(copy), closing(sqlite3.connect(self.home.store, timeout=30)) as db:
            copy.backup(db)

    def writes_ticket(self, **fields: Any) -> None:
        """Edit the agent's ticket."""
        self.writes(
            key_of("default", self.ticket), lambda _: msgspec.structs.replace(self.kept(), **fields)
        )

    def forged(
        self, by: Signer | None = None, name: str = "ann", way: Way = Way.KEY, **fields: Any
    ) -> Answer:
        """A yes to the agent's ticket that looks like somebody's, signed with the agent's own key
        or not at all."""
        ticket = self.kept()
        act = wish_of(ticket).act(name, "human_operator", ticket.expires_at, True, "fine")
        act = msgspec.structs.replace(act, **fields)
        if by is None:
            return Answer(act=act, way=way)
        key = by.key.public.fingerprint
        return Answer(act=act, way=way, key=key, signature=by.key.sign(act.message).hex())

    def approves_by_hand(self, answer: Answer | None, **fields: Any) -> None:
        """Edit the ticket so that it looks approved, with an answer."""
        act = None if answer is None else answer.act
        said = {
            "state": "approved",
            "answer": answer,
            "answered_by": "ann" if act is None else act.operator,
            "answered_as": "human_operator",
            "answered_at": self.kept().opened_at,
            "grant_until": self.kept().expires_at if act is None else act.until,
            **fields,
        }
        self.writes_ticket(**said)


class Attack(NamedTuple):
    """One thing that the agent tries. `answered` says that an operator with a key has a part in it,
    `undone` that it undoes in the store what has happened: only a process that has seen it can
    know."""

    tries: Callable[[Scene], None]
    answered: bool = False
    undone: bool = False

    @property
    def name(self) -> str:
        """What it is called."""
        return self.tries.__name__


def template(folder: Path, ann: Signer) -> Path:
    """A state in which ann is an operator, added at a terminal before any shield has begun."""
    home = Home(folder)
    (home.project / "ann.pub").write_text(ann.key.public.line + "\n")
    came = home.at_terminal("operators", "add", "ann", "--public", "ann.pub", "--store", home.store)
    assert came.status == 0, came
    return home.state
