"""A batch as the arguments of the server's function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from struct import Struct, unpack_from
from typing import Any, Final, NamedTuple

import msgspec

from stanchion.kernel.cells import idle_ms
from stanchion.kernel.state import (
    BUCKETS,
    CLOCK,
    FOREVER,
    IDLE_S,
    KEPT,
    Batch,
    Fresh,
    Line,
    Reply,
    When,
    as_text,
)
from stanchion.stores.track import NO_FOOTPRINT, Footprint

# Arrays as PostgreSQL sends and reads them, made by hand: a list would cost more to adapt than the
# batch to send.

INT8, TEXT, BYTEA = 20, 25, 17
"""The types of elements, by PostgreSQL's numbers for them."""

_HEAD: Final = Struct(">iiiii")
_EIGHT: Final = b"\0\0\0\x08"
_NUMBERS: Final[dict[int, Struct]] = {}
AT: Final = _HEAD.size
"""Where the first element begins."""


def head(kind: int, count: int) -> bytes:
    """What stands before the elements of an array."""
    return _HEAD.pack(1, 0, kind, count, 1)


def numbers(given: Sequence[int]) -> bytes:
    """An array of numbers; `OverflowError` where one needs more than 64 bits."""
    return head(INT8, len(given)) + b"".join(
        [_EIGHT + number.to_bytes(8, "big", signed=True) for number in given]
    )


def element(given: bytes) -> bytes:
    """A text or bytes, as an element of an array."""
    return len(given).to_bytes(4, "big") + given


def elements(kind: int, given: Sequence[bytes]) -> bytes:
    """An array of texts or bytes."""
    return head(kind, len(given)) + b"".join([element(each) for each in given])


def number(given: int) -> bytes:
    """A number by itself."""
    return given.to_bytes(8, "big", signed=True)


def read_number(sent: bytes) -> int:
    """A number by itself."""
    return int.from_bytes(sent, "big", signed=True)


def read_numbers(sent: bytes) -> tuple[int, ...]:
    """The numbers of an array without gaps."""
    count = (len(sent) - AT) // 12
    form = _NUMBERS.get(count)
    if form is None:
        form = _NUMBERS[count] = Struct(">" + "4xq" * count)
    return form.unpack_from(sent, AT) if count > 0 else ()


def read_elements(sent: bytes) -> list[bytes | None]:
    """The texts or bytes of an array."""
    found: list[bytes | None] = []
    at = AT
    while at < len(sent):
        (size,) = unpack_from(">i", sent, at)
        at += 4
        found.append(None if size < 0 else sent[at : at + size])
        at += max(size, 0)
    return found


def read_row(sent: bytes) -> list[bytes | None]:
    """The columns of a row that was sent as one value."""
    found: list[bytes | None] = []
    at = 4
    while at < len(sent):
        (size,) = unpack_from(">i", sent, at + 4)
        at += 8
        found.append(None if size < 0 else sent[at : at + size])
        at += max(size, 0)
    return found


# What the server's function says, as a reply.

unpack: Final = msgspec.msgpack.Decoder().decode

STALE: Final = 2
FORGOT: Final = 3
SETTLED: Final = ("settled", "again", "late", "unknown")


def reply_of(sent: bytes, names: Callable[[], list[str]]) -> Reply | None:
    """The reply, `None` where the server lacks what it must know. `names` gives the keys that the
    numbers of a stale one stand for."""
    row = read_row(sent)
    said = read_numbers(row[0] or b"")
    if said[1] == STALE:
        return _stale(said, row[1], names())
    if said[1] == FORGOT:
        return None
    count = said[2]
    values = said[4 : 4 + count]
    end = 4 + count
    actions: tuple[int, ...] = ()
    if said[3]:
        actions = said[end : end + count]
        end += count
    return Reply(
        said[0], False, said[1] == 1, values, actions, tuple([SETTLED[code] for code in said[end:]])
    )


def _stale(said: tuple[int, ...], sent: bytes | None, names: list[str]) -> Reply:
    values = [None if value is None else unpack(value) for value in read_elements(sent or b"")]
    cells = zip(said[2::2], said[3::2], values, strict=True)
    return Reply(
        said[0],
        True,
        fresh=tuple([Fresh(names[place], number, value) for place, number, value in cells]),
    )


def value_of(sent: bytes | None) -> Any:
    """A record's value; a counter has none."""
    return None if sent is None else unpack(sent)


pack: Final = msgspec.msgpack.Encoder(enc_hook=as_text).encode

MOST_KEYS: Final = 20_000
MOST_LINES: Final = 4_096
"""How many keys, and how many tuples of lines, are remembered at the most."""

SHARED: Final = 1
"""What is added to the number of a lock that others may have, too."""

Arguments = list[bytes | None]


class SentKey(NamedTuple):
    """A key as it is sent, and the number of its lock."""

    sent: bytes
    lock: int


class SentLines(NamedTuple):
    """Lines as they are sent, once for each tuple of lines: a plan's are always the same."""

    lines: tuple[Line, ...]
    keys: dict[str, int]
    names: list[bytes]
    locks: dict[str, int]
    sent: bytes | None
    bands: bytes | None
    all_keys: bytes | None
    all_locks: bytes | None


class PostgresRequests:
    """Makes arguments of batches, and remembers what does not change."""

    def __init__(self, schema: str) -> None:
        self._salt: Final = schema.encode()
        self._names: Final[dict[str, SentKey]] = {}
        self._bound: Final[dict[int, SentLines]] = {}

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
                values = elements(BYTEA, [pack(put[1]) for put in batch.puts])
            if names:
                keys = head(TEXT, len(names)) + b"".join(names)
                locks = numbers(sorted(taken.values()))
        settles = actuals = None
        if batch.settles:
            settles = elements(TEXT, [hold.encode() for hold, _ in batch.settles])
            actuals = numbers(
                [n for _, actual in batch.settles for n in ((0,) * 5 if actual is None else actual)]
            )
        return [
            batch.id.encode(),
            claim.id.encode(),
            None if now is None else number(now),
            numbers((batch.go, batch.ceiling, *batch.amounts, claim.now, claim.cells)),
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
        return numbers(sent)

    def _puts(
        self, batch: Batch, known: dict[str, int], names: list[bytes], locks: dict[str, int]
    ) -> bytes:
        sent = []
        for key, _value, when, at, shadow in batch.puts:
            place = self._place(key, known, names)
            locks[key] = self._name(key).lock
            sent += [place, when, at, shadow, FOREVER if key.endswith(KEPT) else IDLE_S * 1000]
        return numbers(sent)

    def _bind(self, lines: tuple[Line, ...]) -> SentLines:
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
        bound = SentLines(
            lines,
            known,
            names,
            locks,
            numbers(sent) if sent else None,
            numbers(bands) if bands else None,
            head(TEXT, len(names)) + b"".join(names) if names else None,
            numbers(sorted(locks.values())) if locks else None,
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

    def _name(self, key: str) -> SentKey:
        name = self._names.get(key)
        if name is None:
            text = key.encode()
            digest = blake2b(text, digest_size=8, key=self._salt).digest()
            # An even number of 63 bits, so that the shared lock of the same key comes next in
            # order.
            name = SentKey(element(text), int.from_bytes(digest, "big") >> 2 << 1)
            if len(self._names) >= MOST_KEYS:
                self._names.clear()
            self._names[key] = name
        return name
