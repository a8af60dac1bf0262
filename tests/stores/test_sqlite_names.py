"""Names of a store's files: one look at a quiet folder tells that all of them still lead where they
did."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from stanchion.kernel.state import Batch, StoreLost
from stanchion.stores.sqlite import SqliteStore, files as keeping
from stanchion.stores.sqlite.files import (
    COARSE_NS,
    QUIET_S,
    SOON_QUIET_S,
    StoreFileNames,
    files_of,
    quiet_s,
)
from tests.stores.worker import TRIED, lines

YEARS_AGO: float = 1_000_000_000


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def made(folder: Path) -> Path:
    """The files of a store, in a folder that nothing happens in."""
    folder.mkdir(parents=True)
    for name in files_of(folder / "state.db"):
        Path(name).write_text("x")
    quiet(folder)
    return folder / "state.db"


def quiet(folder: Path) -> None:
    """Have a folder look as if nothing happened in it for years, whatever steps its file system
    counts time in."""
    os.utime(folder, (YEARS_AGO, YEARS_AGO))


def remove(path: Path) -> None:
    path.unlink()


def rename(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))


def replace(path: Path) -> None:
    shutil.copy(path, path.with_name("copy"))
    os.replace(path.with_name("copy"), path)


def replace_the_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("before"))
    shutil.copytree(path.parent.with_name("before"), path.parent)


def replace_a_folder_above(path: Path) -> None:
    above = path.parent.parent
    above.rename(above.with_name("before"))
    shutil.copytree(above.with_name("before"), above)


def remove_the_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


HAPPENS = [remove, rename, replace, replace_the_folder, replace_a_folder_above, remove_the_folder]


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that were looked up one by one."""
    found: list[str] = []
    inode = keeping.inode

    def looked(path: str) -> keeping.Inode:
        found.append(path)
        return inode(path)

    monkeypatch.setattr(keeping, "inode", looked)
    return found


@pytest.mark.parametrize("waited_s", [0.0, QUIET_S, 10 * QUIET_S])
@pytest.mark.parametrize("which", ["", "-wal", "-shm"])
@pytest.mark.parametrize("happens", HAPPENS)
def test_whatever_becomes_of_a_name_is_seen(
    happens: Callable[[Path], None], which: str, waited_s: float, tmp_path: Path
) -> None:
    path, clock = made(tmp_path / "above" / "state"), Clock()
    names = StoreFileNames(path, clock)
    for _ in range(3):
        assert not names.lead_astray()
        clock.now_s += waited_s
    happens(path.with_name(path.name + which))
    assert [names.lead_astray() for _ in range(3)] == [True] * 3
    clock.now_s += 10 * QUIET_S
    assert names.lead_astray()


@pytest.mark.parametrize("step_ns", [2_000_000_000, 1_000_000_000, COARSE_NS, 4_000_000, 1])
def test_the_steps_of_a_file_system_say_how_long_a_folder_has_to_be_quiet(step_ns: int) -> None:
    """Nobody can tell long steps from short ones that happen to end together: then it is the longer
    time."""
    times = [quiet_s(step_ns * number) for number in range(1, 12)]
    if step_ns < COARSE_NS:
        assert set(times) == {SOON_QUIET_S} | ({QUIET_S} if 10 * step_ns >= COARSE_NS else set())
    else:
        assert set(times) == {QUIET_S}


@pytest.mark.parametrize("enough_s", [QUIET_S, 0.5])
def test_names_are_looked_up_until_the_folder_was_quiet_for_long_enough(
    enough_s: float, tmp_path: Path, looks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change in the same step of the file system's time as the one before leaves no trace on the
    folder."""
    monkeypatch.setattr(keeping, "quiet_s", lambda _changed_ns: enough_s)
    path, clock = made(tmp_path / "state"), Clock()
    names = StoreFileNames(path, clock)
    looks.clear()
    for waited_s in (0.0, enough_s / 2, enough_s / 2):
        clock.now_s += waited_s
        assert not names.lead_astray()
    assert len(looks) == 9
    for _ in range(5):
        assert not names.lead_astray()
    assert len(looks) == 9
    (path.parent / "other").write_text("x")
    assert not names.lead_astray()
    assert len(looks) == 12


def test_a_change_that_leaves_no_trace_is_seen_within_that_time(tmp_path: Path) -> None:
    path, clock = made(tmp_path / "state"), Clock()
    names = StoreFileNames(path, clock)
    assert not names.lead_astray()
    remove(path)
    quiet(path.parent)
    clock.now_s += QUIET_S
    assert names.lead_astray()


def test_a_link_is_always_looked_up(tmp_path: Path) -> None:
    """What is removed in another folder leaves no trace on this one."""
    target, clock = made(tmp_path / "target"), Clock()
    path = made(tmp_path / "state")
    path.unlink()
    path.symlink_to(target)
    quiet(path.parent)
    names = StoreFileNames(path, clock)
    for _ in range(3):
        assert not names.lead_astray()
        clock.now_s += QUIET_S
    remove(target)
    assert names.lead_astray()


@pytest.mark.parametrize("which", ["-wal", "-shm"])
def test_a_store_in_a_quiet_folder_misses_what_was_removed(
    which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on with the files that are at their names, and what it answers is found there."""
    monkeypatch.setattr(keeping, "quiet_s", lambda _changed_ns: 0.0)
    path = tmp_path / "state.db"
    with closing(SqliteStore(path, busy_s=1)) as store:
        quiet(tmp_path)
        for number in range(3):
            store.carry(Batch(f"before{number}", "t", lines=lines(1 << 40)))
        os.unlink(f"{path}{which}")
        try:
            store.carry(Batch("after", "t", lines=lines(1 << 40)))
        except StoreLost:  # what was in the log is gone, and the tables with it
            assert which == "-wal"
            return
        with closing(SqliteStore(path, reading=True)) as other:
            assert other.read(TRIED) == store.read(TRIED)
            assert other.read(TRIED)[0] >= 1
