"""What erasing does not reach in the store of a project."""

from __future__ import annotations

from stanchion.audit.meant import Meant
from stanchion.audit.remains import Remain
from stanchion.cli.auditing.seen import is_nowhere
from stanchion.cli.stores import opened
from stanchion.cli.trouble import BadInput
from stanchion.runtime.standing.state_places import Whose
from stanchion.views.unerased import in_experience, kept_in


def stored(store: str | None, whose: Whose, meant: Meant) -> list[Remain]:
    """What the store has of what is meant: open and answered tickets, results that are remembered,
    histories."""
    if store is None and is_nowhere(whose):
        return []
    try:
        with opened(store, whose) as kept:
            return [] if kept is None else [*kept_in(kept, meant), *in_experience(kept)]
    except BadInput as error:
        return [Remain("the store", f"cannot be read: {error}")]
