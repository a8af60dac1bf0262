"""Written files: which files a piece of code writes or deletes, and whether it writes some that
nobody can tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.programs.calls import LONGEST, MANY, UNKNOWN, Code, CodeCall
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
from stanchion.readings.programs.tokens import AWK, SYNTAXES
from stanchion.readings.word_lists import Strings, listed

DEEPEST: Final = 3
"""How deep code is followed that code makes and runs."""
FIRST: Final = OVERWRITES | listed(
    """
    mkdir makedirs mkdirSync mkdir_p mkdirs touch touch_file utime chmod chown lchown mknod mkfifo
    savefig to_csv to_excel to_parquet to_pickle to_feather to_hdf imwrite write_image write_html
    writeTextFile writeTextFileSync outputFile outputFileSync writeJson writeJsonSync ensureDir
    ensureFile set_key utimes chmodSync savetxt savez FileHandler RotatingFileHandler symlink_to
    hardlink_to
    """
)
"""Calls that write what their first argument names, or what they are called on where they have
none."""
SECOND: Final = listed(
    """
    copyfile copy2 copytree copyFile copyFileSync cpSync copySync renameSync rename renames symlink
    symlinkSync linkSync link move moveSync copy replace cp cp_r mv ln_s urlretrieve
    move_uploaded_file copy_file
    """
)
"""Calls that write what their second argument names; on a path, what their first one does."""
SAVES: Final = listed("save dump save_model save_weights")
"""Calls that put something into the file that any of their arguments names."""
UNPACKS: Final = listed("extractall unpack_archive extract")
RUNS: Final = listed(
    "system popen execSync exec spawn spawnSync run call check_call check_output Popen getoutput"
)
SHELLS: Final = listed("os subprocess child_process sp Kernel")
ON_PATHS: Final = listed("write_text write_bytes touch mkdir symlink_to hardlink_to chmod")
"""Those that are called on a path."""
NAMED: Final = listed(
    "path file filename fname dst dest destination output out path_or_buf excel_writer fp "
    "extract_dir"
)
"""Arguments by name that say where something is written."""
FLAGS: Final = listed("O_WRONLY O_RDWR O_CREAT O_APPEND O_TRUNC")
ARCHIVES: Final = listed("ZipFile TarFile File BZ2File GzipFile LZMAFile new NamedTemporaryFile")
"""Calls that open a file as `open` does."""
PURE: Final = listed("BytesIO StringIO stdout stderr buffer")
"""What is written to and no file."""
_MODE: Final = regex(r"[rwaxbtU+]{1,4}(?::\w*)?")
_FILE: Final = regex(r"[^\s:?*\"<>|]*[/.][^\s:?*\"<>|]*")
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
            found += [(use, path, call.name) for use, path in _uses(call)]
            if call.args and call.name in EVALUATES - LOADS:
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


def _uses(call: CodeCall) -> Iterator[tuple[str, str | None]]:
    """What one call writes and deletes."""
    name, args = call.name, call.args
    library = call.is_of(LIBRARIES)
    if name in OPENS or name in DECLARES or (name in ARCHIVES and (args or call.named)):
        yield from _opened(call)
    elif (
        name in RUNS
        and not SHELLS.isdisjoint(call.of.split("."))
        and args
        and all(each is None for each in args)
    ):
        yield "write", None
    elif name in DELETES and (
        library or name not in OFTEN_OTHER or (call.on is not None and not args)
    ):
        yield "delete", args[0] if args and call.owner != "Path" else call.on
    elif name in SECOND and (
        library or name not in OFTEN_OTHER or _is_bare(call) or (name, len(args)) == ("replace", 1)
    ):
        yield from _moved(call, library)
    elif name == "basicConfig":
        yield from [("write", text) for key, text in call.named if key == "filename"]
    elif name in FIRST:
        yield "write", _first(call)
    elif name == "write" and library and args and call.owner in LIBRARIES:
        yield "write", args[0]
    elif name in SAVES and (args or call.named):
        paths = (*args, *_named(call))
        files = [each for each in paths if each is not None and _FILE.fullmatch(each) is not None]
        if files or (library and "open" not in call.made_of):
            yield "write", files[0] if files else None
    elif name in UNPACKS and (name != "extract" or call.args):
        given = dict(call.named)
        path = given.get("path", given.get("extract_dir", "."))
        yield "write", args[-1] if args and not (name == "extract" and len(args) == 1) else path


def _named(call: CodeCall) -> list[str | None]:
    """What a call is given by a name that says where something is written."""
    return [text for key, text in call.named if key in NAMED]


def _is_bare(call: CodeCall) -> bool:
    """Whether a call is one of a function, not of a method."""
    return not call.of and call.on is None


def _first(call: CodeCall) -> str | None:
    """The file that a call writes: its first argument, or the path that it is called on."""
    on_path = call.name in ON_PATHS
    if on_path and (call.on is not None or not call.args or call.owner not in LIBRARIES - {"Path"}):
        bare = not call.of and call.args
        return call.args[0] if bare else call.on
    if call.args:
        return call.args[0]
    return next(iter(_named(call)), call.on)


def _moved(call: CodeCall, library: bool) -> Iterator[tuple[str, str | None]]:
    """Where something is put, and what is gone from where it was."""
    args, name = call.args, call.name
    if call.owner == "Path" or not (library or _is_bare(call)):  # `Path("a").rename("b")`
        if args:
            yield "write", args[0]
            yield "delete", call.on
        return
    if len(args) > 1:
        yield "write", args[-1] if name in ("cp", "mv", "cp_r", "ln_s") else args[1]
    elif args or _named(call):
        yield "write", next(iter(_named(call)), None)
    if args and name in ("move", "rename", "renames", "renameSync", "moveSync", "mv"):
        yield "delete", args[0]


def _opened(call: CodeCall) -> Iterator[tuple[str, str | None]]:
    """What is opened to be written. A mode that nobody can tell may be one for writing."""
    args, named = call.args, dict(call.named)
    arrows = [
        (at, each)
        for at, each in enumerate(args)
        if each is not None and each.lstrip()[:1] in (">", "+")
    ]
    if arrows and "mode" not in named:  # Perl: `open(F, ">x")`, `open(my $f, ">", "x")`
        at, each = arrows[0]
        into = each.lstrip("+<> \t").partition(":")[0] if ":" in each[:4] else each.lstrip("+<> \t")
        yield "write", into if into else (args[at + 1] if at + 1 < len(args) else None)
        return
    if call.name in DECLARES or (not PURE.isdisjoint(call.made_of) and not args):
        return
    lone = len(args) == 1 and args[0] is not None and _MODE.fullmatch(args[0]) is not None
    if lone and (call.of or call.on is not None):  # `path.open("w")`
        path, mode = call.on, args[0]
    else:
        path = args[0] if args else named.get("file", named.get("path", named.get("name")))
        mode = args[1] if len(args) > 1 else named.get("mode", "r") if "mode" in named else "r"
        if len(args) > 1 and not FLAGS.isdisjoint(call.made_of):
            mode = "w"
        elif (
            len(args) > 1
            and mode is None
            and (call.of == "os" or any("O_" in each for each in call.made_of))
        ):
            mode = "r"
    if call.name in ("File", "new") and mode == "r":
        return
    if mode is None or any(letter in mode for letter in "wax+"):
        yield "write", path
