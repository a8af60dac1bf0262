"""Floods: what a quiet user of a broker waits while another one floods it, beside what it waits
without."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from stanchion.cli.main import main
from stanchion.runtime.shield import Shield
from stanchion_lab.bench.measure import Cost, cost_of
from stanchion_lab.bench.table import Effort, Row, Section

TITLE: Final = "a broker that is flooded"
QUIET, FLOODER = 64_103, 64_102
THREADS: Final = 32
PAUSE_S: Final = 0.002


def _connect(path: str, _run: Any) -> None:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(path)


FLOODS: Final[dict[str, Callable[[str, Any], object]]] = {
    "large results": lambda _, run: run.result("web", {}, "\u202e" * 900_000),
    "small calls": lambda _, run: run.check("web", {"q": str(time.perf_counter_ns())}),
    "connections": _connect,
    "tickets": lambda _, run: run.escalate("look at this"),
}


def floods(effort: Effort) -> Section:
    """The quiet user's calls in each flood, beside those just before it; and what is left of the
    broker's memory a minute later."""
    if os.geteuid() != 0:
        return Section(TITLE, "left out, because only root can be two users", [])
    calls, rows = effort.rounds * 100, list[Row]()
    with TemporaryDirectory() as folder, _broker(folder) as (path, pid):
        os.chmod(folder, 0o755)
        with _loaded(path, QUIET) as far:
            before_kib = _memory_kib(pid)
            for name, flood in FLOODS.items():
                quiet = _asked(far, calls)
                with _forked(partial(_flood, path, flood)):
                    flooded = _asked(far, calls)
                ratio = round(flooded.p50_us / quiet.p50_us, 2)
                rows += [Row(f"before {name}", quiet), Row(f"in a flood of {name}", flooded, ratio)]
            time.sleep(60.0)
            left = (_memory_kib(pid) - before_kib) / 1024
    rows.append(Row("memory that is left after a minute", amount=left, unit="MiB"))
    return Section(TITLE, f"{THREADS} threads of one user flood, another one asks", rows)


@contextlib.contextmanager
def _broker(folder: str) -> Iterator[tuple[str, int]]:
    path = f"{folder}/broker.sock"
    users = [f"--allow-user={QUIET}:quiet", f"--allow-user={FLOODER}:loud"]
    words = ["broker", "--socket", path, "--policy", "default", "--state", f"{folder}/state"]
    with _forked(lambda: main([*words, *users]), signal.SIGTERM) as pid:
        while not Path(path).exists():
            time.sleep(0.01)
        yield path, pid


@contextlib.contextmanager
def _forked(work: Callable[[], object], ends: signal.Signals = signal.SIGKILL) -> Iterator[int]:
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        work()
        os._exit(0)
    try:
        yield pid
    finally:
        os.kill(pid, ends)
        os.waitpid(pid, 0)


def _loaded(path: str, uid: int) -> Any:
    """A shield through the broker, as a user: a socket bears the one who connects it."""
    os.seteuid(uid)
    try:
        return Shield.load(f"broker:{path}")
    finally:
        os.seteuid(0)


def _flood(path: str, flood: Callable[[str, Any], object]) -> None:
    run = _loaded(path, FLOODER).run("flooder")
    os.seteuid(FLOODER)

    def go() -> None:
        while True:
            with contextlib.suppress(Exception):  # it goes on, whatever it is told
                flood(path, run)

    threads = [threading.Thread(target=go) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    threads[0].join()


def _asked(far: Any, calls: int) -> Cost:
    took: list[int] = []
    run = far.run("quiet")
    for number in range(calls):
        begun = time.perf_counter_ns()
        decision = run.check("web", {"q": f"question {number}"})
        took.append(time.perf_counter_ns() - begun)
        if not decision.proceeds and decision.code != "steps.exceeded":
            raise RuntimeError(f"the quiet user was refused: {decision.code}")
        if number % 400 == 399:
            run = far.run("quiet")
        time.sleep(PAUSE_S)
    return cost_of(took)


def _memory_kib(pid: int) -> int:
    """What a process and those it has begun have of the memory."""
    family = [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
    texts = [Path(f"/proc/{one}/smaps_rollup").read_text() for one in family]
    return sum(int(text.partition("\nPss:")[2].split()[0]) for text in texts)
