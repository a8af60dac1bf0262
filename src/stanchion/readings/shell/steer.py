"""Steering: commands that change what other commands of a text are or whether they run, and those
that may print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from stanchion.kernel.names import names
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.known import WORDS
from stanchion.readings.shell.partly_known import Open
from stanchion.readings.word_lists import in_order, listed

STEERING: Final = WORDS["programs that steer a shell"]
"""Words of the shell that give names another meaning, set variables by name, end a text or have
something run later."""

VARIABLES: Final = names(sorted(WORDS["variables that steer programs"]))
"""Variables that say where programs are found, what is run before them, or which options they have
besides; those of runners by how their names begin."""
HARMLESS: Final = WORDS["harmless variables"]
"""Variables of runners that say nothing about what runs."""
SOURCES: Final = frozenset({"", ".", "src", "lib", "app", "$PYTHONPATH"})
HERE: Final = ("./", "$PWD/", "$(pwd…)/")
"""Folders of a project itself, in which Python may look for modules, and how one says where it
stands."""
COMPILING: Final = frozenset({"CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "RUSTFLAGS"})
"""Options of compilers: they say how a program is made, not whether it runs."""

SILENT: Final = frozenset(
    {"cd", "true", ":", "test", "[", "sleep", "export", "unset", "set", "mkdir"}
)
ACTIVATES: Final = in_order(
    "/.venv/bin/activate /venv/bin/activate /.venv/Scripts/activate /venv/Scripts/activate"
)
"""How the names of scripts end that have a shell use an environment; others may do anything."""
SCRATCH: Final = ("/tmp/", "/var/tmp/", "/dev/", "/private/tmp/")
"""Where environments are nobody's."""
SET: Final = listed("-e -u -eu -ue -o -eo -uo -euo -ueo +o pipefail errexit nounset")
"""What `set` may be given so that the rest of a text runs as it stands."""
CONFIGURING: Final = names(sorted(WORDS["files that configure runners"]))
"""Files that say what a runner of tests or a linter runs."""


def steers_by(variable: str, value: str) -> bool:
    """Whether a variable with that value says what programs are or what they do."""
    name = variable.upper()
    if name == "PYTHONPATH":
        return (isinstance(value, Open) and "$" not in value) or not all(
            map(_is_source, value.split(":"))
        )
    return name in VARIABLES and name not in COMPILING and name not in HARMLESS


def _is_source(folder: str) -> bool:
    path = f"{folder}/" if folder else ""
    for here in HERE:
        path = path.removeprefix(here)
    return path.rstrip("/") in SOURCES


def steers(commands: Sequence[Command], variables: Iterable[tuple[str, str]]) -> bool:
    """Whether one of the commands of a text, or a variable that it sets, may change what the others
    are."""
    if any(steers_by(name, value) for name, value in variables):
        return True
    programs = {command.name for command in commands}
    modules = {
        after for command in commands for word, after in pairwise(command.argv) if word == "-m"
    }
    return any(_steers(command) or _makes(command, programs | modules) for command in commands)


def prints(command: Command) -> bool:
    """Whether a command may print something."""
    argv = command.argv
    if not argv:
        return False
    if not command.known or (argv[0] not in SILENT and not _activates(command)):
        return True
    options = [word for word in argv[1:] if word.startswith("-")]
    match argv[0]:
        case "cd":
            return argv[1:2] == ("-",)
        case "mkdir":
            return bool(options) and options != ["-p"]
        case "export" | "set":
            return len(argv) == 1 or "-p" in options
        case _:
            return False


def _steers(command: Command) -> bool:
    argv = command.argv
    if any(steers_by(name, value) for name, value in command.settings):
        return True
    if not argv:
        return False
    if isinstance(argv[0], Open) or (argv[0] != "[" and any(char in argv[0] for char in "$*?[")):
        return True
    match argv[0]:
        case "source" | ".":
            return not _activates(command)
        case "set":
            return not SET.issuperset(argv[1:])
        case "export" | "unset":
            return any(isinstance(word, Open) or steers_by(*_setting(word)) for word in argv[1:])
        case "printf":
            return "-v" in argv[1:2]
        case _:
            return argv[0] in STEERING


def _setting(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name, value


def _activates(command: Command) -> bool:
    return (
        command.argv[0] in ("source", ".")
        and len(command.argv) == 2
        and command.known
        and f"/{command.argv[1]}".endswith(ACTIVATES)
        and not command.argv[1].startswith(SCRATCH)
        and not command.given
    )


def _makes(command: Command, run: set[str]) -> bool:
    """Whether a command writes or deletes a program that is run in the same text, or what says how
    it runs."""
    made = [path.rpartition("/")[2].lower() for path in (*command.writes, *command.deletes)]
    return any(
        name in CONFIGURING or name in run or name.removesuffix(".py") in run for name in made
    )
