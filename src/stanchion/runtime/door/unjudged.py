"""What nobody has judged: hosts that something inside asks the door for, and that no judged call of
the run, or of a run below it, has named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from msgspec import MsgspecError

from stanchion.audit.journal import Fact, MemoryJournal
from stanchion.audit.notes import RunBegun
from stanchion.audit.reader import Follower
from stanchion.audit.record import RecordEntry
from stanchion.guards.egress.places import places
from stanchion.kernel.actions import NAMES, PROCEEDS
from stanchion.kernel.events import ToolCall
from stanchion.kernel.stages import Stage
from stanchion.locks import Lock
from stanchion.readings.reading import read
from stanchion.readings.shell.destinations import destinations
from stanchion.readings.urls import UrlTarget, url_of
from stanchion.runtime.coverage.sightings import CLIENT, ESCAPED
from stanchion.runtime.coverage.touches import NETWORK
from stanchion.runtime.standing.veil import tell

DOOR: Final = "door"
"""Whose events those of the door are, and who tells of what it saw."""
WENT: Final = frozenset(NAMES[: PROCEEDS + 1])


class JudgedHosts:
    """The hosts that were named by what was judged and went ahead. It reads what is written of the
    run, whichever process has written it."""

    def __init__(self, desk: Any, strict: bool) -> None:
        self._desk, self._strict = desk, strict
        folder = getattr(desk.shield.journal, "folder", None)
        self._follower = None if folder is None else Follower(folder)
        self._family = {desk.info.id}
        self._read = 0
        self._hosts: set[str] = set()
        self._met: set[str] = set()
        self._guarded = False
        self._lock = Lock()

    def settled(self, host: str) -> bool:
        """Whether a host may be asked for without another look: it was named, or it is not the
        first time and nothing is refused here."""
        return host in self._hosts or (host in self._met and not self._strict)

    def passes(self, host: str) -> bool:
        """Whether a host may be asked for as far as this goes. One that nobody has named when it is
        first met is told of, where calls are judged inside."""
        with self._lock:
            first = host not in self._met
            self._met.add(host)
            for entry in self._new():
                self._take(entry)
            named = host in self._hosts
        if not named and first and (self._guarded or self._strict):
            self._tell(host)
        return named or not self._strict

    def _tell(self, host: str) -> None:
        shield, info = self._desk.shield, self._desk.info
        why = f"`{host}` was asked for at the door, and no call that was judged has named it"
        data: dict[str, Any] = {
            "what": CLIENT,
            "name": host,
            "kind": NETWORK,
            "event": DOOR,
            "target": host,
        }
        data |= {"by": DOOR, "stopped": self._strict, "parents": list(info.parents)}
        about = f"{CLIENT}:{host}"
        tell(
            shield,
            Fact(shield.clock(), ESCAPED, about, info.tenant, info.id, info.agent, why, data),
        )

    def _new(self) -> Iterator[RecordEntry]:
        """The decisions of the run and of those below it since the last look."""
        journal = self._desk.shield.journal
        if self._follower is None:
            kept = journal.kept() if isinstance(journal, MemoryJournal) else ()
            before, self._read = self._read, len(kept)
            yield from [one.read() for one in kept[before:]]
            return
        for found in self._follower.new():
            try:
                if found.is_decision:
                    yield found.entry()
                elif found.stub.run_id not in self._family:
                    self._family_grows(found.note(RunBegun))
            except MsgspecError:
                continue

    def _family_grows(self, begun: RunBegun) -> None:
        if not self._family.isdisjoint(begun.run.parents):
            self._family.add(begun.run.id)

    def _take(self, entry: RecordEntry) -> None:
        if entry.run not in self._family or entry.action not in WENT or entry.tool == DOOR:
            return
        if entry.stage == Stage.EGRESS and isinstance(entry.content, dict):
            self._add(str(entry.content.get("url", "")))
        if entry.stage != Stage.TOOL_CALL or not isinstance(entry.content, dict):
            return
        self._guarded = True
        info = self._desk.info
        call = ToolCall(id=entry.id, at=entry.at, run=info, tool=entry.tool, args=entry.content)
        reading: Any = read(call)
        for place in places(entry.content):
            self._add(place.url)
        for held in reading.commands:
            for url, _ in destinations(held.text, reading.reader.limits):
                self._add(url)

    def _add(self, url: str) -> None:
        target = url_of(url)
        if isinstance(target, UrlTarget) and target.host:
            self._hosts.add(target.host)
