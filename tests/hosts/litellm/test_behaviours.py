"""The behaviour suite with LiteLLM's functions."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("litellm")

from stanchion.testing.host_suite import BEHAVIOURS, check, check_probes
from tests.hosts.litellm.driver import DRIVER

pytestmark = pytest.mark.filterwarnings(
    "ignore"
)  # of LiteLLM's own models, and of clients that it never closes


@pytest.mark.parametrize("way", DRIVER.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_behaviour(behaviour: str, way: str, tmp_path: Path) -> None:
    check(DRIVER, behaviour, way, tmp_path)


def test_probes() -> None:
    check_probes(DRIVER, globals())
