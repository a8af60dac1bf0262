"""Every known fault of the two gateways that came before has a test that bears its number."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

FAULTS: Final = {"penguiflow": 12, "guardian": 11}
"""How many faults are known of each."""
NAMED: Final = re.compile(r"^(?:async )?def test_fault_0*(\d+)_", re.MULTILINE)


@pytest.mark.parametrize("system", FAULTS)
def test_each_fault_has_a_test_of_its_number(system: str) -> None:
    files = Path(__file__).with_name(system).glob("test_known_faults*.py")
    named = {int(number) for file in files for number in NAMED.findall(file.read_text("utf-8"))}
    assert sorted(named) == list(range(1, FAULTS[system] + 1))
