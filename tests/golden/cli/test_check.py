"""Single checks say what their transcripts show: the words, the exit status, mistakes in one line
each."""

import re
import shlex
from pathlib import Path

import pytest

from tests.golden.cli.play import play, same

FOLDER = Path(__file__).parent / "check"
PROMPT = "$ stanchion "


def replayed(transcript: str) -> str:
    """The transcript as its commands answer now."""
    commands = [line for line in transcript.splitlines() if line.startswith(PROMPT)]
    return "\n".join(f"{line}\n{_played(line.removeprefix(PROMPT))}" for line in commands)


def _played(command: str) -> str:
    words = shlex.split(command)
    stdin = b""
    if "<" in words:
        stdin = Path(words[-1]).read_bytes()
        words = words[: words.index("<")]
    played = play(words, stdin)
    return f"{played.out}{played.err}[exit {played.status}]\n"


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.txt")), ids=lambda file: file.stem)
def test_transcript(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    same(file, replayed(file.read_text(encoding="utf-8")))


def test_every_exit_status_and_action_is_shown() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in FOLDER.glob("*.txt"))
    assert set(re.findall(r"^\[exit (\d+)\]$", text, re.MULTILINE)) == {"0", "2", "3", "4"}
    shown = set(re.findall(r"^([A-Z]+)  ", text, re.MULTILINE))
    assert shown == {
        "ALLOW",
        "WARN",
        "REDACT",
        "DEGRADE",
        "RETRY",
        "ESCALATE",
        "BLOCK",
        "QUARANTINE",
        "HALT",
    }


def test_a_mistake_is_one_line_for_each_fault() -> None:
    text = (FOLDER / "mistakes.txt").read_text(encoding="utf-8")
    answers = re.split(r"^\$ stanchion .*\n", text, flags=re.MULTILINE)[1:]
    for answer in answers:
        *lines, status = answer.strip().splitlines()
        assert status == "[exit 2]"
        assert lines
        assert all(line.startswith("stanchion: ") for line in lines)
