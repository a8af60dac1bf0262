"""Lines for a shell's start file: whether they only set where programs are found, or let an own
program say more."""

from __future__ import annotations

from typing import Final, Literal

from stanchion.guards.shell.places import plain
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.partly_known import Open
from stanchion.readings.word_lists import listed

OWN: Final = listed(
    "~/.bashrc ~/.bash_profile ~/.bash_login ~/.profile ~/.zshrc ~/.zprofile ~/.zshenv "
    "~/.config/fish/config.fish"
)
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
_ANYTHING: Final = listed(
    "curl wget nc ncat sh bash dash zsh ksh python python3 perl ruby node php base64 xxd openssl "
    "ssh cat echo printf env xargs"
)
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
    if text is None or isinstance(text, Open) or command.privileged or not is_appended(command):
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
        if any(isinstance(word, Open) for word in words):
            return None
        return " ".join(words).replace("\\n", "\n")
    if command.name in ("cat", "tee") and (command.name == "tee" or not command.operands):
        return command.given
    return None
