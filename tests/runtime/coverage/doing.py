"""Things that a program does to the world, and what was seen of them."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from stanchion import Shield
from stanchion.audit.journal import Fact, MemoryJournal

BARE: dict[str, Any] = {"name": "bare", "guards": []}
CLIENT = """
import socket

def ask(port):
    with socket.create_connection(("127.0.0.1", port)):
        return "hello"
"""


def write(path: Path) -> str:
    """Write a file."""
    path.write_text("written")
    return "done"


def start() -> int:
    """Start a process."""
    return subprocess.run([sys.executable, "-c", "pass", "--token=hunter2"], check=True).returncode


def connect(port: int) -> str:
    """Open a connection."""
    with socket.socket() as made:
        made.connect(("127.0.0.1", port))
        return "connected"


@contextmanager
def listening() -> Iterator[int]:
    """A port that takes connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> ModuleType:
    """A client of that name, as if it was installed, which connects to a port when it is asked."""
    packages = folder / "site-packages"
    (packages / name).mkdir(parents=True)
    (packages / name / "__init__.py").write_text(CLIENT)
    monkeypatch.syspath_prepend(str(packages))
    monkeypatch.delitem(sys.modules, name, raising=False)
    made = import_module(name)
    del sys.modules[name]  # for good: monkeypatch would put it back after the test
    return made


def watching(mode: Any = "observe", policy: dict[str, Any] = BARE) -> tuple[Shield, MemoryJournal]:
    """A shield that watches, and its journal."""
    journal = MemoryJournal()
    return Shield.load(policy, store="memory:", journal=journal, coverage=mode), journal


def facts(journal: MemoryJournal, what: str = "coverage.escaped") -> list[Fact]:
    """What was written down of that kind."""
    return [fact for fact in journal.facts() if fact.what == what]


def named(journal: MemoryJournal) -> list[tuple[str, str]]:
    """What escaped: what it is and its name, in order."""
    return [(fact.data["what"], fact.data["name"]) for fact in facts(journal)]


def in_thread(work: Callable[[], object]) -> None:
    """Do something in a thread that begins without a run, and wait for it."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
