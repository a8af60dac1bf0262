"""An adapter whose framework is of a version that nobody has tried starts only where its canary is
stopped, and says in one line what it does not fit."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import logging
import sys
from collections.abc import Iterator

import pytest

from stanchion.hosts import Host, UnknownVersion, canaries, tried
from stanchion.hosts.contract import canary
from stanchion.hosts.contract.canary import Came
from stanchion.hosts.contract.frameworks import UNPROVEN
from stanchion.runtime.shield import Shield
from stanchion.testing import shield_for
from tests.hosts.results import adapters, files_of, pins

BY_DATA_ALONE = frozenset({"agent_hooks"})
"""Adapters that import nothing of their host: they read what it sends, and answer in plain data."""
IN_A_CLIENT = frozenset({"openai", "anthropic", "litellm"})
"""Adapters that import nothing of theirs before they are given a client."""

HOST = Host("langchain")


@pytest.fixture(autouse=True)
def nothing_is_unproven() -> Iterator[None]:
    before = dict(UNPROVEN)
    UNPROVEN.clear()
    yield
    UNPROVEN.clear()
    UNPROVEN.update(before)


@pytest.fixture
def shield() -> Iterator[Shield]:
    with shield_for({"name": "bare"}) as made:
        yield made


def unknown(monkeypatch: pytest.MonkeyPatch, *came: Came) -> list[str]:
    """A LangChain of another version, whose canary comes to this; gives the canaries that were
    driven."""
    monkeypatch.setattr(importlib.metadata, "version", lambda _distribution: "9.9")
    asked: list[str] = []
    coming = list(came)

    def driven(name: str) -> Came:
        asked.append(name)
        return coming.pop(0)

    monkeypatch.setattr(canaries, "driven", driven)
    assert tried("langchain", "1.4", "2").found == "9.9"
    return asked


def test_a_canary_that_is_stopped_lets_it_start_and_it_is_said_once(
    monkeypatch: pytest.MonkeyPatch, shield: Shield, caplog: pytest.LogCaptureFixture
) -> None:
    asked = unknown(monkeypatch, Came(True))
    with caplog.at_level(logging.WARNING):
        HOST.run(shield).close()
        HOST.run(shield).close()
    assert asked == ["langchain"]
    (line,) = [one.getMessage() for one in caplog.records]
    assert "`langchain` 9.9 was not tried" in line
    assert "`langchain>=1.4,<2`" in line


def test_one_that_is_not_stopped_refuses_every_run(
    monkeypatch: pytest.MonkeyPatch, shield: Shield
) -> None:
    unknown(monkeypatch, *2 * [Came(False, "the tool has run")])
    for _ in range(2):
        with pytest.raises(UnknownVersion, match=r"9\.9 was not tried .*the tool has run.*install"):
            HOST.run(shield)


def test_other_hosts_are_not_asked_to_prove_it(
    monkeypatch: pytest.MonkeyPatch, shield: Shield
) -> None:
    asked = unknown(monkeypatch)
    Host("strands").run(shield).close()
    assert asked == []


def test_the_canary_itself_is_let_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    unknown(monkeypatch)

    def begins(shield: Shield, body: object) -> None:
        HOST.run(shield).report("tool_call", tool=canary.TOOL, args={})

    assert canary.drive_canary(begins).caught


def test_a_framework_of_another_adapter_is_proven_by_its_canary(
    monkeypatch: pytest.MonkeyPatch, shield: Shield
) -> None:
    asked = unknown(monkeypatch, Came(True), Came(True))
    tried("langgraph", "1.2", "2", of="langchain")
    HOST.run(shield).close()
    assert asked == ["langchain", "langchain"]
    assert not UNPROVEN["langchain"]


def seam_of(adapter: str) -> str:
    """The first module that an adapter imports of its framework."""
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in files_of(adapter)]
    (first, *_) = [node for tree in trees for node in tree.body if isinstance(node, ast.With)]
    (imported, *_) = [node for node in first.body if isinstance(node, ast.ImportFrom)]
    assert imported.module is not None
    return imported.module


@pytest.mark.parametrize("adapter", sorted(set(adapters()) - BY_DATA_ALONE))
def test_an_adapter_says_which_version_it_does_not_fit(
    adapter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"stanchion.hosts.{adapter}"
    (framework, *_) = [pin.partition("==")[0].partition("[")[0] for pin in pins()[adapter]]
    monkeypatch.setattr(importlib.metadata, "version", lambda _distribution: "0.0.1")
    for module in [one for one in sys.modules if f"{one}.".startswith(f"{name}.")]:
        monkeypatch.delitem(sys.modules, module)
    if adapter in IN_A_CLIENT:
        importlib.import_module(name)
    else:
        monkeypatch.setitem(sys.modules, seam_of(adapter), None)
        with pytest.raises(UnknownVersion) as raised:
            importlib.import_module(name)
        assert str(raised.value).startswith(f"`{framework}` 0.0.1 does not fit this adapter (")
        assert "\n" not in str(raised.value)
    assert [one for proofs in UNPROVEN.values() for one in proofs] == [framework]
