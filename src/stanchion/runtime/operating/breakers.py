"""What an operator does about breakers: close one by hand, whatever is known of its tool."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

import msgspec

from stanchion.approvals.act import Answer
from stanchion.approvals.request import Request
from stanchion.audit.errors import AuditLost
from stanchion.guards.breaker import CLOSED, circuit_of
from stanchion.kernel.compare_and_set import LEFT, change
from stanchion.kernel.state import key
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.people.authority import tell_answered
from stanchion.stores.seen import Seen

if TYPE_CHECKING:
    from stanchion.runtime.operating.grounds import Operated


def breakers_of(shield: Operated, tool: str, tenant: str) -> list[Seen]:
    """Every breaker of a tool, those in shadow mode included."""
    beginning = f"{key(tenant, 'breaker', tool)}:"
    return [cell for shadow in ("", "~") for cell in shield.store.look(shadow + beginning)]


def reset(shield: Operated, request: Request, answer: Answer) -> bool:
    """Close every breaker of a tool, as an operator said, and write that down; says whether there
    was anything to close."""
    tool, tenant = request.subject, request.tenant
    found = [cell.key for cell in breakers_of(shield, tool, tenant)]
    closed = [name for name in found if drive(_close(shield, tenant, name), shield)]
    if closed:
        with contextlib.suppress(AuditLost):
            tell_answered(shield, "breaker.reset", f"tool:{tool}", tenant, answer)
    return bool(closed)


def _close(shield: Operated, tenant: str, name: str) -> Flow[bool]:
    changed = False

    def closed(value: Any, _now: int) -> Any:
        nonlocal changed
        changed = circuit_of(value) != CLOSED
        return msgspec.to_builtins(CLOSED) if changed else LEFT

    yield from change(shield.records, f"breaker-{os.urandom(8).hex()}", tenant, name, closed)
    return changed
