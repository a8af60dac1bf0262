"""The canary of this adapter, in its framework."""

from __future__ import annotations

import pytest

pytest.importorskip("litellm")

from tests.hosts.test_canaries import hold

pytestmark = pytest.mark.filterwarnings(
    "ignore"
)  # of LiteLLM's own models, and of clients that it never closes


@pytest.mark.parametrize("name", ["litellm", "litellm-async"])
def test_the_canary_is_caught_and_would_run(name: str) -> None:
    hold(name)
