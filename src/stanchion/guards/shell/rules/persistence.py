"""Persistence: what would run again later, or let somebody in again."""

from __future__ import annotations

from typing import Final, Literal

from stanchion.guards.shell.places import WORDS, Roots, plain
from stanchion.guards.shell.rule import CHECKS, asked
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.partly_known import OpenText
from stanchion.readings.word_lists import listed

OWN: Final = WORDS["start files of the user alone"]
"""Start files of the user alone."""

Lines = Literal["sets", "asks", "other"]
"""They set variables that no program takes for a command; they run what a program on this host
prints; or anything."""

_PLACE: Final = (
    r"(?:\$\{?PATH\}?|(?:\$\{?HOME\}?|~|\$\{?[A-Z]\w*_(?:HOME|ROOT|DIR)\}?|/usr|/opt|/home|/Users)"
    r"(?:/(?!\.\.)[\w.@+-]+)*)"
)
_SETS: Final = regex(
    rf"""(?:export\s+)?(?:PATH|MANPATH|FPATH|GOPATH|GOBIN|[A-Z][A-Z0-9_]*_(?:HOME|ROOT|DIR))="""
    rf"""(["']?){_PLACE}(?::{_PLACE})*\1|(?:export\s+)?(?:LANG|LC_[A-Z]+|TZ)=["']?[\w./-]*["']?"""
    rf"""|path\+?=\({_PLACE}(?:\s+\$path)?\)|fish_add_path\s+{_PLACE}|set\s+-gx\s+PATH(?:\s+{_PLACE})+"""
)
SPEAKING: Final = listed("completion completions complete init hook shellenv activate env alias")
"""Words with which programs say what a start file should have of them."""
_MORE: Final = r"(?:\s+-{0,2}[\w.=/-]*)*"
_ASKS: Final = regex(
    rf"""eval\s+"?\$\(([A-Za-z][\w.-]*){_MORE}\)"?|(?:source|\.)\s+<\(([A-Za-z][\w.-]*){_MORE}\)"""
)
_ANYTHING: Final = WORDS["programs that print whatever somebody else wrote"]
"""Programs that print whatever somebody else wrote."""


def is_appended(command: Command) -> bool:
    """Whether a command only adds to start files of the user."""
    if command.name == "tee":
        return bool(command.flags & {"-a", "--append"}) and all(
            plain(path) in OWN for path in command.operands
        )
    return all(
        op == ">>" and plain(path) in OWN
        for op, path in command.opens
        if ">" in op and path != "/dev/null"
    )


def lines_of(command: Command) -> Lines:
    """What the lines are that a command adds; anything where they are not known."""
    if _speaks_for_itself(command):
        return "asks"
    text = _text(command)
    if text is None or isinstance(text, OpenText) or command.privileged or not is_appended(command):
        return "other"
    asks = False
    for line in text.split("\n"):
        line = line.strip()
        if not line or line[0] == "#" or _SETS.fullmatch(line) is not None:
            continue
        found = _ASKS.fullmatch(line)
        if found is None or not _ANYTHING.isdisjoint(found.groups()):
            return "other"
        asks = True
    return "asks" if asks else "sets"


def _speaks_for_itself(command: Command) -> bool:
    """Whether what is added is what a program on this host prints about itself: `gh completion -s
    zsh >> ~/.zshrc`."""
    if (
        command.name in _ANYTHING
        or not command.known
        or command.given is not None
        or "/" in "".join(command.argv)
    ):
        return False
    words = [word.lower() for word in command.operands]
    return not command.privileged and is_appended(command) and not SPEAKING.isdisjoint(words)


def _text(command: Command) -> str | None:
    if command.name == "echo":
        words = [word for word in command.argv[1:] if word not in ("-n", "-e", "-E")]
        if any(isinstance(word, OpenText) for word in words):
            return None
        return " ".join(words).replace("\\n", "\n")
    if command.name in ("cat", "tee") and (command.name == "tee" or not command.operands):
        return command.given
    return None


STARTS: Final = WORDS["files that run at every start"]
FOLDERS: Final = tuple(sorted(WORDS["folders whose files run at every start"]))


def _added(command: Command) -> str:
    """What is added to a file that runs at every start; empty where it is none."""
    if not any(map(_is_start, command.targets)):
        return ""
    return lines_of(command)


_AUTOLOADED: Final = regex(
    r"~/(?:\.bash_aliases|\.tmux\.conf|\.(?:g|n)?vimrc|\.emacs(?:\.d/init\.el)?|\.screenrc|"
    r"\.inputrc|\.config/(?:nvim|fish|"
    r"autostart|systemd|environment\.d)/.*|\.local/lib/python[\d.]+/site-packages/.*(?:\.pth|"
    r"customize\.py))"
)
"""What programs of a home run whenever they start."""


_LOADED: Final = regex(
    r"~/\.[\w.-]+/(?:.+/)?(?:[\w-]+\.d|plugins?|autoload|extensions|hooks|startup|addons)/.+"
    r"|~/\.[\w-]+/(?:settings|hooks|mcp|mcp_config)(?:\.local)?\.(?:jsonc?|toml|ya?ml)"
)
"""What tools load from their folder in a home, by what such folders and files are called: plugins,
hooks, settings of agents."""


@asked
def loaded(command: Command, _roots: Roots) -> bool:
    targets = command.targets
    return any(_LOADED.fullmatch(_in_home(path)) is not None for path in targets)


def _in_home(path: str) -> str:
    """A path as it is compared, in whosever home it is."""
    where = plain(path)
    for home in ("/root/", "/home/", "/Users/"):
        if where.startswith(home):
            rest = where[len(home) :]
            return "~/" + (rest if home == "/root/" else rest.partition("/")[2])
    return where


def _is_start(path: str) -> bool:
    where = _in_home(path)
    return where in STARTS or where.startswith(FOLDERS) or _AUTOLOADED.fullmatch(where) is not None


@asked
def names_program(command: Command, _roots: Roots) -> bool:
    """Whether a setting names a program that is none of the system's: by its path, or as a text."""
    value = command.operands[-1]
    return (
        value.startswith(("/tmp", "/dev/shm", "/var/tmp", "./", "!", "sh ", "bash "))
        or "|" in value
    )


@asked
def replaces_table(command: Command, _roots: Roots) -> bool:
    if command.flags & {"-l", "-e", "-V", "-r"}:
        return False
    old = {"crontab", "grep", "sed", "cat", "sudo"}
    kept = "crontab" in command.origin and old.issuperset(
        [each for each in command.origin if not each.startswith("<")]
    )
    return not kept and (bool(command.operands) or command.given is not None)


CHECKS.update(
    {
        "starts": lambda command, _: _added(command) == "other",
        "starts_own": lambda command, _: _added(command) == "asks",
        "sets_path": lambda command, _: _added(command) == "sets",
        "hooks": lambda command, _: any(
            ".git/hooks/" in path and not path.endswith(".sample") for path in command.targets
        ),
    }
)
