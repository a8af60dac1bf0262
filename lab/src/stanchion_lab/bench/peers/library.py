"""The libraries that are measured, what they read of a call, and an environment for each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import msgspec


class Peer(msgspec.Struct, frozen=True):
    """A library on PyPI; `storages` says where it can keep what it learns or decides, `deep` whether it knows rules
    that a call does not wait for."""

    name: str
    version: str
    reads: str
    storages: tuple[str, ...] = ("memory",)
    deep: bool = False

    @property
    def pinned(self) -> str:
        """What pip is asked for."""
        return f"{self.name}=={self.version}"


PEERS: Final = (
    Peer("guardianlayer", "2.0.5", "hashes tool and arguments, reads no text", ("memory", "disk")),
    Peer("penguiflow", "3.11.2", "reads the tool's name and, of results, 4 secret patterns; keeps nothing", deep=True),
    Peer("veronica-core", "3.10.0", "reads a command's words and paths, no results", ("memory", "disk")),
)


class NotInstalled(Exception):
    """A library cannot be installed here; the text says why."""


def environment(peer: Peer, folder: Path) -> Path:
    """The Python of a library's own environment, made where it is missing; `NotInstalled` where it cannot be."""
    home = folder / peer.name
    python = home / "bin" / "python"
    installed = home / "installed"
    if installed.is_file() and installed.read_text(encoding="utf-8") == peer.pinned:
        return python
    commands = (
        [sys.executable, "-m", "venv", str(home)],
        [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-input", peer.pinned],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            raise NotInstalled(lines[-1] if lines else f"`{command[0]}` ended with {done.returncode}")
    installed.write_text(peer.pinned, encoding="utf-8")
    return python
