"""`stanchion tools draft` writes declarations that a person reads and a policy takes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from stanchion.cli.main import main
from stanchion.policy.load import load_policy

MAIL = [
    {
        "name": "send_email",
        "description": "Send an email.",
        "inputSchema": {"type": "object", "properties": {"to": {}, "body": {}}},
    },
    {"name": "read_email", "inputSchema": {"type": "object", "properties": {"email_id": {}}}},
    {"name": "frobnicate", "inputSchema": {"type": "object"}},
    {
        "name": "drop_note",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "get_report",
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": False},
    },
    {
        "name": "create_note",
        "inputSchema": {"type": "object"},
        "annotations": {"destructiveHint": True},
    },
    {
        "name": "sequentialthinking",
        "inputSchema": {"type": "object", "properties": {"thought": {}}},
    },
    {
        "name": "merge_pull_request",
        "inputSchema": {
            "type": "object",
            "properties": {"owner": {}, "repo": {}, "pullNumber": {}, "commit_title": {}},
        },
    },
]
SAID = """\
  send_email: {effect: outward, sinks: [to], result: content}  # as pypi langchain-community 0.4.2
  read_email: {effect: read, sinks: [email_id]}  # `read`
  frobnicate: {effect: outward, result: content}  # ? no verb of its name is known
  drop_note: {effect: irreversible, result: content}  # `drop`
  get_report: {effect: outward, result: content}  # ? `get`, but its server does not call it \
read-only
  create_note: {effect: irreversible, result: content}  # `create` note; its server calls it \
destructive
  sequentialthinking: {effect: outward, result: content}  # ? no verb of its name is known
  merge_pull_request: {effect: outward, sinks: [owner, repo, pullNumber], result: content}  # as \
repository github/github-mcp-server 0041770b138b
"""


def drafted(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["tools", "draft", *words]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    return shown.out


@pytest.mark.parametrize("shape", [MAIL, {"tools": MAIL}, {"result": {"tools": MAIL}}])
def test_definitions_in_a_file(
    shape: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(shape), "utf-8")
    out = drafted(capsys, str(file))
    assert out.startswith("# Drafted from names: read every line")
    assert out.endswith(SAID)
    policy = load_policy({"name": "p", **yaml.safe_load(out)})
    assert policy.known("send_email").sinks == ("to",)


def test_definitions_from_the_input_and_names_that_yaml_would_read_otherwise(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    named = [
        {"type": "function", "function": {"name": name}} for name in ("on", "a: {}\n#", "x\x1b[2J")
    ]
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(named)))
    out = drafted(capsys, "-")
    assert "\x1b" not in out
    assert list(yaml.safe_load(out)["tools"]) == ["on", "a: {}\n#", "x\x1b[2J"]


def test_functions_of_a_module_whose_code_does_not_say_what_they_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own_tools_drafted.py").write_text(
        "from stanchion import Shield\n"
        "shield = Shield.load({'name': 'p'})\n"
        "@shield.tool\n"
        "def send_report(to: str, body: str) -> None: ...\n"
        "@shield.tool(effect='outward')\n"
        "def post_report(channel: str) -> None: ...\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    out = drafted(capsys, "own_tools_drafted")
    assert yaml.safe_load(out) == {
        "tools": {"send_report": {"effect": "outward", "sinks": ["to"], "result": "content"}}
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "which tools? write `stanchion tools draft FILE`"),
        (["x.json", "--server", "a=b"], "which tools?"),
        (["no-such-file.json"], "is no file, and no module either"),
        (["--server", "a"], "write it as `NAME=COMMAND` or `NAME=URL`"),
    ],
)
def test_what_cannot_be_drafted(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tools", "draft", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_file_without_definitions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "tools.json"
    file.write_text('[{"title": "x"}]', "utf-8")
    assert main(["tools", "draft", str(file)]) == 2
    assert "definition 1 has an unknown shape" in capsys.readouterr().err
    file.write_text("[]", "utf-8")
    assert drafted(capsys, str(file)) == "tools: {}\n"
