"""Commits go to the branches of the task also where they name none: real repositories, asked by a
shield."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from stanchion import Shield
from stanchion.runtime.answers import repository
from tests.runtime.test_repository import git

POLICY: Final[dict[str, Any]] = {
    "name": "p",
    "tasks": {"login": {"branches": ["login/*"]}},
    "guards": [{"use": "evidence", "tests": None, "lint": None, "claims": None, "branch": "block"}],
}
REFUSED, UNKNOWN, PASSED = "evidence.branch", "evidence.branch_unknown", ""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository on `main`, and one below it on a branch of the task."""
    folder = tmp_path / "work"
    for place, branch in ((folder, "main"), (folder / "inner", "login/form")):
        place.mkdir()
        git(place, "init", "-q")
        git(place, "commit", "-qm", "first", "--allow-empty")
        git(place, "checkout", "-qB", branch)
    monkeypatch.chdir(folder)
    return folder


def code(tool: str, args: dict[str, Any], task: str = "login") -> str:
    with Shield.load(POLICY, safe_mode=False) as shield:
        return shield.run(agent="a", task=task).check(tool, args).code


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git commit -am x", REFUSED),
        ("git -C inner commit -am x", PASSED),
        ("cd inner && git commit -am x", PASSED),
        ("git commit -C HEAD", REFUSED),
        ("git merge login/form", REFUSED),
        ("git cherry-pick abc", REFUSED),
        ("git push", REFUSED),
        ("git push origin HEAD", REFUSED),
        ("cd inner && git push origin HEAD", PASSED),
        ("git switch -c login/x && git commit -am x", PASSED),
        ("git switch -c login/x; git commit -am x", REFUSED),
        ("git -C nowhere commit -am x", UNKNOWN),
        ("git --git-dir=/elsewhere commit -am x", UNKNOWN),
        ("GIT_DIR=/elsewhere git commit -am x", UNKNOWN),
        ("git status", PASSED),
        ("git commit --dry-run", PASSED),
    ],
)
@pytest.mark.usefixtures("work")
def test_the_branch_that_is_checked_out_counts(command: str, expected: str) -> None:
    assert code("bash", {"command": command}) == expected


@pytest.mark.usefixtures("work")
def test_a_tool_that_commits_is_asked_about_its_folder() -> None:
    assert code("git_commit", {"message": "x"}) == REFUSED
    assert code("git_commit", {"message": "x", "repo_path": "inner"}) == PASSED
    assert code("bash", {"command": "git commit -am x", "cwd": "inner"}) == PASSED
    assert code("bash", {"command": "git commit -am x"}, task="other") == PASSED


def test_a_branch_goes_by_what_it_follows_too(work: Path) -> None:
    """A push without a branch may go to the one of another name that the branch follows."""
    inner = work / "inner"
    assert code("bash", {"command": "git push", "cwd": "inner"}) == PASSED
    git(inner, "config", "branch.login/form.merge", "refs/heads/main")
    assert code("bash", {"command": "git push", "cwd": "inner"}) == REFUSED


def test_a_commit_on_no_branch_is_not_known(work: Path) -> None:
    git(work, "checkout", "-q", "--detach")
    assert code("bash", {"command": "git commit -am x"}) == UNKNOWN


@pytest.mark.usefixtures("work")
def test_without_an_answer_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository, "WAITED_S", 0.0)
    assert code("bash", {"command": "cd inner && git commit -am x"}) == UNKNOWN
