"""Pins: definitions of tools as they were first seen, and as they were seen since, until an
operator accepts that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from stanchion import typed
from stanchion.approvals.act import Answer
from stanchion.approvals.digest import Request
from stanchion.approvals.errors import AnswerRefused
from stanchion.kernel.state import key
from stanchion.readings.definitions.texts import DefinitionRemark
from stanchion.runtime.driving.sync import change_now
from stanchion.runtime.people.authority import tell_answered

if TYPE_CHECKING:
    from stanchion.runtime.shield import Shield

Parts = dict[str, str]
"""The parts of a definition, each by its hash."""


class Suspect(msgspec.Struct, frozen=True):
    """A definition that waits for a person because of what it says: its parts, and the remarks on
    it."""

    parts: Parts
    remarks: tuple[DefinitionRemark, ...]


class Pins(msgspec.Struct, frozen=True, omit_defaults=True):
    """The definitions that are pinned, those that were seen to be others, and when this was
    written; those that are suspect, and those that were suspect until an operator accepted them as
    they are."""

    tools: dict[str, Parts] = {}
    seen: dict[str, Parts] = {}
    written: int = 0
    suspects: dict[str, Suspect] = {}
    accepted: dict[str, Parts] = {}

    def waiting(self, name: str) -> Parts | None:
        """The parts of a definition that waits for an operator; `None` where none of that name
        does."""
        suspect = self.suspects.get(name)
        return self.seen.get(name) if suspect is None else suspect.parts


class PinOwner(msgspec.Struct, frozen=True):
    """Whose definitions these are: the tenant's that uses them, and the server's that has them."""

    tenant: str
    server: str = ""


def pin_name(server: str, tool: str) -> str:
    """What a tool is pinned as: two servers may have tools of the same name."""
    return f"{server}/{tool}" if server else tool


def pins_key(tenant: str) -> str:
    """Where a tenant's pins are kept."""
    return key(tenant, "pins")


def pins_of(value: Any) -> Pins:
    """The pins that a record tells."""
    return Pins() if value is None else typed.convert(value, Pins)


def accept(shield: Shield, request: Request, answer: Answer) -> None:
    """Pin a definition anew, as an operator has said."""
    name, tenant = request.subject, request.tenant
    parts: Any = request.said.get("parts")

    def repinned(value: Any, now: int) -> Any:
        kept = pins_of(value)
        if kept.waiting(name) != parts:
            raise AnswerRefused(
                f"the definition of `{name}` has changed in the meantime: look at it again"
            )
        seen = {other: own for other, own in kept.seen.items() if other != name}
        suspects = {other: own for other, own in kept.suspects.items() if other != name}
        accepted = {**kept.accepted, name: parts} if name in kept.suspects else kept.accepted
        return msgspec.to_builtins(Pins({**kept.tools, name: parts}, seen, now, suspects, accepted))

    change_now(shield, "pins", tenant, pins_key(tenant), repinned)
    tell_answered(shield, "definition.repinned", f"tool:{name}", tenant, answer)
