"""Listing what is on the server for people, a portion at a time, so that nothing waits for the
reader."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from stanchion.kernel.state import BUCKETS, CLOCK, StoreLost, key
from stanchion.stores.redis.address import answered
from stanchion.stores.redis.connection import command
from stanchion.stores.redis.packed import RedisKeys, tag_of, unpack_reply, unpack_value
from stanchion.stores.redis.pool import RedisPool
from stanchion.stores.seen import Hold, SeenCell, Took

PORTION: Final = 256
WINDOW, RECORD, SPEND, PERMITS = b"wrhp"
UNREADABLE: Final = (struct.error, msgspec.MsgspecError, UnicodeDecodeError)

_cell: Final = struct.Struct("<Bddd")
_window: Final = struct.Struct("<dddd")
_entry: Final = struct.Struct("<dd")
_hold: Final = struct.Struct("<BddI")
_took: Final = struct.Struct("<dBdBI")


class RedisListing:
    """What people see of a server."""

    def __init__(self, pool: RedisPool, keys: RedisKeys, clock: Callable[[], int] | None) -> None:
        self._pool = pool
        self._keys = keys
        self._clock = clock

    def one(self, name: str) -> tuple[int, Any]:
        """A cell's number and value."""
        if name == CLOCK:
            return self._now(), None
        seen = list(self._seen([self._keys.cell(name)], 0))
        return (seen[0].number, seen[0].value) if seen else (0, None)

    def cells(self, prefix: str) -> Iterator[SeenCell]:
        """Every cell whose key begins so; first all keys are gathered, then their cells are
        read."""
        found = sorted(self._scan(self._keys.cell(re.sub(r"([*?\[\]\\])", r"\\\1", prefix)) + b"*"))
        now = self._now()
        for start in range(0, len(found), PORTION):
            yield from self._seen(found[start : start + PORTION], now)

    def holds(self) -> Iterator[Hold]:
        """Every hold that is not settled; they are gathered from all batches that are
        remembered."""
        now = self._now()
        found: list[tuple[bool, float, float, Hold]] = []
        names = sorted(self._scan(self._keys.batch("*")))
        for start in range(0, len(names), PORTION):
            for name, raw, last in self._with_time(names[start : start + PORTION]):
                if raw[0] in (SPEND, PERMITS):
                    found.append(self._hold(name, raw, max(now, last), last))
        for _, _, _, hold in sorted(found, key=lambda each: each[:3]):
            yield hold

    def hold(self, tenant: str, hold_id: str) -> Hold | None:
        """The hold of one batch; `None` where it is settled, or unknown."""
        name = self._keys.batch(key(tenant)) + hold_id.encode()
        for found, raw, last in self._with_time([name]):
            if raw[0] in (SPEND, PERMITS):
                return self._hold(found, raw, max(self._now(), last), last)[-1]
        return None

    def _seen(self, names: list[bytes], now: int) -> Iterator[SeenCell]:
        """Cells as they stand; what nobody touched for long enough is gone, whether or not the
        server knows."""
        for name, raw, last in self._with_time(names):
            try:
                kind, number, touched, keep = _cell.unpack_from(raw)
                if touched + keep > last:
                    value = unpack_value(raw[_cell.size :]) if kind == RECORD else None
                    live = _live(raw, max(now, last)) if kind == WINDOW else None
                    yield SeenCell(self._shown(name), int(number), value, live, int(touched))
            except UNREADABLE as error:
                raise StoreLost(self._damaged(name)) from error

    def _hold(
        self, name: bytes, raw: bytes, now: int, last: int
    ) -> tuple[bool, float, float, Hold]:
        """A hold, behind what it is sorted by: whether a batch came since it lapsed, when it is
        due, its place."""
        try:
            _, due, place, length = _hold.unpack_from(raw)
            took = []
            at = _hold.size + length
            since = unpack_reply(raw[_hold.size : at]).now
            while at < len(raw):
                amount, keeps, _, unit, size = _took.unpack_from(raw, at)
                at += _took.size + size
                took.append(
                    Took(self._shown(raw[at - size : at]), int(amount), unit - 1, keeps == 1)
                )
            tag = tag_of(name.decode())
            hold_id = name.removeprefix(self._keys.batch(tag)).decode()
            return due <= last, due, place, Hold(hold_id, int(due), due <= now, tuple(took), since)
        except UNREADABLE as error:
            raise StoreLost(self._damaged(name)) from error

    def _with_time(self, names: list[bytes]) -> list[tuple[bytes, bytes, int]]:
        """Those keys that have a value, with it, and with the time of the newest answer to their
        tenant.

        One command for each key, all sent at once: on a cluster no command may have the keys of
        several tenants.
        """
        tags = [tag_of(name.decode()) for name in names]
        owns = {tag: self._keys.own(tag) for tag in tags}
        asked = [command("GET", name) for name in (*names, *owns.values())]
        values = [self._checked(reply) for reply in self._pool.ask(b"".join(asked), len(asked))]
        times = zip(owns, values[len(names) :], strict=True)
        last = {tag: 0 if own is None else int(_entry.unpack(own)[0]) for tag, own in times}
        found = zip(names, values, tags, strict=False)
        return [(name, value, last[tag]) for name, value, tag in found if value is not None]

    def _shown(self, name: bytes) -> str:
        """A cell's key as the kernel names it."""
        return name.removeprefix(self._keys.cell("")).decode()

    def _scan(self, pattern: bytes) -> set[bytes]:
        found: set[bytes] = set()
        cursor = b"0"
        while True:
            cursor, names = self._ask("SCAN", cursor, "MATCH", pattern, "COUNT", "1000")
            found.update(names)
            if cursor == b"0":
                return found

    def _now(self) -> int:
        if self._clock is not None:
            return self._clock()
        seconds, micros = self._ask("TIME")
        return int(seconds) * 1000 + int(micros) // 1000

    def _ask(self, *words: str | bytes) -> Any:
        return self._checked(self._pool.ask(command(*words)))

    def _checked(self, reply: Any) -> Any:
        if isinstance(reply, Exception):
            raise StoreLost(answered(self._pool.address, str(reply)))
        return reply

    def _damaged(self, name: bytes) -> str:
        shown = name.decode(errors="replace")
        return (
            f"`{self._pool.address.name}` has data under `{shown}` that no store wrote: remove "
            f"that key"
        )


def _live(raw: bytes, now: int) -> int:
    """What a window holds at a time."""
    width, newest, _, current = _window.unpack_from(raw, _cell.size)
    ring = [(newest, current), *_entry.iter_unpack(raw[_cell.size + _window.size :])]
    oldest = now // width - BUCKETS
    return int(sum(amount for bucket, amount in ring if bucket > oldest))
