"""What it takes to start a confined command, beside the bare programs that make namespaces."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from stanchion.runtime.sandbox.sandbox import Sandbox, SandboxError, WallKind
from stanchion_lab.bench.measure import Cost, compare
from stanchion_lab.bench.table import Effort, Row, Section, rows_of

TITLE: Final = "starting a confined command"
NOTHING: Final = "true"
BARE: Final = {
    "unshare": [
        "unshare",
        "-U",
        "--map-root-user",
        "--mount",
        "--pid",
        "--net",
        "--ipc",
        "--uts",
        "--fork",
        NOTHING,
    ],
    "bwrap --unshare-all": ["bwrap", "--unshare-all", "--ro-bind", "/", "/", NOTHING],
}
"""What is measured against: programs that make the same namespaces, and show everything in them."""
PAUSE_S: Final = 0.03
CALLS: Final = 5
NOBODY: Final = 65_534

Contenders = dict[str, Callable[[], object]]


def confined(effort: Effort) -> Section:
    """Time from asking for a command that does nothing to knowing how it ended: after a pause, as
    between the calls of an agent, and one after the other."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        os.chmod(folder, 0o755)
        bare = _bare()
        ours = _ours(Path(folder), stack)
        paused = compare({**bare, **ours}, effort.rounds, CALLS, PAUSE_S)
        rowed = compare({**bare, **ours}, effort.rounds, CALLS)
    rows = [*_rows("after a pause", paused, bare), *_rows("in a row", rowed, bare)]
    against = ", ".join(_against(paused, rowed, name) for name in bare)
    return Section(TITLE, f"namespaces, after a pause and in a row: {against}", rows)


def _bare() -> Contenders:
    found = {name: words for name, words in BARE.items() if shutil.which(words[0])}
    return {name: _program(words) for name, words in found.items() if _stands(words)}


def _stands(words: list[str]) -> bool:
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def _program(words: list[str]) -> Callable[[], object]:
    return lambda: subprocess.run(words, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def _ours(folder: Path, stack: ExitStack) -> Contenders:
    """A sandbox of each kind that stands here."""
    found: Contenders = {}
    for kind in WallKind:
        sandbox = stack.enter_context(
            Sandbox(folder, user=NOBODY if os.getuid() == 0 else None, kind=kind)
        )
        try:
            sandbox.run([NOTHING])
        except SandboxError:
            continue
        found[str(kind)] = _run(sandbox)
    return found


def _run(sandbox: Sandbox) -> Callable[[], object]:
    return lambda: sandbox.run([NOTHING])


def _rows(when: str, costs: dict[str, Cost], bare: Contenders) -> list[Row]:
    first = next(iter(bare), None)
    return [Row(f"{row.name}, {when}", row.cost, row.ratio) for row in rows_of(costs, first)]


def _against(paused: dict[str, Cost], rowed: dict[str, Cost], name: str) -> str:
    if str(WallKind.NAMESPACES) not in paused:
        return f"none beside {name}"
    ratios = [costs[WallKind.NAMESPACES].p50_us / costs[name].p50_us for costs in (paused, rowed)]
    return f"{ratios[0]:.2f} and {ratios[1]:.2f} times {name}"
