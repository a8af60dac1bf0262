"""A batch as the arguments of the server's function."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final, NamedTuple

import msgspec

from stanchion.kernel.cells import idle_ms
from stanchion.kernel.state import BUCKETS, CLOCK, FOREVER, IDLE_S, KEPT, Batch, Line, When, as_text
from stanchion.stores.postgres import wire
from stanchion.stores.track import NO_FOOTPRINT, Footprint

pack: Final = msgspec.msgpack.Encoder(enc_hook=as_text).encode

MOST_KEYS: Final = 20_000
MOST_LINES: Final = 4_096
"""How many keys, and how many tuples of lines, are remembered at the most."""

SHARED: Final = 1
"""What is added to the number of a lock that others may have, too."""

Arguments = list[bytes | None]


class Name(NamedTuple):
    """A key as it is sent, and the number of its lock."""

    sent: bytes
    lock: int


class Bound(NamedTuple):
    """Lines as they are sent, once for each tuple of lines: a plan's are always the same."""

    lines: tuple[Line, ...]
    keys: dict[str, int]
    names: list[bytes]
    locks: dict[str, int]
    sent: bytes | None
    bands: bytes | None
    all_keys: bytes | None
    all_locks: bytes | None


class Requests:
    """Makes arguments of batches, and remembers what does not change."""

    def __init__(self, schema: str) -> None:
        self._salt: Final = schema.encode()
        self._names: Final[dict[str, Name]] = {}
        self._bound: Final[dict[int, Bound]] = {}

    def arguments(
        self, batch: Batch, now: int | None, claim: Footprint = NO_FOOTPRINT
    ) -> Arguments:
        """The arguments for a batch, with what the server must know; `now` is the time of a test's
        clock, and `None` where the server's rules."""
        bound = self._bound.get(id(batch.lines))
        if bound is None or bound.lines is not batch.lines:
            bound = self._bind(batch.lines)
        keys, locks = bound.all_keys, bound.all_locks
        expects = puts = values = None
        if batch.expects or batch.puts:
            known, names, taken = dict(bound.keys), list(bound.names), dict(bound.locks)
            if batch.expects:
                expects = self._expects(batch, known, names, taken)
            if batch.puts:
                puts = self._puts(batch, known, names, taken)
                values = wire.elements(wire.BYTEA, [pack(put[1]) for put in batch.puts])
            if names:
                keys = wire.head(wire.TEXT, len(names)) + b"".join(names)
                locks = wire.numbers(sorted(taken.values()))
        settles = actuals = None
        if batch.settles:
            settles = wire.elements(wire.TEXT, [hold.encode() for hold, _ in batch.settles])
            actuals = wire.numbers(
                [n for _, actual in batch.settles for n in ((0,) * 5 if actual is None else actual)]
            )
        return [
            batch.id.encode(),
            claim.id.encode(),
            None if now is None else wire.number(now),
            wire.numbers((batch.go, batch.ceiling, *batch.amounts, claim.now, claim.cells)),
            keys,
            locks,
            bound.sent,
            bound.bands,
            expects,
            settles,
            actuals,
            puts,
            values,
        ]

    def names(self, batch: Batch) -> list[str]:
        """The keys that expectations speak of by number; number 0 is the clock."""
        bound = self._bound.get(id(batch.lines))
        keys = [line.key for line in batch.lines] if bound is None else list(bound.keys)
        return list(dict.fromkeys([CLOCK, *keys, *[name for name, _, _ in batch.expects]]))

    def lock_of(self, key: str) -> int:
        """The number of the lock of a key; with `SHARED` added it stands for sharing it."""
        return self._name(key).lock

    def _expects(
        self, batch: Batch, known: dict[str, int], names: list[bytes], locks: dict[str, int]
    ) -> bytes:
        sent = []
        for key, lo, hi in batch.expects:
            at = 0
            if key != CLOCK:
                at = self._place(key, known, names)
                if key not in locks:
                    locks[key] = self._name(key).lock + SHARED
            sent += [at, lo, hi]
        return wire.numbers(sent)

    def _puts(
        self, batch: Batch, known: dict[str, int], names: list[bytes], locks: dict[str, int]
    ) -> bytes:
        sent = []
        for key, _value, when, at, shadow in batch.puts:
            place = self._place(key, known, names)
            locks[key] = self._name(key).lock
            sent += [place, when, at, shadow, FOREVER if key.endswith(KEPT) else IDLE_S * 1000]
        return wire.numbers(sent)

    def _bind(self, lines: tuple[Line, ...]) -> Bound:
        known: dict[str, int] = {}
        names: list[bytes] = []
        locks: dict[str, int] = {}
        sent: list[int] = []
        bands: list[int] = []
        for line in lines:
            key = line.key
            place = self._place(key, known, names)
            lock = self._name(key).lock
            locks[key] = min(
                locks.get(key, lock + SHARED), lock if line.when != When.LOOK else lock + SHARED
            )
            lowest = min([limit for limit, _ in line.bands], default=FOREVER)
            first = len(bands) + 1
            for limit, action in line.bands:
                bands += [limit, action]
            width = -(2 * line.bits + line.push) if line.bits else line.window_ms // BUCKETS
            sent += [place, line.unit, line.when, line.follows, line.hold_ms, line.keep, width]
            sent += [line.shadow, idle_ms(line), lowest, first, len(bands), lock]
        bound = Bound(
            lines,
            known,
            names,
            locks,
            wire.numbers(sent) if sent else None,
            wire.numbers(bands) if bands else None,
            wire.head(wire.TEXT, len(names)) + b"".join(names) if names else None,
            wire.numbers(sorted(locks.values())) if locks else None,
        )
        if len(self._bound) >= MOST_LINES:
            self._bound.clear()
        self._bound[id(lines)] = bound
        return bound

    def _place(self, key: str, known: dict[str, int], names: list[bytes]) -> int:
        place = known.get(key)
        if place is None:
            names.append(self._name(key).sent)
            place = known[key] = len(names)
        return place

    def _name(self, key: str) -> Name:
        name = self._names.get(key)
        if name is None:
            text = key.encode()
            digest = blake2b(text, digest_size=8, key=self._salt).digest()
            # An even number of 63 bits, so that the shared lock of the same key comes next in
            # order.
            name = Name(wire.element(text), int.from_bytes(digest, "big") >> 2 << 1)
            if len(self._names) >= MOST_KEYS:
                self._names.clear()
            self._names[key] = name
        return name
