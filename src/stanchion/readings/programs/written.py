"""Written files: which files a piece of code writes or deletes, and whether it writes some that
nobody can tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.programs.calls import LONGEST, MANY, UNKNOWN, Code, CodeCall
from stanchion.readings.programs.files import WORDS, files_of
from stanchion.readings.programs.python import read_python
from stanchion.readings.programs.reader import read_code
from stanchion.readings.programs.tokens import AWK, SYNTAXES
from stanchion.readings.word_lists import Strings, listed

DEEPEST: Final = 3
"""How deep code is followed that code makes and runs."""
RUNS: Final = listed(
    "system popen execSync exec spawn spawnSync run call check_call check_output Popen getoutput"
)
SHELLS: Final = listed("os subprocess child_process sp Kernel")
_REDIRECTED: Final = regex(r">>?\s*(?:\"((?:[^\"\\]|\\.)*)\"|(?=[A-Za-z_$(]))")
_PRINTS: Final = regex(r"\bprintf?\b[^;}\n]*?")


class WrittenFilesOfCode(NamedTuple):
    """What a piece of code writes and deletes, and calls that write where nobody can tell."""

    writes: Strings = ()
    deletes: Strings = ()
    unknown: Strings = ()


TOO_LONG: Final = ("write", None, "code that is too long to be read")
LOADS: Final = listed("include require compile load assert")
"""Functions that run code, and of which nothing is said where the code is not known."""


def written_by(program: str, code: str) -> WrittenFilesOfCode:
    """What code writes that a program is given to run."""
    found: list[tuple[str, str | None, str]] = []
    waiting = [(code, 0)]
    while waiting:
        one, depth = waiting.pop()
        if len(one) > LONGEST or depth > DEEPEST:
            found.append(TOO_LONG)
            continue
        read = _read(program, one)
        if read is None:
            found.append(("write", None, program))
            continue
        if len(read.calls) >= MANY:
            found.append(TOO_LONG)
        for call in read.calls:
            found += [
                ("delete" if use == "delete" else "write", path, call.name)
                for use, path in files_of(call)
                if use != "read"
            ]
            if _starts_unknown(call):
                found.append(("write", None, call.name))
            if call.args and call.name in WORDS["evaluates"] - LOADS:
                made = call.args[0]
                if made is None:
                    found.append(("write", None, call.name))
                elif made != one:
                    waiting.append((made, depth + 1))
        if program.endswith("awk"):
            found += [("write", path, "print") for path in _redirected(one)]
    told: dict[str, dict[str, None]] = {"write": {}, "delete": {}, "": {}}
    for use, path, name in found:
        known = path is not None and not _is_unknown(path)
        told[use if known else ""][path if known and path is not None else name] = None
    return WrittenFilesOfCode(*map(tuple, told.values()))


def _starts_unknown(call: CodeCall) -> bool:
    """Whether a call starts a program of which nothing is known."""
    starts = call.name in RUNS and not SHELLS.isdisjoint(call.of.split("."))
    return starts and bool(call.args) and all(each is None for each in call.args)


def _read(program: str, code: str) -> Code | None:
    """What code calls; `None` where nobody here reads its language. What no Python accepts does
    nothing."""
    if program.startswith(("python", "pypy", "ipython")):
        read = read_python(code)
        return Code(()) if read is None else read
    syntax = SYNTAXES.get(program)
    return None if syntax is None else Code(()) if syntax is AWK else read_code(code, syntax)


def _is_unknown(path: str) -> bool:
    """Whether nothing is known of where a path begins."""
    return path[:1] == UNKNOWN and path[:5] != "$HOME"


def _redirected(code: str) -> Iterator[str | None]:
    """Where awk prints to: a text behind `>` in a statement that prints, or `None` for what nobody
    can tell."""
    for found in _PRINTS.finditer(code):
        statement = re.split("[;}]", code[found.end() :], maxsplit=1)[0]
        into = _REDIRECTED.search(statement)
        before = "" if into is None else statement[: into.start()]
        if into is not None and before.count("(") == before.count(")"):
            yield into[1]
