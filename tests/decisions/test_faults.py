"""The faults of a refactoring can be seeded: a text that was changed shows nothing any more."""

from __future__ import annotations

import pytest

from model.seeding import ROOT, check_place
from tools.decisions.faults import FAULTS, Fault


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_has_its_place_and_its_test(fault: Fault) -> None:
    check_place(fault.mutation)
    assert (ROOT / fault.test).is_file()


def test_there_is_one_of_each_kind() -> None:
    assert len({fault.name for fault in FAULTS}) == 10
