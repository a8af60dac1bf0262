"""The commands around policies say what their transcripts show."""

import re
import shutil
from pathlib import Path

import pytest

from tests.golden.cli.play import same
from tests.golden.cli.test_check import replayed

FOLDER = Path(__file__).parent / "commands"
HASH = re.compile(r"\b[0-9a-f]{12}(?:[0-9a-f]{52})?\b")


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.txt")), ids=lambda file: file.stem)
def test_transcript(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    shutil.copytree(FOLDER, work)
    monkeypatch.chdir(work)
    said = replayed(file.read_text(encoding="utf-8")).replace(str(work), "/home/me")
    same(file, HASH.sub("<hash>", said))


def test_every_exit_status_is_shown() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in FOLDER.glob("*.txt"))
    assert set(re.findall(r"^\[exit (\d+)\]$", text, re.MULTILINE)) == {"0", "1", "2", "3", "4"}
