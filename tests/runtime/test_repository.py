"""What only a repository knows decides how a command is answered: real repositories, asked by a
shield."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from stanchion import Refused, Shield
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.lookups import Answered
from stanchion.runtime.answers import repository
from tests.operators import BOB, KNOWN_BOB

POLICY = {
    "name": "p",
    "guards": [{"use": "shell", "repository": True, "counted": False, "deadline_ms": 60_000}],
}
TOLD, ASKED, REFUSED, PASSED = Action.WARN, Action.ESCALATE, Action.BLOCK, Action.ALLOW


def reset(command: str) -> str:
    """A tool that runs commands, by its argument."""
    return "done"


def git(folder: Path, *words: str, who: str = "me") -> None:
    """Run git as somebody, with none of the settings of whoever runs the tests."""
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    names = [
        "-c",
        f"user.name={who}",
        "-c",
        f"user.email={who}@example.org",
        "-c",
        "init.defaultBranch=main",
    ]
    subprocess.run(
        ["git", *names, *words],
        cwd=folder,
        check=True,
        capture_output=True,
        env={**os.environ, **own},
    )


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone with a committed file on a branch of one's own, everything pushed; and where it was
    cloned from."""
    both = tmp_path_factory.mktemp("template")
    folder = both / "work"
    git(both, "init", "-q", "--bare", "origin")
    git(both, "clone", "-q", "origin", "work")
    git(folder, "config", "user.email", "me@example.org")
    (folder / "kept.py").write_text("kept\n", encoding="utf-8")
    (folder / ".gitignore").write_text("out/\n", encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    git(folder, "push", "-qu", "origin", "main")
    git(folder, "checkout", "-qb", "topic")
    git(folder, "commit", "-qm", "second", "--allow-empty")
    git(folder, "push", "-qu", "origin", "topic")
    return both


@pytest.fixture
def work(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test's own clone; git may take its time."""
    monkeypatch.setattr(repository, "WAITED_S", 60.0)
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    folder = tmp_path / "work"
    git(folder, "remote", "set-url", "origin", str(tmp_path / "origin"))
    git(folder, "update-index", "--refresh")  # its files are others, with the same content
    monkeypatch.chdir(folder)
    return folder


def judged(command: str, **args: str) -> Decision:
    with Shield.load(POLICY, safe_mode=False) as shield:
        return shield.run(agent="a", task="t").check("bash", {"command": command, **args})


@pytest.mark.parametrize(
    ("command", "clean", "dirty"),
    [
        ("git reset --hard", TOLD, ASKED),
        ("git reset --hard HEAD~1", TOLD, ASKED),
        ("git reset --merge", TOLD, ASKED),
        ("git checkout -- kept.py", PASSED, ASKED),
        ("git checkout -- '*.py'", PASSED, ASKED),
        ("git checkout HEAD~1 -- .", PASSED, ASKED),
        ("git checkout -f main", PASSED, ASKED),
        ("git switch --discard-changes main", PASSED, ASKED),
        ("git restore kept.py", PASSED, ASKED),
        ("git restore .gitignore", PASSED, PASSED),
        ("git read-tree --reset -u HEAD", TOLD, ASKED),
        ("git clean -fd", PASSED, ASKED),
        ("git clean -f out", PASSED, PASSED),
        ("git clean -fdx", PASSED, ASKED),
        ("sudo git clean -ffd", PASSED, ASKED),
        ("cd .. && git -C work reset --hard", TOLD, ASKED),
        ("bash -c 'git reset --hard'", TOLD, ASKED),
        ("git stash && git pull --rebase", TOLD, TOLD),
        ("git commit --amend --no-edit", TOLD, TOLD),
        ("git rebase -i HEAD~2", TOLD, TOLD),
        ("git push", PASSED, PASSED),
    ],
)
def test_uncommitted_work_decides(work: Path, command: str, clean: Action, dirty: Action) -> None:
    assert judged(command).action is clean
    (work / "kept.py").write_text("changed\n", encoding="utf-8")
    (work / "new.py").write_text("new\n", encoding="utf-8")
    assert judged(command).action is dirty


@pytest.mark.parametrize(
    "command",
    [
        "g''it reset --hard",
        'gi"t" reset --hard',
        r"g\it reset --hard",
        r"$'\x67\x69\x74' reset --hard",
        "x=g; y=it; $x$y reset --hard",
        "echo Z2l0IHJlc2V0IC0taGFyZA== | base64 -d | sh",
        "GIT reset --hard",
    ],
)
def test_a_repository_is_asked_however_git_is_written(work: Path, command: str) -> None:
    assert judged(command).action == TOLD
    (work / "kept.py").write_text("changed\n", encoding="utf-8")
    assert judged(command).action == judged("git reset --hard").action == ASKED


def test_ignored_files_are_lost_only_where_they_are_meant(work: Path) -> None:
    (work / "out").mkdir()
    (work / "out" / "notes").write_text("mine\n", encoding="utf-8")
    assert judged("git clean -fd").action is PASSED
    assert judged("git clean -fdx").action is ASKED
    assert judged("git clean -fdX").action is ASKED


@pytest.mark.parametrize(
    "command",
    [
        "git -C ../nowhere reset --hard",
        "git -C .. reset --hard",
        "ssh host git reset --hard",
        "docker exec box git reset --hard",
        "GIT_DIR=../origin git reset --hard",
        "export GIT_WORK_TREE=/srv; git reset --hard",
        "git --work-tree=/srv reset --hard",
        "git -c core.worktree=/srv reset --hard",
        "git stash pop && git reset --hard",
        "mv ../draft.py . && git clean -fd",
        "cd $SOMEWHERE && git reset --hard",
        "for d in */; do git -C $d clean -fd; done",
        "git stash drop",
    ],
)
def test_without_an_answer_it_counts_as_lost(work: Path, command: str) -> None:
    assert (work / ".git").exists()
    decision = judged(command)
    assert (decision.action, decision.code) == (ASKED, "shell.git")


def test_the_folder_of_the_call_is_asked(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (work / "kept.py").write_text("changed\n", encoding="utf-8")
    git(work.parent, "clone", "-q", "origin", "other")
    monkeypatch.chdir(work.parent / "other")
    assert judged("git reset --hard").action is TOLD
    assert judged("git reset --hard", cwd=str(work)).action is ASKED
    gone = work.parent / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert judged("git reset --hard", cwd=str(work)).action is ASKED
    monkeypatch.chdir(work.parent)


@pytest.mark.parametrize(
    ("command", "own", "of_others"),
    [
        ("git push --force-with-lease", TOLD, REFUSED),
        ("git push --force-with-lease origin topic", TOLD, REFUSED),
        ("git push --force-with-lease origin HEAD", TOLD, REFUSED),
        ("git push --force", ASKED, REFUSED),
        ("git push origin +topic", ASKED, REFUSED),
        ("git push origin --delete topic", TOLD, REFUSED),
        ("git push origin :topic", TOLD, REFUSED),
        ("git push --force-with-lease origin main", REFUSED, REFUSED),
        ("git push --force-with-lease origin topic main", REFUSED, REFUSED),
        ("git push --force-with-lease origin elsewhere", TOLD, TOLD),
        ("git push --force-with-lease --all", REFUSED, REFUSED),
        ("git push --force ../origin topic", REFUSED, REFUSED),
        ("git push --mirror", REFUSED, REFUSED),
    ],
)
def test_whose_commits_a_branch_has_decides_who_may_be_overwritten(
    work: Path, command: str, own: Action, of_others: Action
) -> None:
    assert judged(command).action is own
    git(work, "commit", "-qm", "theirs", "--allow-empty", who="other")
    git(work, "push", "-q")
    git(work, "reset", "-q", "--hard", "HEAD~1")
    assert judged(command).action is of_others


def test_nothing_that_a_repository_names_runs(work: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n", encoding="utf-8")
    hook.chmod(0o755)
    git(work, "config", "core.fsmonitor", str(hook))
    git(work, "config", "filter.own.clean", str(hook))
    git(work, "config", "filter.own.process", str(hook))
    (work / ".gitattributes").write_text("* filter=own\n", encoding="utf-8")
    (work / "kept.py").write_text("other\n", encoding="utf-8")
    assert judged("git reset --hard").action is ASKED
    assert not ran.exists()


def test_the_answer_is_recorded_and_a_repository_is_not_asked_for_nothing(work: Path) -> None:
    assert judged("git reset --hard").inputs.answers == (
        ("shell-repository", Answered({"repositories": [{"lost": 0}]})),
    )
    for command in ("git status", "ls", "git commit -m 'reset --hard'", "rm -rf /"):
        assert judged(command).inputs.answers == ()
    assert (work / ".git").exists()


def test_what_is_told_is_told_as_often_as_it_happens(work: Path) -> None:
    with Shield.load(POLICY, safe_mode=False) as shield:
        run = shield.run(agent="a", task="t")
        assert {run.check("bash", {"command": "git commit --amend"}).action for _ in range(5)} == {
            TOLD
        }
    assert (work / ".git").exists()


def test_what_a_person_has_allowed_for_a_task_is_not_asked_again(work: Path) -> None:
    (work / "kept.py").write_text("changed\n", encoding="utf-8")
    command = {"command": "git reset --hard"}
    with Shield.load(POLICY, safe_mode=False, operators=[KNOWN_BOB]) as shield:
        with pytest.raises(Refused):
            shield.run(agent="a", task="t").call(reset, **command)
        (ticket,) = shield.tickets()
        shield.approve(ticket.id, by=BOB, scope="task", for_s=60)
        for _ in range(2):
            assert shield.run(agent="a", task="t").call(reset, **command) == "done"
        with pytest.raises(Refused):
            shield.run(agent="a", task="another").call(reset, **command)
