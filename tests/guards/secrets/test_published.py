"""What everybody may know is told from what only looks like it."""

from __future__ import annotations

import pytest

from stanchion.guards.secrets.published import SAMPLES, counted, for_browsers, repeated, sampled


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_is_known_and_what_has_one_in_it_is_none(sample: str) -> None:
    assert sampled(sample)
    assert sampled(f"{sample}==")
    assert not sampled(f"{sample}q7Vd2LmX")
    assert not sampled(f"q7Vd2LmX{sample}")


def test_only_a_row_that_is_most_of_a_value_counts() -> None:
    assert counted("abcdefghijklmnop1")
    assert counted("0123456789abcdef")
    assert not counted("abcdefghq7Vd2LmXz9Kp")
    assert not counted("abcdefghi")


def test_a_preset_is_the_name_of_its_user() -> None:
    assert repeated("amqp://guest:", "guest")
    assert not repeated("amqp://guest:", "hunter2")


def test_values_for_browsers_say_so() -> None:
    assert for_browsers("pk_live_abc123")
    assert not for_browsers("sk_live_abc123")
