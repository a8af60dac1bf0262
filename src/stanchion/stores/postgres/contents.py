"""Listing what is in the schema for people, a portion at a time, so that nothing waits for the
reader."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from psycopg import sql

from stanchion.kernel.state import BUCKETS, CLOCK
from stanchion.stores.postgres import request as wire
from stanchion.stores.postgres.request import value_of
from stanchion.stores.seen import Hold, SeenCell, Took

PORTION: Final = 500
MANY: Final = 4_000
"""How many cells and how many holds are read at a time."""

Ask = Callable[[bytes, list[bytes | None], list[int]], list[list[bytes | None]]]
"""Runs a statement with arguments of these types and gives its rows."""

_TIMES: Final = """
SELECT coalesce(pg_sequence_last_value('{schema}.clock'::regclass), 0),
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint
"""
_CELLS: Final = """
SELECT c.key, c.number, c.touched, coalesce(c.width, 0), c.head, c.ring, c.value, p.amounts, p.buckets
FROM {schema}.cell AS c LEFT JOIN LATERAL (
    SELECT array_agg(amount) AS amounts, array_agg(bucket) AS buckets
    FROM {schema}.permit WHERE key = c.key AND due <= $1
) AS p ON c.next_due <= $1
WHERE c.key >= $2 AND (c.key <> $2 OR $3 = 0) AND c.touched + c.keep > $1 ORDER BY c.key LIMIT $4
"""  # noqa: E501
_HOLDS: Final = """
SELECT (due <= $1)::integer::bigint, due, seq, id, keys, took, at FROM {schema}.batch
WHERE due IS NOT NULL AND ((due <= $1)::integer::bigint, due, seq) > ($2, $3, $4)
ORDER BY (due <= $1)::integer::bigint, due, seq LIMIT $5
"""

_HOLD: Final = """
SELECT 0::bigint, due, seq, id, keys, took, at FROM {schema}.batch WHERE id = $1 AND due IS NOT NULL
"""


class PostgresListing:
    """Reads, and changes nothing. Like every store it shows cells as the newest batch left them."""

    def __init__(self, ask: Ask, schema: str, clock: Callable[[], int] | None) -> None:
        self._ask: Final = ask
        self._clock: Final = clock
        own = sql.Identifier(schema)
        self._times_sql, self._cells_sql, self._holds_sql, self._hold_sql = (
            sql.SQL(text).format(schema=own).as_string(None).encode()
            for text in (_TIMES, _CELLS, _HOLDS, _HOLD)
        )

    def one(self, key: str) -> tuple[int, Any]:
        """A cell's number and value."""
        last, _ = self._times()
        if key == CLOCK:
            return last, None
        rows = self._page(last, key, 0, 1)
        if rows and _text(rows[0][0]) == key:
            seen = _seen(rows[0], 0)
            return seen.number, seen.value
        return 0, None

    def cells(self, prefix: str) -> Iterator[SeenCell]:
        """Every cell whose key begins so."""
        last, now = self._times()
        start, after = prefix, 0
        while True:
            rows = self._page(last, start, after, PORTION)
            for row in rows:
                seen = _seen(row, now)
                if not seen.key.startswith(prefix):
                    return
                yield seen
            if len(rows) < PORTION:
                return
            start, after = _text(rows[-1][0]), 1

    def holds(self) -> Iterator[Hold]:
        """Every hold that is not settled."""
        last, now = self._times()
        after: list[bytes | None] = [wire.number(-1), wire.number(0), wire.number(0)]
        while True:
            given = [wire.number(last), *after, wire.number(MANY)]
            rows = self._ask(self._holds_sql, given, [wire.INT8] * 5)
            for row in rows:
                yield _hold(row, now)
            if len(rows) < MANY:
                return
            after = rows[-1][:3]

    def hold(self, hold_id: str) -> Hold | None:
        """The hold of one batch; `None` where it is settled, or unknown."""
        rows = self._ask(self._hold_sql, [hold_id.encode()], [wire.TEXT])
        return _hold(rows[0], self._times()[1]) if rows else None

    def _page(self, last: int, start: str, after: int, count: int) -> list[list[bytes | None]]:
        given: list[bytes | None] = [
            wire.number(last),
            start.encode(),
            wire.number(after),
            wire.number(count),
        ]
        return self._ask(self._cells_sql, given, [wire.INT8, wire.TEXT, wire.INT8, wire.INT8])

    def _times(self) -> tuple[int, int]:
        """The time of the newest answer, and the time now."""
        last, now = (_number(value) for value in self._ask(self._times_sql, [], [])[0])
        return last, max(last, now if self._clock is None else self._clock())


def _seen(row: list[bytes | None], now: int) -> SeenCell:
    key, number, touched, width, head, ring, value, amounts, buckets = row
    lapsed = list(zip(_numbers(buckets), _numbers(amounts), strict=True))
    total = _number(number) - sum(amount for _, amount in lapsed)
    live = None
    if _number(width):
        oldest = now // _number(width) - BUCKETS
        newest = _number(head)
        slots = {
            newest - (newest - at) % BUCKETS: amount for at, amount in enumerate(_numbers(ring))
        }
        held = [amount for bucket, amount in slots.items() if bucket > oldest]
        live = sum(held) - sum(
            amount for bucket, amount in lapsed if bucket > max(oldest, newest - BUCKETS)
        )
    return SeenCell(_text(key), total, value_of(value), live, _number(touched))


def _hold(row: list[bytes | None], now: int) -> Hold:
    _, due, _, hold_id, keys, took, at = row
    taken = _numbers(took)
    names = [_text(key) for key in wire.read_elements(keys or b"")]
    parts = [taken[at : at + 4] for at in range(0, len(taken), 4)]
    took_all = tuple(
        [
            Took(key, amount, unit, keeps == 1)
            for key, (amount, keeps, _, unit) in zip(names, parts, strict=True)
        ]
    )
    return Hold(_text(hold_id), _number(due), _number(due) <= now, took_all, _number(at))


def _number(sent: bytes | None) -> int:
    return wire.read_number(sent or b"")


def _numbers(sent: bytes | None) -> tuple[int, ...]:
    return () if sent is None else wire.read_numbers(sent)


def _text(sent: bytes | None) -> str:
    return (sent or b"").decode()
