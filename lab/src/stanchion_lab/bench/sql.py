"""The `sql` guard: a statement that was read before, and one that is new, in a dialect that is
known and in none."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, Final

from stanchion.guards.sql.guard import Sql
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.readings import read
from stanchion_lab.bench.measure import compare
from stanchion_lab.bench.table import Effort, Section, rows_of

SIMPLE: Final = "SELECT name, price FROM products WHERE id = {0}"
COMPLEX: Final = """
WITH recent AS (SELECT customer_id, SUM(total) AS spent FROM orders WHERE day > {0} GROUP BY customer_id)
SELECT c.name, r.spent, CASE WHEN r.spent > 1000 THEN 'gold' ELSE 'plain' END AS tier
FROM customers c JOIN recent r ON r.customer_id = c.id LEFT JOIN regions g ON g.id = c.region_id
WHERE c.status IN ('active', 'trial') AND EXISTS (SELECT 1 FROM visits v WHERE v.customer_id = c.id)
ORDER BY r.spent DESC LIMIT 20
"""  # noqa: E501


def sql_statements(effort: Effort) -> Section:
    """What judging one call costs; a call of a tool that runs no SQL is measured beside."""
    rounds, calls = max(2, effort.rounds // 4), max(20, effort.calls // 4)
    contenders: dict[str, Callable[[], object]] = {
        "another tool": _judging(
            Sql(dialect="postgres"), "write_file", {"path": "a", "content": "b"}
        ),
        "read before": _judging(Sql(dialect="postgres"), "run_sql", {"query": SIMPLE.format(1)}),
        "new, simple": _new(Sql(dialect="postgres"), SIMPLE),
        "new, complex": _new(Sql(dialect="postgres"), COMPLEX),
        "new, complex, no dialect": _new(Sql(), COMPLEX),
        "new, complex, no dialect, quoted names": _new(
            Sql(), COMPLEX.replace("c.name", 'c."name"')
        ),
    }
    costs = compare(contenders, rounds, calls)
    return Section(
        "sql statements",
        "the guard alone, without the engine around it",
        rows_of(costs, "read before"),
    )


def _judging(guard: Sql, tool: str, args: dict[str, Any]) -> Callable[[], object]:
    event = ToolCall(id="e1", at=0, run=RunInfo("r1"), tool=tool, args=args)
    return lambda: guard.judge(read(event))


def _new(guard: Sql, template: str) -> Callable[[], object]:
    """Every call has a statement that nobody has seen."""
    number = count(1)
    run = RunInfo("r1")

    def judge() -> object:
        text = template.format(next(number))
        return guard.judge(
            read(ToolCall(id="e1", at=0, run=run, tool="run_sql", args={"query": text}))
        )

    return judge
