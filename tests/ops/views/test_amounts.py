"""Amounts and names as people read them."""

import pytest

from stanchion.kernel.state import key
from stanchion.ops.views.amounts import amount, percent, size
from stanchion.ops.views.names import name_of


@pytest.mark.parametrize(
    ("measure", "number", "words"),
    [
        ("cost_microusd", 4_900_000, "$4.90"),
        ("cost_microusd", 1, "$0.000001"),
        ("cost_microusd", -250_000, "-$0.25"),
        ("tokens", 1, "1 token"),
        ("tokens", 12_345, "12,345 tokens"),
        ("one", 2, "2 calls"),
        ("api_calls", 1, "1 API call"),
        ("duration_ms", 90_000, "1 min 30 s"),
        ("duration_ms", 250, "250 ms"),
        ("", 1_234, "1,234"),
        ("odd", 7, "7"),
    ],
)
def test_an_amount_has_its_unit(measure: str, number: int, words: str) -> None:
    assert amount(measure, number) == words


def test_a_share_is_not_rounded_up() -> None:
    assert (percent(0.999), percent(1.0), percent(0.0)) == ("99%", "100%", "0%")


def test_sizes() -> None:
    assert (size(12), size(2048), size(3 << 20), size(5 << 30)) == (
        "12 B",
        "2.0 KiB",
        "3.0 MiB",
        "5.0 GiB",
    )


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (
            key("t", "budget", "spend", "cost_microusd", "run", "r"),
            "budget / spend / cost / run / r",
        ),
        (key("t", "budget", "spend", "one", "tenant"), "budget / spend / calls / tenant"),
        (key("t", "grant", "duration_ms", "run", "r"), "allotment / time / run / r"),
        (key("t", "steps", "tokens", "run", "r"), "steps / tokens / run / r"),
        (key("t", "budget", "odd"), "budget / odd"),
        ("no key of ours", "no key of ours"),
    ],
)
def test_a_name_is_in_words(cell: str, text: str) -> None:
    assert name_of(cell).text == text


def test_the_window_of_a_budget_is_the_one_that_was_asked_for() -> None:
    assert (
        name_of(key("t", "budget", "b", "tokens", "tenant") + "/3840000", windowed=True).asked_ms
        == 3_600_000
    )
    assert name_of(key("t", "asks", "agent", "ann") + "/60000", windowed=True).asked_ms == 60_000
