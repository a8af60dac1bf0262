"""Settings: four, each firmer than the one before, by rules that are each read somewhere."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

import stanchion.guards.flow as flow
from stanchion.guards.flow import RULES, Flow, Thresholds
from stanchion.guards.flow.guard import CONFIRM
from stanchion.guards.flow.settings import LICENCES, SETTINGS, STOPS

FOLDER = Path(str(flow.__file__)).parent


def test_every_setting_stops_by_at_least_the_rules_of_the_one_before_and_licenses_no_more() -> None:
    order = [SETTINGS[name] for name in ("lenient", "balanced", "firm", "strict")]
    for milder, firmer in pairwise(order):
        assert milder & frozenset(STOPS) <= firmer & frozenset(STOPS)
        assert firmer & frozenset(LICENCES) <= milder & frozenset(LICENCES)
        assert milder != firmer


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_read_by_the_guard(rule: str) -> None:
    sources = [
        file.read_text(encoding="utf-8")
        for file in FOLDER.glob("*.py")
        if file.name != "settings.py"
    ]
    assert any(f'"{rule}" in ' in source or f'"{rule}" not in ' in source for source in sources)


@pytest.mark.parametrize("name", [field.name for field in msgspec.structs.fields(Thresholds)])
def test_every_threshold_is_read_by_the_guard(name: str) -> None:
    sources = [
        file.read_text(encoding="utf-8")
        for file in FOLDER.glob("*.py")
        if file.name != "settings.py"
    ]
    assert any(f"thresholds.{name}" in source or f"at.{name}" in source for source in sources)


def test_a_rule_is_taken_away_from_a_copy() -> None:
    guard = Flow()
    assert guard.without("actions").how.rules == guard.how.rules - {"actions"}
    assert "actions" in guard.how.rules
    assert guard.with_thresholds(Thresholds(floor=0.5)).how.thresholds.floor == 0.5
    assert guard.how.thresholds == Thresholds()


def test_every_default_of_a_threshold_is_among_those_it_is_fitted_from() -> None:
    described = msgspec.inspect.type_info(Thresholds)
    assert isinstance(described, msgspec.inspect.StructType)
    for field in described.fields:
        assert isinstance(field.type, msgspec.inspect.Metadata)
        grid = (field.type.extra or {})["grid"]
        assert field.default in grid
        assert list(grid) == sorted(grid)


def test_every_code_has_words_for_what_to_confirm() -> None:
    assert {code.removeprefix("flow.") for code in flow.CODES} == set(CONFIRM)
