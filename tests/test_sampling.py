"""A sample is the same each time, is spread over everything, and a soak leaves nothing out."""

import pytest

from tests.sampling import some


@pytest.mark.parametrize("every", [1, 2, 5, 100])
@pytest.mark.parametrize("size", [0, 1, 3, 50])
def test_a_sample_is_a_share_and_never_nothing(size: int, every: int) -> None:
    names = [f"name {number}" for number in range(400)]
    drawn = [some(range(size), every, name, whole=False) for name in names]
    assert drawn == [some(range(size), every, name, whole=False) for name in names]
    assert all(bool(one) == bool(size) for one in drawn)
    assert all(len(one) <= -(-size // every) for one in drawn)
    assert {item for one in drawn for item in one} == set(range(size)), "names together reach everything"


def test_a_soak_has_all_of_it() -> None:
    assert some(range(50), 7, "x", whole=True) == list(range(50))
