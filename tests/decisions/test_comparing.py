"""The same code gives the same bytes; other decisions are named, and a file that is none is refused
with words."""

import gc
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from stanchion import Action, Finding
from tools.decisions import checkout, gathering, house, kept, policies, telling
from tools.decisions.__main__ import main
from tools.decisions.comparing import compare, find_apart
from tools.decisions.place import ROOT
from tools.decisions.wording import word

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


def test_two_processes_write_the_same_bytes(tmp_path: Path) -> None:
    """The other one has other hashes of texts, and shares the work with more."""
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    options = ("--only", "drawn", "--only", "near", "--part", "827/2000")
    assert main(["write", str(first), *options, "--jobs", "1"]) == 0
    command = [
        sys.executable,
        "-m",
        "tools.decisions",
        "write",
        str(second),
        *options,
        "--jobs",
        "2",
    ]
    subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "4321"},
        check=True,
        capture_output=True,
    )
    assert first.read_bytes() == second.read_bytes()
    found = kept.read(first)
    assert found.holds.part == (827, 2000)
    assert found.holds.sources == ("drawn", "near")
    assert {line.level for line in found.lines.values()} == {1, 2}


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
    assert "lines that callers get are not as they were" in out
    assert "(whole) #" in out
    assert '* action: "HALT"' in out
    assert "house.halted" in out.partition("by code:")[2].partition("written down otherwise")[0]
    assert "(strict)" not in out


def file_of(*lines: tuple[str, int, dict[str, Any]]) -> kept.Kept:
    """A file with these lines, by their names and levels."""
    made = [
        kept.Line(name, "c", telling.digest(told), level, msgspec.Raw(telling.spelled(told)))
        for name, level, told in lines
    ]
    return kept.kept(kept.Holds({}, {}), made)


def test_what_is_written_down_otherwise_is_grouped_and_fails_only_if_asked() -> None:
    was = [
        (f"c{number} #1.tool_call", 2, {"stage": "tool_call", "findings": [{"args": [1]}]})
        for number in range(3)
    ]
    now = [
        (name, 2, {"stage": "tool_call", "findings": [{"args": [1, 2]}], "mode": "x"})
        for name, _, _ in was
    ]
    got = [("c0 #1", 1, {"action": "ALLOW"})]
    compared = compare(file_of(*was, *got), file_of(*now, *got), whole=True)
    assert (compared.seen, len(compared.written)) == ((), 3)
    assert (compared.status(1), compared.status(2)) == (0, 3)
    out = list(word(compared))
    assert "      3  tool_call: findings[].args: a list of 1 -> a list of 2" in "\n".join(out)
    assert "      3  tool_call: mode: nothing -> a text" in "\n".join(out)
    assert len([line for line in out if line.endswith("[1] -> [1, 2]")]) == 2


def test_half_of_a_pair_can_be_kept(tmp_path: Path) -> None:
    found = file_of(("c #1", 1, {"message": "half \ud83d of it, \u00e9"}))
    found = msgspec.structs.replace(found, holds=kept.Holds({"drawn": 1}, {"drawn": 1}))
    kept.write(tmp_path / "file.jsonl", found)
    assert kept.read(tmp_path / "file.jsonl") == found


def test_a_record_more_or_less_is_no_other_answer() -> None:
    was = file_of(
        ("c #1.fact", 2, {"fact": "a"}),
        ("c #1", 1, {"action": "ALLOW"}),
        ("c #2", 1, {"action": "WARN"}),
    )
    now = file_of(("c #1", 1, {"action": "ALLOW"}), ("c #2", 1, {"action": "WARN"}))
    assert compare(was, now, whole=True).seen == ()
    lost = compare(was, file_of(("c #1", 1, {"action": "ALLOW"})), whole=True)
    assert ([one.id for one in lost.seen], lost.status(1)) == (["c #2"], 1)


def test_ways_that_do_not_come_to_the_same_are_named() -> None:
    plain = ("c #1", 1, {"action": "ALLOW"})
    for other in (
        ("c [async] #1", 1, {"action": "BLOCK"}),
        ("c [disk] #2", 1, {"action": "ALLOW"}),
    ):
        found = file_of(plain, other)
        compared = compare(found, found, whole=True)
        assert compared.status(1) == 1
        assert "differ between two ways" in "\n".join(word(compared))
    answered = file_of(plain, ("c [answered] #1", 1, {"action": "BLOCK"}))
    assert list(find_apart(answered)) == []


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
    file, given = tmp_path / "before.jsonl", []
    real = subprocess.run

    def run(command: list[str], **options: Any) -> Any:
        given.append((command[0], options.get("env", {})))
        return real(command, **options)

    monkeypatch.setattr(subprocess, "run", run)
    checkout.played_at("HEAD", file, ["--only", "drawn", *SOME])
    assert kept.read(file).holds.sources == ("drawn",)
    (environ,) = [env for program, env in given if program == sys.executable]
    tree = Path(environ["PYTHONPATH"].partition(os.pathsep)[0]).parent
    assert environ[policies.ELSEWHERE] == str(tree / "tools" / "decisions" / "packs")
    trees = real(
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
    gathering._begin()
    try:
        gc.collect()
        assert os.environ["USER"] == "ann"
    finally:
        gathering._LIFE.close()
