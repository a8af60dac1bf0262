"""Processes that write a trail, told what to do by a test: `python -m tests.audit.workers COMMAND
FOLDER …`."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from stanchion.audit.options import TrailOptions
from stanchion.audit.trail import Trail
from tests.audit.written import allowed, moment

ROOT = Path(__file__).resolve().parents[2]


def start(*command: str) -> subprocess.Popen[str]:
    """Start a worker; it says when it is ready, and goes on with every line it is given."""
    whole = [sys.executable, "-m", __name__, *command]
    return subprocess.Popen(
        whole, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def hear(worker: subprocess.Popen[str]) -> str:
    """The next line that a worker says."""
    assert worker.stdout is not None
    return worker.stdout.readline().strip()


def tell(worker: subprocess.Popen[str]) -> None:
    """Let a worker go on."""
    assert worker.stdin is not None
    worker.stdin.write("go\n")
    worker.stdin.flush()


def finish(worker: subprocess.Popen[str]) -> list[str]:
    """What a worker says until it ends well."""
    said, _ = worker.communicate()
    assert worker.returncode == 0
    return said.split()


def say(words: str) -> None:
    print(words, flush=True)


def write(trail: Trail, *names: str) -> None:
    """Write a decision under each name."""
    for name in names:
        about = moment(name)
        trail.write(about, allowed(about), 0)


def writes(folder: Path, name: str, count: str) -> None:
    """Open the trail, and when told write so many decisions; end when told again."""
    trail = Trail(folder, TrailOptions(segment_bytes=20_000, sync_ms=0.1, checkpoint_records=50))
    say("ready")
    sys.stdin.readline()
    write(trail, *[f"{name}.{number}" for number in range(int(count))])
    say(trail.name)
    sys.stdin.readline()
    trail.close()


def forks(folder: Path) -> None:
    """Fork while threads write; parent, child and grandchild all go on."""
    trail = Trail(folder, TrailOptions(sync_ms=0.1))
    stop, begun = threading.Event(), threading.Event()

    def busy() -> None:
        number = 0
        while not stop.is_set() or number < 50:
            write(trail, f"busy.{number}")
            number += 1
            begun.set()

    writing = threading.Thread(target=busy)
    writing.start()
    begun.wait()
    _in_child(trail, "child", lambda: _in_child(trail, "grandchild", lambda: None))
    write(trail, *[f"parent.{number}" for number in range(20)])
    stop.set()
    writing.join()
    say(f"parent={trail.name}")
    trail.close()


def _in_child(trail: Trail, name: str, also: Callable[[], None]) -> None:
    """Fork: the child writes, synced, and ends as a process does; the parent waits for it."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        assert status == 0
        return
    status = 1
    try:
        for number in range(20):
            about = moment(f"{name}.{number}")
            trail.sync(trail.write(about, allowed(about), 0))
        also()
        say(f"{name}={trail.name}")
        trail.close()
        status = 0
    finally:
        os._exit(status)


def leaves(folder: Path) -> None:
    """Fork a child that writes nothing and outlives the parent, which ends without a word."""
    trail = Trail(folder)
    write(trail, "parent")
    up, down = os.pipe()
    if not os.fork():
        os.write(down, b"!")
        os.close(1)
        sys.stdin.readline()
        os._exit(0)
    os.read(up, 1)
    say(trail.name)
    os._exit(0)


COMMANDS: dict[str, Callable[..., None]] = {"writes": writes, "forks": forks, "leaves": leaves}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
