"""Processes that die: a child that works on a store of its own and is killed at a place that a test
has chosen."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from stanchion.kernel.state import Batch, Reply
from stanchion.stores.memory import wall_ms
from stanchion.stores.protocol import Store
from stanchion.stores.seen import Hold, SeenCell

Open = Callable[[Callable[[], int]], Store]
"""Opens the store once more, on a clock."""

LATER_MS = 3_600_000


def later() -> int:
    """The clock of somebody who looks at it an hour from now."""
    return wall_ms() + LATER_MS


class Dropped(BaseException):
    """What ends work in this process as a kill ends another one: nothing is cleaned up, nothing is
    settled."""


class Cut:
    """A store that is ended at a step: before (even) or after (odd) one of its batches is carried
    out."""

    def __init__(self, store: Store, step: int, end: Callable[[], object]) -> None:
        self._store, self._step, self._end, self._at = store, step, end, 0

    @property
    def place(self) -> str:
        """Where the store behind is."""
        return str(getattr(self._store, "place", ""))

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out, unless this is where it ends."""
        self._pass()
        reply = self._store.carry(batch)
        self._pass()
        return reply

    def _pass(self) -> None:
        at, self._at = self._at, self._at + 1
        if at == self._step:
            self._end()

    async def acarry(self, batch: Batch) -> Reply:
        """The same for async code."""
        return self.carry(batch)

    def read(self, key: str) -> tuple[int, Any]:
        """A cell."""
        return self._store.read(key)

    def look(self, prefix: str = "") -> Iterator[SeenCell]:
        """Cells."""
        return self._store.look(prefix)

    def holds(self) -> Iterator[Hold]:
        """Holds."""
        return self._store.holds()

    def held(self, tenant: str, hold_id: str) -> Hold | None:
        """A hold."""
        return self._store.held(tenant, hold_id)

    def close(self) -> None:
        """Nothing: whoever is killed closes nothing."""


def kill_me() -> None:
    """End this process as a power cut does."""
    os.kill(os.getpid(), signal.SIGKILL)


def killed(work: Callable[[], object], notes: Path) -> list[str]:
    """Work in a child that kills itself; gives what it noted until then. One that ends otherwise is
    an error."""
    status = _ended(_forked(work))
    assert os.WIFSIGNALED(status), f"it ended with {status}"
    assert os.WTERMSIG(status) == signal.SIGKILL
    return noted(notes)


def may_be_killed(work: Callable[[], object]) -> bool:
    """Work in a child; whether it was killed before it was done."""
    status = _ended(_forked(work))
    if os.WIFSIGNALED(status):
        return True
    assert os.WEXITSTATUS(status) == 0, "it failed"
    return False


def stopped(work: Callable[[], object]) -> int:
    """Work in a child until it stops itself; gives its number."""
    child = _forked(work)
    _, status = os.waitpid(child, os.WUNTRACED)
    assert os.WIFSTOPPED(status), f"it ended with {status}"
    return child


def woken(child: int) -> None:
    """Let a child go on that has stopped itself, until it has ended well."""
    os.kill(child, signal.SIGCONT)
    assert os.WEXITSTATUS(_ended(child)) == 0


def noted(notes: Path) -> list[str]:
    """What a child wrote down."""
    return notes.read_text().split() if notes.exists() else []


def note(notes: Path, words: object) -> None:
    """Write something down that outlives this process."""
    with notes.open("a") as file:
        file.write(f"{words}\n")


def _forked(work: Callable[[], object]) -> int:
    child = os.fork()
    if not child:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return child


def _ended(child: int) -> int:
    return os.waitpid(child, 0)[1]
