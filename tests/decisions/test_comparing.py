"""The same code gives the same bytes; other decisions are named, and a file that is none is refused
with words."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, Finding
from tools.decisions import house, kept
from tools.decisions.__main__ import main
from tools.decisions.checkout import played_at
from tools.decisions.place import ROOT

SOME = ("--part", "1560/2000", "--jobs", "1")
"""Few cases, chosen so that the guard of the house judges some of them."""


@pytest.fixture(autouse=True)
def _no_corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_CORPORA", str(tmp_path / "none"))


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What is written of the tables and of what is drawn: it is the same for every test."""
    file = tmp_path_factory.mktemp("once") / "once.jsonl"
    found = {}
    for source in ("tables", "drawn"):
        assert main(["write", str(file), "--only", source, *SOME]) == 0
        found[source] = file.read_bytes()
    return found


def written(file: Path, seed: str, jobs: str) -> bytes:
    """What another process writes, in which texts have other hashes."""
    command = [
        sys.executable,
        "-m",
        "tools.decisions",
        "write",
        str(file),
        "--part",
        "827/2000",
        "--jobs",
        jobs,
    ]
    subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed},
        check=True,
        capture_output=True,
    )
    return file.read_bytes()


def test_two_processes_write_the_same_bytes(tmp_path: Path) -> None:
    first = written(tmp_path / "first.jsonl", "1", "1")
    assert first == written(tmp_path / "second.jsonl", "4321", "2")
    found = kept.read(tmp_path / "first.jsonl")
    assert found.holds.part == (827, 2000)
    assert found.holds.sources == ("tables", "drawn")
    assert len(found.lines) > 50


def test_a_changed_guard_is_named(
    once: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "before.jsonl"
    file.write_bytes(once["drawn"])
    assert main(["compare", str(file), "--jobs", "1"]) == 0
    assert "lines are as they were" in capsys.readouterr().out

    def stricter(_event: Any) -> Finding:
        return Finding(Action.HALT, "house.halted")

    monkeypatch.setattr(house, "judge", stricter)
    assert main(["compare", str(file), "--jobs", "1"]) == 1
    out = capsys.readouterr().out
    assert "lines are not as they were" in out
    assert "(whole) #" in out
    assert '* action: "HALT"' in out
    assert "house.halted" in out.partition("by code:")[2]
    assert "(strict)" not in out


def test_a_case_with_other_events_is_told_apart(
    once: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "before.jsonl"
    file.write_bytes(once["drawn"])
    lines = file.read_text("utf-8").splitlines()
    name = kept.read(file).lines
    first = next(iter(name.values()))
    file.write_text(
        "\n".join([line.replace(f'"{first.case}"', '"00000000"') for line in lines]) + "\n", "utf-8"
    )
    capsys.readouterr()
    assert main(["compare", str(file), "--jobs", "1"]) == 1
    out = capsys.readouterr().out
    assert "0 of" in out
    assert "1 cases are not the same cases any more" in out


def test_what_is_no_file_of_decisions_is_refused(
    once: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, cut = tmp_path / "other.jsonl", tmp_path / "cut.jsonl"
    other.write_text('{"a": 1}\n', "utf-8")
    whole = once["tables"].splitlines(keepends=True)
    cut.write_bytes(b"".join(whole[:-1]))
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(b"".join(whole)[:-20])
    for file, said in (
        (
            tmp_path / "gone.jsonl",
            "cannot be read: No such file or directory: make one with `write",
        ),
        (other, "is not a file of decisions, or of another version: make one with `write`"),
        (cut, f"has {len(whole) - 2} of its {len(whole) - 1} lines: it was cut, make it anew"),
        (torn, f"torn.jsonl:{len(whole)}: is no line of decisions"),
    ):
        capsys.readouterr()
        assert main(["compare", str(file), "--jobs", "1"]) == 2
        assert said in capsys.readouterr().err


def test_what_the_file_does_not_have_is_not_compared(
    once: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "before.jsonl"
    file.write_bytes(once["tables"])
    assert main(["compare", str(file), "--only", "drawn"]) == 2
    assert "the file has nothing of that: it holds tables" in capsys.readouterr().err
    assert main(["compare", str(file), "--part", "6/2000"]) == 2
    assert "the file is part 1560/2000 of all" in capsys.readouterr().err
    text = file.read_text("utf-8")
    file.write_text(text.replace('"tables":', '"corpora":', 2), "utf-8")
    assert main(["compare", str(file)]) == 2
    assert "the file has rows of corpora, and no folder of them is there" in capsys.readouterr().err


def test_events_of_another_seed_are_not_compared(
    once: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "before.jsonl"
    file.write_bytes(once["drawn"])
    file.write_text(file.read_text("utf-8").replace('"seed":"', '"seed":"older-', 1), "utf-8")
    assert main(["compare", str(file)]) == 2
    assert "its events were drawn from the seed `older-" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_to_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["write", str(tmp_path / "none" / "x.jsonl"), "--only", "tables", *SOME]) == 2
    assert "name a file in a folder that is there" in capsys.readouterr().err


@pytest.mark.parametrize("part", ["0/3", "4/3", "a/b", "2"])
def test_what_is_no_part_is_told(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["write", "x", "--part", part])
    assert f"`{part}` is not a part: write 1/4 for the first of four" in capsys.readouterr().err


in_git = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout of git")


@in_git
def test_a_revision_is_played_by_its_own_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        tempfile, "tempdir", str(tmp_path)
    )  # whoever else has the repository may play one meanwhile
    file = tmp_path / "before.jsonl"
    played_at("HEAD", file, ["--only", "tables", *SOME])
    assert kept.read(file).holds.sources == ("tables",)
    trees = subprocess.run(
        ["git", "worktree", "list"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    assert str(tmp_path) not in trees
    assert list(tmp_path.iterdir()) == [file]


@in_git
def test_a_revision_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "--checkout", "no-such-revision"]) == 2
    assert "`no-such-revision` cannot be checked out" in capsys.readouterr().err


def test_a_process_that_plays_stays_at_its_place() -> None:
    """However long it lives: guards read the home and the environment."""
    code = (
        "from tools.decisions.gathering import _begin; _begin(); import gc, os; gc.collect(); "
        "print(os.environ['USER'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stdout == "ann\n"
