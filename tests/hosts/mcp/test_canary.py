"""The canary of this adapter, in its framework."""

from __future__ import annotations

from tests.hosts.canaries import check_canary


def test_the_canary_is_caught_and_would_run() -> None:
    check_canary("mcp")
