"""Every way of saying yes, as a table of cells: what is expected, stated by itself, and what comes
of it in a run."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from stanchion import Refused
from stanchion.approvals.act import Answer, Way
from stanchion.approvals.answerers import Person, Relayed, Signer
from stanchion.approvals.errors import TicketError
from stanchion.approvals.grant_reach import Scope, said
from stanchion.approvals.ticket import Ticket, wish_of
from stanchion.stores.memory import MemoryStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock, shield_for
from stanchion.testing.operators import operator
from tests.sampling import some

ROLES: Final = ("human_operator", "supervisor", "reviewer")
ASKED: Final = ("supervisor", "human_operator")
"""The roles that the policy asks for."""
SCOPES: Final = ("once", "run", "task", "time", "pattern")
RISKS: Final = ("low", "medium", "high", "critical", "irreversible")
MODES: Final = {"normal": 0, "strict": 60, "lockdown": 90, "exhausted": 100}
"""Modes of autonomy, and how many of a hundred tokens are used up in each."""

SIGNED: Final = ("key", "ssh-agent", "signed elsewhere")
TYPED: Final = ("terminal",)
PROGRAM: Final = ("program",)
RELAYED: Final[dict[str, dict[str, Any]]] = {
    "link": {},
    "chat": {},
    "link that the policy takes": {"relayed": ["link"], "at_least": "link"},
    "chat that the policy takes": {"relayed": ["chat"], "at_least": "chat"},
    "link where a chat is the least": {"relayed": ["link", "chat"], "at_least": "chat"},
    "chat where a key is the least": {"relayed": ["link", "chat"], "at_least": "key"},
    "terminal where a link is the least": {"at_least": "link"},
}
"""Ways on which somebody answers from elsewhere, with what the policy says of them."""
TOO_WEAK: Final = tuple([way for way in RELAYED if " is the least" in way])
NEVER: Final = (
    "program on a lasting store",
    "name alone",
    "terminal alone",
    "stranger's key",
    "revoked key",
    "answer handed in late",
    "answer used late",
)
WAYS: Final = (*SIGNED, *TYPED, *PROGRAM, *RELAYED, *NEVER)


class Cell(NamedTuple):
    """One way of saying yes to one kind of action."""

    way: str
    enrolled: bool
    risk: str
    mode: str
    role: str
    scope: str


def cells(*ways: str) -> list[Cell]:
    """Every cell of some ways. A program names no role."""
    drawn = itertools.product(ways, (True, False), RISKS, MODES, ROLES, SCOPES)
    return [
        cell for cell in map(Cell._make, drawn) if cell.way not in PROGRAM or cell.role == ROLES[0]
    ]


def played(*ways: str) -> list[Cell]:
    """The cells of some ways that are played: some of each, in a soak all of them.

    A fourth: roles and scopes come in threes and fives, so every one of them is met with every
    mode.
    """
    return [cell for way in ways for cell in some(cells(way), 4, way)]


def expected(cell: Cell) -> bool:
    """Whether the action may start, by what the documents promise."""
    if cell.way in (*NEVER, *TOO_WEAK):
        return False
    in_mode = {
        "normal": set(ROLES),
        "strict": {"supervisor", "human_operator"},
        "lockdown": {"human_operator"},
        "exhausted": set(),
    }
    if cell.role not in ASKED or cell.role not in in_mode[cell.mode]:
        return False
    if cell.risk in ("critical", "irreversible") and cell.scope != "once":
        return False
    if cell.way in SIGNED:
        return cell.enrolled
    # A tool that is irreversible here is of high risk.
    weak = (*TYPED, *RELAYED)
    signed_only = {"critical", *(("high", "irreversible") if cell.way in weak else ())}
    far = ("once",) if cell.way in RELAYED else ("once", "run")
    unknown = not cell.enrolled or "relayed" in RELAYED.get(cell.way, {})
    return unknown and cell.risk not in signed_only and cell.scope in far


class Setting:
    """A shield in one mode, with or without operators, and somebody for every role."""

    def __init__(self, cell: Cell, folder: Path) -> None:
        self.clock = FakeClock()
        people = {role: operator(f"{role.replace('_', '-')}-1", role) for role in ROLES}
        boss, chief = operator("chief")
        self.signers = {role: signer for role, (signer, _) in people.items()}
        self.known = {role: known for role, (_, known) in people.items()}
        lasting = cell.way == "program on a lasting store"
        store = (
            SqliteStore(folder / f"{cell}.db".replace("'", ""), self.clock)
            if lasting
            else MemoryStore(self.clock)
        )
        operators = [chief, *self.known.values()] if cell.enrolled else []
        self.shield = shield_for(
            _policy(cell.risk, cell.way), clock=self.clock, store=store, operators=operators
        )
        if cell.way == "revoked key" and cell.enrolled:
            for known in self.known.values():
                self.shield.enrol("revoke", known, boss)
        self.run = self.shield.run("bot", "t")
        self.paid: list[int] = []
        if MODES[cell.mode]:
            assert self.run.check("work", {}, tokens=MODES[cell.mode]).proceeds

    def pay(self, amount: int, to: str) -> None:
        """Pay somebody."""
        self.paid.append(amount)

    def asks(self, amount: int) -> str:
        """Ask to pay; gives the ticket, or nothing where it was paid or refused."""
        try:
            self.run.call(self.pay, amount=amount, to="shop 7")
        except Refused as refused:
            return str(refused.ticket) if refused.ticket else ""
        return ""


def came(cell: Cell, setting: Setting, amount: int) -> bool:
    """Whether the action started, when it was asked for, answered like that and asked for again."""
    ticket = setting.asks(amount)
    if ticket:
        with suppress(TicketError):
            _answer(cell, setting, setting.shield.ticket(ticket))
        setting.asks(amount)
    return amount in setting.paid


def outcomes(wanted: Iterable[Cell], folder: Path) -> Iterator[tuple[Cell, bool]]:
    """What comes of every cell; cells that differ in role and scope alone share a shield."""
    amounts = itertools.count(1)
    for _, group in itertools.groupby(wanted, key=lambda cell: cell[:4]):
        same = list(group)
        with _setting(same[0], folder) as setting:
            for cell in same:
                yield cell, came(cell, setting, next(amounts))


@contextmanager
def _setting(cell: Cell, folder: Path) -> Iterator[Setting]:
    setting = Setting(cell, folder)
    with setting.shield, setting.run:
        yield setting


def _policy(risk: str, way: str) -> dict[str, Any]:
    last = risk == "irreversible"
    tool = {"risk": "high" if last else risk, **({"effect": "irreversible"} if last else {})}
    return {
        "name": "p",
        "autonomy": True,
        "tools": {"pay": tool},
        "guards": [
            {"use": "tool_denylist", "id": "ask-first", "tools": ["pay"], "action": "escalate"},
            {"use": "budget", "tokens": 100, "warn_at": 100},
        ],
        "escalation": {
            "roles": [*ASKED],
            "quorum": 1,
            **RELAYED.get(way, {}),
            "tickets_for_a_run": 1_000_000,
            "tickets_a_minute": 1_000_000,
        },
    }


def _answer(cell: Cell, setting: Setting, ticket: Ticket) -> None:
    shield, signer = setting.shield, setting.signers[cell.role]
    scope, pattern = Scope(cell.scope), {"to": "shop *"} if cell.scope == "pattern" else None

    def approve(by: Any) -> Any:
        return shield.approve(ticket.id, by=by, scope=cell.scope, pattern=pattern, for_s=60)

    def handed_in(way: Way, until: int) -> Any:
        act = wish_of(ticket, said(scope, ticket.run, pattern)).act(
            signer.name, cell.role, until, True, ""
        )
        proof = signer.signed(act) if way.proven else Answer(act=act, way=way)
        return shield.answer(msgspec.structs.replace(proof, way=way).bytes)

    now = setting.clock()
    match cell.way:
        case "key":
            approve(signer)
        case "ssh-agent":
            approve(msgspec.structs.replace(signer, way=Way.SSH_AGENT))
        case "signed elsewhere":
            handed_in(Way.KEY, now + 60_000)
        case "terminal":
            approve(Person("ann", role=cell.role))
        case way if way in RELAYED and not way.startswith("terminal"):
            approve(Relayed(signer.name, Way(way[:4]), cell.role))
        case "terminal where a link is the least":
            approve(Person("ann", role=cell.role))
        case "program" | "program on a lasting store":
            approve("ann")
        case "name alone":
            handed_in(Way.PROGRAM, now + 60_000)
        case "terminal alone":
            handed_in(Way.TERMINAL, now + 60_000)
        case "stranger's key":
            approve(Signer(signer.name, operator()[0].key, cell.role))
        case "revoked key":
            approve(signer)
        case "answer handed in late":
            setting.clock.advance(60_000)
            handed_in(Way.KEY, now + 60_000)
        case "answer used late":
            approve(signer)
            setting.clock.advance(60_000)
        case _:
            raise AssertionError(cell)
