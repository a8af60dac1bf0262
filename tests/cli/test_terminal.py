"""Colours are for terminals, and nothing that is shown can steer one."""

import io
import sys
from pathlib import Path

import pytest

from stanchion.cli.main import main
from stanchion.cli.terminal import Terminal, say, visible


class Tty(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def tty(encoding: str = "utf-8") -> Tty:
    """A terminal whose screen can be read."""
    return Tty(io.BytesIO(), encoding=encoding, write_through=True)


def shown(stream: io.TextIOWrapper) -> str:
    """What a stream shows."""
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode(stream.encoding)


@pytest.mark.parametrize(
    ("environ", "colour"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_a_terminal_has_colours_unless_told_otherwise(
    environ: dict[str, str], colour: bool
) -> None:
    assert Terminal.of(tty(), environ).colour is colour


def test_anything_else_has_none_and_is_not_wrapped() -> None:
    assert Terminal.of(io.StringIO(), {"TERM": "xterm-256color"}) == Terminal(False, None)


def test_control_characters_are_written_out() -> None:
    assert visible("a\x1b[2J\r\n\x07\u202e\ud800é→") == "a\\x1b[2J\\r\\n\\x07\\u202e\\ud800é→"


def test_what_an_encoding_lacks_is_written_out() -> None:
    stream = tty("ascii")
    say(stream, "1 → 2")
    assert shown(stream) == "1 \\u2192 2\n"


POLICY = """
name: p
guards:
  - {use: tool_denylist, id: a, tools: [curl], action: warn}
  - {use: tool_denylist, id: b, tools: [deploy], action: escalate}
  - {use: tool_denylist, id: c, tools: [rm]}
"""


@pytest.mark.parametrize(
    ("tool", "colour"), [("bash", "1;32"), ("curl", "1;33"), ("deploy", "1;35"), ("rm", "1;31")]
)
def test_a_verdict_is_coloured_and_wrapped_on_a_terminal(
    tool: str, colour: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(POLICY, encoding="utf-8")
    stream = tty()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    main(["check", "--policy", str(policy), "--tool", tool])
    coloured = shown(stream)
    assert coloured.startswith(f"\x1b[{colour}m")
    plain = [
        line.replace("\x1b[2m", "").replace("\x1b[0m", "") for line in coloured.splitlines()[1:]
    ]
    assert max(len(line) for line in plain) <= 40
    monkeypatch.setenv("NO_COLOR", "1")
    main(["check", "--policy", str(policy), "--tool", tool])
    assert "\x1b" not in shown(stream).removeprefix(coloured)


def test_json_is_never_coloured(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = tty()
    monkeypatch.setattr(sys, "stdout", stream)
    main(["check", "--tool", "bash", "--json"])
    assert shown(stream).startswith('{"id":"check.')
