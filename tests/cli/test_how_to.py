"""The how-to page shows what the command really says."""

import re
import shlex
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, blocks
from tests.golden.cli.play import play

PAGE = ROOT / "docs/how-to/check-from-a-shell.md"


def sessions(text: str) -> list[list[tuple[str, str]]]:
    """The console blocks of a page: commands with what is shown below each."""
    found = []
    for block in blocks(text):
        if block.language == "console":
            parts = re.split(r"^\$ (.+)\n", block.text, flags=re.MULTILINE)[1:]
            found.append(list(zip(parts[::2], parts[1::2], strict=True)))
    return found


def test_every_console_block_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    (policy,) = [block.text for block in blocks(text) if block.language == "yaml"]
    (events,) = [block.text for block in blocks(text) if block.language == "json"]
    Path("policy.yaml").write_text(policy, encoding="utf-8")
    Path("events.jsonl").write_text(events, encoding="utf-8")
    shown = sessions(text)
    assert len(shown) == 5
    for session in shown:
        status = -1
        for command, output in session:
            words = shlex.split(command)
            if command == "echo $?":
                assert output == f"{status}\n"
                continue
            assert words[0] == "holdfast"
            status, out, err = play(words[1:], nonce="a")
            assert out + err == output
