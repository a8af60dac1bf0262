"""Repeated occurrences: told once, counted, told as a number, and that they are over."""

from __future__ import annotations

from hypothesis import given, strategies as st

from stanchion.telemetry.kinds import ENDS, LASTING, MEANINGS, Kind, Occurrence
from stanchion.telemetry.occurrences import FIRST_S, LONGEST_S, MOST, Occurrences, Repeats


def lost(at: int = 0, about: str = "store", text: str = "gone") -> Occurrence:
    return Occurrence(kind=Kind.STORE_LOST, at=at, text=text, about=about)


def back(at: int = 0, about: str = "store") -> Occurrence:
    return Occurrence(kind=Kind.STORE_BACK, at=at, text="there", about=about)


def said(told: tuple[Occurrence, ...]) -> list[tuple[str, int]]:
    return [(one.kind.value, one.times) for one in told]


def test_a_lost_store_is_told_once_then_how_often_then_back() -> None:
    repeats = Repeats()
    assert said(repeats.heard(lost(1), 0)) == [("store.lost", 1)]
    assert [said(repeats.heard(lost(2), 1.0)) for _ in range(9)] == [[]] * 9
    assert said(repeats.heard(lost(3), FIRST_S)) == [("store.lost", 10)]
    assert repeats.lasting() == {Kind.STORE_LOST}
    assert said(repeats.heard(lost(4), FIRST_S + 1)) == []
    (over,) = repeats.heard(back(5), FIRST_S + 2)
    assert (over.kind, over.times, over.since) == (Kind.STORE_BACK, 12, 1)
    assert repeats.lasting() == frozenset()
    assert repeats.heard(back(6), FIRST_S + 3) == (), "what is over is over once"


def test_what_never_began_is_not_told_to_be_over() -> None:
    assert Repeats().heard(back(), 0) == ()


def test_a_store_that_comes_and_goes_is_not_told_each_time_and_nothing_is_left_out() -> None:
    repeats, told, now = Repeats(), 0, 0.0
    number = 0
    for step in range(2_000):
        now += 0.5
        one = lost(step) if step % 2 == 0 else back(step)
        number += len(repeats.due(now)) + len(repeats.heard(one, now))
        told += step % 2 == 0
    assert number < 60, "a thousand outages in a quarter of an hour are not two thousand notices"
    assert repeats.due(now + LONGEST_S) or repeats.rest() == ()


def test_what_came_back_and_is_over_by_then_is_told_in_the_words_of_its_end() -> None:
    repeats = Repeats()
    repeats.heard(lost(1), 0)
    repeats.heard(back(2), 1)
    repeats.heard(lost(3), 2)
    repeats.heard(lost(4), 3)
    assert repeats.heard(back(5), 4) == ()
    (over,) = repeats.due(FIRST_S + 1)
    assert (over.kind, over.text, over.times) == (Kind.STORE_BACK, "there", 2)


def test_a_number_is_told_though_nothing_more_occurs() -> None:
    repeats = Repeats()
    repeats.heard(lost(), 0)
    repeats.heard(lost(), 1)
    assert repeats.due(FIRST_S - 1) == ()
    assert said(repeats.due(FIRST_S)) == [("store.lost", 1)]
    repeats.heard(lost(), FIRST_S + 1)
    repeats.heard(lost(), FIRST_S + 2)
    assert said(repeats.rest()) == [("store.lost", 2)]


def test_new_words_about_a_policy_are_told_at_once() -> None:
    repeats = Repeats()
    one = Occurrence(kind=Kind.POLICY_REFUSED, at=0, text="line 3", about="policy:p")
    assert len(repeats.heard(one, 0)) == 1
    assert repeats.heard(one, 1) == ()
    assert (
        len(
            repeats.heard(
                Occurrence(kind=Kind.POLICY_REFUSED, at=1, text="line 9", about="policy:p"), 2
            )
        )
        == 1
    )


def test_each_ticket_is_told() -> None:
    repeats = Repeats()
    one = Occurrence(kind=Kind.TICKET_OPENED, at=0, text="t", about="t1")
    assert [len(repeats.heard(one, 0)) for _ in range(3)] == [1, 1, 1]


def test_what_is_remembered_is_bounded_and_what_is_forgotten_is_told() -> None:
    repeats = Repeats()
    repeats.heard(lost(about="first"), 0)
    repeats.heard(lost(about="first"), 0)
    told = [one for number in range(MOST) for one in repeats.heard(lost(about=f"s{number}"), 0)]
    assert [(one.about, one.times) for one in told if one.about == "first"] == [("first", 1)]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["lost", "back", "due"]), st.sampled_from("ab"), st.floats(0, 100)
        ),
        max_size=60,
    )
)
def test_what_is_told_adds_up_and_never_says_over_before_it_began(
    steps: list[tuple[str, str, float]],
) -> None:
    """The last word on each thing is true once everything was told, and nothing that occurred goes
    unmentioned."""
    repeats, now = Repeats(), 0.0
    told: list[Occurrence] = []
    down = {"a": False, "b": False}
    ever = set()
    for what, about, pause in steps:
        now += pause
        if what == "due":
            told += repeats.due(now)
            continue
        told += repeats.heard(lost(about=about) if what == "lost" else back(about=about), now)
        down[about] = what == "lost"
        ever |= {about} if what == "lost" else set()
    told += repeats.due(now + 2 * LONGEST_S)
    for about in "ab":
        words = [one.kind for one in told if one.about == about]
        assert bool(words) == (about in ever)
        assert not words or words[0] is Kind.STORE_LOST
        assert not words or (words[-1] is Kind.STORE_LOST) == down[about]


def test_a_listener_that_fails_harms_nobody() -> None:
    heard: list[Occurrence] = []

    def fails(_one: Occurrence) -> None:
        raise RuntimeError("no")

    hub = Occurrences(lambda: 0.0)
    hub.subscribe(fails)
    hub.subscribe(fails, each=True)
    hub.subscribe(heard.append)
    each: list[Occurrence] = []
    hub.subscribe(each.append, each=True)
    for _ in range(3):
        hub.tell(lost())
    assert len(heard) == 1
    assert len(each) == 3, "a metric counts every single one"
    assert heard[0].id
    assert hub.failed == 4
    hub.close()
    assert [one.times for one in heard] == [1, 2], "what was counted is told at the end"


def test_nothing_unseen_or_endless_is_in_an_occurrence() -> None:
    heard: list[Occurrence] = []
    hub = Occurrences(lambda: 0.0)
    hub.subscribe(heard.append)
    hub.tell(lost(text="\x1b[2J" + "a" * 10_000, about="b" * 1_000))
    assert "\x1b" not in heard[0].text
    assert len(heard[0].text) <= 2_000
    assert len(heard[0].about) <= 300


def test_every_kind_has_a_meaning_and_every_end_a_beginning() -> None:
    assert set(MEANINGS) == set(Kind)
    assert set(ENDS.values()) == LASTING
