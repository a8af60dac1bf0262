"""The entry of the `stanchion` command: finds the command, runs it, words what went wrong."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from stanchion import __version__
from stanchion.cli.options import add_options
from stanchion.cli.parser import Parser, nearest
from stanchion.cli.terminal import say
from stanchion.cli.trouble import BadInput
from stanchion.kernel.tuples import NamedTuple
from stanchion.telemetry.loggers import speak

if TYPE_CHECKING:
    from stanchion import Shield


# Loading `msgspec` for a command without what it does not need.
#
# `msgspec` takes `get_type_hints`, `Required` and `NotRequired` from `typing_extensions` where that
# is installed, and from `typing` where it is not. From Python 3.11 on they are the same there, and
# `typing_extensions` costs a third of the whole import. A process that is a command of ours has
# nobody else's imports to mind; a library never does this.

EXTENSIONS = "typing_extensions"


def load_msgspec() -> None:
    """Import `msgspec` as if `typing_extensions` was not installed; whoever imports that afterwards
    finds it."""
    modules: dict[str, Any] = sys.modules
    if "msgspec" in modules or EXTENSIONS in modules:
        return
    modules[EXTENSIONS] = None  # what makes its import fail
    try:
        import msgspec  # noqa: F401  # loaded here, used by everybody
    except ImportError:  # a version that cannot do without: the next import is an ordinary one
        for name in [name for name in modules if name.partition(".")[0] == "msgspec"]:
            del modules[name]
    finally:
        del modules[EXTENSIONS]


COMMANDS: Final = {
    "demo": "watch a scripted agent being kept safe",
    "init": "write a commented policy to start from",
    "lint": "find mistakes in a policy, and what is probably not intended",
    "check": "judge one event, or a stream of them, without doing anything",
    "explain": "explain why something was decided, and what would have made it pass",
    "audit": "read, verify and export the trail of everything that was decided",
    "coverage": "name what was executed without a decision",
    "runs": "list runs and their state, or show one in full",
    "budget": "show how much of each budget is used, release holds, raise a budget",
    "state": "show what the store holds: shield state, counters, records, holds",
    "metrics": "show what all processes have counted, for people and for Prometheus",
    "store": "accept a store that was emptied or restored from a backup",
    "safe-mode": "refuse every tool call and every retry, until it is switched off again",
    "halt": "stop everything, or everything of a scope, until an operator resumes it",
    "resume": "return to normal after a halt, safe mode, a quarantine or a warning",
    "quarantine": "isolate a tool, an agent or a run for a time, while others continue",
    "tools": "show how well each tool works, and reset a breaker",
    "experience": "show how reliable tools are by experience, and prune or archive it",
    "operators": "manage the people who may approve what an agent may not do",
    "tickets": "list what waits for a person, and approve or deny it",
    "retention": "set which old records may be removed from the trail",
    "secrets": "allow a value that was mistaken for a secret, and list known kinds",
    "mcp": "stand between an MCP client and its servers",
    "broker": "judge for agents that run as other users, out of their reach",
    "notify": "test the destinations of notices, list pending notices, and send them",
    "policy": "show a policy in effect, compare two, list the shipped ones",
    "tutor": "play a game in which only what is proven counts",
    "sandbox": "show behind which walls commands can run on this machine",
    "schema": "write the JSON Schema of policy files, for editors",
    "lab": "measure guards and policies, compile bundles for players of the Tutor",
}
"""Every command and what it does; each lives in the module of its name, loaded when it is asked
for."""

ADDED: Final = {"lab": "lab"}
"""The commands that another distribution brings, each with the extra that pulls it in."""

BAD_INPUT: Final = 2
INTERRUPTED: Final = 130
NOBODY_READS: Final = 141
CANNOT_WRITE: Final = 1

DESCRIPTION: Final = """\
Stanchion stands between an agent and everything it can touch. This command judges what an
agent is about to do, with the same policies and guards as the library. It also helps to
write policies, and shows decisions, budgets and state."""

EPILOG: Final = """\
examples:
  stanchion demo
  stanchion init
  stanchion lint policy.yaml
  stanchion check --policy policy.yaml --agent writer-1 --tool bash --args '{"command": "ls"}'
  stanchion explain last
  stanchion audit tail -f

`stanchion COMMAND --help` explains a command."""

ShieldMaker = Callable[..., "Shield"]
"""Makes the shield for a policy that was named on the command line, and for one of its
environments, `env`."""


def main(argv: Sequence[str] | None = None, load: ShieldMaker | None = None) -> int:
    """Run the command line and return its exit status; `load` makes the shield, for callers with
    their own."""
    speak()
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
        say(sys.stderr, f"stanchion: cannot continue: {error}")
        return CANNOT_WRITE


def _module_of(name: str) -> Any:
    load_msgspec()
    if name not in ADDED:
        return import_module(f"stanchion.cli.{name.replace('-', '_')}")
    return import_module("stanchion.cli.added").added(name, ADDED[name])


def _is_here(name: str) -> bool:
    """Whether a command is listed. The search among what is installed is dear, so only the list
    itself asks."""
    return name not in ADDED or import_module("stanchion.cli.added").is_installed(name)


class Asked(NamedTuple):
    """The whole parser, and of the one command that was asked for its own parser and its module."""

    parser: Parser
    own: Parser
    module: Any = None


def parser_for(command: str | None, alone: bool = False) -> Asked:
    """A parser that lists every command and knows the options of one; without one nothing more is
    loaded. Where nobody sees that list, the parser of the one command can stand `alone`."""
    parser = Parser(
        prog="stanchion",
        description=DESCRIPTION,
        epilog=EPILOG,
        usage="stanchion COMMAND [options]",
    )
    parser.add_argument(
        "--version", action="version", version=f"stanchion {__version__}", help="print the version"
    )
    commands = parser.add_subparsers(
        dest="command", metavar="COMMAND", title="commands", prog="stanchion"
    )
    module = None
    for name, summary in COMMANDS.items():
        if name == command:
            module = _module_of(name)
            if name in ADDED:
                module.add(commands)
                continue
            own = commands.add_parser(
                name,
                help=summary,
                usage=module.USAGE,
                description=module.DESCRIPTION,
                epilog=module.EPILOG,
            )
            add_options(own, module.OPTIONS)
        elif not alone and (command is not None or _is_here(name)):
            commands.add_parser(name, help=summary)
    return Asked(parser, parser if command is None else commands.choices[command], module)


def _run(words: list[str], load: ShieldMaker | None) -> int:
    command = next((word for word in words if not word.startswith("-")), None)
    if command is not None and command not in COMMANDS:
        known = f"the commands are {', '.join(COMMANDS)}"
        raise BadInput(f"there is no command `{command}`: {nearest(command, COMMANDS, known)}")
    asked = parser_for(command, alone=bool(words) and words[0] == command)
    if not words:
        asked.parser.print_help()
        return 0
    if words == [command] and asked.own.needs_verb:
        for line in asked.own.verbs_help().splitlines():
            say(sys.stderr, line)
        return BAD_INPUT
    try:
        args, extra = asked.parser.parse_known_args(
            words, argparse.Namespace(load=_on_a_store(load))
        )
    except SystemExit as done:
        return int(done.code or 0)
    if extra or asked.module is None:
        asked.own.unknown(extra if extra else words)
    status: int = asked.module.run(args)
    return status


def _on_a_store(load: ShieldMaker | None) -> ShieldMaker:
    """The same maker, which refuses a broker: what commands do is done on its store, where it
    runs."""

    def loaded(source: Any, **options: Any) -> Shield:
        from stanchion import Shield
        from stanchion.runtime.errors import NotifyError
        from stanchion.runtime.standing.listeners import NOBODY
        from stanchion.runtime.standing.places import broker_for

        if broker_for(source, options.get("store"), os.environ):
            raise BadInput(
                "commands work on a store, and a broker has its own: run them as the broker's "
                "user, with STANCHION_STATE_DIR set to its folder"
            )

        make = Shield.load if load is None else load
        try:
            return make(source, **options)
        except NotifyError as error:
            # Whoever halts a fleet must not be kept from it by a mistake in the file for notices.
            for fault in error.faults:
                say(sys.stderr, f"stanchion: this command sends no notices: {fault}")
            return make(source, **options, notify=NOBODY)

    return loaded


def _leave_quietly() -> None:
    """Let the interpreter's last flush go nowhere: whoever read our output is gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
