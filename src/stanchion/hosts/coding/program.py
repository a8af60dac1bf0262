"""The programs of coding agents: which version is installed, and which hooks Codex trusts."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from typing import Any, Final

from stanchion.hosts.coding.settings import is_ours

OLDEST: Final = {"claude": (2, 1, 295)}
"""The first versions that honour `onFailure`; earlier ones go on where a hook fails, without a
word."""
WAIT_S: Final = 30


class ProgramFailed(OSError):
    """A host's program did not do what it was asked for."""


def host_version(agent: str, environ: Mapping[str, str]) -> tuple[int, ...] | None:
    """The version of the host that would be started; `None` where none is found or it does not
    say."""
    program = shutil.which(agent, path=environ.get("PATH"))
    if program is None:
        return None
    with suppress(OSError, subprocess.SubprocessError):
        said = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=WAIT_S, check=False
        )
        found = re.search(r"(\d+)\.(\d+)\.(\d+)", said.stdout)
        return None if found is None else tuple(int(one) for one in found.groups())
    return None


class CodexServer:
    """Codex, asked over its own protocol for programs: the same by which its terminal lists hooks
    and trusts them."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._asked = 0

    def ask(self, method: str, **params: Any) -> Any:
        """The result of a request; raises `ProgramFailed`."""
        self._asked += 1
        self._say({"id": self._asked, "method": method, "params": params})
        if method == "initialize":
            self._say({"method": "initialized"})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said = json.loads(line)
            if said.get("id") == self._asked and "method" not in said:
                if "result" not in said:
                    raise ProgramFailed(f"`{method}`: {said.get('error', {}).get('message')}")
                return said["result"]
        raise ProgramFailed("it ended before it answered")

    def _say(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def hooks(self, folder: Path, file: Path) -> list[Mapping[str, Any]]:
        """The hooks of ours that Codex finds in a file when it works in a folder."""
        listed = self.ask("hooks/list", cwds=[str(folder)])["data"]
        return [
            hook
            for entry in listed
            for hook in entry["hooks"]
            if Path(hook["sourcePath"]).resolve() == file.resolve()
            and is_ours({"type": "command", "command": hook.get("command")})
        ]

    def trust(self, hooks: list[Mapping[str, Any]]) -> None:
        """Have Codex write down that these hooks, as they are now, are trusted."""
        trusted = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
        edit = {"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"}
        self.ask("config/batchWrite", edits=[edit])


def trust_hooks(folder: Path, environ: Mapping[str, str], file: Path) -> bool:
    """Have Codex trust the hooks of ours in a file; whether it reads that file at all. Raises
    `ProgramFailed`."""
    with codex_server(folder, environ) as server:
        found = server.hooks(folder, file)
        fresh = [hook for hook in found if hook["trustStatus"] != "trusted"]
        if fresh:
            server.trust(fresh)
        if any(hook["trustStatus"] != "trusted" for hook in server.hooks(folder, file)):
            raise ProgramFailed("it does not trust them all the same")
        return bool(found)


@contextmanager
def codex_server(folder: Path, environ: Mapping[str, str]) -> Iterator[CodexServer]:
    """Codex in a folder. Raises `ProgramFailed` where it is not there, or is late, or answers what
    nobody understands."""
    program = shutil.which("codex", path=environ.get("PATH"))
    if program is None:
        raise ProgramFailed("`codex` is not on PATH")
    process = subprocess.Popen(
        [program, "app-server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=folder,
        env=dict(environ),
    )
    late = Timer(WAIT_S, process.kill)
    late.start()
    try:
        # It ends when its input does.
        with process:
            server = CodexServer(process)
            server.ask("initialize", clientInfo={"name": "stanchion", "version": "1"})
            yield server
    except (ValueError, KeyError, TypeError, AttributeError, BrokenPipeError) as error:
        raise ProgramFailed(f"it answered what is not understood: {error}") from None
    finally:
        late.cancel()
