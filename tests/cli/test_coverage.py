"""`stanchion audit coverage`: names what escaped, and its exit status says whether anything did."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

from stanchion import Shield, hosts
from stanchion.cli.main import main
from stanchion.hosts import canaries
from stanchion.hosts.canaries import CanaryEntry
from tests.runtime.coverage.doing import BARE, start, write


@pytest.fixture
def trail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trail with a run that is guarded, one that is not, with a child, and one that nobody
    watched."""
    folder = tmp_path / "trail"
    monkeypatch.setenv("STANCHION_AUDIT", str(folder))
    with Shield.load(BARE, store="memory:", coverage="observe") as shield:
        with shield.run("ann", id="guarded") as run:
            run.call(write, tmp_path / "file")
        with shield.run("bob", id="open"):
            start()
            with shield.run("cy", id="child"):
                write(tmp_path / "file")
    with Shield.load(BARE, store="memory:") as shield, shield.run("dan", id="unwatched") as run:
        run.check("look", {})
    return folder


def answered(capsys: pytest.CaptureFixture[str], status: int, *words: str) -> str:
    capsys.readouterr()
    assert main(["audit", "coverage", *words]) == status
    return capsys.readouterr().out


def names(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(one["run"], one["what"], one["name"]) for one in found["escaped"]]


@pytest.mark.usefixtures("trail")
def test_what_escaped_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    said = answered(capsys, 3)
    assert re.search(
        r"^tool +start +process \S*python\S* +\S+doing\.py:\d+ +open +hook$", said, re.MULTILINE
    )
    assert re.search(
        r"^tool +write +file \S+file +\S+doing\.py:\d+ +child +hook$", said, re.MULTILINE
    )
    assert "2 things escaped, in 4 runs" in said
    assert "not watched, or not to their end: 1 run" in said
    assert "decided, and no outcome reported: 1 call" in said


@pytest.mark.usefixtures("trail")
def test_on_a_guarded_run_it_names_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    said = answered(capsys, 0, "--run", "guarded")
    assert said.splitlines()[0] == "nothing is known to have escaped, in 1 run"
    found = json.loads(answered(capsys, 0, "--run", "guarded", "--json"))
    (run,) = found["runs"]
    assert (found["escaped"], run["mode"], run["decided"]) == ([], "observe", {"tool_call": 1})


@pytest.mark.usefixtures("trail")
def test_a_run_is_shown_with_those_below_it(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(answered(capsys, 3, "--run", "open", "--json"))
    assert names(found) == [("child", "tool", "write"), ("open", "tool", "start")]
    assert [
        one["run"] for one in json.loads(answered(capsys, 0, "--run", "last", "--json"))["runs"]
    ] == ["unwatched"]


@pytest.mark.parametrize(
    ("charged", "status", "line"),
    [
        (
            0,
            0,
            (
                "tokens in the transcript: 1,500; counted in the trail: none, because no budget "
                "counts them"
            ),
        ),
        (1_500, 0, "tokens in the transcript: 1,500; counted in the trail: 1,500"),
        (100, 3, "1 thing escaped, in 1 run"),
    ],
)
def test_tokens_of_a_transcript_are_compared(
    charged: int,
    status: int,
    line: str,
    trail: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    reply: dict[str, Any] = {"id": "m1", "model": "m", "content": [{"type": "text", "text": "hi"}]}
    reply["usage"] = {"input_tokens": 1_000, "output_tokens": 500}
    with Shield.load(BARE, store="memory:") as shield, shield.run("eve", id="asks") as run:
        run.model(lambda _: reply, [])
        if charged:
            run.charge(tokens=charged)
    file = tmp_path / "log.jsonl"
    file.write_text(json.dumps(reply))
    said = answered(capsys, status, "--run", "asks", "--transcript", str(file))
    assert line in said
    assert ("tokens  1,400" in said) is (status == 3)


def test_a_transcript_is_matched(
    trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "look", "arguments": {}},
        }
    ]
    log += [
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "pay", "arguments": {"sum": 5}},
        }
    ]
    log += [{"jsonrpc": "2.0", "id": number, "result": {}} for number in (1, 2)]
    file = tmp_path / "log.jsonl"
    file.write_text("\n".join(map(json.dumps, log)))
    found = json.loads(
        answered(capsys, 3, "--run", "unwatched", "--transcript", str(file), "--json")
    )
    assert names(found) == [("", "call", "pay")]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(log[0]).encode())))
    assert "0 asked for and never answered" in answered(
        capsys, 0, "--run", "unwatched", "--transcript", "-"
    )


@pytest.mark.usefixtures("trail")
def test_canaries_are_driven(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "tests.runtime.coverage.test_canaries"
    listed = {
        "holds": CanaryEntry("httpx", "httpx", where, "guarded"),
        "moved": CanaryEntry("httpx", "httpx", where, "unguarded"),
    }
    monkeypatch.setattr(canaries, "CANARIES", listed)
    found = json.loads(answered(capsys, 3, "--run", "guarded", "--canaries", "--json"))
    assert [(one["what"], one["name"], one["why"]) for one in found["escaped"]] == [
        ("adapter", "moved", "the tool has run")
    ]
    assert (found["canaries"]["holds"], found["canaries"]["moved"]) == (True, False)


def test_canaries_need_no_trail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path / "none"))
    monkeypatch.setattr(
        canaries,
        "CANARIES",
        {"holds": CanaryEntry("httpx", "httpx", "tests.runtime.coverage.test_canaries", "guarded")},
    )
    said = answered(capsys, 0, "--canaries")
    assert "canaries caught: 1 of 1 (holds)" in said
    shipped = {one.name for one in iter_modules(hosts.__path__)}
    adapters_of = {name for name in shipped if name not in {"canaries", "contract", "versions"}}
    assert adapters_of == set(said.partition("without a canary: ")[2].strip().split(", "))
    assert main(["audit", "coverage", "--canaries", "--run", "nobody"]) == 2


@pytest.mark.usefixtures("trail")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--run", "nobody"], "there is no run `nobody`"),
        (
            ["--transcript", "missing.json"],
            "the transcript `missing.json` cannot be read: no such file",
        ),
        (["--transcript", __file__], "line 1 is no JSON"),
    ],
)
def test_mistakes_are_bad_input(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["audit", "coverage", *words]) == 2
    assert says in capsys.readouterr().err
