"""Times as people write and read them."""

import pytest

from stanchion.cli.command import BadInput, moment_ms
from stanchion.ops.views.amounts import clock, day, shown, span, took

NOW = 1_700_000_000_000


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("90s", NOW - 90_000),
        ("15m", NOW - 900_000),
        ("2h", NOW - 7_200_000),
        (" 7d ", NOW - 604_800_000),
        ("1w", NOW - 604_800_000),
        ("1970-01-02", 86_400_000),
        ("1970-01-01T00:00:01.5", 1_500),
        ("1970-01-01T02:00:00+02:00", 0),
        ("1970-01-01T00:00:00Z", 0),
        ("19700102T000000Z", 86_400_000),
    ],
)
def test_a_moment_is_read(text: str, at: int) -> None:
    assert moment_ms("--since", text, NOW) == at


@pytest.mark.parametrize(
    "text", ["", "now", "2", "h", "2 h", "-2h", "2.5h", "1970-13-01", "9999999999d", "²h"]
)
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(
        BadInput, match=r"`--since` is `.*`, which is not a time: write `2026-01-31`"
    ):
        moment_ms("--since", text, NOW)


def test_a_moment_is_shown() -> None:
    assert (shown(NOW + 7), day(NOW), clock(NOW + 7)) == (
        "2023-11-14 22:13:20Z",
        "2023-11-14",
        "22:13:20.007",
    )
    assert shown(10**18) == "1000000000000000000Z"


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (-5, "0 ms"),
        (999, "999 ms"),
        (1_000, "1 s"),
        (59_900, "59.9 s"),
        (60_000, "1 min"),
        (65_000, "1 min 5 s"),
        (3_599_999, "59 min 59 s"),
        (7_500_000, "2 h 5 min"),
        (273_600_000, "3 d 4 h"),
    ],
)
def test_a_span_has_its_two_largest_units(ms: int, words: str) -> None:
    assert span(ms) == words


def test_how_long_a_decision_took() -> None:
    assert (took(4_560), took(12_345_678)) == ("4.6 µs", "12.3 ms")
