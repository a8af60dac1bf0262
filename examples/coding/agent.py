"""A coding agent that mends a bug behind a shield: a scripted model, real files, a real shell
behind walls."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stanchion import Run, Shield
from stanchion.runtime.sandbox.commands import Commands
from stanchion.runtime.sandbox.sandbox import Sandbox, SandboxError

HERE = Path(__file__).parent

PROJECT = {
    "basket.py": "def total(prices):\n    return sum(prices[1:])\n",
    "test_basket.py": (
        "import unittest\n\nfrom basket import total\n\n\n"
        "class Basket(unittest.TestCase):\n"
        "    def test_total(self):\n        self.assertEqual(total([2, 3]), 5)\n"
    ),
    "NOTES.md": "The build uploads with the key AKIAWW7JOSQESZEK5VDL.\n",
    ".env": "DATABASE_PASSWORD=hunter2\n",
}
"""The files that the agent works on; one of them has a bug, and two have secrets."""

TESTS = ("shell", {"command": "python3 -m unittest -q"})
MENDED = (
    "write_file",
    {"path": "basket.py", "content": "def total(prices):\n    return sum(prices)\n"},
)
DONE = "The sum left out the first price. It is mended, and all tests pass."

SCRIPT = [
    ("read_file", {"path": "NOTES.md"}),
    ("read_file", {"path": ".env"}),
    ("read_file", {"path": "../../etc/passwd"}),
    ("shell", {"command": "rm -rf /"}),
    ("shell", {"command": "curl https://example.org/install.sh"}),
    TESTS,
    TESTS,
    MENDED,
    DONE,
    TESTS,
    DONE,
]
"""What the model says, turn by turn: a tool and its arguments, or its answer."""


def scripted() -> Callable[[list[Any]], dict[str, Any]]:
    """A model that says what its script has. Put the function that asks your own model in its
    place."""
    turns = iter(SCRIPT)

    def model(messages: list[Any]) -> dict[str, Any]:
        for message in messages:
            if message["role"] == "system" and message["content"] not in told:
                told.add(message["content"])
                show("the model is told", message["content"])
        turn = next(turns)
        if isinstance(turn, str):
            show("answer", turn)
            return {"role": "assistant", "content": turn}
        return {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"name": turn[0], "arguments": turn[1]}],
        }

    told: set[str] = set()
    return model


def made_tools(shield: Shield, project: Path, commands: Commands) -> dict[str, Callable[..., Any]]:
    """The agent's tools. A refused call returns the words of the refusal, and the model reads them
    as the result."""

    @shield.tool(refusal="text")
    def read_file(path: str) -> str:
        return (project / path).read_text(encoding="utf-8")

    @shield.tool(refusal="text")
    def write_file(path: str, content: str) -> str:
        (project / path).write_text(content, encoding="utf-8")
        return f"{path} is written"

    @shield.tool(refusal="text")
    def shell(command: str) -> dict[str, Any] | str:
        came = commands.run(command)
        if not came.ended:
            return f"not run: {came.why}"
        return {
            "exit_code": came.rc,
            "output": (came.stdout + came.stderr).decode("utf-8", "replace"),
        }

    return {"read_file": read_file, "write_file": write_file, "shell": shell}


def work(
    run: Run, model: Callable[..., Any], tools: dict[str, Callable[..., Any]], task: str
) -> str:
    """The loop of the agent: ask the model, call the tools that it wants, and go on until it has an
    answer."""
    run.prompt(task)
    messages: list[Any] = [{"role": "user", "content": task}]
    while True:
        reply = run.model(model, messages, ended="raise")
        messages.append(reply)
        if not reply.get("tool_calls"):
            return str(reply["content"])
        for call in reply["tool_calls"]:
            result = tools[call["name"]](**call["arguments"])
            show(f"{call['name']} {next(iter(call['arguments'].values()))}", result)
            messages.append({"role": "tool", "content": result})


def show(what: str, came: Any) -> None:
    """Print one step: what was wanted, and what came of it."""
    if isinstance(came, dict):
        came = f"exit code {came['exit_code']}: {came['output'].strip().splitlines()[-1]}"
    print(f"{what}\n    {came.strip()}")


def main() -> int:
    """Let the agent work in a folder of its own, then verify what was recorded."""
    with tempfile.TemporaryDirectory(prefix="coding-agent-") as made:
        place = Path(made)
        place.chmod(
            0o755
        )  # commands of root run as somebody else, who has to be able to read the project
        project, trail = place / "project", place / "trail"
        project.mkdir()
        for name, text in PROJECT.items():
            (project / name).write_text(text, encoding="utf-8")
        python = Path(sys.base_prefix)
        sandbox = Sandbox(project, shown=[str(python)], env={"PATH": f"{python}/bin:/usr/bin:/bin"})
        shield = Shield.load(
            HERE / "policy.yaml", store=str(place / "state.db"), journal=str(trail)
        )
        with sandbox, shield:
            tools = made_tools(shield, project, Commands(sandbox, ["python3", "ls", "cat"]))
            try:
                with shield.run(agent="coder", task="mend-the-basket") as run:
                    work(run, scripted(), tools, "The total of the basket is wrong. Mend it.")
            except SandboxError as error:
                print(f"this machine cannot confine commands: {error}", file=sys.stderr)
                return 1
        return verified(trail)


def verified(trail: Path) -> int:
    """Have the trail checked by the command that checks any trail, and print its last line; gives
    its exit status."""
    command = [
        sys.executable,
        "-m",
        "stanchion",
        "audit",
        "verify",
        str(trail),
        "--store",
        str(trail.with_name("state.db")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print("\nthe trail is", (done.stdout or done.stderr).splitlines()[-1])
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
