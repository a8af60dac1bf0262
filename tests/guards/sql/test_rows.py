"""Whether an UPDATE or DELETE picks rows."""

from __future__ import annotations

import pytest

from stanchion.guards.sql import classify

PICKING = """
id = 5
id = 5 AND 1 = 1
(id = 5)
NOT id = 5
id IN (SELECT id FROM u)
id IN (1, 2)
a = 1 OR b = 2
name LIKE 'a%'
id IS NULL
id IS NOT NULL
1 = 0
NOT (1 = 1)
EXISTS (SELECT 1 FROM u WHERE u.id = t.id)
lower(name) = 'x'
id BETWEEN 1 AND 2
"""

NOT_PICKING = """
1 = 1
TRUE
1
'a' = 'a'
2 > 1
-1 < 0
id = id
t.id = t.id
NOT FALSE
NOT (1 = 0)
NOT (id <> id)
id = 5 OR 1 = 1
id = 5 OR TRUE
(id = 5) OR (2 = 2 AND 'b' = 'b')
NOT (id = 5 AND 1 = 0)
name LIKE '%'
name LIKE '%%'
id IS NULL OR id IS NOT NULL
id = 3 OR NOT id = 3
now() > '2020-01-01'
random() < 2
EXISTS (SELECT 1)
EXISTS (SELECT 1 FROM u)
'x' IS NOT NULL
"""


DELETING = "DELETE FROM t WHERE "
CHANGING = "UPDATE t SET a = 1 WHERE "


def bounded(text: str, dialect: str = "postgres") -> bool:
    (found,) = classify(text, dialect)
    assert not found.why
    return found.bounded


@pytest.mark.parametrize("condition", PICKING.strip().splitlines())
def test_conditions_that_pick(condition: str) -> None:
    assert bounded(DELETING + condition)
    assert bounded(CHANGING + condition)


@pytest.mark.parametrize("condition", NOT_PICKING.strip().splitlines())
def test_conditions_that_do_not(condition: str) -> None:
    assert not bounded(DELETING + condition)
    assert not bounded(CHANGING + condition)


@pytest.mark.parametrize(
    ("text", "picks"),
    [
        ("DELETE FROM t", False),
        ("DELETE FROM t LIMIT 5", True),
        ("DELETE t FROM t JOIN u ON t.id = u.id", True),
        ("DELETE t FROM t LEFT JOIN u ON t.id = u.id", False),
        ("DELETE t FROM t JOIN u ON 1 = 1", False),
        ("UPDATE t JOIN u ON t.id = u.id SET t.a = 1", True),
        ("UPDATE t CROSS JOIN u SET t.a = 1", False),
        ("WITH x AS (UPDATE t SET a = 1 RETURNING *) SELECT * FROM x", False),
        ("WITH x AS (SELECT 1) DELETE FROM t WHERE id = 1", True),
        ("INSERT INTO t SELECT * FROM u", True),
        ("INSERT OVERWRITE TABLE t SELECT * FROM u", False),
        ("MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET a = 1", True),
        ("MERGE INTO t USING u ON 1 = 1 WHEN MATCHED THEN DELETE", False),
        ("MERGE INTO t USING u ON 1 = 1 WHEN NOT MATCHED THEN INSERT (a) VALUES (1)", True),
        ("MERGE INTO t USING u ON FALSE WHEN NOT MATCHED BY SOURCE THEN DELETE", False),
        ("MERGE INTO t USING u ON t.id = u.id WHEN NOT MATCHED BY SOURCE AND t.old = 1 THEN DELETE", True),
    ],
)
def test_other_ways_to_pick(text: str, picks: bool) -> None:
    assert bounded(text, "mysql") is picks


def test_a_top_bounds() -> None:
    assert bounded("DELETE TOP (5) FROM t", "tsql")
