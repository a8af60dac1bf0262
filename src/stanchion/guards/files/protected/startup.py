"""What runs by itself: start-up files of shells, desktops, editors and interpreters, and programs
that others find."""

from __future__ import annotations

from typing import Final

from stanchion.guards._own import FIRST
from stanchion.guards._protected import CHANGES, Held, Protected, Use
from stanchion.guards.files.protected.names import WORDS, words_in, words_of
from stanchion.guards.files.protected.seat import Area, Rows, Seat, first_of
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
    asked = () if use == "read" or not seat.sure else BY_AREA.get(seat.area, ())
    return first_of(asked, seat, use, seat.name)


def _is_of_application(seat: Seat, name: str) -> bool:
    """Whether an application runs a file when it begins that is kept among a person's documents."""
    folders = seat.inner[:-1]
    if folders[:1] != ("documents",) or not 2 <= len(folders) <= DEEPEST or folders[1] in GATHERS:
        return False
    return _OF_APPLICATION.match(name) is not None and not SCRIPTED.isdisjoint(
        words_in(folders[1:])
    )


OF_TOOL: Final[Rows] = (
    (lambda seat, *_: not seat.tool, None),
    (lambda seat, *_: not FREE.isdisjoint((seat.tool, *seat.inner[:-1])), None),
    (lambda seat, *_: not CACHED.isdisjoint(words_in((seat.tool, *seat.inner[:-1]))), None),
    (lambda _, __, name: _STARTS.match(name) or name.rpartition(".")[2] in SCRIPTS, START),
    (lambda seat, *_: not RUNS.isdisjoint(words_in((seat.tool, *seat.inner[:-1]))), START),
    (lambda _, __, name: CACHED.isdisjoint(words_of(name)), SETTINGS),
)
BY_AREA: Final[dict[Area, Rows]] = {
    "programs": ((lambda seat, *_: seat.inner, PROGRAM),),
    "libraries": ((lambda *_: True, LIBRARY),),
    # A person's own things: above their projects, or where an application looks when it begins.
    "plain": (
        (
            lambda seat, _, name: seat.all[:2] in SHARED and name.rpartition(".")[2] in RUNNABLE,
            PROGRAM,
        ),
        (
            lambda seat, use, name: (
                use == "delete"
                and seat.inner
                and "." not in name[1:]
                and GATHERS.issuperset(seat.inner[:-1])
            ),
            PROJECT,
        ),
        (
            lambda seat, _, name: name in FOUND_ABOVE and GATHERS.issuperset(seat.inner[:-1]),
            LIBRARY,
        ),
        (lambda seat, *_: seat.inner[-2:-1] in (("powershell",), ("windowspowershell",)), START),
        (lambda seat, _, name: _is_of_application(seat, name), START),
    ),
    "settings": OF_TOOL,
    "data": OF_TOOL,
}
"""What runs in the folders of a home, in the order in which it is asked."""
