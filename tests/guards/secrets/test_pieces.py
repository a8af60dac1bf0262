"""Secrets in pieces are looked for in so many characters of a list, however long it is."""

from functools import partial

from stanchion.guards.secrets.finder import Sought, finder
from stanchion.guards.secrets.pieces import in_pieces
from stanchion.readings.texts import TextLeaf
from tests.guards.steps import steps_of


def test_items_behind_what_is_read_cost_nothing_but_a_look() -> None:
    leaves = [TextLeaf((at,), f"of_them{at:05} some{at:05}part") for at in range(4_000)]
    known = finder(Sought())
    assert in_pieces(known, leaves, None) is None
    once, twice = [
        steps_of(partial(in_pieces, known, leaves[:size], None)) for size in (2_000, 4_000)
    ]
    assert twice - once <= 3 * 2_000
