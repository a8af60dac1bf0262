"""Steering: commands that change what other commands of a text are or whether they run, and those that may print."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from stanchion.guards.shell.command import Command
from stanchion.guards.shell.listing import listed
from stanchion.guards.shell.opening import Open
from stanchion.kernel.names import names

STEERING: Final = listed(
    """
    alias unalias eval exec exit return logout trap hash enable disable builtin shopt setopt unsetopt emulate autoload
    zmodload functions function source . read mapfile readarray getopts declare typeset local readonly fc bind complete
    suspend rehash
    """
)
"""Words of the shell that give names another meaning, set variables by name, end a text or have something run later."""

VARIABLES: Final = names(
    (
        "PATH", "FPATH", "CDPATH", "LD_*", "DYLD_*", "BASH_*", "ENV", "ZDOTDIR", "SHELL*", "BASHOPTS", "IFS", "PS4",
        "PROMPT_COMMAND", "FUNCTIONS", "ALIASES", "COMMANDS", "PYTHONHOME", "PYTHONSTARTUP", "PYTEST_*", "*ADDOPTS",
        "*OPT", "*OPTS", "*OPTIONS", "*FLAGS", "*_WRAPPER*", "*_RUNNER", "MAKEFILES", "NPM_CONFIG_*", "PERL5LIB",
        "RUBYLIB", "COMSPEC",
    )
)  # fmt: skip
"""Variables that say where programs are found, what is run before them, or which options they have besides."""
COMPILING: Final = frozenset({"CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "RUSTFLAGS"})
"""Options of compilers: they say how a program is made, not whether it runs."""

SILENT: Final = frozenset({"cd", "true", ":", "test", "[", "sleep", "export", "unset", "set", "mkdir"})
ACTIVATES: Final = ("/bin/activate", "/Scripts/activate")
"""How the names of scripts end that have a shell use an environment; others may do anything."""
SET: Final = listed("-e -u -eu -ue -o -eo -uo -euo -ueo +o pipefail errexit nounset")
"""What `set` may be given so that the rest of a text runs as it stands."""
CONFIGURING: Final = names(
    (
        "package.json", "makefile", "gnumakefile", "justfile", "taskfile.y*ml", "pytest.ini", "tox.ini", "setup.cfg",
        "pyproject.toml", "conftest.py", "noxfile.py", "tasks.py", "sitecustomize.py", "usercustomize.py",
        "cargo.toml", "config.toml", "go.mod", "pom.xml", "build.gradle*", "build.sbt", "rakefile", "composer.json",
        "phpunit.xml*", "*.config.js", "*.config.ts", "*.config.mjs", "*.config.cjs", "*rc", "*rc.js*", "*rc.y*ml",
        "*ruff.toml", "mypy.ini", ".flake8", ".pylintrc", ".env",
    )
)  # fmt: skip
"""Files that say what a runner of tests or a linter runs."""


def steers_by(variable: str) -> bool:
    """Whether a variable says what programs are or what they do."""
    name = variable.upper()
    return name in VARIABLES and name not in COMPILING


def steers(commands: Sequence[Command], variables: Iterable[str]) -> bool:
    """Whether one of the commands of a text, or a variable that it sets, may change what the others are."""
    if any(steers_by(name) for name in variables):
        return True
    programs = {command.name for command in commands}
    modules = {after for command in commands for word, after in pairwise(command.argv) if word == "-m"}
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
    if any(steers_by(name) for name, _ in command.settings):
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
            return any(isinstance(word, Open) or steers_by(word.partition("=")[0]) for word in argv[1:])
        case "printf":
            return "-v" in argv[1:2]
        case _:
            return argv[0] in STEERING


def _activates(command: Command) -> bool:
    return (
        command.argv[0] in ("source", ".")
        and len(command.argv) == 2
        and command.known
        and command.argv[1].endswith(ACTIVATES)
        and not command.given
    )


def _makes(command: Command, run: set[str]) -> bool:
    """Whether a command writes or deletes a program that is run in the same text, or what says how it runs."""
    made = [path.rpartition("/")[2].lower() for path in (*command.writes, *command.deletes)]
    return any(name in CONFIGURING or name in run or name.removesuffix(".py") in run for name in made)
