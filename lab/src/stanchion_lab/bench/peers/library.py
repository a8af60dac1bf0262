"""The libraries that are measured, the dialect that speaks for each, and an environment for
each."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import msgspec

MEMORY: Final = "memory"
DISK: Final = "disk"
OUTCOMES: Final = "outcomes"
"""State and outcomes on disk, records in memory."""
RECORDS: Final = "records"
"""Records on disk, state in memory."""
MASKED: Final = "masked records"
"""The same, with secrets taken out that are known by their form."""
ALL_RULES: Final = "all rules"
"""Everything in memory, with all rules that a library has."""


class Kept(msgspec.Struct, frozen=True):
    """One comparison: where the library keeps things, or what it is made with, and what is to be
    said of that; where Stanchion keeps the same; and `more`, where Stanchion keeps things of its
    own accord, if that is more."""

    storage: str
    says: str
    ours: str
    more: str = ""


class Peer(msgspec.Struct, frozen=True):
    """A library on PyPI, and the dialect of Stanchion that is measured beside it. `less` is what it
    does not do and Stanchion does; `whole` says that a call and its result are one step."""

    name: str
    version: str
    less: str
    dialect: str
    kept: tuple[Kept, ...]
    whole: bool = False

    @property
    def pinned(self) -> str:
        """What pip is asked for."""
        return f"{self.name}=={self.version}"


NOTHING: Final = "nothing outlives the program"
PEERS: Final = (
    Peer(
        "guardianlayer",
        "2.0.5",
        "writes no records, keeps arguments with their secrets, compares calls as they are written",
        "guardian",
        (
            Kept(DISK, "outcomes in SQLite, which is GuardianLayer's default", OUTCOMES, DISK),
            Kept(MEMORY, NOTHING, MEMORY),
        ),
    ),
    Peer(
        "penguiflow",
        "3.11.2",
        "writes no records, knows 4 kinds of secrets and none that is encoded, looks for "
        "instructions in no result",
        "penguiflow",
        (
            Kept(MEMORY, "its rules for tools and secrets", MEMORY),
            Kept(
                ALL_RULES, "and for injection, by which Stanchion reads results as well", ALL_RULES
            ),
        ),
    ),
    Peer(
        "veronica-core",
        "3.10.0",
        "judges no results, and without its log writes no records",
        "veronica",
        (
            Kept(
                RECORDS,
                "VERONICA's audit log as it is by default, and Stanchion's records",
                RECORDS,
            ),
            Kept(
                MASKED,
                "its log with its masker, and Stanchion's records with the guard `secrets`",
                MASKED,
            ),
            Kept(MEMORY, NOTHING, MEMORY),
        ),
        whole=True,
    ),
)


class NotInstalled(Exception):
    """A library cannot be installed here; the text says why."""


def environment(peer: Peer, folder: Path) -> Path:
    """The Python of a library's own environment, made where it is missing; `NotInstalled` where it
    cannot be."""
    home = folder / peer.name
    python = home / "bin" / "python"
    installed = home / "installed"
    if installed.is_file() and installed.read_text(encoding="utf-8") == peer.pinned:
        return python
    commands = (
        [sys.executable, "-m", "venv", str(home)],
        [
            str(python),
            "-m",
            "pip",
            "install",
            "-qq",
            "--disable-pip-version-check",
            "--no-input",
            peer.pinned,
        ],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = done.stderr.strip().splitlines()
            raise NotInstalled(
                lines[-1] if lines else f"`{command[0]}` ended with {done.returncode}"
            )
    installed.write_text(peer.pinned, encoding="utf-8")
    return python
