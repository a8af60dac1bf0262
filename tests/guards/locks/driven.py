"""Calls that are driven step by step, so that a test says whose batch comes first; and stores for
several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from stanchion.kernel.decision import Decision
from stanchion.kernel.state import Batch, Moved, key
from stanchion.kernel.units import JUST_ONE
from stanchion.runtime.calling.reports import check
from stanchion.runtime.driving.flow import TimePause
from stanchion.runtime.run import Run
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.redis import RedisStore
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock
from tests.stores import redis_server, servers

Make = Callable[[], Store]
TABLE: Final = key("default", "locks", "locks")
"""The record in which the locks are."""
KINDS: Final = ("memory", "sqlite", "postgres", "redis")


@contextmanager
def stores(kind: str, clock: FakeClock, folder: Path) -> Iterator[Make]:
    """Ways to open one and the same store again, as other processes do."""
    match kind:
        case "memory":
            shared = MemoryStore(clock)
            yield lambda: shared
        case "sqlite":
            yield lambda: SqliteStore(folder / "state.db", clock)
        case "postgres":
            with servers.new_place() as place:
                yield lambda: place.open(clock)
        case _:
            server = redis_server.shared()
            server.ask("FLUSHALL")
            yield lambda: RedisStore(server.url, clock=clock, timeout_s=30)


def policy(**options: Any) -> dict[str, Any]:
    """A policy with locks alone."""
    return {
        "name": "locks",
        "guards": [{"use": "locks", "lease_s": 60, "timeout_s": 10_000, **options}],
    }


class Call:
    """One call on its way. Each step answers one need: carries a batch out, or lets a pause
    pass."""

    def __init__(self, run: Run, tool: str, args: dict[str, Any]) -> None:
        self.run, self.tool, self.args = run, tool, args
        self._flow = check(run.desk, tool, args, JUST_ONE)
        self.decision: Decision | None = None
        self._need: Any = self._flow.send(None)

    @property
    def waits(self) -> bool:
        """Whether it was judged, and stands in line."""
        return self.decision is None and type(self._need) is TimePause

    @property
    def went(self) -> str:
        """What has become of it: it `goes`, `waits`, or the code that refused it."""
        if self.decision is None:
            return "waits" if self.waits else ""
        return "goes" if self.decision.proceeds else self.decision.code

    def step(self) -> bool:
        """Answer the next need; says whether that was a batch about locks which the store has
        carried out."""
        carried, given = False, None
        if type(self._need) is Batch:
            given = self.run.desk.store.carry(self._need)
            carried = not given.stale and any(
                expected[0] == TABLE for expected in self._need.expects
            )
        else:
            assert type(self._need) in (TimePause, Moved)
        try:
            self._need = self._flow.send(given)
        except StopIteration as done:
            self.decision = done.value
        return carried

    def go_on(self) -> str:
        """Step until it is judged once more."""
        self.step()
        while self.decision is None and not self.waits:
            self.step()
        return self.went


def write(run: Run, *paths: str) -> Call:
    """A call that changes files, judged once."""
    call = Call(run, "write_files", {"paths": list(paths)})
    while call.decision is None and not call.waits:
        call.step()
    return call


def read(run: Run, path: str) -> Call:
    """A call that reads a file, judged once."""
    call = Call(run, "read_file", {"path": path})
    while call.decision is None and not call.waits:
        call.step()
    return call
