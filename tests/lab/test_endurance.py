"""A long run: neither memory nor time grows with what was decided before."""

import gc
import os
from pathlib import Path

import pytest

from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion_lab.bench.measure import Cost
from stanchion_lab.endurance import PARTS, Part, endure, grown, main, trends

SOAK = bool(os.environ.get("STANCHION_SOAK"))


@pytest.fixture(autouse=True)
def _alone() -> None:
    """Keep what other tests have left out of the searches for garbage: each part ends with one."""
    gc.collect()
    gc.freeze()


def test_every_decision_is_counted() -> None:
    with Shield.load("default", store=MEMORY, journal=MEMORY) as shield:
        parts = list(endure(shield, 200))
    assert len(parts) == PARTS
    assert sum(part.cost.calls for part in parts) == 200
    assert all(part.resident > 0 for part in parts)


def test_what_grows_is_named() -> None:
    steady = [Part(Cost(100.0, 300.0, 10), 1_000)] * PARTS
    assert grown(trends(steady)) == []
    assert grown(trends([*steady[:7], *[Part(Cost(100.0, 300.0, 10), 1_200)] * 3])) == ["memory"]
    assert grown(trends([*steady[:7], *[Part(Cost(100.0, 600.0, 10), 1_000)] * 3])) == ["p99"]
    assert grown(trends([*steady[:7], *[Part(Cost(200.0, 300.0, 10), 1_000)] * 3])) == ["p50"]


def test_the_command_says_what_it_saw(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("name: bare\n", encoding="utf-8")
    status = main(["--decisions", "400", "--policy", str(policy)])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == PARTS + 3
    assert lines[-1] == "nothing has grown" if status == 0 else lines[-1].startswith("grown: ")


@pytest.mark.skipif(not SOAK, reason="a soak")
@pytest.mark.parametrize("durable", [[], ["--durable"]])
def test_a_million_decisions_leave_no_trace(
    durable: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        assert main(durable) == 0
