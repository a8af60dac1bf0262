"""A record that is written in brief, its salt, and the thread that brings it to the disk."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from stanchion.audit.apart import AT_ONCE, SALT, Salts, encode, entry_from
from stanchion.audit.marks import Waking
from stanchion.audit.record import GENESIS, LONGEST, RecordEntry, entry_of
from stanchion.audit.repeated import Brief
from stanchion.locks import Bell
from tests.audit.written import allowed, moment

LONG = "x" * (LONGEST + 1)
RECORDS = (("{t}one", 3, [1, 2]), ("{t}two", 1, {"a": "b"}))


def entry(content: Any, records: tuple[Any, ...] = RECORDS) -> RecordEntry:
    """A record about some content."""
    about = moment("e1")
    made = entry_of(about, allowed(about), 7, GENESIS, "00000000000000aa")
    return msgspec.structs.replace(
        made, content=content, records=records, policy="0123456789abcdef" * 4
    )


@pytest.mark.parametrize("left", ["", "0123456789abcdef"])
@pytest.mark.parametrize(
    "rest", [(), RECORDS[:1], RECORDS, (("{t}long", 1, LONG),), (("{t}half", 1, "\udc00"),)]
)
@pytest.mark.parametrize(
    "content", [{"a": 1}, {"a": "\udc00"}, {"a": LONG}, {"a": "\udc00" + LONG}, {"a": {1, 2}}]
)
def test_it_is_the_record_with_these_fields(content: Any, rest: tuple[Any, ...], left: str) -> None:
    """Also where it has to be spelled out, or is too long."""
    whole, brief = entry(content), Brief("0123456789abcdef", rest, left)
    copied = msgspec.structs.replace(whole, policy=brief.policy, records=rest, left=left)
    assert encode(whole, "5" * 32, brief) == encode(copied, "5" * 32)
    if rest == RECORDS[:1] and LONG not in str(content):
        read = entry_from(*encode(whole, "5" * 32, brief)[:2])
        assert (read.policy, read.left, len(read.records)) == (brief.policy, left, 1)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["00000000000000aa", "00000000000000ab"]), st.integers(0, 5 * AT_ONCE)
        )
    )
)
def test_a_record_has_one_salt_in_whatever_order_they_are_asked_for(
    asked: list[tuple[str, int]],
) -> None:
    salts = Salts(b"s" * 32)
    for chain, seq in asked:
        assert salts.of(chain, seq) == Salts(b"s" * 32).of(chain, seq)


def test_no_two_records_share_a_salt() -> None:
    """Neither within a chain, nor in two, nor in two processes."""
    made = [Salts(secret) for secret in (b"s" * 32, b"t" * 32)]
    found = [
        salts.of(chain, seq)
        for salts in made
        for chain in ("00000000000000aa", "00000000000000ab")
        for seq in range(300)
    ]
    assert len(set(found)) == len(found) == 1_200
    assert {len(salt) for salt in found} == {2 * SALT}


@pytest.mark.parametrize("ask", ["soon", "at_once"])
def test_whoever_asks_is_heard_whether_the_thread_rests_or_not(ask: str) -> None:
    """A turn that sees what was asked for comes after every asking, and the thread ends when it is
    told to."""
    waking, written, turned, bell, over = Waking(), [0], [0], Bell(), [False]

    def work() -> None:
        while not over[0]:
            waking.sleep(None, 0.0, lambda: over[0])
            turned[0] = written[0]
            bell.set()

    def is_turned_to(number: int) -> bool:
        for _ in range(4):
            bell.clear()
            if turned[0] == number:
                return True
            bell.wait(60)
        return False

    waking.start(work)
    for number in range(1, 2_000):
        written[0] = number
        getattr(waking, ask)()
        assert is_turned_to(number)
    over[0] = True
    waking.at_once()
    waking.join()
