"""The entry of the `stanchion` command: finds the command, runs it, words what went wrong."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

from stanchion import Shield, __version__
from stanchion.cli.parser import Parser, nearest
from stanchion.cli.terminal import say
from stanchion.cli.trouble import BadInput
from stanchion.runtime.places import broker_for

COMMANDS: Final = {
    "demo": "watch a scripted agent being kept safe",
    "init": "write a commented policy to start from",
    "lint": "find mistakes in a policy, and what cannot be meant",
    "check": "judge one event, or a stream of them, without doing anything",
    "explain": "say why something was decided, and what would have made it pass",
    "audit": "read, verify and export the trail of everything that was decided",
    "runs": "list runs and how they stand, or tell one in full",
    "budget": "show what is used and held of budgets, release holds, top one up",
    "state": "show what the store holds: shield state, counters, records, holds",
    "store": "go on with a store that was emptied, or restored from a backup",
    "safe-mode": "refuse every tool call and every retry, until it is switched off again",
    "halt": "stop everything, or everything of a scope, until an operator resumes it",
    "resume": "back to normal after a halt, safe mode, a quarantine or a warning",
    "quarantine": "isolate a tool, an agent or a run for a time, while others go on",
    "tools": "show how well each tool works, and reset one that is left alone",
    "operators": "say who may do what an agent may not, each with a key",
    "tickets": "list what waits for a person, and approve or deny it",
    "retention": "say what may leave the trail, where operators have to say so",
    "secrets": "allow what was taken for a secret and is none, and list what is known",
    "broker": "judge for agents of other users, who can reach neither policy nor state",
    "policy": "show a policy as it takes effect, compare two, list those that are shipped",
    "schema": "write the JSON Schema of policy files, for editors",
    "lab": "measure guards on labelled rows, and policies against attackers",
}
"""Every command and what it does; each lives in the module of its name, loaded when it is asked for."""

BAD_INPUT: Final = 2
INTERRUPTED: Final = 130
NOBODY_READS: Final = 141
CANNOT_WRITE: Final = 1

DESCRIPTION: Final = """\
Stanchion stands between an agent and everything it can touch. This command judges what an
agent is about to do, by the same policies and guards as the library, helps to write them,
and reads what was decided and what is counted."""

EPILOG: Final = """\
examples:
  stanchion demo
  stanchion init
  stanchion lint policy.yaml
  stanchion check --policy policy.yaml --agent writer-1 --tool bash --args '{"command": "ls"}'
  stanchion explain last
  stanchion audit tail -f

`stanchion COMMAND --help` explains a command."""

ShieldMaker = Callable[..., Shield]
"""Makes the shield for a policy that was named on the command line, and for one of its environments, `env`."""


def main(argv: Sequence[str] | None = None, load: ShieldMaker = Shield.load) -> int:
    """Run the command line and return its exit status; `load` makes the shield, for callers with their own."""
    try:
        status = _run(sys.argv[1:] if argv is None else list(argv), load)
        sys.stdout.flush()
        return status
    except BadInput as error:
        for line in error.lines:
            say(sys.stderr, f"stanchion: {line}")
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _leave_quietly()
        return NOBODY_READS
    except OSError as error:
        say(sys.stderr, f"stanchion: cannot go on: {error}")
        return CANNOT_WRITE


class Asked(NamedTuple):
    """The whole parser, and of the one command that was asked for its own parser and its module."""

    parser: Parser
    own: Parser
    module: Any = None


def parser_for(command: str | None) -> Asked:
    """A parser that lists every command and knows the options of one; without one nothing more is loaded."""
    parser = Parser(prog="stanchion", description=DESCRIPTION, epilog=EPILOG, usage="stanchion COMMAND [options]")
    parser.add_argument("--version", action="version", version=f"stanchion {__version__}", help="say the version")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", prog="stanchion")
    module = None
    for name, summary in COMMANDS.items():
        if name == command:
            module = import_module(f"stanchion.cli.{name.replace('-', '_')}")
            module.add(commands)
        else:
            commands.add_parser(name, help=summary)
    return Asked(parser, parser if command is None else commands.choices[command], module)


def _run(words: list[str], load: ShieldMaker) -> int:
    command = next((word for word in words if not word.startswith("-")), None)
    if command is not None and command not in COMMANDS:
        known = f"the commands are {', '.join(COMMANDS)}"
        raise BadInput(f"there is no command `{command}`: {nearest(command, COMMANDS, known)}")
    asked = parser_for(command)
    if not words:
        asked.parser.print_help()
        return 0
    try:
        args, extra = asked.parser.parse_known_args(words, argparse.Namespace(load=_on_a_store(load)))
    except SystemExit as done:
        return int(done.code or 0)
    if extra or asked.module is None:
        asked.own.unknown(extra if extra else words)
    status: int = asked.module.run(args)
    return status


def _on_a_store(load: ShieldMaker) -> ShieldMaker:
    """The same maker, which refuses a broker: what commands do is done on its store, where it runs."""

    def loaded(source: Any, **options: Any) -> Shield:
        if broker_for(source, options.get("store"), os.environ):
            raise BadInput(
                "commands work on a store, and a broker keeps its own: run them as the broker's user, "
                "with STANCHION_STATE_DIR set to its folder"
            )
        return load(source, **options)

    return loaded


def _leave_quietly() -> None:
    """Let the interpreter's last flush go nowhere: whoever read our output is gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
