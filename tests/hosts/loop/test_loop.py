"""The behaviour suite, played by a loop that needs no framework."""

from __future__ import annotations

from pathlib import Path

import pytest

from stanchion.testing.host_suite import BEHAVIOURS, check, check_probes
from tests.hosts.loop.driver import DRIVER


@pytest.mark.parametrize("way", DRIVER.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_behaviour(behaviour: str, way: str, tmp_path: Path) -> None:
    check(DRIVER, behaviour, way, tmp_path)


def test_probes() -> None:
    check_probes(DRIVER, globals())
