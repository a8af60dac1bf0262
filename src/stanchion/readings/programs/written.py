"""Written files: which files a piece of code writes or deletes, and whether it writes some that
nobody can tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.programs.calls import LONGEST, MANY, UNKNOWN, WORDS, Called, Code
from stanchion.readings.programs.effects import (
    DELETES,
    EVALUATES,
    LIBRARIES,
    OFTEN_OTHER,
    OPENS,
    OVERWRITES,
)
from stanchion.readings.programs.python import read_python
from stanchion.readings.programs.reader import DECLARES, read_code
from stanchion.readings.programs.syntax import AWK, SYNTAXES
from stanchion.readings.word_lists import listed

DEEPEST: Final = 3
"""How deep code is followed that code makes and runs."""
FIRST: Final = OVERWRITES | WORDS["first"]
"""Calls that write what their first argument names, or what they are called on where they have
none."""
SECOND: Final = WORDS["second"]
"""Calls that write what their second argument names; on a path, what their first one does."""
MOVES: Final = listed("move rename renames renameSync moveSync mv")
"""Those of them that leave nothing where it was."""
SAVES: Final = listed("save dump save_model save_weights")
"""Calls that put something into the file that any of their arguments names."""
UNPACKS: Final = listed("extractall unpack_archive extract")
RUNS: Final = WORDS["runs"]
SHELLS: Final = listed("os subprocess child_process sp Kernel")
NAMED: Final = WORDS["named"]
"""Arguments by name that say where something is written."""
FLAGS: Final = listed("O_WRONLY O_RDWR O_CREAT O_APPEND O_TRUNC")
ARCHIVES: Final = listed("ZipFile TarFile File BZ2File GzipFile LZMAFile new NamedTemporaryFile")
"""Calls that open a file as `open` does."""
PURE: Final = listed("BytesIO StringIO stdout stderr buffer")
"""What is written to and no file."""
_MODE: Final = regex(r"[rwaxbtU+]{1,4}(?::\w*)?")
_FILE: Final = regex(r"[^\s:?*\"<>|]*[/.][^\s:?*\"<>|]*")
_REDIRECTED: Final = regex(r">>?\s*(?:\"((?:[^\"\\]|\\.)*)\"|(?=[A-Za-z_$(]))")
_PRINTS: Final = regex(r"\bprintf?\b(?=([^;}]*))")


Use = tuple[str, str | None]
"""How a file is used, and its path where that is known."""
TOO_LONG: Final = ("write", None, "code that is too long to be read")
RUN_TEXT: Final = EVALUATES - listed("include require compile load assert")


class Written(NamedTuple):
    """What a piece of code writes and deletes, and calls that write where nobody can tell."""

    writes: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def written_by(program: str, code: str) -> Written:
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
        found += [TOO_LONG] * (len(read.calls) >= MANY)
        found += [(use, path, call.name) for call in read.calls for use, path in _uses(call)]
        waiting += [(each, depth + 1) for each in _run_by(read) if each != one]
        found += [("write", path, "print") for path in _redirected(program, one)]
    known = [(use, path) for use, path, _ in found if path is not None and not _is_unknown(path)]
    return Written(
        tuple(dict.fromkeys([path for use, path in known if use == "write"])),
        tuple(dict.fromkeys([path for use, path in known if use == "delete"])),
        tuple(dict.fromkeys([name for _, path, name in found if _is_unknown(path)])),
    )


def _run_by(read: Code) -> list[str]:
    """The code that a piece of code makes and runs, as far as it is known."""
    runs = [each for call in read.calls if call.name in RUN_TEXT for each in call.args[:1]]
    return [each for each in runs if each is not None]


def _read(program: str, code: str) -> Code | None:
    """What code calls; `None` where nobody here reads its language. What no Python accepts does
    nothing."""
    if program.startswith(("python", "pypy", "ipython")):
        read = read_python(code)
        return Code(()) if read is None else read
    syntax = SYNTAXES.get(program)
    return None if syntax is None else Code(()) if syntax is AWK else read_code(code, syntax)


def _is_unknown(path: str | None) -> bool:
    """Whether nothing is known of where a path begins."""
    return path is None or (path[:1] == UNKNOWN and path[:5] != "$HOME")


def _redirected(program: str, code: str) -> Iterator[str | None]:
    """Where awk prints to: a text behind `>` in a statement that prints, or `None` for what nobody
    can tell."""
    for found in _PRINTS.finditer(code) if program.endswith("awk") else ():
        statement = found[1]
        into = _REDIRECTED.search(statement)
        if into is not None and statement[: into.start()].count("(") == statement[
            : into.start()
        ].count(")"):
            yield into[1]


def _uses(call: Called) -> Iterator[Use]:
    """What one call writes and deletes."""
    library = not LIBRARIES.isdisjoint(call.of.replace("::", ".").split("."))
    yield from next((tell(call, library) for names, tell in USES if call.name in names), ())
    if call.name in RUN_TEXT and call.args[:1] == (None,):
        yield "write", None


def _first(call: Called) -> str | None:
    """The file that a call writes: its first argument, or the path that it is called on."""
    on_path = call.name in (
        "write_text",
        "write_bytes",
        "touch",
        "mkdir",
        "symlink_to",
        "hardlink_to",
        "chmod",
    )
    if on_path and (
        call.on is not None
        or not call.args
        or call.of.rpartition(".")[2] not in LIBRARIES - {"Path"}
    ):
        bare = not call.of and call.args
        return call.args[0] if bare else call.on
    if call.args:
        return call.args[0]
    named = [text for key, text in call.named if key in NAMED]
    return named[0] if named else call.on


def _moved(call: Called, library: bool) -> Iterator[Use]:
    """Where something is put, and what is gone from where it was."""
    args, name = call.args, call.name
    named = [text for key, text in call.named if key in NAMED]
    called = library or not (call.of or call.on is not None)
    if not called and name in OFTEN_OTHER and (name, len(args)) != ("replace", 1):
        return
    if not called or call.of.rpartition(".")[2] == "Path":  # `Path("a").rename("b")`
        if args:
            yield "write", args[0]
            yield "delete", call.on
        return
    if len(args) > 1:
        yield "write", args[-1] if name in ("cp", "mv", "cp_r", "ln_s") else args[1]
    elif args or named:
        yield "write", next(iter(named), None)
    yield from [("delete", each) for each in args[:1] if name in MOVES]


def _by_arrow(call: Called) -> list[Use]:
    """What Perl opens to be written: `open(F, ">x")`, `open(my $f, ">", "x")`; nothing where no
    arrow says so."""
    arrows = [at for at, each in enumerate(call.args) if (each or "").lstrip()[:1] in (">", "+")]
    if not arrows or "mode" in dict(call.named):
        return []
    said = (call.args[arrows[0]] or "").lstrip("+<> \t")
    into = said.partition(":")[0] if ":" in (call.args[arrows[0]] or "")[:4] else said
    return [("write", into or next(iter(call.args[arrows[0] + 1 :]), None))]


def _mode(call: Called) -> str | None:
    """The mode in which a call opens a file; `None` where nobody can tell."""
    if len(call.args) < 2:
        return dict(call.named).get("mode", "r")
    flags = " ".join(call.made_of)
    if not FLAGS.isdisjoint(call.made_of):
        return "w"
    return "r" if call.args[1] is None and (call.of == "os" or "O_" in flags) else call.args[1]


def _opened(call: Called, _library: bool) -> Iterator[Use]:
    """What is opened to be written. A mode that nobody can tell may be one for writing."""
    args, named = call.args, dict(call.named)
    by_arrow = _by_arrow(call)
    if by_arrow or call.name in DECLARES or (not PURE.isdisjoint(call.made_of) and not args):
        yield from by_arrow
        return
    lone = len(args) == 1 and args[0] is not None and _MODE.fullmatch(args[0]) is not None
    path = args[0] if args else named.get("file", named.get("path", named.get("name")))
    mode = _mode(call)
    if lone and (call.of or call.on is not None):  # `path.open("w")`
        path, mode = call.on, args[0]
    if call.name in ("File", "new") and mode == "r":
        return
    if mode is None or not frozenset("wax+").isdisjoint(mode):
        yield "write", path


def _saved(call: Called, library: bool) -> Iterator[Use]:
    """The file that one of the arguments names."""
    if not (call.args or call.named):
        return
    given = (*call.args, *[text for key, text in call.named if key in NAMED])
    files = [each for each in given if each is not None and _FILE.fullmatch(each) is not None]
    if files or (library and "open" not in call.made_of):
        yield "write", files[0] if files else None


def _unpacked(call: Called, _library: bool) -> Iterator[Use]:
    args, given = call.args, dict(call.named)
    into = args[1:] if call.name == "extract" else args
    if args or call.name != "extract":
        yield "write", args[-1] if into else given.get("path", given.get("extract_dir", "."))


def _ran(call: Called, _library: bool) -> Iterator[Use]:
    """What nobody can tell, where a shell is given what is not known."""
    if not SHELLS.isdisjoint(call.of.split(".")) and {*call.args} == {None}:
        yield "write", None


def _deleted(call: Called, library: bool) -> Iterator[Use]:
    args = call.args
    if library or call.name not in OFTEN_OTHER or (call.on is not None and not args):
        yield "delete", args[0] if args and call.of.rpartition(".")[2] != "Path" else call.on


def _put(call: Called, library: bool) -> Iterator[Use]:
    """What a library of files writes by a call that elsewhere means something else."""
    if library and call.args and call.of.rpartition(".")[2] in LIBRARIES:
        yield "write", call.args[0]


USES: Final[tuple[tuple[frozenset[str], Callable[[Called, bool], Iterable[Use]]], ...]] = (
    (OPENS | DECLARES | ARCHIVES, _opened),
    (RUNS, _ran),
    (DELETES, _deleted),
    (SECOND, _moved),
    (FIRST, lambda call, _: [("write", _first(call))]),
    (SAVES, _saved),
    (UNPACKS, _unpacked),
    (frozenset({"write"}), _put),
    (
        frozenset({"basicConfig"}),
        lambda call, _: [("write", text) for key, text in call.named if key == "filename"],
    ),
)
"""What calls write and delete, by their names."""
