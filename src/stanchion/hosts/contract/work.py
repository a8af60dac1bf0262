"""The work of one run on one host: what flows need of it."""

from __future__ import annotations

from typing import Any

from stanchion.hosts.contract.keys import Keys
from stanchion.hosts.contract.terms import Terms


class Work:
    """A run, the host it works on, and what that host calls its own calls."""

    def __init__(self, host: Terms, run: Any) -> None:
        host.fits(run.can)
        self.host = host
        self.run = run
        self.keys = Keys()
        self._desk = run.desk
