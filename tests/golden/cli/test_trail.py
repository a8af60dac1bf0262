"""The commands that read trails and stores say what their transcripts show."""

import re
from pathlib import Path
from shutil import copyfile

import pytest

from tests.golden.cli.laid_out import lay_out
from tests.golden.cli.play import same
from tests.golden.cli.test_check import replayed

FOLDER = Path(__file__).parent / "trail"
HASH = re.compile(r"\b[0-9a-f]{12}(?:[0-9a-f]{52})?\b")
SEAL = re.compile(r"(hmac-sha256:[0-9a-f]{16}:)[0-9a-f]{64}")
LENGTH = re.compile(
    r"""(?<="offset":)\d+|(?<="bytes": )\d+|(?<=from byte )\d+| +\d+(?:\.\d)?(?= KiB)"""
)


def masked(text: str) -> str:
    """What is shown without what is no promise: hashes, and how long records are."""
    return LENGTH.sub("  #", HASH.sub("<hash>", SEAL.sub(r"\1<seal>", text)))


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.txt")), ids=lambda file: file.stem)
def test_transcript(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    work.mkdir()
    copyfile(FOLDER / "policy.yaml", work / "policy.yaml")
    lay_out(work)
    monkeypatch.chdir(work)
    monkeypatch.setenv("STANCHION_STATE_DIR", str(work))
    monkeypatch.setenv("STANCHION_AUDIT", str(work / "trail"))
    monkeypatch.setenv("STANCHION_STORE", str(work / "state.db"))
    said = replayed(file.read_text(encoding="utf-8")).replace(str(work), "/home/me")
    same(file, masked(said))


def test_every_exit_status_is_shown() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in FOLDER.glob("*.txt"))
    assert set(re.findall(r"^\[exit (\d+)\]$", text, re.MULTILINE)) == {"0", "1", "2"}


def test_nothing_that_was_masked_is_shown() -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in FOLDER.glob("*.txt"))
    assert "[redacted]" in text
    assert "s3cr3t" not in text
