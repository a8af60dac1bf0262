"""What runs by itself: start-up files of shells, desktops, editors and interpreters, and programs
that others find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from stanchion.guards._own import FIRST
from stanchion.guards._protected import CHANGES, Held, Protected, Use
from stanchion.guards.files.protected.names import WORDS, words_in, words_of
from stanchion.guards.files.protected.seat import Area, Seat
from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import in_order, listed

RULES: Final = (
    FIRST,
    Protected(
        "a hook",
        ("**/.git/**/hooks/**", "**/.git/**/config", "**/.git/info/attributes"),
        CHANGES,
        asks=True,
    ),
    Protected(
        "a program that others find by its name",
        in_order(
            "**/node_modules/.bin/* **/.venv/bin/* **/venv/bin/* **/.venv/Scripts/* "
            "**/venv/Scripts/*"
        ),
        CHANGES,
        asks=True,
    ),
)

_STARTS: Final = regex(
    r"\.?(?:\w*(?:rc|profile|login|logout|aliases|functions|init|env|startup)(?:\.(?:d|local|ps1|"
    r"py|lua|vim|el|zsh|sh|bash))?"
    r"|xinitrc|xsession|pam_environment|forward|inputrc)\Z"
)
"""Names of what a shell or a tool runs when it begins."""
RUNS: Final = WORDS["runs"]
"""Words of folders whose files are run by themselves."""
SCRIPTS: Final = listed("sh bash zsh fish lua vim el ps1 bat cmd plist service timer desktop")
FOUND_ABOVE: Final = WORDS["found above"]
"""What tools look for in the folders above a project, too."""
GATHERS: Final = WORDS["gathers"]
"""Folders in which people gather their projects."""
_OF_APPLICATION: Final = regex(
    r"(?:user|personal|site|custom)?[-_]?(?:setup|startup|autoexec|autorun|init|launch|menu|"
    r"profile|main)(?:[-_]\w+)?"
    r"\.(?:py|lua|mel|ms|js|jsx|scr|lsp|vbs|ps1|bat|cmd|sh|jl|m|rb|tcl|el)\Z|(?:personal|normal|"
    r"startup)\.(?:xlsb|xlsm|xla|xlam|dotm|dot)\Z"
)
"""Names of what an application runs when it begins, kept among a person's documents."""
SHARED: Final = (("users", "public"), ("users", "shared"))
RUNNABLE: Final = SCRIPTS | {"exe", "dll", "app", "com", "scr", "msi", "py"}
"""What runs, in the folders that all who use a computer share."""
CACHED: Final = listed("cache caches cacache log logs tmp")
FREE: Final = WORDS["free"]
"""Folders in a home whose files nobody runs."""

SCRIPTED: Final = RUNS | listed(
    "scripts script macros python templates xlstart addins user presets"
)
"""Words of folders in which an application keeps what it runs."""
DEEPEST: Final = 5

START: Final = Held("what starts by itself")
PROGRAM: Final = Held("a program that others find by its name", asks=True)
PROJECT: Final = Held("a whole project", asks=True)
SETTINGS: Final = Held("settings that other programs follow", asks=True)
LIBRARY: Final = Held("what other programs load", asks=True)


def held(seat: Seat, use: Use) -> Held | None:
    """What would run without being asked for, once it is written outside of the project."""
    inside = None if use == "read" or not seat.sure else BY_AREA.get(seat.area)
    return None if inside is None else inside(seat, use)


def _of_tool(seat: Seat, _use: Use) -> Held | None:
    """What is in the folder of a tool."""
    folders = (seat.tool, *seat.inner[:-1])
    words = words_in(folders)
    if not seat.tool or not FREE.isdisjoint(folders) or not CACHED.isdisjoint(words):
        return None
    if _STARTS.match(seat.name) or not RUNS.isdisjoint(words) or _ending(seat) in SCRIPTS:
        return START
    return SETTINGS if CACHED.isdisjoint(words_of(seat.name)) else None


def _plainly(seat: Seat, use: Use) -> Held | None:
    """What is among a person's own things: above their projects, or where an application looks when
    it begins."""
    folders = seat.inner[:-1]
    if seat.all[:2] in SHARED and _ending(seat) in RUNNABLE:
        return PROGRAM
    if use == "delete" and seat.inner and "." not in seat.name[1:] and GATHERS.issuperset(folders):
        return PROJECT
    if seat.name in FOUND_ABOVE and GATHERS.issuperset(folders):
        return LIBRARY
    if folders[-1:] in (("powershell",), ("windowspowershell",)):
        return START
    if folders[:1] != ("documents",) or not 2 <= len(folders) <= DEEPEST or folders[1] in GATHERS:
        return None
    scripted = _OF_APPLICATION.match(seat.name) and not SCRIPTED.isdisjoint(words_in(folders[1:]))
    return START if scripted else None


def _ending(seat: Seat) -> str:
    return seat.name.rpartition(".")[2]


BY_AREA: Final[dict[Area, Callable[[Seat, Use], Held | None]]] = {
    "programs": lambda seat, _: PROGRAM if seat.inner else None,
    "libraries": lambda *_: LIBRARY,
    "plain": _plainly,
    "settings": _of_tool,
    "data": _of_tool,
}
