"""A witness in a Git repository: nothing is forced, what others push is told, and the branch is
fetched anew."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion.audit.witnessing.git import GitPlace
from stanchion.audit.witnessing.names import place_named
from stanchion.audit.witnessing.place import BadPlace, Unreachable, WitnessEntry
from tests.audit.forging import ONE, Draft

HEAD = Draft(ONE).begin().work(3).mark().head or b""
SOMEBODY = 64_102


def entry(mine: bytes = b"", at_ms: int = 1_700_000_000_000) -> WitnessEntry:
    """Something to write."""
    return WitnessEntry((HEAD,), at_ms, 60, mine)


def git(folder: Path, *words: str) -> str:
    """Run Git in a repository."""
    who = ("-c", "user.name=ann", "-c", "user.email=ann@localhost")
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An empty bare repository that takes no forced push."""
    found = tmp_path / "w.git"
    subprocess.run(["git", "init", "--quiet", "--bare", found], check=True)
    git(found, "config", "receive.denyNonFastForwards", "true")
    return found


@pytest.fixture
def place(repository: Path) -> Iterator[GitPlace]:
    """A place in it."""
    found = GitPlace(str(repository))
    yield found
    found.close()


def test_each_line_is_a_commit(repository: Path, place: GitPlace) -> None:
    mine = b""
    for _ in range(3):
        mine = place.append(entry(mine)).line
    assert git(repository, "rev-list", "--count", "witness") == "3"
    assert git(repository, "show", "witness:heads.jsonl").encode() == mine


def test_a_push_that_is_refused_is_told_and_the_line_follows_what_is_there(
    repository: Path, place: GitPlace
) -> None:
    """Two writers: the second to push is no fast-forward."""
    mine = place.append(entry()).line
    other = GitPlace(str(repository))
    other.append(entry())
    other.close()
    told = place.append(entry(mine, 1_700_000_000_001))
    assert told.note.startswith("a push was refused: another witness")
    assert (len(place.witness(0).lines), place.witness(0).broken) == (3, ())


def test_a_branch_that_was_replaced_shows_the_lost_line(repository: Path, place: GitPlace) -> None:
    mine = place.append(entry()).line
    mine = place.append(entry(mine)).line
    empty = git(repository, "hash-object", "-w", "-t", "tree", "/dev/null")
    forged = git(repository, "commit-tree", empty, "-m", "nothing happened")
    git(repository, "update-ref", "refs/heads/witness", forged)
    told = place.append(entry(mine))
    assert "put an earlier witness back" in told.note
    assert place.witness(0).broken


@pytest.mark.parametrize("restarted", [True, False])
def test_a_branch_that_was_deleted_is_begun_again_and_shows_it(
    repository: Path, place: GitPlace, restarted: bool
) -> None:
    mine = place.append(entry()).line
    if restarted:
        place.close()
        mine = place.append(entry(mine)).line  # knows one commit, and not where it comes from
    git(repository, "update-ref", "-d", "refs/heads/witness")
    git(repository, "gc", "--quiet", "--prune=now")
    told = place.append(entry(mine))
    found = place.witness(0)
    if restarted:
        assert "put an earlier witness back" in told.note
        assert found.broken
    else:
        assert (len(found.lines), found.broken) == (2, ()), "all of it was pushed again"


def test_a_branch_that_went_back_is_brought_forward_again(
    repository: Path, place: GitPlace
) -> None:
    mine = place.append(entry()).line
    mine = place.append(entry(mine)).line
    git(repository, "update-ref", "refs/heads/witness", git(repository, "rev-parse", "witness~1"))
    place.append(entry(mine))
    assert (len(place.witness(0).lines), place.witness(0).broken) == (3, ())


def test_what_others_commit_to_the_branch_is_found(
    repository: Path, place: GitPlace, tmp_path: Path
) -> None:
    place.append(entry())
    work = tmp_path / "work"
    git(tmp_path, "clone", "--quiet", "--branch", "witness", str(repository), str(work))
    (work / "heads.jsonl").write_bytes(b"nothing happened\n")
    git(work, "commit", "--quiet", "--all", "-m", "forged")
    git(work, "push", "--quiet", "origin", "witness")
    found = place.witness(0)
    assert "a crash left it" in found.notes[0]
    assert len(found.lines) == 1


def test_a_repository_of_this_user_is_a_copy(repository: Path, place: GitPlace) -> None:
    place.append(entry())
    assert place.witness(SOMEBODY).copy == ""
    (repository / "refs" / "heads").chmod(0o777)
    assert "refs" in place.witness(SOMEBODY).copy
    assert place.witness(0).copy


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_a_ref_of_the_trails_user_makes_it_a_copy(repository: Path, place: GitPlace) -> None:
    place.append(entry())
    os.chown(repository / "refs" / "heads" / "witness", SOMEBODY, SOMEBODY)
    assert f"user {SOMEBODY}" in place.witness(SOMEBODY).copy


def test_a_repository_that_is_not_there_is_told(tmp_path: Path) -> None:
    place = GitPlace(str(tmp_path / "none"))
    with pytest.raises(Unreachable, match="does not appear to be a git repository"):
        place.append(entry())
    with pytest.raises(Unreachable):
        place.witness(0)


def test_a_hook_of_the_keeper_that_refuses_is_told(repository: Path, place: GitPlace) -> None:
    hook = repository / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'not today' >&2\nexit 1\n", encoding="ascii")
    hook.chmod(0o755)
    with pytest.raises(Unreachable, match="not today"):
        place.append(entry())


@pytest.mark.parametrize("branch", ["-x", "a..b", "a b", "a:b", "/a", "a/", "a.", "+a"])
def test_a_name_that_no_branch_has(branch: str) -> None:
    with pytest.raises(BadPlace, match="not a branch name"):
        GitPlace("/nowhere", branch)


def test_a_password_is_not_shown() -> None:
    place = place_named("git+https://ann:hunter2@vault.internal/w.git#fleet/a", None, None)
    assert place.name == "git+https://…@vault.internal/w.git#fleet/a"


@pytest.mark.parametrize("name", ["git:ext::sh -c id", "git:-uwhatever", "git:--upload-pack=id"])
def test_a_path_is_only_ever_a_path(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = place_named(name, None, None)
    with pytest.raises(Unreachable, match="does not appear to be a git repository"):
        place.append(entry())


def test_settings_of_the_user_lead_nowhere_else(
    repository: Path, place: GitPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that was started by a hook of Git has its variables."""
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    place.append(entry())
    assert git_count(repository) == 1


def git_count(repository: Path) -> int:
    """How many commits the branch has."""
    clean = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    words = ["git", "-C", str(repository), "rev-list", "--count", "witness"]
    return int(subprocess.run(words, env=clean, capture_output=True, check=True).stdout)
