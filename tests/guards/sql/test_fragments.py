"""Values that look like pieces of SQL, and those that only seem to."""

from __future__ import annotations

from functools import partial

import pytest

from stanchion.readings.sql.fragments import MAX_CHARS, shape_of
from tests.guards.steps import steps_of

HITS = """
' OR 1=1 --
' OR '1'='1
x') OR ('a'='a
1 OR 1=1
1 AND 1=2 UNION SELECT 1,2,version()
-1 UNION ALL SELECT NULL,NULL--
-1/**/union/**/select/**/password from users
1'%20or%20'1'%3D'1
admin'--
admin' #
admin"/*
7; DROP TABLE users
'; EXEC xp_cmdshell 'dir' --
1; DELETE FROM t
 ORDER BY 12--
1 AND (SELECT COUNT(*) FROM users) > 0
' AND SLEEP(5)='
1' AND 1=CONVERT(int,@@version)--
' || (SELECT password FROM users)
1 /*!50000union*/ /*!50000select*/ 1,2
"""

MISSES = """
O'Brien
O'Brien and sons
rock 'n' roll
Student Union, select committee
please select one (or two) from the list
the union select committee met
1950 or 1960
8 OR 9 WLV
"foo" AND "bar"
necklace length 16" or 18"
7" #2 circular needle
Apt is gated; call when you get here
drop me a line; update me later
a = b and c = d
if x > 5 and y < 3: return
order by phone
https://example.org/?a=1&b=2
1,1--
50% off -- today only
SELECT a FROM t WHERE id = 1
it's 5 o'clock
where is table 5?
(select one)
I'd like 2 or 3 of them, and they're = to the others
"""


@pytest.mark.parametrize("value", [line for line in HITS.splitlines() if line])
def test_pieces_of_sql(value: str) -> None:
    assert shape_of(value)


@pytest.mark.parametrize("value", [line for line in MISSES.splitlines() if line])
def test_everyday_values(value: str) -> None:
    assert shape_of(value) == ""


def test_documents_are_no_values() -> None:
    assert shape_of("x' OR '1'='1" + " " * MAX_CHARS) == ""
    assert shape_of("\n" * 20 + "x' OR '1'='1") == ""


@pytest.mark.parametrize(
    "piece", ["'", '"', "-", "(", "/*", "#", "' or ", "1=", "union ", "%27", "@", ";", "\\"]
)
def test_twice_the_length_costs_at_most_twice_the_steps(piece: str) -> None:
    shape_of("' OR 1=1")
    sizes = [MAX_CHARS // (4 * len(piece)), MAX_CHARS // (2 * len(piece))]
    small, large = (steps_of(partial(shape_of, piece * size + "x")) for size in sizes)
    assert large <= 2.2 * small + 100


@pytest.mark.parametrize("word", ["import", "export", "call", "set", "show", "load"])
def test_a_value_that_begins_with_a_word_of_sql_is_no_statement(word: str) -> None:
    assert shape_of(f"{word}' OR 1=1 --")
    assert shape_of(word + "' AND ascii(substring(user(), 1, 1)) > 9 --")
    assert not shape_of(f"{word} the 'b' column")


@pytest.mark.parametrize(
    "value",
    [
        "(CASE WHEN (SELECT ascii(substr(k,1,1)) FROM u) > 77 THEN a ELSE b END)",
        "1 RLIKE SLEEP(5)", "if(now()=sysdate(),sleep(9),0)",
        "IF (SELECT substring(p,1,1) FROM u) = 'a'", "name, (SELECT md5(p) FROM u)",
    ],
)  # fmt: skip
def test_values_that_probe(value: str) -> None:
    assert shape_of(value)
