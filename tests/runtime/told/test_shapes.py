"""The shapes find what they are for, and let the words of an honest refusal pass."""

import pytest

from tests.runtime.told.shapes import CALLS, shapes_in


@pytest.mark.parametrize(
    "text",
    [
        "approve it with `stanchion tickets approve 3f2a`",
        "run stanchion  state resume",
        "a person says so with `settle_effect`",
        "call `approve(id, by=you)`",
        "set STANCHION_SAFE_MODE",
        "ticket `3f2a9c01d4e7` waits",
        "fingerprint 7655bd8887d3.",
        "redis://db:6379 did not answer",
        "the store `db.example` did not answer",
    ],
)
def test_what_an_agent_may_not_read_is_found(text: str) -> None:
    assert shapes_in(text, names=("db.example",))


@pytest.mark.parametrize(
    "text",
    [
        "a person has been asked about this",
        "leave records and Stanchion's own files alone",
        "this would exceed the $5.00 of this run: $4.99 used or reserved",
        "call it again after 09:41:07 on 2026-03-04",
    ],
)
def test_plain_words_pass(text: str) -> None:
    assert shapes_in(text) == []


def test_what_the_agent_said_itself_may_be_said_back() -> None:
    assert (
        shapes_in("`git show 0123456789abcdef` is refused", said="git show 0123456789abcdef") == []
    )


def test_what_operators_call_is_found_by_what_it_takes() -> None:
    assert {
        "approve",
        "deny",
        "resume",
        "safe_mode",
        "reset_tool",
        "settle_effect",
        "allow",
    } <= set(CALLS)
