"""Links to the pages of tickets, made where notices are handed to their destinations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from stanchion.approvals.links import TicketLink, TicketLinks
from stanchion.audit.layout import state_folder
from stanchion.folders import kept_key
from stanchion.runtime.errors import NotifyError
from stanchion.telemetry.kinds import Occurrence
from stanchion.telemetry.notices.config import NotifyFile

LINK_KEY: Final = "links.key"
"""The file of the key that links to tickets are signed with, in the state folder."""


def links_of(file: NotifyFile, environ: Mapping[str, str]) -> TicketLinks | None:
    """What makes links to the pages of tickets, and knows its own; `None` where nobody answers on
    pages. `NotifyError` where its key cannot be kept."""
    if file.answers is None:
        return None
    try:
        return TicketLinks(file.answers.base, kept_key(state_folder(environ) / LINK_KEY))
    except OSError as error:
        raise NotifyError([f"links to tickets cannot be signed: {error}"]) from None


def link_maker(file: NotifyFile, environ: Mapping[str, str]) -> Callable[[Occurrence, str], str]:
    """What makes the address at which the holder of a destination answers what a notice asks; it is
    empty where nobody can."""
    links = links_of(file, environ)

    def made(one: Occurrence, holder: str) -> str:
        asked = one.asked
        if links is None or asked is None:
            return ""
        return links.url(TicketLink(one.tenant, one.ticket, asked.generation, asked.digest, holder))

    return made
