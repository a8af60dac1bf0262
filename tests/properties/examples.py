"""How many cases a property is tried on, and how they are drawn."""

import os

from hypothesis import settings, strategies as st

from model.drawn.case import EVERYTHING, Case, Feature

SOAK = (
    int(os.environ.get("STANCHION_SOAK_EXAMPLES", "100000"))
    if os.environ.get("STANCHION_SOAK")
    else 0
)


def sample(small: int, share: float = 1.0) -> settings:
    """Try a property on a small sample, or on that share of a soak."""
    return settings(max_examples=int(SOAK * share) if SOAK else small)


def cases(
    moments: tuple[int, int] = (1, 12), guards: tuple[int, int] = (1, 8)
) -> st.SearchStrategy[Case]:
    """Cases of any shape. One integer makes everything in them; sizes and features are drawn, so
    that they shrink."""
    return st.builds(
        Case,
        seed=st.integers(0, 2**32 - 1),
        guards=st.integers(*guards),
        moments=st.integers(*moments),
        features=st.integers(0, EVERYTHING).map(Feature),
    )
