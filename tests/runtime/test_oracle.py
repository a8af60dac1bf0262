"""The oracle looks at the files, knows both ways of writing a claim, and shares nothing with the
laws."""

from __future__ import annotations

import hashlib
from pathlib import Path, PurePosixPath

import pytest

from stanchion.tutor.playing import oracle
from stanchion.tutor.playing.oracle import is_true
from tests.architecture.import_rules import imports
from tests.sources import tree_of

TEXT = b'say "hi", `ho`\ntwo\nthree'
SUM = hashlib.sha256(TEXT).hexdigest()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file, an empty one, and a folder."""
    (tmp_path / "in/sub").mkdir(parents=True)
    (tmp_path / "in/a.txt").write_bytes(TEXT)
    (tmp_path / "in/none").touch()
    (tmp_path / "out.txt").write_text("outside")
    return tmp_path / "in"


@pytest.mark.parametrize(
    "sentence",
    [
        "lines(`a.txt`, 2)",
        "not lines(`a.txt`, 3)",
        f"bytes(`./a.txt`, {len(TEXT)})",
        'contains(`a.txt`, `say "hi", `ho``)',
        "not contains(`a.txt`, `four`)",
        f"digest(`a.txt`, `{SUM}`)",
        "exists(`sub`)",
        "directory(`sub`)",
        "not file(`sub`)",
        "nonempty(`a.txt`)",
        "not nonempty(`none`)",
        "File 'a.txt' exists",
        "File 'b.txt' does not exist",
        "Directory 'sub' exists",
        "File 'a.txt' has 2 lines",
        "File 'a.txt' has content",
        "File 'none' is empty or does not exist",
        "Pattern 'two' found in file 'a.txt'",
        "Pattern 'four' not found in file 'a.txt'",
    ],
)
def test_what_is_so(sentence: str, folder: Path) -> None:
    assert is_true(sentence, folder) is True


@pytest.mark.parametrize(
    "sentence",
    [
        "lines(`a.txt`, 7)",
        "not lines(`a.txt`, 2)",
        "lines(`gone`, 0)",
        "contains(`a.txt`, `four`)",
        "contains(`gone`, `two`)",
        f"digest(`none`, `{SUM}`)",
        "not exists(`sub`)",
        "File 'sub' exists",
        "File 'a.txt' does not exist",
        "Directory 'a.txt' exists",
        "File 'a.txt' has 3 lines",
        "File 'none' has content",
        "File 'a.txt' is empty or does not exist",
        "Pattern 'two' not found in file 'a.txt'",
    ],
)
def test_what_is_not_so(sentence: str, folder: Path) -> None:
    assert is_true(sentence, folder) is False


@pytest.mark.parametrize(
    "sentence",
    [
        "succeeded(`wc -l a.txt`)",
        "version(`wc`, `9.1`)",
        "Pattern found in file",
        "File has 2 lines",
        "Command 'cat a.txt' succeeded",
        "exists(`../out.txt`)",
        "File '/etc/passwd' exists",
        "lines(`a.txt`, 2) and more",
        "",
    ],
)
def test_what_is_about_no_file_of_the_folder(sentence: str, folder: Path) -> None:
    assert is_true(sentence, folder) is None


def test_it_shares_no_code_with_the_laws() -> None:
    source = Path(oracle.__file__).read_text("utf-8")
    used = {
        one.full
        for one in imports(PurePosixPath("stanchion/tutor/playing/oracle.py"), tree_of(source))
    }
    assert {one for one in used if one.startswith("stanchion")} == {"stanchion.kernel.regex.regex"}
