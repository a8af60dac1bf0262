"""Several processes play tests that were collected once: they are forked when it is known what
there is to play, so that nobody imports and collects everything for itself.

`pytest --workers 3` plays so. Files are handed out in pieces; who has played one takes the next.
"""

from __future__ import annotations

import mmap
import os
import pickle
import random
import signal
import struct
import threading
import traceback
from collections.abc import Iterator
from selectors import EVENT_READ, DefaultSelector
from typing import Any, Final, NamedTuple, NoReturn

import pytest
from _pytest.runner import runtestprotocol

PIECE: Final = 30
"""How many tests of one file are handed out at a time."""
TOGETHER: Final = frozenset({"architecture"})
"""Folders whose tests are all for one process: they read every source, and it keeps the trees."""
LENGTH: Final = struct.Struct("=I")
NOBODY: Final = 0xFFFFFFFF
"""What a process that plays nothing has at its place on the board."""


REPORTS: Final = pytest.StashKey[int]()
"""Where a process that plays writes its reports."""


class Worker(NamedTuple):
    """A process that plays: its number, and where its reports come from."""

    number: int
    pid: int
    reports: int


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--workers`."""
    parser.addoption("--workers", type=int, default=0, help="play in so many forked processes")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Play what was collected in several processes, where that is asked for."""
    count = session.config.getoption("--workers")
    if not count or session.testsfailed or session.config.option.collectonly:
        return None
    if threading.active_count() > 1:
        raise pytest.UsageError(
            "a thread was begun while tests were collected: play in one process"
        )
    pieces = list(cut(session.items))
    session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined] # made once for all
    with mmap.mmap(-1, LENGTH.size * count) as board:
        taking, giving = os.pipe()
        for number in range(len(pieces)):
            # A pipe holds 16,000 of them; whoever reads takes one number whole.
            os.write(giving, LENGTH.pack(number))
        workers = [
            _begin(session, number, pieces, board, taking, giving) for number in range(count)
        ]
        os.close(taking)
        os.close(giving)
        try:
            played = _gather(session, workers, board)
        finally:
            for worker in workers:
                _end(worker)
    if not session.shouldfail and played != len(session.items):
        raise session.Failed(f"{played} of {len(session.items)} tests were played")
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    return True


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Play a test, and report it to whoever gathers. What comes before and after a test is told
    only where it went wrong: most tests are so small that a message costs as much."""
    config = item.config
    writing = config.stash.get(REPORTS, None)
    if writing is None:
        return None
    reports = [
        config.hook.pytest_report_to_serializable(config=config, report=report)
        for report in runtestprotocol(item, log=False, nextitem=nextitem)
        if report.when == "call" or not report.passed
    ]
    _send(writing, pickle.dumps(reports))
    return True


def cut(items: list[pytest.Item]) -> Iterator[range]:
    """Pieces of what was collected, each of one file and not too long, or of one folder."""
    start = 0
    for at in range(1, len(items) + 1):
        if at < len(items) and _go_together(items[start], items[at], at - start):
            continue
        yield range(start, at)
        start = at


def _go_together(first: pytest.Item, other: pytest.Item, count: int) -> bool:
    if first.path.parent.name in TOGETHER:
        return other.path.parent == first.path.parent
    return other.path == first.path and count < PIECE


def _begin(
    session: pytest.Session,
    number: int,
    pieces: list[range],
    board: mmap.mmap,
    taking: int,
    giving: int,
) -> Worker:
    """Fork a process that plays pieces until there are none."""
    LENGTH.pack_into(board, LENGTH.size * number, NOBODY)
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reading)
        os.close(giving)
        _work(session, number, pieces, board, taking, writing)
    os.close(writing)
    return Worker(number, pid, reading)


def _work(
    session: pytest.Session,
    number: int,
    pieces: list[range],
    board: mmap.mmap,
    taking: int,
    writing: int,
) -> NoReturn:
    """Be a process that plays: what is chance, captured or temporary is its own."""
    status = 1
    try:
        random.seed()
        config: Any = session.config
        config.stash[REPORTS] = writing
        config._tmp_path_factory._basetemp = config._tmp_path_factory._basetemp / f"w{number}"
        config._tmp_path_factory._basetemp.mkdir()
        capture = config.pluginmanager.getplugin("capturemanager")
        if capture is not None:
            capture.stop_global_capturing()
            # What a test prints past the capture would stand between the dots of the others.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            capture.start_global_capturing()
            capture.suspend_global_capture()
        upcoming = _taken(pieces, taking)
        at = next(upcoming, None)
        while at is not None:
            following = next(upcoming, None)
            item = session.items[at]
            LENGTH.pack_into(board, LENGTH.size * number, at)
            after = None if following is None else session.items[following]
            config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            at = following
        LENGTH.pack_into(board, LENGTH.size * number, NOBODY)
        status = 0
    except BaseException:  # noqa: BLE001 - whatever it is, it is told, and nothing of the parent runs
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)


def _taken(pieces: list[range], taking: int) -> Iterator[int]:
    """The tests of the pieces that a process takes, one after the other."""
    while number := os.read(taking, LENGTH.size):
        yield from pieces[LENGTH.unpack(number)[0]]


def _send(writing: int, told: bytes) -> None:
    left = memoryview(LENGTH.pack(len(told)) + told)
    while left:
        left = left[os.write(writing, left) :]


def _gather(session: pytest.Session, workers: list[Worker], board: mmap.mmap) -> int:
    """Pass the reports of all processes on as they come; how many tests were played."""
    played = 0
    buffers = {worker: bytearray() for worker in workers}
    with DefaultSelector() as waiting:
        for worker in workers:
            waiting.register(worker.reports, EVENT_READ, worker)
        while waiting.get_map() and not session.shouldfail:
            for key, _ in waiting.select():
                worker = key.data
                came = os.read(worker.reports, 1 << 16)
                if not came:
                    waiting.unregister(worker.reports)
                    _tell_death(session, worker, board)
                buffers[worker] += came
                for told in _whole(buffers[worker]):
                    played += 1
                    for data in pickle.loads(told):  # noqa: S301 - of a process of our own
                        _pass_on(session, data)
    return played


def _whole(buffer: bytearray) -> Iterator[bytes]:
    """The messages that have come whole, taken off the buffer."""
    while len(buffer) >= LENGTH.size:
        end = LENGTH.size + LENGTH.unpack_from(buffer)[0]
        if len(buffer) < end:
            return
        told = bytes(buffer[LENGTH.size : end])
        del buffer[:end]
        yield told


def _pass_on(session: pytest.Session, data: Any) -> None:
    config = session.config
    report = config.hook.pytest_report_from_serializable(config=config, data=data)
    config.hook.pytest_runtest_logreport(report=report)


def _tell_death(session: pytest.Session, worker: Worker, board: mmap.mmap) -> None:
    """A process that ended while it played: its test failed."""
    (at,) = LENGTH.unpack_from(board, LENGTH.size * worker.number)
    if at == NOBODY:
        return
    item = session.items[at]
    report = pytest.TestReport(
        item.nodeid,
        item.location,
        {},
        "failed",
        f"the process that played {item.nodeid} ended, and what it had taken was not played",
        "call",
    )
    session.config.hook.pytest_runtest_logreport(report=report)


def _end(worker: Worker) -> None:
    os.close(worker.reports)
    done, _ = os.waitpid(worker.pid, os.WNOHANG)
    if not done:
        os.kill(worker.pid, signal.SIGKILL)
        os.waitpid(worker.pid, 0)
