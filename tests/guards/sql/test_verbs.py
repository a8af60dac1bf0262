"""The table of what statements do by their first words: each of its rules can be asked."""

from __future__ import annotations

import re

import pytest

from stanchion.readings.sql import statement
from stanchion.readings.sql.statement import Does, VerbRule, said_by

RULES = [(first, rule) for first, rules in statement._RULES.items() for rule in rules]


@pytest.mark.parametrize(("first", "rule"), RULES)
def test_a_rule_has_the_groups_that_it_names(first: str, rule: VerbRule) -> None:
    named = [int(group) for group in re.findall(r"\\(\d)", rule.verb)]
    assert max(named, default=0) <= rule.matches.groups, first


def test_only_what_may_be_something_else_is_left_open() -> None:
    open_ended = {
        first for first, rules in statement._RULES.items() if rules[-1].matches.match("~ ~") is None
    }
    assert open_ended == {"BEGIN", "SET"}


@pytest.mark.parametrize(
    ("text", "does", "verb"),
    [
        ("ALTER TABLE T OWNER TO X , DROP COLUMN A", Does.DESTRUCTIVE, "ALTER TABLE DROP"),
        ("ALTER TABLE T NO FORCE ROW LEVEL SECURITY", Does.PRIVILEGE, None),
        ("ALTER TABLE T FORCE ROW LEVEL SECURITY", Does.DDL, None),
        ("CREATE FUNCTION F SECURITY DEFINER SET SEARCH_PATH = X", Does.DDL, "CREATE FUNCTION"),
        ("CREATE FUNCTION F LANGUAGE PLPYTHON3U", Does.ADMIN, "CREATE FUNCTION"),
        ("CREATE OR REPLACE TEMP TABLE T", Does.DDL, "CREATE TABLE"),
        ("DROP OWNED BY X", Does.DESTRUCTIVE, "DROP OWNED"),
        ("SET A = 1 , GLOBAL B = 2", Does.ADMIN, "SET GLOBAL"),
        ("SET @@ SESSION . SQL_MODE = '", Does.ADMIN, "SET SQL_MODE"),
        ("PRAGMA MAIN . TABLE_INFO ( X )", Does.READ, "PRAGMA TABLE_INFO"),
        ("PRAGMA TABLE_INFO . X", Does.ADMIN, "PRAGMA X"),
        ("XA COMMIT '", Does.UPKEEP, "XA COMMIT"),
    ],
)
def test_what_is_said(text: str, does: Does, verb: str | None) -> None:
    said = said_by(text.split(" "))
    assert said is not None
    assert said[0] is does
    assert verb is None or said[1] == verb
