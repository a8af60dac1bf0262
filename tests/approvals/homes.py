"""A home for tests of operators: its own folders, and the command line as somebody would run it
there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.cli.terminals import person

CODE = r"Type ([A-Z0-9]{6}) to continue"
MAIN = """
import sys
from stanchion.approvals import keys
from stanchion.cli.main import main
keys.ROUNDS = 1
sys.exit(main({!r}))
"""
"""A command; a key that it makes is opened with less work than anybody else's."""

POLICY = """\
name: payments
tools:
  pay: {{risk: {risk}}}
guards:
  - {{use: tool_denylist, id: ask-first, tools: [pay], action: escalate}}
"""


class Came(NamedTuple):
    """What a command came to."""

    status: int
    out: str
    err: str


class Home:
    """A user's home on a machine, with a project in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.keys = folder / "config" / "stanchion" / "keys"
        self.project = folder / "project"
        self.project.mkdir(parents=True)
        self.environ = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("STANCHION_", "SSH_"))
            },
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / "config"),
            "STANCHION_STATE_DIR": str(self.state),
            "NO_COLOR": "1",
        }

    @property
    def store(self) -> str:
        """Its store."""
        return str(self.state / "state.db")

    def policy(self, risk: str = "medium", more: str = "") -> str:
        """A policy under which paying waits for a person."""
        path = self.project / "policy.yaml"
        path.write_text(POLICY.format(risk=risk) + more)
        return str(path)

    def runs(self, *words: str, **environ: str) -> Came:
        """Run a command whose input and output are pipes, in a session without a terminal."""
        done = subprocess.run(
            [sys.executable, "-m", "stanchion", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env={**self.environ, **environ},
            cwd=self.project,
            start_new_session=True,
            check=False,
        )
        return Came(done.returncode, done.stdout.decode(), done.stderr.decode())

    def at_terminal(self, *words: str, types: tuple[str, ...] = ()) -> Came:
        """Run a command at a terminal, type the code it shows, and before that what it asks for."""
        program = MAIN.format(list(words))
        with person() as somebody:
            made = somebody.begin(program, env=self.environ, cwd=self.project)
            for text in types:
                somebody.reads(r"not shown")
                somebody.screen = ""
                somebody.types(f"{text}\n")
            code = somebody.reads(CODE, until=made)
            if code:
                somebody.types(f"{code}\n")
            out, err = made.communicate()
        return Came(made.returncode, out.decode(), err.decode() + somebody.screen)

    def python(self, code: str, **environ: str) -> Came:
        """Run a program."""
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            env={**self.environ, **environ},
            cwd=self.project,
            start_new_session=True,
            check=False,
        )
        return Came(done.returncode, done.stdout.decode(), done.stderr.decode())

    def shield(self, risk: str = "medium", more: str = "", **options: Any) -> Any:
        """A shield on this home's state, in this process."""
        from stanchion import Shield

        return Shield.load(
            self.policy(risk, more), store=self.store, journal=str(self.state / "trail"), **options
        )
