"""Whether an UPDATE or DELETE picks rows."""

from __future__ import annotations

import pytest

from stanchion.readings.sql.recognise import classify

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
paid_at IS NOT NULL
parent_id IS NOT NULL
id > 5
id <> 7
id NOT IN (1, 2)
retries > 0
a < 5 OR a > 9
a = 1 OR a = 2
x <> 1
valid_to < '9999-12-31'
created_at < '2024-01-01'
expires_at < now()
length(name) > 0
t.id = u.id
EXISTS (SELECT 1 FROM t k WHERE k.email = t.email AND k.id < t.id)
id % 2 = 0
flag = true
id = (SELECT user_id FROM cases WHERE no = 7)
id IN (SELECT t.id FROM t WHERE t.old = 1)
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
id IS NOT NULL
t.id IS NOT NULL
id > 0
id >= 1
0 < id
id <> -1
id != 0
NOT (id = 0)
id NOT IN (0, -1)
id BETWEEN 0 AND 999999999999
id < 99999999999
rowid >= -9223372036854775808
user_id > -1
length(name) >= 0
abs(balance) >= 0
char_length(a) > -1
name LIKE '%_%'
a < 5 OR a >= 5
a > 3 OR a < 10
x = 1 OR x <> 1
x <> 1 OR x <> 2
done = true OR done = false
done IS TRUE OR done IS FALSE
id % 3 IN (0, 1) OR id % 3 = 2
extract(month FROM day) IN (1, 2, 3, 4, 5, 6) OR extract(month FROM day) IN (7, 8, 9, 10, 11, 12)
created_at <= now()
created_at > '1970-01-01'
updated_at < CURRENT_TIMESTAMP
inserted_on < '2999-12-31'
u.id IS NOT NULL
u.kind = 7
COALESCE(id, 1) IS NOT NULL
id = ANY (SELECT id FROM t)
id IN (SELECT id FROM t)
t.id IN (SELECT id FROM t WHERE 1 = 1)
EXISTS (SELECT 1 FROM u WHERE u.id = 1)
EXISTS (SELECT 1 FROM t k WHERE k.id = t.id)
(SELECT count(*) FROM u WHERE u.a = 1) >= 0
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
        (
            "MERGE INTO t USING (SELECT * FROM t) AS s ON t.id = s.id WHEN MATCHED THEN DELETE",
            False,
        ),
        ("DELETE a FROM t a JOIN t b ON a.id = b.id", False),
        ("DELETE a FROM t a JOIN t b ON a.email = b.email AND a.id > b.id", True),
        ("WITH x AS (SELECT id FROM t) DELETE FROM t USING t JOIN x ON t.id = x.id", False),
        (
            "WITH x AS (SELECT id FROM t WHERE a = 1) DELETE FROM t WHERE id IN (SELECT id FROM x)",
            True,
        ),
        ("UPDATE t, u SET t.a = 1 WHERE u.id = 7", False),
        ("INSERT INTO t (id, a) SELECT id, 1 FROM t ON DUPLICATE KEY UPDATE a = 1", False),
        (
            "INSERT INTO t (id, a) SELECT id, 1 FROM t WHERE id = 4 ON DUPLICATE KEY UPDATE a = 1",
            True,
        ),
        ("INSERT INTO t (id, a) SELECT id, 1 FROM u ON DUPLICATE KEY UPDATE a = 1", True),
        ("MERGE INTO t USING u ON 1 = 1 WHEN NOT MATCHED THEN INSERT (a) VALUES (1)", True),
        ("MERGE INTO t USING u ON FALSE WHEN NOT MATCHED BY SOURCE THEN DELETE", False),
        (
            (
                "MERGE INTO t USING u ON t.id = u.id WHEN NOT MATCHED BY SOURCE AND t.old = 1 THEN "
                "DELETE"
            ),
            True,
        ),
    ],
)
def test_other_ways_to_pick(text: str, picks: bool) -> None:
    assert bounded(text, "mysql") is picks


@pytest.mark.parametrize(
    ("text", "dialect", "picks"),
    [
        ("UPDATE t SET a = 1 FROM u WHERE t.u_id = u.id", "postgres", True),
        ("UPDATE t SET a = 1 FROM u WHERE u.id = 9", "postgres", False),
        (
            (
                "UPDATE t SET t.a = 0 FROM dbo.things AS t CROSS JOIN (SELECT 1 AS k) AS s WHERE "
                "s.k = 1"
            ),
            "tsql",
            False,
        ),
        (
            "UPDATE t SET t.a = 0 FROM dbo.things AS t JOIN dbo.u AS u ON u.id = t.u_id",
            "tsql",
            True,
        ),
        (
            "WITH d AS (SELECT ctid FROM l) DELETE FROM l USING d WHERE l.ctid = d.ctid",
            "postgres",
            False,
        ),
        (
            "WITH d AS (SELECT ctid FROM l LIMIT 9) DELETE FROM l USING d WHERE l.ctid = d.ctid",
            "postgres",
            True,
        ),
        ("DELETE FROM l USING (SELECT id FROM l) AS x WHERE l.id = x.id", "postgres", False),
        ("DELETE FROM l a USING l b WHERE a.email = b.email AND a.id < b.id", "postgres", True),
        ("INSERT INTO t SELECT * FROM t ON CONFLICT (id) DO UPDATE SET a = NULL", "sqlite", False),
        ("DELETE FROM invoices WHERE invoice_id > 0", "oracle", False),
        ("DELETE FROM companies WHERE company_id IS NOT NULL", "snowflake", False),
    ],
)
def test_what_a_table_is_joined_with(text: str, dialect: str, picks: bool) -> None:
    assert bounded(text, dialect) is picks


def test_a_top_bounds() -> None:
    assert bounded("DELETE TOP (5) FROM t", "tsql")
