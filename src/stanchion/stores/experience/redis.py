"""Experience in Redis: everything of a tenant under its hash tag, written by one script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.experience.incident import DAY_MS, Incident, Practice, first_id
from stanchion.experience.shelf import ShelfError
from stanchion.experience.tally import CANDIDATES, WINDOW_DAYS, Known, Tally, chosen
from stanchion.kernel.state import StoreLost, key
from stanchion.stores.redis.connection import command
from stanchion.stores.redis.pool import RedisPool

UNPROVEN_S: Final = 30 * 86_400
"""After how long a call that never worked is forgotten."""

WRITE: Final = """
local base = KEYS[1]
for _, text in ipairs(ARGV) do
    local one = cjson.decode(text)
    if redis.call('HSETNX', base .. ':incidents', one.id, one.body) == 1 then
        local sign = one.success and 's' or 'f'
        local tally, practice = base .. ':tally:' .. one.tool, base .. ':practice:' .. one.fingerprint
        redis.call('ZADD', base .. ':order', 0, one.id)
        redis.call('ZADD', base .. ':order:' .. one.tool, 0, one.id)
        redis.call('SADD', base .. ':tools', one.tool)
        redis.call('HINCRBY', tally, sign, 1)
        redis.call('HINCRBY', tally, one.day .. sign, 1)
        redis.call('HINCRBY', practice, sign, 1)
        if one.data then
            redis.call('HSET', practice, 'data', one.data, 'at', one.at)
            redis.call('PERSIST', practice)
            redis.call('ZADD', base .. ':newest:' .. one.tool, one.at, one.fingerprint)
        end
        if redis.call('HEXISTS', practice, 'data') == 0 then
            redis.call('EXPIRE', practice, UNPROVEN)
        else
            local worked = tonumber(redis.call('HGET', practice, 's'))
            if worked > 1 then redis.call('ZADD', base .. ':used:' .. one.tool, worked, one.fingerprint) end
        end
    end
end
return 1
""".replace("UNPROVEN", str(UNPROVEN_S))  # noqa: E501

FORGET: Final = """
local base, gone = KEYS[1], 0
for at = 1, #ARGV, 2 do
    gone = gone + redis.call('HDEL', base .. ':incidents', ARGV[at])
    redis.call('ZREM', base .. ':order', ARGV[at])
    redis.call('ZREM', base .. ':order:' .. ARGV[at + 1], ARGV[at])
end
return gone
"""

UNUSED: Final = """
local base, tool = KEYS[1], ARGV[1]
local old = redis.call('ZRANGEBYSCORE', base .. ':newest:' .. tool, '-inf', '(' .. ARGV[2], 'LIMIT', 0, ARGV[3])
for _, name in ipairs(old) do
    redis.call('DEL', base .. ':practice:' .. name)
    redis.call('ZREM', base .. ':newest:' .. tool, name)
    redis.call('ZREM', base .. ':used:' .. tool, name)
end
for _, field in ipairs(redis.call('HKEYS', base .. ':tally:' .. tool)) do
    local day = tonumber(string.match(field, '^(%d+)[sf]$'))
    if day and day <= tonumber(ARGV[4]) then redis.call('HDEL', base .. ':tally:' .. tool, field) end
end
return #old
"""  # noqa: E501


class RedisShelf:
    """Experience in a Redis or Valkey server, shared by hosts. Keys begin with the store's prefix
    and a `~`."""

    def __init__(self, pool: RedisPool, prefix: str) -> None:
        self._pool: Final = pool
        self._prefix: Final = prefix

    def write(self, incidents: Sequence[Incident]) -> None:
        """Keep a batch, one script for each tenant."""
        of: dict[str, list[bytes]] = {}
        for one in incidents:
            of.setdefault(one.tenant, []).append(_packed(one))
        for tenant, packed in of.items():
            self._ask(["SADD", self._tenants, tenant])
            self._ask(["EVAL", WRITE, "1", self._base(tenant), *packed])

    def known(self, tenant: str, tool: str, today: int) -> Known:
        """What is known of a tool: its fields of the last days, and the practices at the top of two
        lists."""
        base = self._base(tenant)
        fields = [
            f"{day}{sign}" for day in range(today - WINDOW_DAYS + 1, today + 2) for sign in "sf"
        ]
        counted, newest, used = self._all(
            ["HMGET", f"{base}:tally:{tool}", "s", "f", *fields],
            ["ZREVRANGE", f"{base}:newest:{tool}", "0", str(CANDIDATES - 1)],
            ["ZREVRANGE", f"{base}:used:{tool}", "0", str(CANDIDATES - 1)],
        )
        numbers = [0 if value is None else int(value) for value in counted]
        pairs = zip(
            range(today - WINDOW_DAYS + 1, today + 2), numbers[2::2], numbers[3::2], strict=True
        )
        days = {day: (good, bad) for day, good, bad in pairs if good or bad}
        names = sorted({name.decode() for name in (*newest, *used)})
        asked = [["HMGET", f"{base}:practice:{name}", "s", "f", "data", "at"] for name in names]
        rows = self._all(*asked) if asked else []
        found = [
            _practice(name, tool, row)
            for name, row in zip(names, rows, strict=True)
            if row[2] is not None
        ]
        return Known(Tally(numbers[0], numbers[1], days), chosen(found))

    def tools(self, tenant: str) -> list[str]:
        """The tools of a tenant."""
        return sorted(
            [name.decode() for name in self._ask(["SMEMBERS", f"{self._base(tenant)}:tools"])]
        )

    def newest(self, tenant: str, tool: str, most: int) -> list[Incident]:
        """The last incidents."""
        base = self._base(tenant)
        order = f"{base}:order:{tool}" if tool else f"{base}:order"
        return self._bodies(base, self._ask(["ZREVRANGE", order, "0", str(most - 1)]))

    def count(self) -> int:
        """How many incidents are kept."""
        return sum(
            [int(self._ask(["ZCARD", f"{self._base(tenant)}:order"])) for tenant in self._every()]
        )

    def oldest(self, before_ms: int, most: int) -> list[Incident]:
        """The oldest incidents."""
        found: list[Incident] = []
        for tenant in self._every():
            base = self._base(tenant)
            asked = [
                "ZRANGEBYLEX",
                f"{base}:order",
                "-",
                f"({first_id(before_ms)}",
                "LIMIT",
                "0",
                str(most),
            ]
            found += self._bodies(base, self._ask(asked))
        return sorted(found, key=lambda one: one.id)[:most]

    def forget(self, incidents: Sequence[Incident]) -> int:
        """Remove incidents."""
        of: dict[str, list[str]] = {}
        for one in incidents:
            of.setdefault(one.tenant, []).extend((one.id, one.tool_name))
        return sum(
            [
                int(self._ask(["EVAL", FORGET, "1", self._base(tenant), *ids]))
                for tenant, ids in of.items()
            ]
        )

    def forget_before(self, before_ms: int, most: int) -> int:
        """Remove old incidents."""
        return self.forget(self.oldest(before_ms, most))

    def forget_practices(self, before_ms: int, most: int) -> int:
        """Remove practices that have not worked since, and days that no longer count."""
        oldest = str(before_ms // DAY_MS - WINDOW_DAYS)
        gone = 0
        for tenant in self._every():
            for tool in self.tools(tenant):
                if gone < most:
                    given = [tool, str(before_ms), str(most - gone), oldest]
                    gone += int(self._ask(["EVAL", UNUSED, "1", self._base(tenant), *given]))
        return gone

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    @property
    def _tenants(self) -> str:
        return f"{self._prefix}~tenants"

    def _every(self) -> list[str]:
        return sorted([name.decode() for name in self._ask(["SMEMBERS", self._tenants])])

    def _base(self, tenant: str) -> str:
        return f"{self._prefix}~{key(tenant, 'experience')}"

    def _bodies(self, base: str, ids: list[bytes]) -> list[Incident]:
        found = self._ask(["HMGET", f"{base}:incidents", *ids]) if ids else []
        return [typed.decode(body, Incident) for body in found if body is not None]

    def _ask(self, words: Iterable[str | bytes]) -> Any:
        return self._all(words)[0]

    def _all(self, *commands: Iterable[str | bytes]) -> list[Any]:
        data = b"".join([command(*words) for words in commands])
        try:
            answers = self._pool.ask(data, len(commands))
        except StoreLost as lost:
            raise ShelfError(str(lost)) from None
        answers = [answers] if len(commands) == 1 else answers
        for answer in answers:
            if isinstance(answer, Exception):
                raise ShelfError(
                    f"the server `{self._pool.address.name}` cannot keep experience: {answer}"
                )
        return list(answers)


def _packed(one: Incident) -> bytes:
    """An incident for the script: what it counts by, and the whole as it is kept."""
    said = {
        "id": one.id,
        "tool": one.tool_name,
        "fingerprint": one.fingerprint,
        "success": one.success,
        "day": str(one.day),
        "at": str(one.at_ms),
        "data": False if one.good_data is None else one.good_data,
        "body": msgspec.json.encode(one).decode(),
    }
    return msgspec.json.encode(said)


def _practice(name: str, tool: str, row: list[bytes | None]) -> Practice:
    good, bad, data, at_ms = [b"" if value is None else value for value in row]
    return Practice(name, tool, int(good or 0), int(bad or 0), data.decode(), int(at_ms or 0))
