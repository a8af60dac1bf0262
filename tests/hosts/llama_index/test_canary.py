"""The canary of this adapter, in its framework."""

from __future__ import annotations

import pytest

pytest.importorskip("llama_index.core")

from tests.hosts.canaries import check_canary

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # the framework's own, of pydantic


def test_the_canary_is_caught_and_would_run() -> None:
    check_canary("llama-index")
