"""What the `shell` guard costs: texts that were judged before, new simple ones, and new ones of
many commands."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count, cycle
from typing import Final

from stanchion.guards.shell import Shell
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.readings import read
from stanchion_lab.bench.measure import compare
from stanchion_lab.bench.table import Effort, Section, rows_of

SIMPLE: Final = "git status --short src"
COMPLEX: Final = (
    "cd app{0} && git add -A && git commit -m 'fix: login' && git push origin topic",
    "npm ci && npm run build && npm test -- --run app{0}",
    "find src{0} -name '*.py' -not -path './venv/*' | xargs grep -n \"TODO\" | head -20",
    "cat > app{0}.py <<'EOF'\nimport os\nprint(os.getcwd())\nEOF\npython app{0}.py",
    'grep -rn "login{0}" src | sort | uniq -c > counts.txt',
    "docker run --rm -v \"$(pwd)\":/app -w /app{0} node:20 sh -c 'npm ci && npm test'",
)
"""Texts of several commands; a number makes each new."""


def shells(effort: Effort) -> Section:
    """The guard alone, on texts it knows and on texts it does not."""
    guard, run = Shell(), RunInfo("r1")
    numbers, shapes = count(), cycle(COMPLEX)

    def call(text: str) -> ToolCall:
        return ToolCall(id="e1", at=0, run=run, tool="bash", args={"command": text})

    known, other = (
        call(SIMPLE),
        ToolCall(id="e1", at=0, run=run, tool="read_file", args={"path": "x"}),
    )
    contenders: dict[str, Callable[[], object]] = {
        "a tool that runs no shell": lambda: guard.judge(read(other)),
        "a known text": lambda: guard.judge(read(known)),
        "a new simple command": lambda: guard.judge(
            read(call(f"git status --short src{next(numbers)}"))
        ),
        "a new text of several commands": lambda: guard.judge(
            read(call(next(shapes).format(next(numbers))))
        ),
    }
    costs = compare(contenders, effort.rounds, effort.calls)
    return Section(
        "shell commands", "read, followed and judged; the event is made, too", rows_of(costs)
    )
