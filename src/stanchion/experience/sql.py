"""Experience in a database: one set of statements, with the few words apart that each kind of
database has for itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from stanchion.experience.incident import DAY_MS, Incident, Practice
from stanchion.experience.shelf import sums_of
from stanchion.experience.tally import CANDIDATES, WINDOW_DAYS, Counted, Known, Tally, chosen

TOTAL: Final = -1
"""The day under which everything is counted."""

DAYS: Final = """
SELECT day, successes, failures FROM {own}tool_days
WHERE tenant = ? AND tool_name = ? AND (day = -1 OR day > ?) ORDER BY day LIMIT ?
"""
_PRACTICES: Final = """
SELECT fingerprint, tool_name, success_count, failure_count, last_success_data, last_ms
FROM {own}best_practices
WHERE tenant = ? AND tool_name = ? AND last_success_data IS NOT NULL ORDER DESC, fingerprint LIMIT ?
"""
PRACTICES: Final = (
    _PRACTICES.replace("ORDER", "ORDER BY last_ms"),
    _PRACTICES.replace("ORDER", "AND success_count > 1 ORDER BY success_count"),
)
"""What finds the newest and the most used practices."""
_TOOLS: Final = (
    "SELECT tool_name FROM {own}tool_days WHERE tenant = ? AND day = -1 ORDER BY tool_name"
)
_ADD_DAYS: Final = """
INSERT INTO {own}tool_days AS d {rows} ON CONFLICT (tenant, tool_name, day) DO UPDATE
SET successes = d.successes + excluded.successes, failures = d.failures + excluded.failures
"""
_ADD_PRACTICES: Final = """
INSERT INTO {own}best_practices AS p {rows} ON CONFLICT (tenant, fingerprint) DO UPDATE
SET success_count = p.success_count + excluded.success_count,
    failure_count = p.failure_count + excluded.failure_count,
    last_success_data = coalesce(excluded.last_success_data, p.last_success_data),
    last_ms = CASE WHEN excluded.last_success_data IS NULL THEN p.last_ms ELSE excluded.last_ms END
"""
_EVERY: Final = "SELECT {fields} FROM {own}{table} WHERE "
OF_TENANT: Final = _EVERY + "tenant = ? ORDER BY {newest} LIMIT ?"
OF_TOOL: Final = _EVERY + "tenant = ? AND {tool} = ? ORDER BY {newest} LIMIT ?"
OLDEST: Final = _EVERY + "{before} ORDER BY {oldest} LIMIT ?"
_COUNT: Final = "SELECT count(*) FROM {own}{table}"
_UNUSED: Final = """
DELETE FROM {own}best_practices WHERE (tenant, fingerprint) IN (
    SELECT tenant, fingerprint FROM {own}best_practices WHERE last_ms < ? LIMIT ?
)
"""
_OLD_DAYS: Final = "DELETE FROM {own}tool_days WHERE day BETWEEN 0 AND ?"

T = TypeVar("T")


class SqlShelf:
    """Experience in a database. `words` are what a kind of database has for itself: `own` before
    each name, `table` and `fields` of incidents, the `tool` of one, in which order they are
    `oldest` and `newest`, and which are `before` a time, of which `time_of` says how it is
    given."""

    def __init__(self, words: Mapping[str, str], time_of: Callable[[int], Any]) -> None:
        self._words: Final = words
        self._time_of: Final = time_of

    def said(self, statement: str) -> Any:
        """A statement in the words of this database."""
        for name, word in self._words.items():
            statement = statement.replace(f"{{{name}}}", word)
        return statement

    def _use(self, ask: Callable[[Any], T], writes: bool = False) -> T:
        """What comes of using the database; what writes is done wholly or not at all."""
        raise NotImplementedError

    def _fresh(self, db: Any, incidents: Sequence[Incident]) -> list[Incident]:
        """Keep incidents, and give those that were not there."""
        raise NotImplementedError

    def _insert(self, db: Any, statement: str, kinds: str, rows: list[tuple[Any, ...]]) -> None:
        """Write rows with fields of these kinds."""
        raise NotImplementedError

    def write(self, incidents: Sequence[Incident]) -> None:
        """Keep a batch in one transaction."""
        self._use(lambda db: self._add(db, self._fresh(db, incidents)), True)

    def _add(self, db: Any, fresh: list[Incident]) -> None:
        sums = sums_of(fresh)
        totals: dict[tuple[str, str, int], Counted] = dict(sums.days)
        for (tenant, tool, _), (good, bad) in sums.days.items():
            before = totals.get((tenant, tool, TOTAL), (0, 0))
            totals[tenant, tool, TOTAL] = (before[0] + good, before[1] + bad)
        days = [(*name, *counted) for name, counted in sorted(totals.items())]
        self._insert(db, _ADD_DAYS, "text text integer bigint bigint", days)
        practices = [(*name, *each) for name, each in sums.practices.items()]
        self._insert(db, _ADD_PRACTICES, "text text text bigint bigint text bigint", practices)

    def known(self, tenant: str, tool: str, today: int) -> Known:
        """What is known of a tool: three searches by key."""

        def look(db: Any) -> Known:
            asked = (tenant, tool, today - WINDOW_DAYS, WINDOW_DAYS * 2)
            rows = db.execute(self.said(DAYS), asked).fetchall()
            days = {day: (good, bad) for day, good, bad in rows}
            successes, failures = days.pop(TOTAL, (0, 0))
            found = {
                row[0]: Practice(*row)
                for said in PRACTICES
                for row in db.execute(self.said(said), (tenant, tool, CANDIDATES)).fetchall()
            }
            return Known(Tally(successes, failures, days), chosen(found.values()))

        return self._use(look)

    def tools(self, tenant: str) -> list[str]:
        """The tools of a tenant."""
        return [str(row[0]) for row in self._rows(_TOOLS, tenant)]

    def newest(self, tenant: str, tool: str, most: int) -> list[Incident]:
        """The last incidents."""
        if tool:
            return self._incidents(OF_TOOL, tenant, tool, most)
        return self._incidents(OF_TENANT, tenant, most)

    def oldest(self, before_ms: int, most: int) -> list[Incident]:
        """The oldest incidents."""
        return self._incidents(OLDEST, self._time_of(before_ms), most)

    def count(self) -> int:
        """How many incidents are kept."""
        return int(self._rows(_COUNT)[0][0])

    def forget_practices(self, before_ms: int, most: int) -> int:
        """Remove practices that have not worked since, and days that no longer count."""

        def forget(db: Any) -> int:
            db.execute(self.said(_OLD_DAYS), (before_ms // DAY_MS - WINDOW_DAYS,))
            return int(db.execute(self.said(_UNUSED), (before_ms, most)).rowcount)

        return self._use(forget, True)

    def _incidents(self, statement: str, *given: Any) -> list[Incident]:
        rows = self._rows(statement, *given)
        return [Incident(*[*row[:5], bool(row[5]), *row[6:]]) for row in rows]

    def _rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self._use(
            lambda db: db.execute(self.said(statement), given).fetchall()
        )
        return rows
