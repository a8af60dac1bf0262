"""`make test-traces` finds a trace that another Python makes differently, and says where there is
no other Python."""

from __future__ import annotations

import sys

import pytest

from tools import traces

KEPT = {file.stem: file.read_bytes().decode() for file in sorted(traces.GOLDEN.glob("*.jsonl"))}


def test_only_the_trace_that_differs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "AROUND", traces.AROUND[-1:])
    [told] = traces.differing(
        sys.executable, {**KEPT, "second": KEPT["second"].replace("read", "raed", 1)}
    )
    assert told.endswith("`second` is another one")


def test_a_python_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "AROUND", ({"PYTHONHASHSEED": "no number"},))
    [told] = traces.differing(sys.executable, KEPT)
    assert "PYTHONHASHSEED" in told


def test_without_a_second_python_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        traces, "found", lambda version: sys.executable if version == "3.11" else None
    )
    assert traces.main() == 0
    assert capsys.readouterr().out.startswith(
        "skipped: there is no second Python here: install one of 3.11, 3.12, 3.13"
    )
