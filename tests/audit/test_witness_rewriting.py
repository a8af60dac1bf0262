"""Who could rewrite a file: what cannot be told counts as yes."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from stanchion.audit.verifying.rewritable import attributes, owner_of, why_rewritable

SOMEBODY = 64_102
APPEND_ONLY, IMMUTABLE = 0x20, 0x10

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of this user."""
    found = tmp_path / "w.jsonl"
    found.touch(0o644)
    return found


def test_root_and_nobody_known_can_always(file: Path) -> None:
    assert "root" in why_rewritable(file, 0)
    assert why_rewritable(file, None)


def test_somebody_else_cannot(file: Path) -> None:
    assert why_rewritable(file, SOMEBODY) == ""


@pytest.mark.parametrize("mode", [0o646, 0o602])
def test_who_may_write_anywhere_can(file: Path, mode: int) -> None:
    file.chmod(mode)
    assert "can write anywhere in it" in why_rewritable(file, SOMEBODY)


def test_a_group_whose_members_nobody_knows_counts(file: Path) -> None:
    file.chmod(0o664)
    assert "can write anywhere in it" in why_rewritable(file, SOMEBODY)


@pytest.mark.parametrize("flag", [APPEND_ONLY, IMMUTABLE])
def test_an_attribute_keeps_a_file_that_everybody_may_write_to(file: Path, flag: int) -> None:
    file.chmod(0o666)
    file.parent.chmod(0o777)
    assert why_rewritable(file, SOMEBODY, lambda path: flag if path == file else 0) == ""
    assert why_rewritable(file, SOMEBODY, lambda _: 0)


@pytest.mark.parametrize("above", [0, 1])
def test_who_can_write_to_a_folder_above_can_put_another_file_there(
    tmp_path: Path, above: int
) -> None:
    file = tmp_path / "a" / "b" / "w.jsonl"
    file.parent.mkdir(parents=True)
    file.touch(0o644)
    file.parents[above].chmod(0o777)
    assert f"can write to the folder `{file.parents[above]}`" in why_rewritable(file, SOMEBODY)
    file.parents[above].chmod(0o1777)
    assert why_rewritable(file, SOMEBODY) == "", (
        "a sticky folder lets nobody move what is another's"
    )


def test_the_folder_of_an_append_only_file_must_not_be_moved(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "w.jsonl"
    file.parent.mkdir(parents=True)
    file.touch(0o666)
    file.parents[1].chmod(0o777)
    assert why_rewritable(file, SOMEBODY, lambda path: APPEND_ONLY if path == file else 0)


def test_a_link_can_be_turned_elsewhere(tmp_path: Path, file: Path) -> None:
    (tmp_path / "open").mkdir()
    link = tmp_path / "open" / "link"
    link.symlink_to(file)
    assert why_rewritable(link, SOMEBODY) == ""
    link.parent.chmod(0o777)
    assert "open" in why_rewritable(link, SOMEBODY)


def test_a_file_that_is_not_there_counts(tmp_path: Path) -> None:
    assert "cannot find out" in why_rewritable(tmp_path / "none", SOMEBODY)


def test_a_pipe_of_another_only_takes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    pipe.chmod(0o666)
    assert why_rewritable(pipe, SOMEBODY) == ""


@as_root
def test_whose_it_is_decides(file: Path) -> None:
    os.chown(file, SOMEBODY, SOMEBODY)
    assert why_rewritable(file, SOMEBODY) == f"it belongs to user {SOMEBODY}"
    os.chown(file, 0, 0)
    os.chown(file.parent, SOMEBODY, SOMEBODY)
    assert "the folder" in why_rewritable(file, SOMEBODY)
    assert owner_of(file.parent) == SOMEBODY
    os.chown(file.parent, 0, 0)


def test_a_trail_that_is_not_there_yet_will_be_this_users(tmp_path: Path) -> None:
    assert owner_of(tmp_path / "none") == owner_of(None) == os.geteuid()


def test_a_file_without_attributes_has_none_of_them(file: Path) -> None:
    assert attributes(file) & (APPEND_ONLY | IMMUTABLE) == 0
    file.chmod(stat.S_IWUSR)
    assert attributes(file) & (APPEND_ONLY | IMMUTABLE) == 0
