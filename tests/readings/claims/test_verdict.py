"""The verdicts have the values that others compare and write down."""

from __future__ import annotations

from stanchion.readings.claims.claim import CheckVerdict
from stanchion.tutor.law.verdicts import MoveVerdict


def test_verdicts_have_their_values() -> None:
    assert [one.value for one in CheckVerdict] == [
        "provable",
        "refutable",
        "undecidable",
        "ill-typed",
    ]
    assert [one.value for one in MoveVerdict] == ["legal", "illegal", "blocked"]
