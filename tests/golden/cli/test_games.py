"""The table of the benchmark is what its transcript shows: wins, scores, calls and false proofs,
all of them."""

import os
from pathlib import Path

from tests.golden.cli.play import play, same

USER = ["--user", "65534"] if os.getuid() == 0 else []


def test_the_table_of_the_games() -> None:
    found = play(["tutor", "games", *USER])
    assert (found.status, found.err) == (0, "")
    same(Path(__file__).parent / "games.txt", found.out)
