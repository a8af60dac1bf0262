"""The how-to pages show what the command really says."""

import re
import shlex
from pathlib import Path
from shutil import copyfile

import pytest

from tests.docs.markdown import ROOT, blocks
from tests.golden.cli.laid_out import lay_out
from tests.golden.cli.play import play
from tests.golden.cli.test_trail import FOLDER, masked

PAGES = {
    "check-from-a-shell": 5,
    "lint-a-policy": 4,
    "explain-a-decision": 3,
    "cure-a-refusal": 1,
    "audit": 6,
    "keep-a-witness": 2,
}
"""Pages, and how many console blocks each has."""

ABOUT_A_TRAIL = {"audit", "keep-a-witness"}


def sessions(text: str) -> list[list[tuple[str, str]]]:
    """The console blocks of a page: commands with what is shown below each."""
    found = []
    for block in blocks(text):
        if block.language == "console":
            parts = re.split(r"^\$ (.+)\n", block.text, flags=re.MULTILINE)[1:]
            found.append(list(zip(parts[::2], parts[1::2], strict=True)))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_every_console_block_is_true(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    text = (ROOT / f"docs/how-to/{page}.md").read_text(encoding="utf-8")
    for block in blocks(text):
        if block.language == "yaml" and not Path("policy.yaml").exists():
            Path("policy.yaml").write_text(block.text, encoding="utf-8")
        if block.language == "json":
            Path("events.jsonl").write_text(block.text, encoding="utf-8")
    shown = sessions(text)
    assert len(shown) == PAGES[page]
    if page in ABOUT_A_TRAIL:
        copyfile(FOLDER / "policy.yaml", "policy.yaml")
        lay_out(Path.cwd())
        monkeypatch.setenv("STANCHION_STATE_DIR", str(Path.cwd()))
        monkeypatch.delenv("STANCHION_AUDIT")
        monkeypatch.delenv("STANCHION_STORE")
    for session in shown:
        status = -1
        for command, output in session:
            words = shlex.split(command)
            if command == "echo $?":
                assert output == f"{status}\n"
                continue
            assert words[0] == "stanchion"
            status, out, err = play(words[1:], nonce="a")
            assert masked((out + err).replace(str(Path.cwd()), ".")) == masked(output)
