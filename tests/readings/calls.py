"""Calls that hold a command, drawn: names of tools × shapes of arguments × commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from shlex import split
from typing import Any, Final

PREFIXES: Final = (
    "",
    "mcp__box__",
    "mcp__my_server__",
    "box.",
    "tools/",
    "functions:",
    "acme_",
    "Acme",
    "x-",
)
RUNNING: Final = (
    "bash", "sh", "zsh", "shell", "terminal", "exec", "run_command", "execute_command",
    "docker_exec", "ssh_exec", "kubectl_exec", "run_script", "start_process", "spawn_process",
    "subprocess", "launch_program", "run_shell", "exec_command", "run_remote", "pod_exec",
    "write_stdin", "powershell", "cmd", "run_in_terminal", "invoke_command",
)  # fmt: skip
"""Names that say that a tool runs what it is given."""
SILENT: Final = (
    "helper",
    "do",
    "task",
    "deploy",
    "workspace_action",
    "ci",
    "agent",
    "server_tool",
    "box",
)
"""Names that say nothing."""
NAMED: Final = (
    "command",
    "cmd",
    "commandLine",
    "command_line",
    "Command",
    "build_command",
    "shell",
    "script",
    "bash",
)
OTHER: Final = ("what", "line", "q", "value", "todo", "payload")
COMMANDS: Final = (
    "rm -rf /",
    "rm -rf /etc",
    "rm -r -f /usr",
    "mkfs.ext4 /dev/sda1",
    "dd if=/dev/zero of=/dev/sda",
)
HONEST: Final = (
    "ls -la",
    "git status",
    "npm test",
    "cat README.md",
    "rm -rf ./build",
    "python -m pytest -q",
)

Shape = Callable[[str, str], dict[str, Any]]

SHAPES: Final[dict[str, Shape]] = {
    "text": lambda name, text: {name: text},
    "bytes": lambda name, text: {name: text.encode()},
    "argv": lambda name, text: {name: split(text)},
    "one line": lambda name, text: {name: [text]},
    "pieces": lambda name, text: {name: [text.rsplit(" ", 1)[0], text.rsplit(" ", 1)[1]]},
    "bash -c": lambda name, text: {name: ["bash", "-lc", text]},
    "program and words": lambda name, text: {name: split(text)[0], "args": split(text)[1:]},
    "program and a text": lambda name, text: {
        name: split(text)[0],
        "arguments": text.split(" ", 1)[1],
    },
    "program and tuple": lambda name, text: {
        name: split(text)[0],
        "params": tuple(split(text)[1:]),
    },
    "stdin": lambda name, text: {name: "sh", "stdin": text},
    "stdin through a pipe": lambda name, text: {name: "cat | bash -s", "stdin": text},
    "stdin of Python": lambda name, text: {
        name: "python3 -",
        "stdin": f"import os\nos.system({text!r})",
    },
    "nested": lambda name, text: {"params": {name: text}},
    "deep": lambda name, text: {"request": [{"steps": [{"do": {name: text}}]}]},
    "lists of words": lambda name, text: {name: [split(text)]},
    "JSON": lambda name, text: {"arguments": json.dumps({name: text})},
    "JSON in JSON": lambda name, text: {
        "input": json.dumps({"args": json.dumps({name: split(text)})})
    },
    "JSON of words": lambda name, text: {name: json.dumps(split(text))},
}


def spelled(rng: Random, name: str) -> str:
    """A name in one of the ways in which tools are called."""
    words = name.replace("-", "_").split("_")
    way = rng.choice(["as it is", "upper", "dashes", "camel", "title"])
    match way:
        case "upper":
            made = name.upper()
        case "dashes":
            made = "-".join(words)
        case "camel":
            made = words[0] + "".join([word.capitalize() for word in words[1:]])
        case "title":
            made = "".join([word.capitalize() for word in words])
        case _:
            made = name
    return rng.choice([each for each in PREFIXES if each != "Acme" or made[0].isupper()]) + made


CUT: Final = "pieces"
"""A shape that is read as lines as well: `rm -rf` by itself is not honest."""


def drawn(seed: int, commands: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """A call that holds one of these commands: its tool or its argument says so, or both."""
    rng = Random(seed)
    shape = rng.choice([name for name in sorted(SHAPES) if commands is not HONEST or name != CUT])
    runs = rng.random() < 0.6
    tool = spelled(rng, rng.choice(RUNNING)) if runs else rng.choice(SILENT)
    name = rng.choice(NAMED + OTHER if runs else NAMED)
    return tool, SHAPES[shape](name, rng.choice(commands))
