"""What a shield knows of its store's epoch, and what this host remembers of it when the process is
gone."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.kernel.epoch import IDS, Epoch, first_of
from stanchion.kernel.epoch_change import begin, learn, mark
from stanchion.kernel.state import EPOCH, Records, StoreLost
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.standing.host_memory import (
    Remembered,
    closed_states,
    file_for,
    recall,
    remember_as,
)
from stanchion.stores.protocol import is_lasting

EVERY_MS: Final = 60_000
"""How often a process raises the mark of the store's epoch: an older copy of the store is known by
a lower one."""

AGAIN_MS: Final = 1_000
"""How soon it tries again where the store did not say."""


class Memory:
    """The epoch of one store. With a folder it is remembered for the next process of this host;
    where that cannot be read or written this host remembers nothing."""

    def __init__(self, place: str, records: Records, hide: Callable[[Any], Any]) -> None:
        self._place, self._hide = place, hide
        self._records = records
        self._file: Path | None = None
        self._checked = -EVERY_MS
        self._owed = False

    def keep_in(self, folder: Path) -> None:
        """Remember the store in a folder, and expect it to be as it is remembered there."""
        self._file = file_for(folder, self._place)
        known = recall(self._file, self._place)
        if known is not None:
            self._records.update(known.states)
            self._records[EPOCH] = (known.number, msgspec.to_builtins(Epoch(known.at)))

    def is_due(self, at: int) -> bool:
        """Whether it is time to ask the store, by the host's clock."""
        return not 0 <= at - self._checked < EVERY_MS

    def check(self, at: int) -> Flow[None]:
        """Learn the store's epoch where it is not known, and raise its mark where it is: one trip.
        What is wrong with the store is for the next decision to say."""
        self._checked = at
        changed, self._owed = self._owed, False
        knows = False
        with contextlib.suppress(StoreLost):
            known = EPOCH in self._records
            if not known:
                yield from learn(self._records, f"epoch-{_random()}", _drawn())
            knows = not (known or changed) or (
                yield from mark(self._records, f"mark-{_random()}", surely=changed)
            )
        if knows:
            self._write(changed)
        else:
            self._checked = at + AGAIN_MS - EVERY_MS
            self._owed = self._owed or changed

    def changed(self, at: int) -> Flow[None]:
        """A state has changed: raise the mark, and remember it at once, so that a copy of the store
        from before is known to be one. What cannot be done now is done with the next check."""
        self._owed = True
        yield from self.check(at)

    def number(self) -> Flow[int]:
        """The number of the store's epoch as it is now, whatever was known of it. A store that was
        emptied gets one, as from any process that has not seen it before, so that what is said
        about one loss is not about the next."""
        found: Records = {}
        yield from learn(found, f"epoch-{_random()}", _drawn())
        return found[EPOCH][0]

    def begin(self, how: str, by: str, why: str) -> Flow[Epoch]:
        """Begin another epoch, in which this process and every other one goes on."""
        epoch = yield from begin(
            self._records, f"epoch-{_random()}", _drawn(), Epoch(0, how, by, why)
        )
        self._write(True)
        return epoch

    def _write(self, changed: bool) -> None:
        """Remember the mark before the last one. The last one may be lost with the power of this
        host, and what is remembered must not outlive what the store has kept. But where a state has
        `changed`, it is the last one: if the store loses that, it has lost a halt perhaps."""
        if self._file is None:
            return
        number, value = self._records[EPOCH]
        number = number if changed else max(number - 1, first_of(number))
        states, opened = closed_states(self._records)
        known = Remembered(self._place, number, typed.convert(value, Epoch).at, states)
        remember_as(self._file, self._hide(known), self._hide(opened), last=changed)


def memory_of(store: Any, records: Records) -> Memory | None:
    """What there is to know of a store's epoch; `None` where the store ends with this process."""
    if not is_lasting(store) or not store.place:
        return None
    return Memory(store.place, records, getattr(store, "hide", _as_it_is))


def changed(memory: Memory | None, at: int) -> Flow[None]:
    """Remember at once that a state of a store has changed; nothing where there is no epoch."""
    if memory is not None:
        yield from memory.changed(at)


def remember(memory: Memory | None, folder: Callable[[], Path]) -> None:
    """Have this host remember a store, in a folder; where there is none to be had, it does not."""
    if memory is not None:
        with contextlib.suppress(OSError):
            memory.keep_in(folder())


def _as_it_is(value: Any) -> Any:
    return value


def _drawn() -> int:
    return int.from_bytes(os.urandom(4), "big") % (IDS - 1) + 1


def _random() -> str:
    return os.urandom(8).hex()
