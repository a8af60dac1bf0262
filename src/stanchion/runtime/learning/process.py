"""The process tier: what the shields of a process know of tools, for as long as there is room."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from stanchion.experience.incident import Incident
from stanchion.experience.tally import Known
from stanchion.locks import Lock
from stanchion.locks.forks import tell_of_forks

MOST_TOOLS: Final = 4_096
"""How many tools are known, of all tenants; the one that was used longest ago is forgotten
first."""
NEVER: Final = -1

Name = tuple[str, str, str]
"""Where the store is, the tenant and the tool."""


class Entry:
    """What is known of one tool, and when it was last read from the store."""

    __slots__ = ("known", "read_ms")

    def __init__(self, known: Known, read_ms: int = NEVER) -> None:
        self.known, self.read_ms = known, read_ms


class Process:
    """Knows tools by store, tenant and name. Shields on the same store share it, tenants never
    do."""

    def __init__(self, most: int = MOST_TOOLS) -> None:
        self._most = most
        self._lock = Lock()
        self._entries: OrderedDict[Name, Entry] = OrderedDict()
        tell_of_forks(self)

    def forked(self) -> None:
        """In a forked process: nobody is left who could hold the lock."""
        self._lock = Lock()

    def add(self, place: str, one: Incident) -> None:
        """Learn from one incident."""
        name = (place, one.tenant, one.tool_name)
        with self._lock:
            before = self._entries.get(name)
            entry = Entry(Known()) if before is None else before
            self._put(name, Entry(entry.known.plus(one), entry.read_ms))

    def put(self, place: str, tenant: str, tool: str, known: Known, read_ms: int) -> None:
        """Take over what the store knows."""
        with self._lock:
            self._put((place, tenant, tool), Entry(known, read_ms))

    def get(self, place: str, tenant: str, tool: str) -> Entry | None:
        """What is known of a tool."""
        with self._lock:
            name = (place, tenant, tool)
            if name in self._entries:
                self._entries.move_to_end(name)
            return self._entries.get(name)

    def __len__(self) -> int:
        return len(self._entries)

    def _put(self, name: Name, entry: Entry) -> None:
        self._entries[name] = entry
        self._entries.move_to_end(name)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)


PROCESS: Final = Process()
