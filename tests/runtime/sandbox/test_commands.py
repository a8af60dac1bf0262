"""Commands of a list: what is on it runs, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from stanchion.runtime.sandbox.commands import Commands
from stanchion.runtime.sandbox.sandbox import Sandbox
from tests.runtime.sandbox.conftest import USER

LIST = ["cat", "git log", "touch"]


@pytest.mark.parametrize("command", ["cat a.txt", ["cat", "a.txt"], "cat 'a.txt'"])
def test_what_is_listed_runs(root: Path, command: str | list[str]) -> None:
    with Sandbox(root, user=USER) as sandbox:
        assert Commands(sandbox, LIST).run(command).stdout == b"hello\n"


@pytest.mark.parametrize(
    "command",
    [
        "rm a.txt",
        "/bin/rm a.txt",
        "/usr/bin/cat a.txt",
        "./cat a.txt",
        "git push",
        "git -c core.pager=x log",
        "git",
        "cat; rm a.txt",
        "CAT a.txt",
        "PATH=. cat a.txt",
        "sh -c 'cat a.txt'",
        "cat 'a.txt",
        "",
        [],
        [""],
        ["cat", "a\0b"],
    ],
)
def test_what_is_not_listed_does_not(root: Path, command: str | list[str]) -> None:
    with Sandbox(root, user=USER) as sandbox:
        came = Commands(sandbox, LIST, writes=True).run(command, write=True)
        assert sandbox._keeper is None, "nothing was even started"
    assert not came.ended
    assert came.why
    assert (root / "a.txt").exists()


def test_signs_of_a_shell_are_words(root: Path) -> None:
    with Sandbox(root, user=USER) as sandbox:
        came = Commands(sandbox, LIST, writes=True).run("cat a.txt > b.txt ; touch c", write=True)
    assert came.rc != 0
    assert sorted(one.name for one in root.iterdir()) == ["a.txt"]


def test_without_a_list_nothing_runs(root: Path) -> None:
    with Sandbox(root, user=USER) as sandbox:
        assert (
            Commands(sandbox).run("cat a.txt").why == "`cat` may not run so: nothing may run here"
        )


def test_writing_is_granted_and_asked_for(root: Path) -> None:
    with Sandbox(root, user=USER) as sandbox:
        assert Commands(sandbox, LIST).run("touch b", write=True).why == "it may not write here"
        assert Commands(sandbox, LIST, writes=True).run("touch b").rc != 0
        assert not (root / "b").exists()
        assert Commands(sandbox, LIST, writes=True).run("touch b", write=True).rc == 0
    assert (root / "b").exists()


def test_a_list_that_is_none_is_refused(root: Path) -> None:
    with Sandbox(root, user=USER) as sandbox:
        with pytest.raises(TypeError, match="give a list"):
            Commands(sandbox, "cat")
        with pytest.raises(ValueError, match="is empty"):
            Commands(sandbox, ["cat", ""])
