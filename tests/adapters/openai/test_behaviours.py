"""The behaviour suite with plain clients of `openai`."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("openai")

from stanchion.testing.host_suite import BEHAVIOURS, Driver, check, check_probes
from tests.adapters.openai.driver import DRIVER, RESPONSES


@pytest.mark.parametrize("way", DRIVER.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
@pytest.mark.parametrize("driver", [DRIVER, RESPONSES], ids=["chat", "responses"])
def test_behaviour(driver: Driver, behaviour: str, way: str, tmp_path: Path) -> None:
    check(driver, behaviour, way, tmp_path)


def test_probes() -> None:
    check_probes(DRIVER, globals())
    check_probes(RESPONSES, globals())
