"""The table of adapters has no blank cell, and shows what was found of the adapters as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from stanchion.testing.host_suite import BEHAVIOURS
from tests.hosts.results import (
    HERE,
    ROOT,
    SOURCES,
    Cell,
    Result,
    adapters,
    file_of,
    keep,
    kept,
    parts_of,
    pins,
    source_of,
)
from tools.adapters import cells_of, complaints_about

TEST = '<testcase classname="tests.hosts.mine.test_mine" name="{}" time="0.1">{}</testcase>'


@pytest.mark.parametrize("adapter", adapters())
def test_an_adapters_results_are_whole_and_of_its_source(adapter: str) -> None:
    assert file_of(adapter).exists(), f"`{adapter}` has no results: run `make test-adapters`"
    assert complaints_about(kept(adapter)) == []


def test_every_adapter_is_pinned_and_nothing_else_is() -> None:
    assert sorted(pins()) == adapters()
    assert pins("oldest").keys() <= pins().keys()
    both = [*pins().values(), *pins("oldest").values()]
    assert [pin for each in both for pin in each if "==" not in pin] == []


def test_every_probe_is_a_test_of_its_adapter() -> None:
    for adapter in adapters():
        tests = "".join(
            [file.read_text(encoding="utf-8") for file in (ROOT / HERE / adapter).glob("test_*.py")]
        )
        probes = [cell.probe for cell in kept(adapter).cells.values() if cell.probe]
        assert [probe for probe in probes if f"def {probe}(" not in tests] == []


def junit(file: Path, *tests: tuple[str, str]) -> Path:
    """What pytest writes of tests that passed (with an empty text), failed or were skipped."""
    body = "".join([TEST.format(name, said) for name, said in tests])
    file.write_text(f"<testsuites><testsuite>{body}</testsuite></testsuites>", encoding="utf-8")
    return file


def test_cells_are_what_the_tests_have_shown(tmp_path: Path) -> None:
    file = junit(
        tmp_path / "found.xml",
        ("test_behaviour[allow-sync]", ""),
        ("test_behaviour[allow-async]", ""),
        ("test_behaviour[block-sync]", ""),
        ("test_behaviour[block-async]", "<failure>no</failure>"),
        ("test_behaviour[redact-sync]", "<skipped>no</skipped>"),
        ("test_behaviour[handoff-sync]", ""),
        ("test_no_handoff", ""),
        ("test_no_pause", "<failure>no</failure>"),
    )
    cells = cells_of(file, {"handoff": "test_no_handoff", "pause": "test_no_pause"})
    assert cells == {
        "allow": Cell(("async", "sync")),
        "block": Cell(("sync",)),
        "handoff": Cell(probe="test_no_handoff"),
    }


def test_what_is_missing_or_stale_is_named() -> None:
    (adapter, *_) = adapters()
    whole = {name: Cell(("sync",)) for name in BEHAVIOURS}
    fresh = Result(adapter, {}, source_of(adapter), "none", "none", whole)
    assert complaints_about(fresh) == []
    (said,) = complaints_about(Result(adapter, {}, "old", "none", "none", whole))
    assert said == (
        f"the source of `{adapter}` has changed since its results were found: run `make "
        f"test-adapters`"
    )
    (said,) = complaints_about(
        Result(adapter, {}, source_of(adapter), "none", "none", {**whole, "stream": Cell()})
    )
    assert said == f"`{adapter}` has neither shown `stream` nor a probe that it is out of reach"


def test_the_parts_of_an_adapter_are_what_it_imports() -> None:
    found = {
        name: {file.relative_to(ROOT / SOURCES).as_posix() for file in parts_of(name)}
        for name in adapters()
    }
    assert {"pydantic_ai.py", "pydantic_ai_calls.py"} <= found["pydantic_ai"]
    assert {"crewai.py", "crewai_copies.py", "crewai_tools.py"} <= found["crewai"]
    assert {"openai.py", "clients/__init__.py", "clients/guarded.py", "http/leaving.py"} <= found[
        "openai"
    ]
    assert {"litellm.py", "clients/guardrail.py"} <= found["litellm"]  # imported in a function
    assert found["smolagents"] == {"smolagents.py"}


def test_results_are_stale_where_a_part_of_the_adapter_has_changed(tmp_path: Path) -> None:
    place = tmp_path / SOURCES
    (place / "inner").mkdir(parents=True)
    (place / "mine.py").write_text(
        "from stanchion.hosts.inner import deep\nimport stanchion.hosts.beside\n"
    )
    (place / "beside.py").write_text("import os\n")
    (place / "other.py").write_text("")
    (place / "inner" / "__init__.py").write_text("")
    (place / "inner" / "deep.py").write_text("from stanchion.hosts import mine\n")
    first = source_of("mine", tmp_path)
    (place / "other.py").write_text("changed = True\n")
    assert source_of("mine", tmp_path) == first
    seen = {first}
    for part in ("beside.py", "inner/__init__.py", "inner/deep.py", "mine.py"):
        (place / part).write_text((place / part).read_text() + "changed = True\n")
        seen.add(source_of("mine", tmp_path))
    assert len(seen) == 5


def test_results_are_kept_as_they_are(tmp_path: Path) -> None:
    result = Result(
        "mine", {"framework": "1.0"}, "digest", "resume", "chunk", {"allow": Cell(("sync",))}
    )
    (tmp_path / HERE / "mine").mkdir(parents=True)
    keep(result, tmp_path)
    assert kept("mine", tmp_path) == result
