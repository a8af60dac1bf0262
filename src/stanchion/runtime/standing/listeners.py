"""Who listens to what occurs: the log always, and the post where the operator has one."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from stanchion.audit.errors import TrailError
from stanchion.audit.tampering import is_telling
from stanchion.runtime.standing.occurring import trail_tampered
from stanchion.stores.protocol import StoreError
from stanchion.telemetry.notices.message import log
from stanchion.telemetry.occurrences import Kind, Occurrence, Occurrences

if TYPE_CHECKING:
    from stanchion.runtime.standing.grounds import Grounds
    from stanchion.telemetry.notices.post import Post


def listened_to(post: Post | None) -> Occurrences:
    """Occurrences that reach the log, and where notices go."""
    occurrences = Occurrences()
    occurrences.subscribe(log)
    if post is not None:
        post.begin(occurrences)
    return occurrences


def listen_to_trail(shield: Grounds) -> None:
    """Have a shield tell what its trail finds changed: what it has found already, and what it will
    find."""
    journal = shield.journal
    if not is_telling(journal):
        return
    here = weakref.ref(shield)

    def told(words: str) -> None:
        there = here()
        if there is not None:
            trail_tampered(there, words)

    journal.tampering.hear(shield, told)


def tell_unopened(post: Post | None, error: StoreError | TrailError, at: int) -> None:
    """Tell that a shield could not be made, because its store or its trail cannot be opened."""
    occurrences = listened_to(post)
    lost, what = (
        (Kind.STORE_LOST, "store") if isinstance(error, StoreError) else (Kind.TRAIL_LOST, "trail")
    )
    text = f"a process cannot start, because its {what} cannot be opened: {error}"
    occurrences.tell(Occurrence(kind=lost, at=at, text=text, about=f"{what}:opening", hourly=True))
    occurrences.close()
