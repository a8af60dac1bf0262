"""Cover: the same answers as by comparing with each place."""

from hypothesis import given, strategies as st

from stanchion.readings.cover import Cover

PLACES = st.tuples(st.integers(0, 20), st.integers(1, 8)).map(lambda one: (one[0], sum(one)))


@given(st.lists(PLACES), PLACES)
def test_places_touch_and_hold_others_as_compared_one_by_one(
    places: list[tuple[int, int]], asked: tuple[int, int]
) -> None:
    start, end = asked
    cover = Cover(places)
    assert cover.touches(start, end) == any(one < end and start < two for one, two in places)
    assert cover.holds(start, end) == any(one <= start and end <= two for one, two in places)
