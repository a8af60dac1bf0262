"""What a host remembers of a store when no process is left: a small file in the state folder."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.kernel.epoch import first_of
from stanchion.kernel.gates import standing_key, standing_of
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import STANDING, Records
from stanchion.kernel.states import HALTED, QUARANTINE, SAFE

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


class Remembered(msgspec.Struct, frozen=True, omit_defaults=True):
    """A store as this host last knew it: where it is, the number of its epoch and when that began,
    and the states in which something was refused, by their keys, with their versions."""

    place: str
    number: int
    at: int
    states: dict[str, tuple[int, Any]] = {}


def file_for(folder: Path, place: str) -> Path:
    """The file in which a store is remembered."""
    return folder / f"{blake2b(place.encode(), digest_size=8).hexdigest()}.json"


def recall(file: Path, place: str) -> Remembered | None:
    """What is remembered of a store; `None` where nothing is that can be read."""
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        known = typed.decode(file.read_bytes(), Remembered)
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


def remember_as(file: Path, new: Remembered, opened: dict[str, int], *, last: bool) -> None:
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


def _joined(old: Remembered, new: Remembered, opened: dict[str, int]) -> Remembered:
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
