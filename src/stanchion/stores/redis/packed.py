"""Batches as commands, and answers as replies: how this side and the script put numbers into
bytes."""

from __future__ import annotations

import struct
from hashlib import sha1
from importlib import resources
from typing import Any, Final, NamedTuple

import msgspec

from stanchion import typed
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
    as_text,
    key,
)
from stanchion.stores.track import NO_FOOTPRINT, Footprint

# How keys are named on the server: all of a tenant's under its hash tag, so that they are in one
# slot of a cluster.


class RedisKeys:
    """Names behind a prefix: cells as the kernel names them; whatever else there is has a sign
    where they have a colon.

    `tag` is a tenant's, with its braces.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix: Final = prefix

    def cell(self, name: str) -> bytes:
        """A counter or a record."""
        return f"{self.prefix}:{name}".encode()

    def due(self, tag: str) -> bytes:
        """A tenant's holds with permits, in the order in which they fall due."""
        return f"{self.prefix}+{tag}".encode()

    def own(self, tag: str) -> bytes:
        """A tenant's time, and when the next of those holds is due."""
        return f"{self.prefix}@{tag}".encode()

    def batch(self, tag: str) -> bytes:
        """What the keys of a tenant's batches begin with; the id follows."""
        return f"{self.prefix}#{tag}".encode()


def tag_of(cell: str) -> str:
    """The tag in a cell's name; the whole name where there is none."""
    start, end = cell.find("{"), cell.find("}")
    return cell[start : end + 1] if 0 <= start < end else cell


# The script that carries a batch out on the server, and the name under which the server remembers
# it.

SETTINGS: Final = "local REMEMBER_MS, LAPSED_MS, WAITS = '3600000', '604800000', false"


class Script:
    """A script's text with this store's settings in it, and its hash."""

    def __init__(self, text: str, remember_s: int, waits: bool) -> None:
        settings = (
            f"local REMEMBER_MS, LAPSED_MS, WAITS = '{remember_s * 1000}', '604800000', "
            f"{str(waits).lower()}"
        )
        self.text: Final = text.replace(SETTINGS, settings).encode()
        self.hash: Final = sha1(self.text, usedforsecurity=False).hexdigest().encode()


def source() -> str:
    """The script as it is written."""
    return resources.files("stanchion.stores.redis").joinpath("batch.lua").read_text("utf-8")


HEAD: Final = struct.Struct("<ddddddddBBHHHH").pack
EXPECT: Final = struct.Struct("<Hdd").pack
SETTLE: Final = struct.Struct("<ddddd").pack
PUT: Final = struct.Struct("<HBHHd").pack
LINE: Final = struct.Struct("<HBBHBHBddd").pack
BAND: Final = struct.Struct("<dB").pack
NOTHING: Final = SETTLE(0, 0, 0, 0, 0)

SERVER_TIME: Final = -1.0
NOBODY: Final = 65_535
"""The number of a guard in shadow mode without lines: nothing can refuse what it puts."""
IDLE_MS: Final = IDLE_S * 1000
LAPSED_MS: Final = IDLE_MS
"""How long a hold is remembered after it lapsed."""
LONGEST_MS: Final = 10**14
"""How long a server is told to keep something at the most; what is to be kept longer is kept for
ever."""
MOST_KNOWN: Final = 4_096
"""How much is kept packed of each kind."""

pack_value: Final = msgspec.msgpack.Encoder(enc_hook=as_text).encode
unpack_value: Final = msgspec.msgpack.Decoder().decode
unpack_reply: Final = typed.unpacker(Reply).decode

UNWRITABLE: Final = (OverflowError, UnicodeEncodeError, TypeError, struct.error)
"""What packing raises for a batch with something in it that no server can hold."""


class Packed(NamedTuple):
    """Lines, packed once for all batches that have them: their cells with their keys, their
    numbers, how long what they hold is remembered, and the guards in shadow."""

    lines: tuple[Line, ...]
    places: dict[str, int]
    keys: bytes
    numbers: bytes
    hold_ms: bytes
    shadows: dict[int, int]


def bulk(data: bytes) -> bytes:
    """A string on the wire."""
    return b"$%d\r\n%b\r\n" % (len(data), data)


class Packing:
    """Packs batches. What comes again is packed once: tenants, keys, and lines, which a plan always
    has the same."""

    def __init__(self, keys: RedisKeys, script: Script) -> None:
        self._keys = keys
        self._script = script
        self._tenants: dict[str, tuple[bytes, bytes]] = {}
        self._lines: dict[int, Packed] = {}
        self._cells: dict[str, bytes] = {}
        self._heads: dict[tuple[int, int], bytes] = {}

    def pack(
        self,
        batch: Batch,
        now: float = SERVER_TIME,
        whole: bool = False,
        claim: Footprint = NO_FOOTPRINT,
    ) -> bytes:
        """A batch as a command, with what the server must know; `whole` has the script itself in
        it, for a server that does not know it yet."""
        lines, expects, settles, puts = batch.lines, batch.expects, batch.settles, batch.puts
        packed = self._lines.get(id(lines))
        if packed is None or packed.lines is not lines:
            packed = self._pack_lines(lines)
        _, places, line_keys, line_numbers, hold_ms, shadows = packed
        tenant = self._tenants.get(batch.tenant)
        own_keys, prefix = self._tenant(batch.tenant) if tenant is None else tenant
        name = prefix + batch.id.encode()
        known = prefix + claim.id.encode()
        parts = [
            b"",
            own_keys,
            b"$%d\r\n%b\r\n$%d\r\n%b\r\n" % (len(name), name, len(known), known),
        ]
        numbers = HEAD(
            now,
            claim.now,
            claim.cells,
            *batch.amounts,
            batch.go,
            batch.ceiling,
            len(settles),
            len(expects),
            len(lines),
            len(puts),
        )
        keys, values = [line_keys], []
        if expects or puts:
            places = places.copy()
        for cell, lo, hi in expects:
            place = places.get(cell)
            if place is None:
                place = self._place(cell, places, keys)
            numbers += EXPECT(place, lo, hi)
        for hold, actual in settles:
            name = prefix + hold.encode()
            parts.append(b"$%d\r\n%b\r\n" % (len(name), name))
            numbers += NOTHING if actual is None else SETTLE(*actual)
        for cell, value, when, before, shadow in puts:
            place = places.get(cell)
            if place is None:
                place = self._place(cell, places, keys)
            group = shadows.get(shadow, NOBODY) if shadow else 0
            numbers += PUT(place, when, before, group, FOREVER if cell.endswith(KEPT) else IDLE_MS)
            data = pack_value(value)
            values.append(b"$%d\r\n%b\r\n" % (len(data), data))
        numbers += line_numbers
        parts += keys
        parts.append(b"$%d\r\n%b\r\n" % (len(numbers), numbers))
        parts.append(hold_ms)
        parts += values
        size = (4 + len(settles) + len(places), 2 + len(values))
        head = self._heads.get(size)
        parts[0] = self._head(size, whole) if head is None or whole else head
        return b"".join(parts)

    def _head(self, size: tuple[int, int], whole: bool) -> bytes:
        """What comes before the keys."""
        word, script = (b"EVAL", self._script.text) if whole else (b"EVALSHA", self._script.hash)
        head = b"*%d\r\n%b%b%b" % (3 + sum(size), bulk(word), bulk(script), bulk(b"%d" % size[0]))
        if not whole:
            _remember(self._heads, size, head)
        return head

    def _place(self, cell: str, places: dict[str, int], keys: list[bytes]) -> int:
        """The place of a cell that no line has; the clock has none."""
        if cell == CLOCK:
            return 0
        named = self._cells.get(cell)
        if named is None:
            named = bulk(self._keys.cell(cell))
            _remember(self._cells, cell, named)
        keys.append(named)
        places[cell] = len(places) + 1
        return len(places)

    def _tenant(self, tenant: str) -> tuple[bytes, bytes]:
        """A tenant's own keys on the wire, and what the keys of its batches begin with."""
        keys, tag = self._keys, key(tenant)
        made = (bulk(keys.due(tag)) + bulk(keys.own(tag)), keys.batch(tag))
        _remember(self._tenants, tenant, made)
        return made

    def _pack_lines(self, lines: tuple[Line, ...]) -> Packed:
        places: dict[str, int] = {}
        shadows: dict[int, int] = {}
        numbers = b""
        for line in lines:
            place = places.setdefault(line.key, len(places) + 1)
            group = shadows.setdefault(line.shadow, len(shadows) + 1) if line.shadow else 0
            idle = idle_ms(line)
            numbers += LINE(
                place,
                line.unit + 1,
                line.when,
                line.follows,
                line.keep,
                group,
                len(line.bands),
                line.hold_ms,
                -(2 * line.bits + line.push) if line.bits else line.window_ms // BUCKETS,
                idle if idle <= LONGEST_MS else FOREVER,
            )
            for limit, action in line.bands:
                numbers += BAND(limit, action)
        keys = b"".join([bulk(self._keys.cell(name)) for name in places])
        longest = max([line.hold_ms for line in lines], default=0)
        packed = Packed(
            lines,
            places,
            keys,
            numbers,
            bulk(b"%d" % min(longest + LAPSED_MS, LONGEST_MS)),
            shadows,
        )
        _remember(self._lines, id(lines), packed)
        return packed


def _remember(known: dict[Any, Any], name: Any, value: Any) -> None:
    """Keep something packed, within bounds."""
    if len(known) >= MOST_KNOWN:
        known.clear()
    known[name] = value


def stale_reply(batch: Batch, answer: list[Any]) -> Reply:
    """The reply to a batch that expected something else: the time, then what stands at some of its
    expectations."""
    fresh = []
    for at in range(1, len(answer), 3):
        number, value, record = answer[at : at + 3]
        fresh.append(
            Fresh(
                batch.expects[number - 1][0],
                value,
                None if record is None else unpack_value(record),
            )
        )
    return Reply(answer[0], True, fresh=tuple(fresh))
