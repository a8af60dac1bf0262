"""The behaviour suite with plain clients of `openai`."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("openai")

from stanchion.testing.host_suite import BEHAVIOURS, check, check_probes
from tests.hosts.openai.driver import DRIVER, RESPONSES


@pytest.mark.parametrize("way", DRIVER.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_behaviour(behaviour: str, way: str, tmp_path: Path) -> None:
    check(DRIVER, behaviour, way, tmp_path)


@pytest.mark.parametrize("way", RESPONSES.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_by_responses(behaviour: str, way: str, tmp_path: Path) -> None:
    check(RESPONSES, behaviour, way, tmp_path)


def test_probes() -> None:
    check_probes(DRIVER, globals())
    check_probes(RESPONSES, globals())
