"""A session of Claude Code that stays open while its settings change."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from stanchion.hosts.coding.rehearsal import HOSTS, LoopbackModel
from tools.agents.cells import REFUSED
from tools.agents.columns import Column

SETTLES_S: Final = 3.0
"""How long after a change the host has taken it on, if it does."""
WORDS: Final = (
    *("-p", "--verbose", "--allowedTools", "Bash"),
    *("--input-format", "stream-json", "--output-format", "stream-json"),
)
PROMPT: Final = {"type": "user", "message": {"role": "user", "content": "go"}}


class Turns(LoopbackModel):
    """A model that makes its calls anew in each turn."""

    def calls(
        self, body: dict[str, Any], results: list[str]
    ) -> tuple[tuple[str, dict[str, Any]], ...]:
        """The calls, unless the last that was said are their results."""
        self.results += results[len(self.results) :]
        last = body["messages"][-1]["content"]
        is_result = any(one["type"] == "tool_result" for one in last if isinstance(one, dict))
        return () if is_result or not body.get("tools") else self._calls


def _local(column: Column) -> Path:
    return column.at.project / ".claude" / "settings.local.json"


def _disable(column: Column) -> None:
    _local(column).parent.mkdir(exist_ok=True)
    _local(column).write_text(json.dumps({"disableAllHooks": True}))


def _write(column: Column, text: str) -> None:
    column.path.write_text(text)


def _take_out(column: Column) -> None:
    _write(column, json.dumps({**json.loads(column.path.read_text()), "hooks": {}}))


CHANGES: Final[Mapping[str, Callable[[Column], None]]] = {
    "`disableAllHooks`, written while a session is open": _disable,
    "its hooks are taken out while a session is open": _take_out,
    "its settings are broken while a session is open": lambda column: _write(column, "{"),
    "its settings are removed while a session is open": lambda column: column.path.unlink(),
}
"""What becomes of settings, by the row that says so."""


def changed_while_open(column: Column, change: Callable[[Column], None]) -> str:
    """What comes of a call that is refused, in the turn after a change."""
    if column.way == "managed" and change is not _disable:
        return "–"  # that is root's to do
    host, raw = HOSTS["claude"], column.path.read_text()
    danger = column.at.project / "danger.txt"
    with Turns(host.call(REFUSED)) as model:
        host.prepare(column.at, model.url)
        process = subprocess.Popen(
            [column.program, *WORDS],
            cwd=column.at.project,
            env={**column.at.environ, **host.environ(model.url)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        ran = []
        try:
            for happens in (None, change):
                if happens is not None:
                    happens(column)
                    time.sleep(SETTLES_S)
                danger.unlink(missing_ok=True)
                print(json.dumps(PROMPT), file=process.stdin, flush=True)
                next(line for line in process.stdout if json.loads(line)["type"] == "result")
                ran.append(danger.exists())
        finally:
            process.kill()
            process.communicate()
            column.path.write_text(raw)
            _local(column).unlink(missing_ok=True)
    if ran[0] or len(model.results) < 2:
        return f"no call: {model.results}"
    return "runs" if ran[1] else "stopped"
