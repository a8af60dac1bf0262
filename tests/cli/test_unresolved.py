"""`stanchion check` looks no name up unless it is told to, and says so."""

from __future__ import annotations

import io
import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from stanchion.cli.main import main

EVENT = ["--stage", "egress", "--event", '{"url": "https://example.com/page"}']


@pytest.fixture(autouse=True)
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a policy that has names looked up."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yaml").write_text("name: out\nguards:\n  - use: egress\n", encoding="utf-8")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that the system was asked for; it says that all of them are public."""
    names: list[str] = []

    def getaddrinfo(host: str, *_: Any, **__: Any) -> list[Any]:
        names.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443))]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return names


def test_a_name_is_not_looked_up_and_judged_by_itself(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--policy", "policy.yaml", *EVENT]) == 0
    assert "`example.com` was not looked up" in capsys.readouterr().out
    assert asked == []


def test_what_a_name_itself_says_is_judged(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    event = ["--stage", "egress", "--event", '{"url": "https://metadata.google.internal/"}']
    assert main(["check", "--policy", "policy.yaml", "--json", *event]) == 3
    assert json.loads(capsys.readouterr().out)["code"] != "egress.unresolved"
    assert asked == []


def test_where_it_counts_a_name_that_is_not_looked_up_is_refused(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--policy", "policy.yaml", "--run", "r-1", *EVENT]) == 3
    out = capsys.readouterr().out
    assert "egress.unresolved" in out
    assert "`example.com` was not looked up" in out
    assert asked == []


def test_the_answer_as_json_names_it(asked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--policy", "policy.yaml", "--json", *EVENT]) == 0
    assert json.loads(capsys.readouterr().out)["unresolved"] == ["example.com"]
    assert asked == []


def test_it_is_looked_up_where_that_is_asked_for(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--policy", "policy.yaml", "--json", "--resolve", *EVENT]) == 0
    assert "unresolved" not in json.loads(capsys.readouterr().out)
    assert asked == ["example.com"]


def test_what_is_refused_for_what_it_says_needs_no_name(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    event = ["--stage", "egress", "--event", '{"url": "http://169.254.169.254/"}']
    assert main(["check", "--policy", "policy.yaml", "--json", *event]) == 3
    assert "unresolved" not in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("resolve", [False, True])
def test_each_line_of_a_batch_says_its_own(
    resolve: bool,
    asked: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    urls = ["https://example.com/", "http://10.0.0.1/", "https://example.org/"]
    lines = "".join(json.dumps({"run": "r", "stage": "egress", "url": url}) + "\n" for url in urls)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    assert (
        main(
            [
                "check",
                "--policy",
                "policy.yaml",
                "--batch",
                "-",
                *(["--resolve"] if resolve else []),
            ]
        )
        == 0
    )
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    named = [answer.get("unresolved") for answer in answers]
    assert named == ([None, None, None] if resolve else [["example.com"], None, ["example.org"]])
    assert asked == (["example.com", "example.org"] if resolve else [])


def test_a_check_that_counts_does_the_same(
    asked: list[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("STANCHION_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("STANCHION_STORE", raising=False)
    monkeypatch.delenv("STANCHION_AUDIT", raising=False)
    assert main(["check", "--policy", "policy.yaml", "--run", "r", "--json", *EVENT]) == 3
    assert json.loads(capsys.readouterr().out)["unresolved"] == ["example.com"]
    assert asked == []
