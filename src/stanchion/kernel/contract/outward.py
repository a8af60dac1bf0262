"""What the runtime does in a guard's name: send requests where it lets them go, and hand out tokens
that it finds."""

from __future__ import annotations

from typing import Protocol


class JudgesHosts(Protocol):
    """Judges where requests go. Asked by the HTTP clients: with such a guard at `egress` a request
    goes to no address but those that were judged, says one host and no other, and through no proxy
    that it does not take."""

    def takes_proxy(self, proxy: str, /) -> bool:
        """Whether requests may go through a proxy, by its URL or by `host:port`."""


class Plants(Protocol):
    """Finds tokens that it gives out itself. Asked by `run.canary`."""

    def plant(self, tenant: str, owner: str, label: str, /) -> str:
        """A token with a label for a run (`owner`), or for the whole tenant where that is empty;
        always the same."""
