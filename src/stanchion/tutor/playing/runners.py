"""How the Tutor's commands run: confined, and where a run is given, judged first as any tool call
is."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Any, Final

import msgspec

from stanchion.guards.shell import Shell
from stanchion.kernel.actions import Action
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.readings.reading import read
from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.errors import Refused
from stanchion.runtime.sandbox.limits import Limits
from stanchion.runtime.sandbox.sandbox import Confined, Sandbox, SandboxError
from stanchion.tutor.law.v1 import is_safe
from stanchion.tutor.law.v2 import Outcome

MOST_LINKS: Final = 40
"""How many links the kernel follows in one path; behind more of them nothing is found, with walls
or without."""


def leads_out(root: Path, word: str) -> bool:
    """Whether a path leaves a folder at any step, if only to come back: by how it begins, by a step
    back, or by a link.

    The steps are taken one by one, as the kernel takes them: where a step back leads depends on the
    links before it.
    """
    at, links = root, 0
    steps = _steps(root, word)
    while steps:
        step = steps.pop()
        if step.startswith("/") or (step == ".." and at == root):
            return True
        at = at.parent if step == ".." else at / step
        target = _target(at)
        if target is not None:
            links += 1
            if links > MOST_LINKS:
                return False
            at = root if target.startswith("/") else at.parent
            steps += _steps(root, target)
    return False


def _steps(root: Path, path: str) -> list[str]:
    """The steps of a path, the last one first. An absolute path into the folder is taken from
    there; any other begins with `/`."""
    steps = [*PurePosixPath(path).parts]
    own = [*root.parts]
    return (steps[len(own) :] if steps[: len(own)] == own else steps)[::-1]


def _target(path: Path) -> str | None:
    """Where a link leads; `None` for what is no link, or cannot be looked at."""
    try:
        return os.readlink(path)
    except (OSError, ValueError):
        return None


PROGRAMS: Final = (
    "test", "[", "true", "false", "cat", "head", "tail", "wc", "grep", "ls", "sha256sum", "stat",
    "file", "diff", "cmp",
)  # fmt: skip
"""Programs that look at files and change nothing: what may run unless a game says otherwise."""
NAME: Final = "shell"
"""Under which name guards see the commands."""


DENIES: Final = Shell()
NOBODY: Final = RunInfo("", "")


class Confining:
    """Runs the words of commands in a sandbox: programs that are on the list, and no others."""

    def __init__(
        self, sandbox: Sandbox, programs: Iterable[str] = PROGRAMS, run: Any = None
    ) -> None:
        self._sandbox, self._programs, self._run = sandbox, frozenset(programs), run

    def refused(self, argv: tuple[str, ...], _write: bool, /) -> str:
        """Why a command would not run."""
        if argv[0] in self._programs:
            return ""
        return (
            f"`{argv[0]}` is not among the programs of this game: "
            f"{', '.join(sorted(self._programs))}"
        )

    def run(self, argv: tuple[str, ...], write: bool, /) -> Outcome:
        """Run a command; one that a guard refuses does not, and is no evidence."""
        beyond = tuple(word for word in argv[1:] if leads_out(self._sandbox.root, word))
        try:
            came, whole = guarded(self._run, self._sandbox, argv, write)
        except Refused as refused:
            ran = refused.happened
            return Outcome(False, changes=write and ran, why=str(refused), began=ran)
        stdout, stderr = _text(came.stdout), _text(came.stderr)
        return Outcome(came.ended, came.rc, stdout, stderr, whole, write, came.why, beyond=beyond)


class ShellExecutor:
    """Runs texts in a shell, as the first law does, behind the same walls. It runs nothing that the
    law's denylist has, or that the guard `shell` blocks however it is written."""

    def __init__(
        self,
        sandbox_root: str | Path = ".",
        timeout: int = 30,
        sandbox: Sandbox | None = None,
        run: Any = None,
    ) -> None:
        self._sandbox = (
            Sandbox(sandbox_root, Limits(timeout_s=timeout)) if sandbox is None else sandbox
        )
        self._run = run

    def is_safe(self, command: str, /) -> tuple[bool, str]:
        """Whether nothing is against a command, and what is."""
        safe, why = is_safe(command)
        if not safe:
            return safe, why
        event = ToolCall(id=NAME, at=0, run=NOBODY, tool=NAME, args={"command": command})
        found = DENIES.judge(read(event))
        if found is None or found.action < Action.BLOCK:
            return True, ""
        return False, found.message

    def execute(self, command: str, mode: str = "read", /) -> tuple[int, str, str]:
        """Run a text; what was not run, or not to its end, has the status -1 and says why."""
        safe, why = self.is_safe(command)
        if not safe:
            return -1, "", f"BLOCKED: {why}"
        try:
            came, _ = guarded(self._run, self._sandbox, ("sh", "-c", command), mode == "write")
        except Refused as refused:
            return -1, "", f"BLOCKED: {refused}"
        except SandboxError as error:
            return -1, "", f"ERROR: {error}"
        if came.ended:
            return came.rc, _text(came.stdout), _text(came.stderr)
        late = came.why.startswith("it took longer")
        return -1, "", f"{'TIMEOUT' if late else 'ERROR'}: {came.why}"

    def close(self) -> None:
        """End what runs."""
        self._sandbox.close()


def hands_of(
    law: str, sandbox: Sandbox, programs: Iterable[str], run: Any = None
) -> ShellExecutor | Confining:
    """What runs the commands of a game under a law."""
    if law == "1":
        return ShellExecutor(sandbox=sandbox, run=run)
    return Confining(sandbox, programs, run)


def guarded(
    run: Any, sandbox: Sandbox, argv: tuple[str, ...], write: bool
) -> tuple[Confined, bool]:
    """Have a command judged as a call of the tool `shell`, and run it where it may; says whether
    the player sees all that it printed. What guards have changed proves nothing."""
    came: Confined | None = None

    def confined(command: str) -> dict[str, Any]:
        nonlocal came
        came = sandbox.run(argv, write)
        return {"rc": came.rc, "stdout": _text(came.stdout), "stderr": _text(came.stderr)}

    if run is None:
        return sandbox.run(argv, write), True
    text = argv[2] if argv[:2] == ("sh", "-c") else shlex.join(argv)
    told = run.call(Tool(confined, NAME), command=text)
    assert came is not None  # a call that was not refused has run
    shown = told if isinstance(told, dict) else {}
    stdout, stderr = (str(shown.get(name, "")) for name in ("stdout", "stderr"))
    seen = msgspec.structs.replace(came, stdout=stdout.encode(), stderr=stderr.encode())
    return seen, stdout == _text(came.stdout)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
