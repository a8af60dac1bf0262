"""The entry of the `stanchion` command: finds the command, runs it, words what went wrong."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from stanchion import __version__
from stanchion.cli.command import Args, BadInput, DeclaredCommand, carry_out, nearest, parser_of
from stanchion.cli.terminal import note, warn
from stanchion.kernel.shown import StanchionError
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


GROUPS: Final = {
    "begin": {
        "demo": "watch a scripted agent being kept safe",
        "init": "write a commented policy to start from",
        "policy": "show a policy in effect, compare two, list the shipped ones",
        "policy lint": "find mistakes in a policy, and what is probably not intended",
        "policy schema": "write the JSON Schema of policy files, for editors",
        "test": "play the cases beside your policies, and say what none of them notices",
    },
    "guard coding agents": {
        "install": "have Claude Code or Codex call Stanchion before it does anything",
        "uninstall": "take the hooks of Stanchion out of the settings of a coding agent",
        "doctor": "find out whether a coding agent is really guarded, with its real program",
    },
    "judge": {
        "run": "run a command that can only reach what its policy names",
        "check": "judge one event, or a stream of them, without doing anything",
        "mcp": "stand between an MCP client and its servers",
        "mcp wrap": "put the servers of an MCP client behind Stanchion",
        "mcp unwrap": "restore the configuration of an MCP client",
        "hook": "answer the hooks of coding agents; run, show and stop the daemon for them",
        "broker": "judge for agents that run as other users, out of their reach",
        "tutor": "play a game in which only what is proven counts",
        "lab": "measure guards and policies, compile bundles for players of the Tutor",
    },
    "look": {
        "status": "show on one screen how everything stands, and what needs somebody",
        "report": "show what a policy would have done to past sessions of coding agents",
        "import": "write past sessions of coding agents into a trail",
        "explain": "explain why something was decided, and what would have made it pass",
        "audit": "read, verify and export the trail of everything that was decided",
        "audit coverage": "name what was executed without a decision",
        "runs": "list runs and their state, or show one in full",
        "budget": "show how much of each budget is used, release holds, raise a budget",
        "state": "show what the store holds: shield state, counters, records, holds",
        "tools": "show how well each tool works, and reset a breaker",
        "tools experience": "show how reliable tools are by experience, and prune or archive it",
        "tools sandbox": "show behind which walls commands can run on this machine",
        "metrics": "show what all processes have counted, for people and for Prometheus",
        "notify": "test the destinations of notices, list pending notices, and send them",
    },
    "operate": {
        "tickets": "list what waits for a person, and approve or deny it",
        "answers": "have tickets answered by link, and in a chat",
        "operators": "manage the people who may approve what an agent may not do",
        "state halt": "stop everything, or everything of a scope, until an operator resumes it",
        "state safe-mode": "refuse every tool call and every retry, until it is switched off",
        "state quarantine": "isolate a tool, an agent or a run for a time, while others continue",
        "state resume": "return to normal after a halt, safe mode, a quarantine or a warning",
        "state unlock": "release what an agent has locked",
        "state accept": "accept a store that was emptied or restored from a backup",
        "secrets": "allow a value that was mistaken for a secret, and list known kinds",
        "audit retention": "set which old records may be removed from the trail",
    },
}
"""Every command and what it does, in the groups in which they are listed."""

COMMANDS: Final = {name: about for each in GROUPS.values() for name, about in each.items()}

PLACES: Final = {
    "import": "report",
    "uninstall": "install",
    "state safe-mode": "states",
    "state halt": "states",
    "state quarantine": "states",
    "state resume": "states",
    "state unlock": "states",
    "state accept": "states",
    "tools experience": "experience",
    "tools sandbox": "sandbox",
    "policy lint": "lint",
    "mcp wrap": "mcp",
    "mcp unwrap": "mcp",
    "policy schema": "lint",
    "audit coverage": "coverage",
    "audit retention": "audit_leaving",
}
"""The modules of commands that have none of their name; each is loaded when it is asked for."""

ADDED: Final = {"lab": "lab", "test": "lab"}
"""The commands that another distribution brings, each with the extra that pulls it in."""

BAD_INPUT: Final = 2
INTERRUPTED: Final = 130
NOBODY_READS: Final = 141
CANNOT_WRITE: Final = 1

DESCRIPTION: Final = """\
usage: stanchion COMMAND [options]

Stanchion stands between an agent and everything it can touch. This command judges what an
agent is about to do, with the same policies and guards as the library. It also helps to
write policies, and shows decisions, budgets and state."""

EPILOG: Final = """
options:
  -h, --help   show this help message and exit
  --version    print the version

examples:
  stanchion demo
  stanchion init
  stanchion policy lint policy.yaml
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
    except (BadInput, StanchionError) as error:
        for line in getattr(error, "faults", (error,)):
            warn(f"{line}")
        return BAD_INPUT
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The interpreter's last flush goes nowhere: whoever read our output is gone.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS
    except OSError as error:
        warn(f"cannot continue: {error}")
        return CANNOT_WRITE


def command_of(name: str) -> DeclaredCommand:
    """The command of a name."""
    load_msgspec()
    called = f"{name.upper().replace('-', '_').replace(' ', '_')}_COMMAND"
    if name in ADDED:
        found: DeclaredCommand = getattr(_added(name), called)
    else:
        module = PLACES.get(name, name)
        found = getattr(import_module(f"stanchion.cli.{module}"), called)
    return found


def _entry_point(name: str) -> Any:
    from importlib.metadata import entry_points

    return next(iter(entry_points(group="stanchion.commands", name=name)), None)


def _added(name: str) -> Any:
    """The module of a command that another distribution brings; says what to install where it is
    missing."""
    found = _entry_point(name)
    install = (
        f"install the extra `{ADDED[name]}`, or from a checkout `pip install . ./{ADDED[name]}`"
    )
    if found is None:
        raise BadInput(f"`stanchion {name}` is not installed: {install}")
    if found.dist is not None and found.dist.version != __version__:
        theirs = f"{found.dist.name} {found.dist.version}"
        raise BadInput(f"`{theirs}` does not match stanchion {__version__}: {install}")
    try:
        return found.load()
    except ImportError as error:
        raise BadInput(f"`stanchion {name}` cannot be loaded: {error}: {install}") from None


def help_lines() -> Iterator[str]:
    """What the command says of itself: every command in its group."""
    yield DESCRIPTION
    for title, commands in GROUPS.items():
        yield f"\n{title}:"
        for name, about in commands.items():
            # The search among what is installed is dear, so only the list itself asks.
            if name not in ADDED or _entry_point(name) is not None:
                yield f"  {name:<16}  {about}"
    yield EPILOG


def _run(words: list[str], load: ShieldMaker | None) -> int:
    if not words or words[0] in ("-h", "--help", "--version"):
        each = [f"stanchion {__version__}"] if words[:1] == ["--version"] else help_lines()
        for lines in each:
            sys.stdout.write(f"{lines}\n")
        return 0
    name = next((name for name in (" ".join(words[:2]), words[0]) if name in COMMANDS), words[0])
    rest = words[1 + name.count(" ") :]
    if name.startswith("-"):
        advice = nearest(name, ("--help", "--version"), "see `stanchion --help`")
        raise BadInput(f"`stanchion` has no option `{name}`: {advice}")
    if name not in COMMANDS:
        for one in COMMANDS:
            if one.endswith(f" {name}"):
                raise BadInput(f"there is no command `{name}`: write `stanchion {one}`")
        known = f"the commands are {', '.join(COMMANDS)}"
        raise BadInput(f"there is no command `{name}`: {nearest(name, COMMANDS, known)}")
    command = command_of(name)
    parser = parser_of(name, command)
    if not rest and parser.needs_verb:
        for line in parser.verbs_help().splitlines():
            note(line)
        return BAD_INPUT
    try:
        args, extra = parser.parse_known_args(rest, Args(load=_on_a_store(load)))
    except SystemExit as done:
        return int(done.code or 0)
    if extra:
        parser.unknown(extra)
    return carry_out(name, command, args)


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
                warn(f"this command sends no notices: {fault}")
            return make(source, **options, notify=NOBODY)

    return loaded
