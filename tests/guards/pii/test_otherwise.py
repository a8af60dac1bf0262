"""Numbers that have the shape of a person's by chance: the words before them, and their neighbours,
tell."""

from __future__ import annotations

import pytest

from stanchion.guards.pii import Pii
from stanchion.kernel.events import RunInfo, ToolResult
from stanchion.readings import read


def kinds(text: str) -> list[str]:
    """What is hidden in a result."""
    finding = Pii().judge(read(ToolResult(id="e", at=0, run=RunInfo("r"), tool="t", result=text)))
    return [] if finding is None else [patch.kind for patch in finding.patches]


@pytest.mark.parametrize(
    "text",
    [
        "order number 4539578763621486 has not arrived",
        "Invoice: 4539 5787 6362 1486",
        "tracking 4111111111111111",
        "employee 219-09-9999 joined in May",
        "staff no. 219-09-9999",
        "00000010: 3817 2345 6789 0124 4455 6677 8899 0011",
        "0001 2345 6789 0124",
    ],
)
def test_they_are_left_alone(text: str) -> None:
    assert kinds(text) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("order 77 was paid by card 4539578763621486", "credit-card"),
        ("employee ssn 219-09-9999", "us-ssn"),
        ("the visa on the booking: 4111 1111 1111 1111", "credit-card"),
        (
            "an order came in, and for the next one she wants to pay with 4539578763621486",
            "credit-card",
        ),
        ("aadhaar 2345 6789 0124", "in-aadhaar"),
    ],
)
def test_a_word_of_its_own_kind_decides(text: str, kind: str) -> None:
    assert kinds(text) == [kind]
