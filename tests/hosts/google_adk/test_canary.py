"""The canary of this adapter, in its framework."""

from __future__ import annotations

import pytest

pytest.importorskip("google.adk")

from tests.hosts.canaries import check_canary


def test_the_canary_is_caught_and_would_run() -> None:
    check_canary("google-adk")
