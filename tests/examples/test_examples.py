"""Every example runs as its page says, and prints what its page shows."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, Block, blocks
from tests.sampling import SOAK

PLACE = ROOT / "examples"
SLOW = {"fleet"}
EXAMPLES = sorted(page.parent.name for page in PLACE.glob("*/README.md"))


def played(command: str, place: Path) -> subprocess.CompletedProcess[str]:
    """What comes of a command of a page, in the checkout; `python` is the one that runs this."""
    program, *words = shlex.split(command)
    assert program == "python"
    own = {"STANCHION_STATE_DIR": str(place / "state"), "HOME": str(place), "NO_COLOR": "1"}
    env = {name: value for name, value in os.environ.items() if not name.startswith("STANCHION_")}
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**env, **own},
        capture_output=True,
        text=True,
        check=False,
    )


def shown(name: str) -> tuple[str, str]:
    """The command of an example's page, and what the page says that it prints."""
    found: list[Block] = blocks((PLACE / name / "README.md").read_text(encoding="utf-8"))
    (command,) = [block.text for block in found if block.language == "console"]
    (output,) = [block.text for block in found if block.language == "text"]
    return command.strip().removeprefix("$ "), output


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_prints_what_its_page_shows(name: str, tmp_path: Path) -> None:
    if name in SLOW and not SOAK:
        pytest.skip("two servers and six processes: `make soak` plays it")
    command, output = shown(name)
    done = played(command, tmp_path)
    assert (done.stdout, done.stderr, done.returncode) == (output, "", 0)


def test_the_list_names_every_example() -> None:
    listed = (PLACE / "README.md").read_text(encoding="utf-8")
    assert (
        sorted(one.name for one in PLACE.iterdir() if one.is_dir() and not one.name.startswith("_"))
        == EXAMPLES
    )
    assert all(f"[{name}]({name}/README.md)" in listed for name in EXAMPLES)
