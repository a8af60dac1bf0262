"""The canary of this adapter, in its framework."""

from __future__ import annotations

import pytest

pytest.importorskip("anthropic")

from tests.hosts.canaries import check_canary


@pytest.mark.parametrize("name", ["anthropic", "anthropic-async"])
def test_the_canary_is_caught_and_would_run(name: str) -> None:
    check_canary(name)
