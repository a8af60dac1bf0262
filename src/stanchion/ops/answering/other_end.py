"""Who is at the other end of a connection from this machine: a person's program, or an agent's,
which does not answer for itself."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Collection
from pathlib import Path
from typing import Final

from stanchion.hosts.coding import AGENTS
from stanchion.hosts.coding.agent import CodingAgent
from stanchion.hosts.coding.speaker import Speakers, holders, other_end
from stanchion.ops.broker.peers import Admission
from stanchion.runtime.standing.presence import Asker, ancestors, beside, live_runs, process_at

NOBODY: Final = Admission({}, {})


class OtherEnd:
    """Tells agents from others by what the kernel says of a connection over loopback. `state` is
    the folder in which open runs are noted, `agents` are the users whom a broker serves, and
    `hosts` the coding agents that are known."""

    def __init__(
        self,
        state: Path | None,
        agents: Admission = NOBODY,
        hosts: Collection[CodingAgent] = tuple(AGENTS.values()),
    ) -> None:
        self._state, self._agents = state, agents
        self._speakers = Speakers(hosts)

    def doubt(self, sock: socket.socket) -> str:
        """Why whoever sends this cannot answer; empty where nothing is known against them. Of what
        comes from elsewhere, or through a proxy, nothing is known."""
        if not ipaddress.ip_address(sock.getpeername()[0]).is_loopback:
            return ""
        found = other_end(sock)
        if found is None:
            return "it cannot be told whose connection this is, so nobody can answer on it"
        uid, link = found
        if self._agents.may_serve(uid):
            return "it comes from a user whose agents ask here"
        if uid != os.geteuid():
            return ""
        pids = holders(link)
        if not pids:
            return "it cannot be told whose connection this is, so nobody can answer on it"
        return next(filter(None, map(self._doubt_process, pids)), "")

    def _doubt_process(self, pid: int) -> str:
        process = process_at(pid)
        if process is None or self._speakers.is_below_host(pid):
            return f"process {pid} belongs to a coding agent"
        try:
            live = () if self._state is None else live_runs(self._state)
        except OSError as error:
            return f"it is not known which runs are open: {error}"
        row = ancestors(pid)
        if beside(live, Asker(process, row[1:])) is not None:
            return f"process {pid} belongs to an agent's run"
        return ""
