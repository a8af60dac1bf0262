"""An adapter whose framework is of a version that nobody has tried refuses to be imported, in one
line."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys

import pytest

from stanchion.hosts.contract.frameworks import UnknownVersion
from tests.hosts.results import adapters, pins

BY_DATA_ALONE = frozenset({"agent_hooks"})
"""Adapters that import nothing of their host: they read what it sends, and answer in plain data."""


@pytest.mark.parametrize("adapter", sorted(set(adapters()) - BY_DATA_ALONE))
def test_an_unknown_version_is_refused_before_the_framework_is_imported(
    adapter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"stanchion.hosts.{adapter}"
    monkeypatch.setattr(importlib.metadata, "version", lambda _distribution: "0.0.1")
    monkeypatch.delitem(sys.modules, name, raising=False)
    before = set(sys.modules)
    with pytest.raises(UnknownVersion) as raised:
        importlib.import_module(name)
    (framework, *_) = [pin.partition("==")[0].partition("[")[0] for pin in pins()[adapter]]
    assert str(raised.value).startswith(f"`{framework}` 0.0.1 was not tried with this adapter")
    assert "\n" not in str(raised.value)
    assert [
        module for module in set(sys.modules) - before if not module.startswith("stanchion")
    ] == []
