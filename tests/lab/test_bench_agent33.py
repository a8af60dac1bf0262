"""The hooks of AGENT-33 are measured beside Stanchion's own calls."""

from stanchion_lab.bench.dialects.agent33 import agent33
from stanchion_lab.bench.sections import MAKERS
from stanchion_lab.bench.table import Effort


def test_each_way_has_a_row_beside_stanchions_own() -> None:
    section = agent33(Effort(1, 2, 1))
    assert section.title in MAKERS
    assert [row.name for row in section.rows] == [
        "call: Stanchion",
        "call: hook",
        "call: hook, with its details",
        "result: Stanchion",
        "result: hook",
    ]
    assert [row.ratio is None for row in section.rows] == [True, False, False, True, False]
    assert all(row.cost is not None for row in section.rows)
