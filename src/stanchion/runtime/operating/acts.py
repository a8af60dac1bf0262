"""Acts: what lets more through than before, and so is an operator's. Each is asked for, answered,
and carried out by whichever process the answer reaches."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from zlib import crc32

import msgspec

from stanchion import typed
from stanchion.approvals.act import Answer, Purpose
from stanchion.approvals.answerers import By, Wish
from stanchion.approvals.digest import Request
from stanchion.approvals.errors import AnswerRefused
from stanchion.approvals.rules import Asked
from stanchion.audit.errors import AuditLost
from stanchion.guards.breaker import CLOSED, circuit_of
from stanchion.guards.locks.table import HeldLock, plain, table_of
from stanchion.kernel.autonomy import OPERATOR
from stanchion.kernel.compare_and_set import LEFT
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.gates import standing_key
from stanchion.kernel.state import key
from stanchion.kernel.states import NORMAL, Signal
from stanchion.runtime.calling.pins import accept, pins_key
from stanchion.runtime.deciding.allowances import allowances_key
from stanchion.runtime.driving.sync import change_now, drive
from stanchion.runtime.errors import StateError
from stanchion.runtime.operating.allowances import Allowances
from stanchion.runtime.operating.budgets import held, released, topped, topped_up
from stanchion.runtime.operating.retention import RETENTION, SUBJECT, Retention, erased
from stanchion.runtime.operating.settle_effects import settle
from stanchion.runtime.people.authority import TRUSTED, tell_answered
from stanchion.stores.seen import SeenCell

if TYPE_CHECKING:
    from stanchion.runtime.shield import Shield
    from stanchion.runtime.standing.epoch_memory import Memory


def accept_store(
    shield: Shield, why: str, *, restored: bool = False, by: By = "an operator"
) -> int:
    """Let everybody go on with the store as it is, although it has lost what it held
    (`kernel.store_forgot`).

    `restored` says that it is a backup: then approvals in it that are not used yet are taken back
    first, because they may have been used since it was made. Says how many those are. What the
    store holds stays held: spend is charged until it is settled, and permits come back when their
    time is over. `AnswerRefused` where `by` is no operator.
    """
    _lasting(shield)
    request = Request(
        purpose=Purpose.STORE,
        tenant=FLEET,
        subject="store",
        said={"restored": restored, "why": why},
    )
    return int(shield.act(request, by))


def accepted(shield: Shield, request: Request, answer: Answer) -> int:
    """Accept the store, as an operator has said."""
    memory, restored = _lasting(shield), bool(request.said["restored"])
    how, by = "restored" if restored else "accepted", answer.act.operator
    why = answer.act.comment
    unused = [one for one in shield.tickets(FLEET, "approved") if restored]
    for ticket in unused:
        shield.deny(
            ticket.id,
            by=by,
            comment=f"the store was restored from a backup: {why}",
            tenant=ticket.tenant,
        )
    for tenant, grant in shield.grants() if restored else []:
        shield.revoke(grant.id, by=by, why="the store was restored from a backup", tenant=tenant)
    epoch = drive(memory.begin(how, by, why), shield)
    with contextlib.suppress(AuditLost):
        data: dict[str, Any] = {"epoch_at": epoch.at, "approvals_taken_back": len(unused)}
        tell_answered(shield, f"store.{how}", "store", FLEET, answer, **data)
    return len(unused)


def _lasting(shield: Shield) -> Memory:
    """What is known of the store's epoch; `StateError` where it ends with the process."""
    if shield.memory is None:
        raise StateError("this store lives in memory only: there is nothing to accept")
    return shield.memory


def breakers_of(shield: Shield, tool: str, tenant: str) -> list[SeenCell]:
    """Every breaker of a tool, those in shadow mode included."""
    beginning = f"{key(tenant, 'breaker', tool)}:"
    return [cell for shadow in ("", "~") for cell in shield.store.look(shadow + beginning)]


def reset(shield: Shield, request: Request, answer: Answer) -> bool:
    """Close every breaker of a tool, as an operator said, and write that down; says whether there
    was anything to close."""
    tool, tenant = request.subject, request.tenant
    found = [cell.key for cell in breakers_of(shield, tool, tenant)]
    closed = [one for one in found if change_now(shield, "breaker", tenant, one, _closed).written]
    if closed:
        with contextlib.suppress(AuditLost):
            tell_answered(shield, "breaker.reset", f"tool:{tool}", tenant, answer)
    return bool(closed)


def _closed(value: Any, _now: int) -> Any:
    return LEFT if circuit_of(value) == CLOSED else msgspec.to_builtins(CLOSED)


def holders(shield: Shield, request: Request) -> int:
    """A number for whoever has locked something: an answer fits as long as it is the same runs,
    however often they have renewed their locks meanwhile, and once, because every lock that is
    broken changes it."""
    tables = [table_of(shield.store.read(cell)[1]) for cell in _tables(shield, request.tenant)]
    runs = sorted(
        {lock.run for table in tables for lock in table.held if lock.name == request.subject}
    )
    said = "\n".join([str(sum([table.breaks for table in tables])), *runs])
    return crc32(said.encode("utf-8", "surrogatepass"))


def break_all(shield: Shield, request: Request, answer: Answer) -> bool:
    """Break every lock of that name, as an operator said, and write that down; says whether there
    was one."""
    name, tenant = request.subject, request.tenant
    broken = [
        lock for cell in _tables(shield, tenant) for lock in _broken(shield, tenant, cell, name)
    ]
    if broken:
        runs = sorted({lock.run for lock in broken})
        with contextlib.suppress(AuditLost):
            tell_answered(shield, "lock.broken", f"lock:{name}", tenant, answer, runs=runs)
    return bool(broken)


def _tables(shield: Shield, tenant: str) -> list[str]:
    """The keys of all tables of locks of a tenant, those in shadow mode included."""
    beginning = f"{key(tenant, 'locks')}:"
    return [cell.key for shadow in ("", "~") for cell in shield.store.look(shadow + beginning)]


def _broken(shield: Shield, tenant: str, cell: str, name: str) -> list[HeldLock]:
    broken: list[HeldLock] = []

    def without(value: Any, now: int) -> Any:
        table = table_of(value).at(now)
        broken[:] = [lock for lock in table.held if lock.name == name]
        return plain(table.broken(name)) if broken else LEFT

    change_now(shield, "locks", tenant, cell, without)
    return broken


BACK: Final = (Signal.RESTART, Signal.SAFE_OFF, Signal.LAPSED, Signal.RECOVERED)
"""What is signalled to have something back to normal, whatever state it is in."""

MOST_TRUSTED: Final = 1_000


class ActHandling(NamedTuple):
    """How something is carried out. `number` is the version of what it changes: an answer fits that
    one alone."""

    number: Callable[[Shield, Request], int]
    done: Callable[[Shield, Request, Answer], Any]
    critical: bool = False


def wish(shield: Shield, request: Request) -> Wish:
    """What an operator is asked, who would have something done now."""
    act, request = _act(request), _fit(shield, request)
    return Wish(
        purpose=request.purpose,
        tenant=request.tenant,
        subject=request.subject,
        generation=act.number(shield, request),
        digest=request.digest,
        said=request.said,
        asked=Asked((OPERATOR,), act.critical),
    )


def act(shield: Shield, request: Request, by: By) -> Any:
    """Have something done that somebody may have done: `AnswerRefused` where they may not, which is
    written down."""
    request = _fit(shield, request)
    comment = str(request.said.get("why", ""))
    answer = shield.authority.said(wish(shield, request), by, comment=comment)
    return _act(request).done(shield, request, answer)


def _fit(shield: Shield, request: Request) -> Request:
    """A request whose words are fit to be kept: secrets are hidden in them."""
    why = request.said.get("why")
    if not isinstance(why, str):
        return request
    return msgspec.structs.replace(
        request, said={**request.said, "why": shield.policy.veil.words(why)}
    )


def _act(request: Request) -> ActHandling:
    act = ACTS.get(request.purpose)
    if act is None:
        raise AnswerRefused(f"`{request.purpose}` cannot be asked for in this way")
    return act


def _version(cell: Callable[[Request], str]) -> Callable[[Shield, Request], int]:
    """How often the record of a request was written."""
    return lambda shield, request: shield.store.read(cell(request))[0]


def _resume(shield: Shield, request: Request, answer: Answer) -> None:
    shield.signal(request.tenant, request.subject, BACK, NORMAL, answer.act.comment, answer)


def _safe_mode_off(shield: Shield, request: Request, answer: Answer) -> None:
    shield.signal(
        request.tenant, request.subject, (Signal.SAFE_OFF,), NORMAL, answer.act.comment, answer
    )


def _breakers(shield: Shield, request: Request) -> int:
    return sum([cell.number for cell in breakers_of(shield, request.subject, request.tenant)])


def _allow(shield: Shield, request: Request, answer: Answer) -> Any:
    once, tool = bool(request.said.get("once", False)), str(request.said.get("tool", ""))
    return Allowances(shield, request.tenant).entered(request.subject, once, tool, answer)


def _settle(shield: Shield, request: Request, answer: Answer) -> None:
    happened, result = bool(request.said["happened"]), request.said.get("result")
    settle(shield, request.subject, happened, result, answer, request.tenant)


def _epoch(shield: Shield, _request: Request) -> int:
    return 0 if shield.memory is None else drive(shield.memory.number(), shield)


def _trust(shield: Shield, request: Request, answer: Answer) -> None:
    def added(value: Any, _now: int) -> Any:
        known = {} if value is None else dict(value)
        if len(known) >= MOST_TRUSTED:
            raise AnswerRefused(
                f"{MOST_TRUSTED:,} policies are trusted, which is the most: withdraw the trust in "
                f"some of them first"
            )
        return {**known, request.subject: msgspec.to_builtins(answer)}

    change_now(shield, "trust", FLEET, TRUSTED, added)
    tell_answered(shield, "policy.trusted", request.subject, FLEET, answer)


def _retain(shield: Shield, request: Request, answer: Answer) -> None:
    kept = typed.convert({**request.said, "answer": answer}, Retention)
    value = msgspec.to_builtins(kept)
    change_now(shield, "retain", FLEET, RETENTION, lambda *_: value)
    data: dict[str, Any] = {"days": kept.days, "megabytes": kept.megabytes}
    tell_answered(shield, "trail.retention", SUBJECT, FLEET, answer, **data)


_standing: Final = _version(lambda request: standing_key(request.tenant))

ACTS: Final[dict[Purpose, ActHandling]] = {
    Purpose.RESUME: ActHandling(_standing, _resume),
    Purpose.SAFE_MODE_OFF: ActHandling(_standing, _safe_mode_off),
    Purpose.RESET: ActHandling(_breakers, reset),
    Purpose.BREAK_LOCK: ActHandling(holders, break_all),
    Purpose.ALLOW: ActHandling(_version(lambda one: allowances_key(one.tenant)), _allow),
    Purpose.SETTLE: ActHandling(
        _version(lambda one: key(one.tenant, "effect", one.subject)), _settle
    ),
    Purpose.RELEASE: ActHandling(held, released),
    Purpose.TOP_UP: ActHandling(topped, topped_up),
    Purpose.STORE: ActHandling(_epoch, accepted),
    Purpose.TOOL: ActHandling(_version(lambda one: pins_key(one.tenant)), accept),
    Purpose.POLICY: ActHandling(_version(lambda _: TRUSTED), _trust, critical=True),
    Purpose.RETENTION: ActHandling(_version(lambda _: RETENTION), _retain, critical=True),
    # What is asked for names all that it changes: it fits no other state of things.
    Purpose.ERASE: ActHandling(lambda *_: 0, erased),
}
"""Everything but tickets and operators, which have ways of their own."""
