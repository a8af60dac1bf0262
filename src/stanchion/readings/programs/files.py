"""Files of calls: what one call of any language reads, writes and deletes. What code does, and what
it changes, both ask this."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from stanchion.kernel.regex import regex
from stanchion.readings.programs.calls import CodeCall
from stanchion.readings.word_lists import Strings, listed, sections

WORDS: Final = sections("stanchion.readings.programs", "words.txt")
"""The names of calls, by what they do; `words.txt` lists them."""
LIBRARIES: Final = WORDS["libraries"]
OPENS: Final = WORDS["opens"]
OPTIONS: Final = listed("append write create truncate create_new")
"""How Rust says that a file is opened to be written."""
FLAGS: Final = listed("O_WRONLY O_RDWR O_CREAT O_APPEND O_TRUNC")
DECLARES: Final = listed("my our local const let var global static")
PURE: Final = listed("BytesIO StringIO stdout stderr buffer")
"""What is written to and no file."""
BEHIND: Final = listed("cp mv cp_r ln_s")
"""Calls whose last argument is where they put something, however many there are."""
MOVES: Final = listed("move rename renames renameSync moveSync mv")
NAMED: Final = listed(
    "path file filename fname dst dest destination output out path_or_buf excel_writer fp "
    "extract_dir"
)
"""Arguments by name that say where something is written."""
_MODE: Final = regex(r"[rwaxbtU+]{1,4}(?::\w*)?")
_FILE: Final = regex(r"[^\s:?*\"<>|]*[/.][^\s:?*\"<>|]*")

FileUse = Literal["read", "open", "write", "make", "delete"]
"""What becomes of a file; `open` where nobody can tell whether it is written, `make` where nothing
in it is lost."""
FileUses = Iterator[tuple[FileUse, str | None]]
"""The files of a call; `None` for one that nobody knows."""


def files_of(call: CodeCall) -> FileUses:
    """What a call reads, writes and deletes."""
    name, args = call.name, call.args
    if name in OPENS or name in DECLARES or (name in ARCHIVES and (args or call.named)):
        yield from _opened(call)
    elif name in WORDS["deletes"] and is_of_files(call):
        given = [each for each in args if each is not None] if call.owner != "Path" else []
        yield from [("delete", each) for each in given or args[:1] or (call.on,)]
    elif name in WORDS["puts second"]:
        if is_of_files(call) or (name, len(args)) == ("replace", 1):
            yield from _moved(call)
    elif name in WORDS["overwrites"] or (name == "write" and call.owner in LIBRARIES and args):
        yield "write", _first(call)
    elif name in WORDS["makes"]:
        yield "make", _first(call)
    elif name == "basicConfig":
        yield from [("make", text) for key, text in call.named if key == "filename"]
    elif name in WORDS["saves"] and (args or call.named):
        files = [each for each in (*args, *_named(call)) if each and _FILE.fullmatch(each)]
        if files or (call.is_of(LIBRARIES) and "open" not in call.made_of):
            yield "make", files[0] if files else None
    elif name in UNPACKS and (name != "extract" or args):
        given_by_name = dict(call.named)
        into = given_by_name.get("path", given_by_name.get("extract_dir", "."))
        yield "make", args[-1] if args and not (name == "extract" and len(args) == 1) else into
    if name in WORDS["reads"] or name == "connect":
        yield "read", _first(call)


ARCHIVES: Final = listed("ZipFile TarFile File BZ2File GzipFile LZMAFile new NamedTemporaryFile")
"""Calls that open a file as `open` does."""
UNPACKS: Final = listed("extractall unpack_archive extract")


def is_of_files(call: CodeCall) -> bool:
    """Whether a call is about files: its name says so, or what it is called on does, or nothing
    says otherwise."""
    if call.name not in WORDS["often other"] or not (call.of or call.on is not None):
        return True
    return call.is_of(LIBRARIES) or (call.on is not None and not call.args)


def _named(call: CodeCall) -> Strings:
    """What a call is given by a name that says where something is written."""
    return tuple([text for key, text in call.named if key in NAMED and text is not None])


def _first(call: CodeCall) -> str | None:
    """The file that a call names first: by its first argument, or the path that it is called on."""
    args = call.args
    if call.name in WORDS["on paths"] and (
        call.on is not None or not args or call.owner not in LIBRARIES - {"Path"}
    ):
        return args[0] if args and not call.of else call.on
    return args[0] if args else next(iter(_named(call)), call.on)


def _moved(call: CodeCall) -> FileUses:
    """Where something is put, and what is gone from where it was."""
    args, name = call.args, call.name
    bare = not call.of and call.on is None
    if call.owner == "Path" or not (call.is_of(LIBRARIES) or bare):  # `Path("a").rename("b")`
        yield from (("make", args[0]), ("delete", call.on)) if args else ()
        return
    if len(args) > 1:
        yield "make", args[-1 if name in BEHIND else 1]
    elif args or _named(call):
        yield "make", next(iter(_named(call)), None)
    if args and name in MOVES:
        yield "delete", args[0]


def _opened(call: CodeCall) -> FileUses:
    """A file that is opened, to be read or written."""
    args, named, made = call.args, dict(call.named), call.made_of
    arrows = [at for at, each in enumerate(args) if each and each.lstrip()[:1] in (">", "+")]
    if arrows and "mode" not in named:  # Perl: `open(F, ">x")`, `open(my $f, ">", "x")`
        each = str(args[arrows[0]]).lstrip("+<> \t")
        into = each.partition(":")[0] if ":" in each[:4] else each
        yield "write", into or (*args[arrows[0] + 1 :], None)[0]
        return
    if call.name in DECLARES or (not PURE.isdisjoint(made) and not args):
        return
    if args[1:2] == ("<",):  # `open my $f, "<", "x"`
        yield "read", (*args[2:], None)[0]
        return
    lone = len(args) == 1 and args[0] is not None and _MODE.fullmatch(args[0]) is not None
    if lone and (call.of or call.on is not None):  # `path.open("w")`
        path, mode = call.on, args[0]
    else:
        path = args[0] if args else named.get("file", named.get("path", named.get("name", call.on)))
        mode = args[1] if len(args) > 1 else named.get("mode", "r")
    flags = [each for each in made if "O_" in each]
    if len(args) > 1 and mode is None and (flags or call.of == "os"):
        mode = "r"
    writes = not FLAGS.isdisjoint(flags) and len(args) > 1
    writes = writes or ("OpenOptions" in call.of and not OPTIONS.isdisjoint(call.of.split(".")))
    if writes or (mode is not None and any(letter in mode for letter in "wax+")):
        yield "write", path
    elif call.name not in ("File", "new"):
        yield "open" if mode is None else "read", path
