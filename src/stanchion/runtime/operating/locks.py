"""What an operator does about locks: break one whose holder does not release it."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any
from zlib import crc32

from stanchion.approvals.act import Answer
from stanchion.approvals.request import Request
from stanchion.audit.errors import AuditLost
from stanchion.guards.locks.table import HeldLock, plain, table_of
from stanchion.kernel.compare_and_set import LEFT, change
from stanchion.kernel.state import key
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.people.authority import tell_answered

if TYPE_CHECKING:
    from stanchion.runtime.operating.grounds import Operated


def holders(shield: Operated, request: Request) -> int:
    """A number for whoever has locked something: an answer fits as long as it is the same runs,
    however often they have renewed their locks meanwhile, and once, because every lock that is
    broken changes it."""
    tables = [table_of(shield.store.read(cell)[1]) for cell in _tables(shield, request.tenant)]
    runs = sorted(
        {lock.run for table in tables for lock in table.held if lock.name == request.subject}
    )
    said = "\n".join([str(sum([table.breaks for table in tables])), *runs])
    return crc32(said.encode("utf-8", "surrogatepass"))


def break_all(shield: Operated, request: Request, answer: Answer) -> bool:
    """Break every lock of that name, as an operator said, and write that down; says whether there
    was one."""
    name, tenant = request.subject, request.tenant
    broken = [
        lock
        for cell in _tables(shield, tenant)
        for lock in drive(_broken(shield, tenant, cell, name), shield)
    ]
    if broken:
        runs = sorted({lock.run for lock in broken})
        with contextlib.suppress(AuditLost):
            tell_answered(shield, "lock.broken", f"lock:{name}", tenant, answer, runs=runs)
    return bool(broken)


def _tables(shield: Operated, tenant: str) -> list[str]:
    """The keys of all tables of locks of a tenant, those in shadow mode included."""
    beginning = f"{key(tenant, 'locks')}:"
    return [cell.key for shadow in ("", "~") for cell in shield.store.look(shadow + beginning)]


def _broken(shield: Operated, tenant: str, cell: str, name: str) -> Flow[list[HeldLock]]:
    broken: list[HeldLock] = []

    def without(value: Any, now: int) -> Any:
        table = table_of(value).at(now)
        broken[:] = [lock for lock in table.held if lock.name == name]
        return plain(table.broken(name)) if broken else LEFT

    yield from change(shield.records, f"locks-{os.urandom(8).hex()}", tenant, cell, without)
    return broken
