"""`stanchion lab`: what it prints, and what it cannot work with."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from stanchion.cli.main import main
from tests.lab.compiling.recorded import folder

CALL = {"tool": "run", "args": {"command": "ls"}, "exit": 0, "result": "a\u001b[31m"}


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    """A folder with two rows."""
    found = [
        {"id": "one", "kind": "oas", "label": "loop", "payload": {"calls": [CALL] * 3}},
        {"id": "tw\u001b[31mo", "kind": "oas", "label": "loop", "payload": {"calls": [CALL]}},
    ]
    (tmp_path / "loops.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in found), encoding="utf-8"
    )
    return tmp_path


def test_figures_and_misses_are_printed(corpora: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "measure", "loops", "--corpora", str(corpora)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Loops: ")
    assert re.search(r"^  loops found +1/2 +50.0% +9.5% to 90.5%  most$", out, re.MULTILINE)
    assert "  tw\\x1b[31mo (1 calls): not found\n" in out
    assert main(["lab", "measure", "loops", "--corpora", str(corpora), "--misses", "0"]) == 0
    assert "not found" not in capsys.readouterr().out


def test_json_is_one_line_with_all_misses(
    corpora: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANCHION_CORPORA", str(corpora))
    assert main(["lab", "measure", "loops", "--json", "--misses", "0"]) == 0
    (line,) = capfdbinary.readouterr().out.splitlines()
    report = json.loads(line)
    assert report["figures"][0]["hits"] == 1
    assert len(report["figures"][0]["misses"]) == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["measure", "lops"], "nothing measures `lops`: did you mean `loops`?"),
        (["measure", "xyz"], "nothing measures `xyz`: what can be measured is loops, benign"),
        (
            ["measure", "loops"],
            "no folder of rows is named: give one by `--corpora`, or set STANCHION_CORPORA",
        ),
        (
            ["measure", "loops", "--corpora", "gone"],
            "there is no folder `gone`: Stanchion ships no corpora",
        ),
        (
            ["measure", "loops", "--corpora", ".", "--misses", "-1"],
            "`--misses` is `-1`: give a number from 0 on",
        ),
        (
            ["measure", "loops", "--open"],
            "`stanchion lab measure loops` takes no `--open`: it is for `eyes`",
        ),
        (
            ["measure", "eyes", "--corpora", "."],
            "`stanchion lab measure eyes` takes no `--corpora`",
        ),
        (
            ["measure", "pii", "--fresh", "1"],
            "nothing draws rows for `pii`: `--fresh` is for shell, paths",
        ),
        (["flow", "--fresh", "1"], "`stanchion lab flow` takes no `--fresh`"),
        (
            ["compile"],
            "name the traces: files that end in `.recording.jsonl`, or folders that have some",
        ),
        (["compile", "."], "name the model that is to play with `--model`"),
        (["compile", ".", "--model", "m"], "say where the bundle goes with `--out FILE`"),
        (["compile", ".", "--model", "m", "--out", "b.yaml"], "`b.yaml` does not end in `.json`"),
        (
            ["compile", ".", "--model", "m", "--out", "pyproject.json/b.json"],
            "`pyproject.json/b.json` cannot be written",
        ),
        (
            ["compile", ".", "--model", "m", "--optimizer", "mirpo"],
            "there is no optimizer `mirpo`: did you mean `mipro`?",
        ),
        (
            ["compile", ".", "--model", "m", "--candidates", "1000"],
            "`--candidates` is `1000`: give a number from 1 to 100",
        ),
        (
            ["compile", "gone.jsonl", "--model", "m", "--out", "b.json"],
            "gone.jsonl: it cannot be read: no such file",
        ),
        (["compile", ".", "--suite", "x"], "`stanchion lab compile` takes no `--suite`"),
        (["flow", "--model", "m"], "`stanchion lab flow` takes no `--model`"),
        (["measure"], "the following arguments are required: WHAT"),
    ],
)
def test_mistakes_are_named(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STANCHION_CORPORA", raising=False)
    assert main(["lab", *words]) == 2
    assert capsys.readouterr().err.startswith(f"stanchion: {says}")


def test_where_dspy_is_missing_it_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dspy", None)
    traces, to = folder(tmp_path / "traces"), tmp_path / "b.json"
    assert main(["lab", "compile", str(traces), "--model", "m", "--out", str(to)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("stanchion: DSPy cannot be loaded: ")
    assert line.endswith(
        ": install the extra `dspy`, or from a checkout `pip install . './lab[dspy]'`"
    )
    assert not to.exists()
