"""A sample is the same each time, is spread over everything, and a soak leaves nothing out."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.sampling import some

ROOT: Final = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("every", [1, 2, 5, 100])
@pytest.mark.parametrize("size", [0, 1, 3, 50])
def test_a_sample_is_a_share_and_never_nothing(size: int, every: int) -> None:
    names = [f"name {number}" for number in range(400)]
    drawn = [some(range(size), every, name, whole=False) for name in names]
    assert drawn == [some(range(size), every, name, whole=False) for name in names]
    assert all(bool(one) == bool(size) for one in drawn)
    assert all(len(one) <= -(-size // every) for one in drawn)
    assert {item for one in drawn for item in one} == set(range(size)), (
        "names together reach everything"
    )


def test_a_soak_has_all_of_it() -> None:
    assert some(range(50), 7, "x", whole=True) == list(range(50))


def test_what_is_drawn_does_not_depend_on_what_was_loaded(tmp_path: Path) -> None:
    """Hypothesis draws from the constants of modules that are loaded, which differ from worker to
    worker."""
    script = """
import sys
import tests.conftest
from hypothesis import given, settings, strategies as st
if sys.argv[1:]:
    import stanchion.guards.shell
drawn = []
@given(st.lists(st.text(max_size=6)))
@settings(max_examples=100)
def draw(texts):
    drawn.append(texts)
draw()
print(ascii(drawn))
"""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("STANCHION_SOAK")
    }
    environment["TMPDIR"] = str(tmp_path)
    command = [sys.executable, "-c", script]
    one, other = [
        subprocess.run(
            [*command, *more], cwd=ROOT, env=environment, capture_output=True, check=True
        ).stdout
        for more in ([], ["more"])
    ]
    assert one == other
