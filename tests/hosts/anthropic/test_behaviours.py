"""The behaviour suite with plain clients of `anthropic`."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("anthropic")

from stanchion.testing.host_suite import BEHAVIOURS, check, check_probes
from tests.hosts.anthropic.driver import DRIVER


@pytest.mark.parametrize("way", DRIVER.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_behaviour(behaviour: str, way: str, tmp_path: Path) -> None:
    check(DRIVER, behaviour, way, tmp_path)


def test_probes() -> None:
    check_probes(DRIVER, globals())
