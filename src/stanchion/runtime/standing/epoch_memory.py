"""What a shield knows of its store's epoch, and what this host remembers of it when the process is
gone."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.epoch import IDS, Epoch, first_of
from stanchion.kernel.epoch_change import begin, learn, mark
from stanchion.kernel.gates import standing_key, standing_of
from stanchion.kernel.state import EPOCH, STANDING, Records, StoreLost
from stanchion.kernel.states import HALTED, QUARANTINE, SAFE
from stanchion.runtime.driving.flow import Flow
from stanchion.stores.protocol import is_lasting

CLOSED: Final = frozenset({HALTED, QUARANTINE, SAFE})
"""States in which something is refused."""

MOST_STATES: Final = 1_000
"""Of how many tenants states are remembered; the oldest are forgotten first, and the fleet's
never."""

PATIENCE_S: Final = 10.0
"""How long a change of a state waits for its turn at the folder, before it is written all the
same."""
SOON_S: Final = 0.1
"""How long a raised mark waits for its turn, before it is left to the next time."""
PAUSE_S: Final = 0.005
"""At what distance the folder is asked for."""


class RememberedStore(msgspec.Struct, frozen=True, omit_defaults=True):
    """A store as this host last knew it: where it is, the number of its epoch and when that began,
    and the states in which something was refused, by their keys, with their versions."""

    place: str
    number: int
    at: int
    states: dict[str, tuple[int, Any]] = {}


def file_for(folder: Path, place: str) -> Path:
    """The file in which a store is remembered."""
    return folder / f"{blake2b(place.encode(), digest_size=8).hexdigest()}.json"


def recall(file: Path, place: str) -> RememberedStore | None:
    """What is remembered of a store; `None` where nothing is that can be read."""
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        known = typed.decode(file.read_bytes(), RememberedStore)
        for key, (_, value) in known.states.items():
            standing_of(value)
            if not key.endswith(STANDING):
                return None
        return known if known.place == place else None
    return None


def closed_states(records: Records) -> tuple[Records, dict[str, int]]:
    """The states among records in which something is refused, and the versions of those in which
    nothing is."""
    closed: Records = {}
    opened: dict[str, int] = {}
    for key, known in [*records.items()]:
        if key.endswith(STANDING):
            if _is_closed(known[1]):
                closed[key] = known
            else:
                opened[key] = known[0]
    return closed, opened


def remember_as(file: Path, new: RememberedStore, opened: dict[str, int], *, last: bool) -> None:
    """Remember a store, beside what other processes remember of the same epoch: the higher number,
    the newer states. `opened` has the versions of states in which nothing is refused any more. With
    `last` it is on the disk afterwards. Where it cannot be written, nothing is remembered; nor
    without `last` where others write for long, because they may be about to remember a halt."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _taking_turns(file.parent, PATIENCE_S if last else SOON_S) as held:
            if not held and not last:
                return
            old = recall(file, new.place)
            if old is not None and first_of(old.number) == first_of(new.number):
                new = _joined(old, new, opened)
            body = msgspec.json.encode(msgspec.structs.replace(new, states=_newest(new.states)))
            other = file.with_name(f"{file.name}.{os.urandom(8).hex()}")
            with open(os.open(other, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as writing:
                writing.write(body)
                if last:
                    writing.flush()
                    os.fsync(writing.fileno())
            os.replace(other, file)
            if last:
                _sync(file.parent)


def _joined(old: RememberedStore, new: RememberedStore, opened: dict[str, int]) -> RememberedStore:
    states = {key: known for key, known in old.states.items() if opened.get(key, -1) < known[0]}
    for key, known in new.states.items():
        if key not in states or states[key][0] < known[0]:
            states.pop(key, None)
            states[key] = known
    return msgspec.structs.replace(new, number=max(old.number, new.number), states=states)


def _newest(states: dict[str, tuple[int, Any]]) -> dict[str, tuple[int, Any]]:
    fleet = standing_key(FLEET)
    surplus = [key for key in states if key != fleet][: max(len(states) - MOST_STATES, 0)]
    return {key: known for key, known in states.items() if key not in surplus}


def _is_closed(value: Any) -> bool:
    standing = standing_of(value)
    return (
        bool(standing.struck)
        or standing.own.state in CLOSED
        or any(mark.state in CLOSED for mark in standing.marks.values())
    )


@contextlib.contextmanager
def _taking_turns(folder: Path, wait_s: float) -> Iterator[bool]:
    """Read and write while no other process does; says whether that is so. Decisions wait, so
    nobody waits for ever."""
    if os.name == "nt":
        yield True
        return
    lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        until = time.monotonic() + wait_s
        while not (held := _is_taken(lock)) and time.monotonic() < until:
            time.sleep(PAUSE_S)
        yield held
    finally:
        os.close(lock)


def _is_taken(lock: int) -> bool:
    import fcntl

    # A file system without locks has nobody wait for one.
    with contextlib.suppress(OSError):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _sync(folder: Path) -> None:
    if os.name == "nt":
        return
    file = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


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
        known = RememberedStore(self._place, number, typed.convert(value, Epoch).at, states)
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
