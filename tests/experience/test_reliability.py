"""The plain rate is what was reported, and the estimate beside it forgets."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from stanchion.experience.incident import Incident, new_id
from stanchion.experience.tally import CANDIDATES, WINDOW_DAYS, Known, Tally, reliability_of, wilson

COUNTS = st.integers(0, 10_000)


def test_nothing_reported_is_no_rate() -> None:
    found = reliability_of("t", Tally(), 100)
    assert (found.rate, found.recent, found.low, found.high) == (None, None, None, None)


def test_the_plain_rate_is_successes_by_all() -> None:
    found = reliability_of("t", Tally().plus(3, 1, 100), 100)
    assert (found.successes, found.failures, found.rate, found.recent) == (3, 1, 0.75, 0.75)


def test_an_outcome_counts_half_after_a_half_life() -> None:
    tally = Tally().plus(8, 0, 93).plus(0, 4, 100)
    found = reliability_of("t", tally, 100)
    assert found.rate == pytest.approx(8 / 12)
    assert found.recent == pytest.approx(4 / 8)


def test_what_is_older_than_the_window_is_in_the_plain_rate_alone() -> None:
    tally = Tally().plus(0, 5, 10)
    found = reliability_of("t", tally, 10 + WINDOW_DAYS)
    assert (found.rate, found.recent) == (0.0, None)
    assert len(tally.plus(1, 0, 10 + WINDOW_DAYS).days) == 1


def test_the_interval_is_wilsons() -> None:
    low, high = wilson(0.9, 10)
    assert low == pytest.approx(0.5958, abs=1e-4)
    assert high == pytest.approx(0.9821, abs=1e-4)


@given(COUNTS, COUNTS, st.integers(0, WINDOW_DAYS - 1))
def test_the_interval_holds_the_estimate_and_narrows_with_calls(
    good: int, bad: int, age: int
) -> None:
    few = reliability_of("t", Tally().plus(good, bad, 1_000 - age), 1_000)
    many = reliability_of("t", Tally().plus(good * 10, bad * 10, 1_000 - age), 1_000)
    if few.recent is not None and few.low is not None and few.high is not None:
        assert 0.0 <= few.low <= few.recent + 1e-9
        assert few.recent - 1e-9 <= few.high <= 1.0
        assert many.low is not None
        assert many.high is not None
        assert many.high - many.low < few.high - few.low


def test_what_is_known_of_a_tool_stays_small() -> None:
    known = Known()
    for number in range(1_000):
        data = f'{{"n":{number}}}'
        known = known.plus(
            Incident(
                new_id(number, b"x"), "a", "r", "t", f"f{number}", True, number, call_data=data
            )
        )
    assert len(known.practices) <= 2 * CANDIDATES
    assert known.tally.successes == 1_000
    assert "f999" in {one.fingerprint for one in known.practices}
