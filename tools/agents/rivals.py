"""Hooks of other guards, installed by their own commands, in places of their own."""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple
from unittest.mock import patch

from msgspec.structs import replace

from stanchion.hosts.coding import rehearsal
from stanchion.hosts.coding.rehearsal import FOLDERS, HOSTS, surroundings_in
from stanchion.hosts.coding.settings import HostPlaces
from tools.agents.cells import HONEST
from tools.agents.columns import Column, broken_ends, daemon_in, program_in, run

PATIENCE_S: Final = 200.0
"""How long a host may take for one call. Some hooks wait minutes for a person."""


class Rival(NamedTuple):
    """Another guard: what its command is given to install hooks for each host, and the file below
    the home in which its daemon says what process it is, if it has one."""

    install: Mapping[str, tuple[str, ...]]
    daemon: str = ""


RIVALS: Final[Mapping[str, Rival]] = {
    "hol-guard": Rival(
        {"claude": ("install", "claude-code"), "codex": ("install", "codex")},
        ".hol-guard/daemon-state.json",
    ),
    "nah": Rival({"claude": ("install", "claude")}),
}
"""What can be installed from a registry of packages and works without an account or a network."""


def rivals_in(folder: Path) -> Iterator[tuple[str, str, str]]:
    """The host, the name and the version of each that is installed below a folder."""
    for name, rival in RIVALS.items():
        found = list(folder.glob(f"{name}/lib/python*/site-packages/*-*.dist-info"))
        for one in found:
            package, _, version = one.name.removesuffix(".dist-info").partition("-")
            if package.replace("_", "-") == name:
                yield from ((agent, name, version) for agent in rival.install)


@contextmanager
def rival_installed(
    agent: str, name: str, programs: str, folder: Path, top: Path
) -> Iterator[Column]:
    """Hooks of another guard, installed as a person would.

    What Codex has of them stands in the file that each call is prepared with, so it is kept aside
    and put into that.
    """
    rival, own = RIVALS[name], folder / name / "bin"
    at = surroundings_in(top / "places", agent, {"PATH": f"{own}:{programs}:/usr/bin:/bin"})
    home = at.home / f".{agent}"
    home.mkdir()
    at = HostPlaces(at.project, at.home, {**at.environ, FOLDERS[agent]: str(home)})
    host = HOSTS[agent]
    path = home / "settings.json" if agent == "claude" else top / "hooks.toml"

    def prepare(at: HostPlaces, url: str) -> None:
        host.prepare(at, url)
        if agent == "codex":
            with (home / "config.toml").open("a") as config:
                config.write(path.read_text())

    def is_hook(hook: Any) -> bool:
        return shlex.split(hook["command"])[0].startswith(str(folder))

    def daemon() -> int | None:
        with suppress(OSError):
            return daemon_in((at.home / rival.daemon).read_text())
        return None

    made = run(at, str(own / name), *rival.install[agent])
    assert made.returncode == 0, made.stderr
    if agent == "codex":
        (home / "config.toml").rename(path)
    with (
        broken_ends(top / "ends") as ends,
        patch.object(rehearsal, "WITHIN_S", PATIENCE_S),
        patch.dict(HOSTS, {agent: replace(host, prepare=prepare)}),
    ):
        try:
            column = Column(
                agent, name, program_in(programs, agent), at, path, ends, daemon, is_hook
            )
            column.ran(HONEST)  # the first call starts what is needed
            yield column
        finally:
            _end_all(top)


def _end_all(top: Path) -> None:
    """Kill what has been left behind: it names the places that it was started for."""
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if os.fsencode(top) in one.read_bytes() and int(one.parent.name) != os.getpid():
                os.kill(int(one.parent.name), signal.SIGKILL)
