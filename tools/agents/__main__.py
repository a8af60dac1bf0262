"""Measure what the real programs do with our hooks: `make test-agents`.

Run as root, it enters a mount namespace with an `/etc` of its own, so that managed settings can be
written, and a network namespace that has loopback alone; otherwise managed settings and other
guards are left out.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from stanchion.hosts.coding import AGENTS
from stanchion.hosts.coding.program import host_version
from tools.agents.cells import (
    ASKED,
    BREAKS,
    COLUMNS,
    HONEST,
    IMPATIENT,
    OPEN,
    OURS_ALONE,
    REFUSED,
    SECRET,
    SHOWN,
    SWITCHES,
    Break,
)
from tools.agents.columns import Column, installed
from tools.agents.open_session import CHANGES, changed_while_open
from tools.agents.page import Columns, write_page
from tools.agents.rivals import rival_installed, rivals_in

INSIDE: Final = "STANCHION_AGENTS_INSIDE"
EARLY_S: Final = 10.0
"""Before which moment of a call the daemon is signalled at the latest: some wait for minutes."""
OTHERS: Final = 3
"""How often the daemon of another guard is signalled at most."""


def measure(column: Column, times: int, only: str) -> Iterator[tuple[str, str]]:
    """What comes of every cell of a column."""
    is_ours = (column.agent, column.way) in COLUMNS
    rows: dict[str, Callable[[], str]] = {
        "a dangerous call": lambda: _stopped(column, REFUSED, is_ours * "protected"),
        "a call that a person is asked about": lambda: _stopped(column, ASKED, "has been asked"),
        "an honest call": lambda: "runs" if column.ran(HONEST)[1] else "stopped",
        "a secret in what a command prints": lambda: _shown(column),
    }
    for name, way in BREAKS.items():
        rows[name] = lambda way=way: _while(column, way)  # type: ignore[misc]
    for name, number in (("killed", signal.SIGKILL), ("stopped", signal.SIGSTOP)):
        rows[f"the daemon is {name} in the middle"] = lambda number=number: (  # type: ignore[misc]
            _disturbed(column, number, times)
        )
    for name, change in CHANGES.items() if column.agent == "claude" else ():
        rows[name] = lambda change=change: changed_while_open(column, change)  # type: ignore[misc]
    for name, words in SWITCHES[column.agent].items():
        rows[name] = lambda name=name, words=words: _switched(column, name, words)  # type: ignore[misc]
    for name, row in rows.items():
        if only in name and (is_ours or name not in OURS_ALONE):
            yield name, row()


def _stopped(column: Column, command: str, words: str = "", *more: str) -> str:
    came, ran, _ = column.ran(command, *more)
    said = " ".join(came.results)
    if ran:
        return "runs"
    if not came.results:
        return f"no call: {came.said[-150:]}"
    if words and not any(word in said for word in words.split("|")):
        return f"stopped, without its words: {said[:150]}"
    return "stopped"


def _shown(column: Column) -> str:
    came, _, _ = column.ran(SHOWN)
    said = " ".join(came.results)
    return "shown" if SECRET in said else "redacted" if said else f"no call: {came.said[-150:]}"


def _while(column: Column, way: Break) -> str:
    with column.broken(way):
        return _stopped(column, REFUSED)


def _disturbed(column: Column, number: int, times: int) -> str:
    """What comes of a call that is refused, if the daemon is signalled at some moment of it."""
    drawn, ran, hit = random.Random(column.way), 0, 0
    with column.broken(IMPATIENT, tuple(AGENTS[column.agent].says)):
        _, _, usual = column.ran(REFUSED)
        if column.daemon() is None:
            return "–"
        for _ in range(3 * times):
            pid = column.daemon()
            if pid is not None:
                moment = drawn.uniform(0.2, min(usual, EARLY_S))
                timer = threading.Timer(moment, _signal, (pid, number))
                timer.start()
                ran += column.ran(REFUSED)[1]
                timer.cancel()
                _signal(pid, signal.SIGKILL)
                hit += 1
                print(f"  {hit} of {times}: ran {ran} times", file=sys.stderr)
            if hit == times:
                break
            column.ran(HONEST)
    if ran:
        return f"runs {ran} of {hit} times"
    return "stopped" if hit == times else f"stopped {hit} times of {times}"


def _signal(pid: int | None, number: int) -> None:
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _switched(column: Column, name: str, words: tuple[str, ...]) -> str:
    local = column.at.project / ".claude" / "settings.local.json"
    if "local settings" in name:
        local.parent.mkdir(exist_ok=True)
        local.write_text(json.dumps({"disableAllHooks": True}))
    try:
        came, ran, _ = column.ran(REFUSED, *words, trusting=bool(words))
        return "runs" if ran else "stopped" if came.results else f"no call: {came.said[-150:]}"
    finally:
        local.unlink(missing_ok=True)


def unlike_known(agent: str, way: str, found: Mapping[str, str]) -> Iterator[str]:
    """The cells in which something else came than what is known of the host."""
    if (agent, way) not in COLUMNS:
        return  # what others do is told, not wanted
    wanted = {"an honest call": "runs", "a secret in what a command prints": "redacted"}
    for name, came in found.items():
        if name in SWITCHES[agent]:
            fits = came == "stopped" or way != "managed"
        else:
            open_here = name in OPEN[agent, way]
            fits = came in ("–", "runs" if open_here else wanted.get(name, "stopped"))
        if not fits:
            yield f"{agent}, {way}: {name}: {came}"


def _inside(words: list[str]) -> int:
    """Do it all in a mount namespace with an `/etc` of its own, and a home of root's of its own."""
    with tempfile.TemporaryDirectory() as made:
        for name in ("upper", "work", "home"):
            (Path(made) / name).mkdir()
        script = (
            f"mount -t tmpfs tmpfs {made} && mkdir {made}/upper {made}/work {made}/home && "
            f"mount -t overlay overlay -o lowerdir=/etc,upperdir={made}/upper,workdir={made}/work "
            f"/etc && sed -i 's|^root:\\(.*\\):/root:|root:\\1:{made}/home:|' /etc/passwd && "
            'exec "$@"'
        )
        again = [sys.executable, "-m", "tools.agents", *words]
        return subprocess.run(
            ["unshare", "-m", "-n", "--propagation", "private", "sh", "-c", script, "sh", *again],
            env={**os.environ, INSIDE: "1"},
            check=False,
        ).returncode


def _loopback_up() -> None:
    """Bring loopback up, the one network of this namespace."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh14x", b"lo", 0x41))  # SIOCSIFFLAGS, up


Hooks = Callable[[Path], AbstractContextManager[Column]]


def _columns(programs: Path) -> dict[str, tuple[str, str, Hooks]]:
    """The host, the heading and the installation of each column: our ways, and others' hooks."""
    found: dict[str, tuple[str, str, Hooks]] = {
        f"{agent} {way}": (agent, way, partial(installed, agent, way, str(programs)))
        for agent, way in COLUMNS
    }
    folder = programs.parent / "rivals"
    if os.environ.get(INSIDE):
        for agent, name, version in rivals_in(folder):
            hooks = partial(rival_installed, agent, name, str(programs), folder)
            found[f"{agent} {name}"] = (agent, f"{name} {version}", hooks)
    return found


def main(words: list[str]) -> int:
    """Measure, compare with what is known, and write the page; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.agents")
    parser.add_argument("programs", help="the folder in which `claude` and `codex` are")
    parser.add_argument("--write", action="store_true", help="write the page")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument(
        "--column", default="", help="only columns whose name has this; the page keeps the others"
    )
    parser.add_argument("--row", default="", help="only rows whose name has this")
    args = parser.parse_args(words)
    folder = Path(args.programs).resolve()
    programs = str(folder)
    if os.geteuid() == 0 and not os.environ.get(INSIDE):
        return _inside(words)
    if os.environ.get(INSIDE):
        _loopback_up()
    found: Columns = {}
    unlike: list[str] = []
    for name, (agent, way, hooks) in _columns(folder).items():
        if args.column not in name or (way == "managed" and os.geteuid()):
            continue
        version = ".".join(map(str, host_version(agent, {"PATH": programs}) or ()))
        cells = found[f"{agent} {version}", way] = {}
        times = args.times if (agent, way) in COLUMNS else min(args.times, OTHERS)
        with tempfile.TemporaryDirectory() as top, hooks(Path(top).resolve()) as column:
            for row, came in measure(column, times, args.row):
                cells[row] = came
                print(f"{name:24} {row:58} {came}", flush=True)
        unlike += unlike_known(agent, way, cells)
    if args.write:
        write_page(found, is_part=bool(args.column or args.row))
    for line in unlike:
        print(f"unlike what is known: {line}")
    return int(bool(unlike))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
