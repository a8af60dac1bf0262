"""LiteLLM keeps its clients for ever: what is left of them at the end is no fault of a test."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def forgotten_clients() -> Iterator[None]:
    yield
    litellm = pytest.importorskip("litellm")
    litellm.in_memory_llm_clients_cache.flush_cache()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()
