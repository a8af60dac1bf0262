"""Files of figures: what the dead have counted stays, whatever they died of, and nothing is counted
twice."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stanchion.locks.files import hold
from stanchion.telemetry import folder as files
from stanchion.telemetry.catalogue import RUNS, TRAIL_WAITING
from stanchion.telemetry.folder import (
    FIGURES,
    LOCK,
    TOTALS,
    FigurePage,
    Publication,
    collect,
    compact,
    write,
)
from stanchion.telemetry.registry import Registry, Series


def page(runs: int, waiting: int = 0) -> FigurePage:
    """What a process writes that has begun so many runs."""
    return FigurePage(
        1, (Series(RUNS.name, (), (runs,)), Series(TRAIL_WAITING.name, (), (waiting,)))
    )


def runs_in(folder: Path) -> float:
    """How many runs were begun, by all files of a folder."""
    return sum(
        one.values[0] for one in collect(folder).figures.figures() if one.metric == RUNS.name
    )


def test_gauges_go_with_their_process_and_counters_stay(tmp_path: Path) -> None:
    write(tmp_path, "dead", page(3, 70))
    write(tmp_path, "alive", page(4, 80))
    lock = hold(tmp_path / f"alive{LOCK}")
    found = collect(tmp_path)
    assert found.alive == 1
    assert [one.values for one in found.figures.figures()] == [(7,), (80,)]
    os.close(lock)
    found = collect(tmp_path)
    assert found.alive == 0
    assert [one.values for one in found.figures.figures()] == [(7,)]


def test_nobody_takes_another_who_looks_for_a_living_process(tmp_path: Path) -> None:
    write(tmp_path, "dead", page(3, 70))
    (tmp_path / f"dead{LOCK}").touch()
    with (tmp_path / f"dead{LOCK}").open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_SH)  # as one who looks in this moment
        found = collect(tmp_path)
        assert found.alive == 0
        assert [one.metric for one in found.figures.figures()] == [RUNS.name]


def test_a_folder_that_is_not_there_has_no_figures(tmp_path: Path) -> None:
    assert collect(tmp_path / "none").figures.figures() == ()


@pytest.mark.parametrize(
    "text", [b"", b'{"version":1,"ser', b'{"version":9,"series":[]}', b"[]", b"\x00" * 4096]
)
def test_a_file_that_cannot_be_read_is_counted_and_no_more(tmp_path: Path, text: bytes) -> None:
    write(tmp_path, "whole", page(3))
    (tmp_path / f"broken{FIGURES}").write_bytes(text)
    found = collect(tmp_path)
    assert found.unreadable == 1
    assert runs_in(tmp_path) == 3


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with open(tmp_path / f"large{FIGURES}", "wb") as file:
        file.truncate(files.LARGEST + 1)
    assert collect(tmp_path).unreadable == 1


def test_the_dead_are_added_up_and_the_living_are_left_alone(tmp_path: Path) -> None:
    for number in range(20):
        write(tmp_path, f"dead-{number}", page(number))
    write(tmp_path, "alive", page(1_000))
    lock = hold(tmp_path / f"alive{LOCK}")
    assert compact(tmp_path) == 20
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"alive{FIGURES}", f"alive{LOCK}", f"{TOTALS}{FIGURES}", f"{TOTALS}{LOCK}",
    ]  # fmt: skip
    assert runs_in(tmp_path) == 1_190
    os.close(lock)


def test_a_crash_between_any_two_steps_counts_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut adding up off at its first, second, … change of the folder, and look and go on after
    each."""
    real_replace, real_unlink = os.replace, os.unlink
    for cut in range(12):
        folder = tmp_path / str(cut)
        folder.mkdir()
        for number in range(5):
            write(folder, f"dead-{number}", page(10))
        left = [cut]

        def step(left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt

        def replace(*paths: Path) -> None:
            step()
            real_replace(*paths)

        def unlink(path: Path) -> None:
            step()
            real_unlink(path)

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", replace)
            patch.setattr(os, "unlink", unlink)
            with contextlib.suppress(KeyboardInterrupt):
                compact(folder, 0)
        assert runs_in(folder) == 50
        write(folder, "later", page(1))
        compact(folder, 0)
        assert runs_in(folder) == 51


def test_broken_totals_are_put_aside(tmp_path: Path) -> None:
    (tmp_path / f"{TOTALS}{FIGURES}").write_bytes(b"half")
    write(tmp_path, "dead", page(2))
    assert compact(tmp_path, 0) == 1
    assert runs_in(tmp_path) == 2
    assert (tmp_path / f"{TOTALS}.broken").exists()


def test_whoever_reads_while_others_add_up_reads_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        write(tmp_path, f"dead-{number}", page(10))
    real, once = files._lives, [True]

    def lives(folder: Path, name: str) -> bool:
        if once:
            once.clear()
            compact(folder, 0)
        return real(folder, name)

    monkeypatch.setattr(files, "_lives", lives)
    assert runs_in(tmp_path) == 30


PROGRAM = """
import os, signal, sys
from pathlib import Path
from stanchion.telemetry.catalogue import RUNS
from stanchion.telemetry.folder import Publication
from stanchion.telemetry.registry import Registry

registry = Registry()
publication = Publication(registry, Path(sys.argv[1]), lambda error: print(error, file=sys.stderr), every_s=3600)
registry.count(RUNS)
how = sys.argv[2]
if how == "killed":
    publication.publish()
    os.kill(os.getpid(), signal.SIGKILL)
elif how == "forks":
    publication.publish()
    registry.count(RUNS)
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    else:
        registry.count(RUNS)
elif how == "pool":
    import multiprocessing
    context = multiprocessing.get_context("fork")
    started = [context.Process(target=registry.count, args=(RUNS,)) for _ in range(3)]
    [one.start() for one in started]
    [one.join() for one in started]
"""  # noqa: E501


@pytest.mark.skipif(os.name == "nt", reason="there is no fork here")
@pytest.mark.parametrize(("how", "runs"), [("ends", 1), ("killed", 1), ("forks", 3), ("pool", 4)])
def test_what_a_process_has_counted_outlives_it(tmp_path: Path, how: str, runs: int) -> None:
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(tmp_path / "new"), how]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == (-signal.SIGKILL if how == "killed" else 0)
    assert runs_in(tmp_path / "new") == runs
    assert collect(tmp_path / "new").alive == 0


def test_a_folder_that_cannot_be_written_is_told_and_counting_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    registry = Registry()
    told: list[Exception] = []
    publication = Publication(registry, tmp_path / "file", told.append, every_s=3600)
    registry.count(RUNS)
    publication.publish()
    assert [type(error) for error in told] == [FileExistsError]
    publication.folder = tmp_path / "folder"
    registry.count(RUNS)
    publication.close()
    assert runs_in(tmp_path / "folder") == 2


def test_many_short_lives_leave_few_files(tmp_path: Path) -> None:
    for _ in range(60):
        registry = Registry()
        publication = Publication(
            registry, tmp_path, lambda error: pytest.fail(str(error)), every_s=3600
        )
        registry.count(RUNS)
        publication.close()
    assert runs_in(tmp_path) == 60
    assert len(list(tmp_path.iterdir())) <= 2 * files.MOST_FILES + 4
