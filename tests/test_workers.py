"""Processes that play tests tell what one process would, and whoever ends on the way is named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests import workers

ROOT: Final = Path(__file__).resolve().parents[1]
CONFTEST: Final = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.workers import pytest_addoption, pytest_runtest_protocol, pytest_runtestloop
"""
MANY: Final = """
import pytest

@pytest.fixture(scope="module")
def once(tmp_path_factory):
    with open("set-up", "a") as file:
        file.write("x")
    yield
    with open("torn-down", "a") as file:
        file.write("x")

@pytest.mark.parametrize("number", range(100))
def test_number(number, once, tmp_path):
    print("out", number)
    assert number != 33

@pytest.mark.skip(reason="no")
def test_skipped(): ...

@pytest.fixture
def broken():
    raise ValueError("it is broken")

def test_broken(broken): ...
"""
DIES: Final = """
import os

def test_before(): ...

def test_dies():
    os._exit(3)

def test_behind(): ...
"""
WAITS: Final = """
import pytest, time

@pytest.mark.parametrize("number", range(100))
def test_number(number):
    assert number, "the first fails, and the others wait until they are ended"
    time.sleep(3600)
"""


def played(folder: Path, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Play a file of tests in two processes."""
    (folder / "conftest.py").write_text(CONFTEST, "utf-8")
    (folder / "test_a.py").write_text(source, "utf-8")
    words = ["-q", "-p", "no:cacheprovider", "--rootdir=.", "--workers", "2", *options]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_they_tell_is_what_one_process_tells(tmp_path: Path) -> None:
    done = played(tmp_path, MANY)
    assert done.returncode == 1
    assert "1 failed, 99 passed, 1 skipped, 1 error" in done.stdout, done.stdout
    assert "FAILED test_a.py::test_number[33]" in done.stdout
    assert "ERROR test_a.py::test_broken - ValueError: it is broken" in done.stdout
    assert "out 33" in done.stdout
    assert "out 34" not in done.stdout
    begun = (tmp_path / "set-up").read_text()
    assert begun == (tmp_path / "torn-down").read_text()
    assert 1 <= len(begun) <= 4, "what a module needs is set up once by who plays it"


def test_who_ends_is_named_and_what_it_had_taken_is_not_played(tmp_path: Path) -> None:
    done = played(tmp_path, DIES)
    assert done.returncode == 1
    assert "the process that played test_a.py::test_dies ended" in done.stdout
    assert "1 failed, 1 passed" in done.stdout, done.stdout


def test_after_the_first_failure_nothing_is_begun(tmp_path: Path) -> None:
    done = played(tmp_path, WAITS, "-x")
    assert done.returncode == 1
    assert "stopping after 1 failures" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("1 failed in"), done.stdout


def test_nobody_is_forked_beside_a_thread(tmp_path: Path) -> None:
    begins = "threading.Thread(target=threading.Event().wait, daemon=True).start()"
    done = played(tmp_path, f"import threading\n{begins}\ndef test_a(): ...\n")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "a thread was begun while tests were collected" in done.stderr + done.stdout


def test_pieces_are_of_one_file_or_folder_and_have_everything() -> None:
    class Item:
        def __init__(self, path: str) -> None:
            self.path = Path(path)

    (together,) = workers.TOGETHER
    items = [
        *[Item("a/a.py")] * (workers.PIECE + 5),
        *[Item("a/b.py")] * 3,
        *[Item(f"{together}/a.py")] * (workers.PIECE + 1),
        *[Item(f"{together}/b.py")] * 2,
        Item("b/a.py"),
    ]
    found = list(workers.cut(items))  # type: ignore[arg-type] # only the path is read
    assert [len(piece) for piece in found] == [workers.PIECE, 5, 3, workers.PIECE + 3, 1]
    assert [at for piece in found for at in piece] == list(range(len(items)))
    assert list(workers.cut([])) == []
