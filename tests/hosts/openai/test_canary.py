"""The canary of this adapter, in its framework."""

from __future__ import annotations

import pytest

pytest.importorskip("openai")

from tests.hosts.canaries import check_canary


@pytest.mark.parametrize("name", ["openai", "openai-async"])
def test_the_canary_is_caught_and_would_run(name: str) -> None:
    check_canary(name)
