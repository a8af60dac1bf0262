"""Each boundary of VERONICA is measured beside the same decision of Stanchion."""

from stanchion_lab.bench.dialects.veronica import veronica
from stanchion_lab.bench.sections import titles
from stanchion_lab.bench.table import Effort


def test_every_boundary_has_a_row_of_both() -> None:
    section = veronica(Effort(1, 3, 1))
    assert titles("dialect veronica") == [section.title]
    assert [row.name for row in section.rows] == [
        f"{what}: {who}"
        for what in ("before_llm_call", "before_egress", "before_charge", "execute")
        for who in ("Stanchion", "dialect")
    ]
    assert [row.ratio is None for row in section.rows] == [True, False] * 4
