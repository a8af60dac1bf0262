"""What a shield knows of its store's epoch, and what this host remembers of it when the process is gone."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.audit.layout import state_folder
from stanchion.kernel.epoch import IDS, Epoch, first_of
from stanchion.kernel.remembering import begin, learn, mark
from stanchion.kernel.state import EPOCH, Records, StoreLost
from stanchion.runtime.drivers import Flow
from stanchion.stores.protocol import Lasting

EVERY_MS: Final = 60_000
"""How often a process raises the mark of the store's epoch: an older copy of the store is known by a lower one."""

AGAIN_MS: Final = 1_000
"""How soon it tries again where the store did not say."""

FOLDER: Final = "epochs"
"""The folder in the state folder where a host remembers the stores that it has used."""


class Remembered(msgspec.Struct, frozen=True):
    """A store as this host last knew it: where it is, the number of its epoch, and when that began."""

    place: str
    number: int
    at: int


class Memory:
    """The epoch of one store. With a folder it is remembered for the next process of this host; where that cannot be
    read or written this host remembers nothing."""

    def __init__(self, place: str, records: Records) -> None:
        self._place = place
        self._records = records
        self._file: Path | None = None
        self._checked = -EVERY_MS

    def keep_in(self, folder: Path) -> None:
        """Remember the store in a folder, and expect it to be as it is remembered there."""
        self._file = folder / f"{blake2b(self._place.encode(), digest_size=8).hexdigest()}.json"
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            known = msgspec.json.decode(self._file.read_bytes(), type=Remembered)
            if known.place == self._place:
                self._records[EPOCH] = (known.number, msgspec.to_builtins(Epoch(known.at)))

    def is_due(self, at: int) -> bool:
        """Whether it is time to ask the store, by the host's clock."""
        return not 0 <= at - self._checked < EVERY_MS

    def check(self, at: int) -> Flow[None]:
        """Learn the store's epoch where it is not known, and raise its mark where it is: one trip. What is wrong with
        the store is for the next decision to say."""
        self._checked = at
        knows = False
        with contextlib.suppress(StoreLost):
            if EPOCH in self._records:
                knows = yield from mark(self._records, f"mark-{_random()}")
            else:
                yield from learn(self._records, f"epoch-{_random()}", _drawn())
                knows = True
        if knows:
            self._write()
        else:
            self._checked = at + AGAIN_MS - EVERY_MS

    def begin(self, how: str, by: str, why: str) -> Flow[Epoch]:
        """Begin another epoch, in which this process and every other one goes on."""
        epoch = yield from begin(self._records, f"epoch-{_random()}", _drawn(), Epoch(0, how, by, why))
        self._write()
        return epoch

    def _write(self) -> None:
        """Remember the mark before the last one. The last one may be lost with the power of this host, and what is
        remembered must not outlive what the store has kept."""
        if self._file is None:
            return
        number, value = self._records[EPOCH]
        known = Remembered(self._place, max(number - 1, first_of(number)), msgspec.convert(value, Epoch).at)
        new = self._file.with_name(f"{self._file.name}.{_random()}")
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            new.write_bytes(msgspec.json.encode(known))
            os.replace(new, self._file)


def memory_of(store: Any, records: Records) -> Memory | None:
    """What there is to know of a store's epoch; `None` where the store ends with this process."""
    return Memory(store.place, records) if isinstance(store, Lasting) and store.place else None


def checked(memory: Memory | None, at: int) -> Flow[None]:
    """Learn a store's epoch, or raise its mark, whether or not it is time; nothing where there is no epoch."""
    if memory is not None:
        yield from memory.check(at)


def remember(memory: Memory | None, environ: Mapping[str, str]) -> None:
    """Have this host remember a store, in the state folder; where there is none to be had, it does not."""
    if memory is not None:
        with contextlib.suppress(OSError):
            memory.keep_in(state_folder(environ) / FOLDER)


def _drawn() -> int:
    return int.from_bytes(os.urandom(4), "big") % (IDS - 1) + 1


def _random() -> str:
    return os.urandom(8).hex()
