"""Brokers for tests: one in a thread, and one in a process of its own, of this user or of
another."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

import stanchion
from stanchion import Shield
from stanchion.ops.broker.peers import Admission
from stanchion.ops.broker.premises import listening
from stanchion.ops.broker.server import Broker, ConnectionPlaces

SOURCE = Path(stanchion.__file__).resolve().parents[1]
PACKAGES = Path(msgspec.__file__).resolve().parents[1]
BROKER_UID, AGENT_UID, OTHER_UID = 64_101, 64_102, 64_103


@contextlib.contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that every user can look into; those of pytest are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="stanchion-broker-"))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def serving(
    shield: Shield, places: ConnectionPlaces | None = None, key: bytes = b"k" * 32
) -> Iterator[Path]:
    """A broker for this user in a thread; gives its socket."""
    with open_folder() as folder:
        path = folder / "broker.sock"
        listener = listening(path)
        admission = Admission({os.getuid(): "default"}, {})
        broker = Broker(shield, admission, key, lambda _: None, places, folder / "witnesses")
        thread = threading.Thread(target=broker.serve, args=(listener,))
        thread.start()
        try:
            yield path
        finally:
            broker.stop()
            thread.join()
            listener.close()


class Running:
    """A broker in a process of its own."""

    def __init__(self, folder: Path, policy: str, *allowed: str, uid: int | None = None) -> None:
        self.folder, self.socket, self.state = (
            folder,
            folder / "run" / "broker.sock",
            folder / "state",
        )
        self._command = [
            "broker",
            "--socket",
            str(self.socket),
            "--policy",
            policy,
            "--state",
            str(self.state),
        ]
        for one in allowed:
            self._command += ["--allow-user", one]
        self._uid = uid
        self.socket.parent.mkdir(exist_ok=True)
        if uid is not None:
            os.chown(self.socket.parent, uid, uid)
            self.state.mkdir(mode=0o700, exist_ok=True)
            os.chown(self.state, uid, uid)
        self.start()

    def start(self) -> None:
        """Start it, and wait until it listens."""
        self.process = stanchion_as(self._uid, *self._command)
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        if not said.startswith("listening"):
            assert self.process.stderr is not None
            raise AssertionError(said + self.process.stderr.read())

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Signal it, and wait for its end; gives its exit status."""
        self.process.send_signal(number)
        status = self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return status


@contextlib.contextmanager
def running(policy: str, *allowed: str, uid: int | None = None) -> Iterator[Running]:
    """A broker in a process of its own, ended at the end."""
    with open_folder() as folder:
        broker = Running(folder, policy, *allowed, uid=uid)
        try:
            yield broker
        finally:
            if broker.process.poll() is None:
                broker.end()


def stanchion_as(uid: int | None, *words: str) -> subprocess.Popen[str]:
    """Start the command line, as another user where one is given."""
    return python_as(uid, "-m", "stanchion", *words)


def python_as(
    uid: int | None, *words: str, stdin: int = subprocess.DEVNULL, **environ: str
) -> subprocess.Popen[str]:
    """Start an interpreter, as another user where one is given."""
    program = sys.executable if uid is None else interpreter(uid)
    assert program is not None
    places = {
        "PYTHONPATH": f"{SOURCE}:{PACKAGES}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": "/proc/nowhere",
        **environ,
    }
    kept = {
        name: text
        for name, text in os.environ.items()
        if not name.startswith(("STANCHION_", "VERONICA_"))
    }
    who: dict[str, Any] = {} if uid is None else {"user": uid, "group": uid, "extra_groups": []}
    return subprocess.Popen(
        [program, *words],
        env=kept | places,
        cwd="/",
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **who,
    )


@cache
def interpreter(uid: int) -> str | None:
    """An interpreter that another user can run Stanchion with; `None` where there is none, or
    nobody can be another."""
    if os.geteuid() != 0:
        return None
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for program in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        with contextlib.suppress(OSError):
            tried = subprocess.run(
                [program, "-c", "import stanchion"],
                env={"PYTHONPATH": f"{SOURCE}:{PACKAGES}", "PYTHONDONTWRITEBYTECODE": "1"},
                cwd="/",
                user=uid,
                group=uid,
                extra_groups=[],
                capture_output=True,
                check=False,
            )
            if tried.returncode == 0:
                return program
    return None
