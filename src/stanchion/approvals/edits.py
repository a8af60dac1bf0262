"""Edits: a yes to a call with other arguments than the agent gave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from stanchion.approvals.digest import MOST_BYTES, hashed
from stanchion.approvals.errors import TicketError
from stanchion.approvals.scope import Scope
from stanchion.approvals.ticket import Kind, Ticket
from stanchion.kernel.stages import Stage

EDITED: Final = frozenset({Kind.ACTION, Kind.VALUE, Kind.EFFECT})
"""What a yes can be to with changes: an action that starts on it, and what is known of an
effect."""


def checked_edits(
    ticket: Ticket, edits: Mapping[str, Any], scope: Scope = Scope.ONCE
) -> dict[str, Any]:
    """What a yes changes of a ticket's arguments; `TicketError` where it cannot be changed so."""
    if not edits:
        return {}
    args = ticket.content
    if (
        ticket.kind not in EDITED
        or ticket.stage != Stage.TOOL_CALL
        or not isinstance(args, dict)
        or not args
    ):
        raise TicketError(
            f"ticket `{ticket.id}` has no arguments to change: approve it as it is, or deny it"
        )
    if scope is not Scope.ONCE:
        raise TicketError(
            f"a changed call can only be approved once, not for a {scope}: leave `scope` out"
        )
    unknown = [name for name in edits if name not in args]
    if unknown:
        known = ", ".join(f"`{name}`" for name in args)
        raise TicketError(f"the call has no argument `{unknown[0]}`: change one or more of {known}")
    try:
        digests = {name: hashed(value) for name, value in edits.items()}
        long = len(repr(dict(edits))) > MOST_BYTES // 4
    except (TypeError, ValueError, RecursionError):
        raise TicketError(
            "an argument can only be changed to plain data: text, numbers, lists, mappings"
        ) from None
    if long:
        raise TicketError(
            "the changed arguments are too long to be shown in full: deny the ticket instead"
        )
    if all(digests[name] == hashed(args[name]) for name in edits):
        raise TicketError("the edits change nothing: these are the arguments that were asked for")
    return dict(edits)
