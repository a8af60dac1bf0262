"""Targets: the paths that a call names, and what would be done with each."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from shlex import join
from typing import Any, Final, Literal, NamedTuple

from stanchion.kernel.regex import regex
from stanchion.kernel.sizes import LIMITS, ReadLimits
from stanchion.readings import act_words as words
from stanchion.readings.act import ToolAct, Use, act_of
from stanchion.readings.commands import Held
from stanchion.readings.commands.shapes import Text
from stanchion.readings.names import letters, plain
from stanchion.readings.paths.included import patched
from stanchion.readings.paths.place import is_file_url
from stanchion.readings.texts import texts_given
from stanchion.readings.word_lists import in_order, listed

LONGEST: Final = 16_384
MOST: Final = 32

_HINT: Final = regex(r"['\"](?:~|/|\.{1,2}/|[A-Za-z]:[\\/]|file:)", re.IGNORECASE)
_CALL: Final = regex(
    r"\b(\w*(?:read|load|scan|file|glob|sniff|import)\w*)\s*\(\s*(\[?\s*(?:'[^']*'\s*,?\s*)+)",
    re.IGNORECASE,
)
"""A function that opens the files it is given: `read_text(…)`, `pg_read_file(…)`,
`LOAD_FILE(…)`."""
_CLAUSE: Final = regex(
    r"\b(from|join|attach(?:\s+database)?|infile|outfile|dumpfile|to|load|source|"
    r"import(?:\s+database)?|export\s+database)\s+'([^']+)'",
    re.IGNORECASE,
)
_TEXT: Final = regex(r"'([^']*)'")
WRITES: Final = in_order("outfile dumpfile to export")


def opened_by_sql(text: str) -> Iterator[tuple[str, Use]]:
    """The files that a statement opens, and whether it reads or writes them; a value that it only
    compares is none."""
    text = text[:LONGEST]
    if _HINT.search(text) is None:
        return
    for call in list(_CALL.finditer(text))[:MOST]:
        yield from [(path, "read") for path in _TEXT.findall(call[2]) if path]
    for clause in list(_CLAUSE.finditer(text))[:MOST]:
        yield clause[2], "write" if clause[1].lower().startswith(WRITES) else "read"


How = Literal["", "looks", "deep", "asks", "hunts"]

LONGEST_LOOSE: Final = 1_024
"""A longer text under a name that says nothing is not taken for a path."""

PATCHES: Final = listed("patch diff patchtext patchcontent unifieddiff")
"""Arguments that hold a patch, whose own headers say which files it changes; so does the `input` of
a tool for patches."""
STATEMENTS: Final = listed("sql query statement sqlquery sqlstatement querytext")
"""Arguments that hold SQL, which opens files by functions of its own."""
HUNTS: Final = listed("grep search find ripgrep rg scan")
SOUGHT: Final = listed("query pattern regex q search text term terms keyword keywords")
"""Arguments that say what is searched for."""
MIRRORS: Final = listed("mirror delete purge prune")
MIRRORED: Final = in_order("--delete --mirror /mir /purge --del")
LINKS: Final = listed("symlink link hardlink junction")
LINKED: Final = listed("linkpath linkname link linkfile")
"""Arguments that say where a link is put; what it leads to is seen from there."""
PATTERNS: Final = listed("pattern patterns glob globpattern includepattern include filepattern")
"""Arguments that say which files are looked for."""
UNPACKS: Final = listed("extract unzip untar unpack decompress inflate")
DEEP: Final = listed("grep search archive zip compress tar backup index upload")
LOOKS: Final = listed("list ls glob stat tree exists info")
STATS: Final = listed("info stat exists metadata")
ATTACHED: Final = listed(
    "attachment attachments attachmentpath attachmentpaths attachedfiles attach"
)
"""Arguments of what is sent that name files."""
SHOWS: Final = listed("read content contents get cat open view load")

_LOOKS: Final = regex(
    r"(?:/|~|\.{1,2}[/\\]|[A-Za-z]:[\\/]|\\\\|file:/|\$HOME\b|\$\{HOME\})[^\n]*\Z|[^\n]*\.\.[/\\%]"
)

_FILE: Final = regex(r"[^\s:@?*\"<>|]*(?:/[^\s:@?*\"<>|]*|[^\s:@?*\"<>|/.]\.[A-Za-z]\w{0,7})")
"""The name of a file, by a folder before it or by its ending."""


class PathTarget(NamedTuple):
    """A path in a call: how it would be used, whether it is surely one, the folder that it is seen
    from, whether the call only `looks` at it, or goes `deep` into what is below it, and whether it
    stands in a command, which runs in a process of its own."""

    text: str
    use: Use
    sure: bool = True
    base: str = ""
    how: How = ""
    commanded: bool = False


class Seeing(NamedTuple):
    """How calls are read: uses by tool, and uses by the argument's name."""

    tools: Callable[[str], Use | None]
    arguments: Mapping[str, Use]


def targets(
    tool: str,
    traits: tuple[str, ...],
    args: Mapping[str, Any],
    seeing: Seeing,
    commands: Sequence[Held],
    limits: ReadLimits = LIMITS,
) -> Iterator[PathTarget]:
    """The paths that a call names: by the names of their arguments, in lists and deeper down too;
    those of its commands; and texts under other names that look like one."""
    said = act_of(tool, traits)
    own: Use = seeing.tools(tool) or ("write" if _downloads(said, args) else said.use)
    base = next(
        (v for key, v in args.items() if type(v) is str and plain(str(key)) in words.STARTS), ""
    )
    if not LINKS.isdisjoint(said.words):
        yield from _linked(args, base)
        return
    if not HUNTS.isdisjoint(said.words) and any(map(_hunted, args.items())):
        hunted = _named(args, words.PATHS)
        yield from [PathTarget(value, "read", True, base, "hunts") for value in hunted]
    if _mirrors(args):
        put = _named(args, words.RESULTS | words.LOOSE_RESULTS)
        yield from [PathTarget(value, "delete", True, base) for value in put]
    for top, given in args.items():
        for command in commands:
            if command.where[0] == top:
                yield from _in_shell(command.text, base, limits)
        for key, text in _texts(top, given):
            yield from _in_text(key, text, base, own, said, seeing)


def _texts(top: str, given: Any) -> Iterator[tuple[str, str]]:
    """The texts of an argument, deeper down too, each with its name; but not the words of a
    command."""
    waiting: list[tuple[str, Any]] = [(top, given)]
    while waiting:
        key, value = waiting.pop()
        kind = type(value)
        if kind is dict:
            waiting += reversed([(str(name), each) for name, each in value.items()])
        elif kind is list:
            if plain(key) not in words.COMMANDS or not all(type(each) is str for each in value):
                waiting += reversed([(key, each) for each in value])
        elif kind is str and value:
            yield key, value


def targets_in(reading: Any) -> list[PathTarget]:
    """The paths of a call for all who lay down nothing of their own about tools and arguments:
    `reading.of` it."""
    return targets_seen(reading, PLAINLY, reading.commands)


def targets_seen(reading: Any, seeing: Seeing, commands: Sequence[Held]) -> list[PathTarget]:
    """The paths of a call and of these commands, read in a certain way."""
    event, limits = reading.event, reading.reader.limits
    found = list(targets(event.tool, event.traits, event.args, seeing, commands, limits))
    # What the caller writes into arguments says nothing of where a tool works; its name does.
    act = act_of(event.tool, event.traits)
    if not act.elsewhere or act.carries:
        return found
    return [one if one.commanded else one._replace(sure=False) for one in found]


PLAINLY: Final = Seeing(lambda _tool: None, {})
"""How calls are read where nothing else is said."""


def _hunted(pair: tuple[str, Any]) -> bool:
    from stanchion.readings.shell.paths import hunts

    key, value = pair
    return type(value) is str and plain(key) in SOUGHT and hunts(value)


def _named(args: Mapping[str, Any], names: Collection[str]) -> Iterator[str]:
    """The texts that arguments of these names have."""
    for key, value in args.items():
        if type(value) is str and value and plain(str(key)) in names:
            yield value


def _mirrors(args: Mapping[str, Any]) -> bool:
    """Whether a call deletes what is in one place and not in the other."""
    for key, value in args.items():
        if value is True and not MIRRORS.isdisjoint(letters(str(key))):
            return True
        if type(value) is list and any(
            type(each) is str and each.lower().startswith(MIRRORED) for each in value
        ):
            return True
    return False


PUT: Final = LINKED | words.RESULTS | words.LOOSE_RESULTS
TAKEN: Final = words.PATHS | words.SOURCES | words.LOOSE
NAMED: Final = words.PATHS | words.SOURCES | words.RESULTS


def _linked(args: Mapping[str, Any], base: str) -> Iterator[PathTarget]:
    """The paths of a call that makes a link: what it leads to is seen from the folder that the link
    is put in."""
    texts = {plain(str(key)): value for key, value in args.items() if type(value) is str and value}
    put = next((texts[key] for key in texts if key in PUT), "")
    folder = put.replace("\\", "/").rpartition("/")[0]
    whole = folder[:1] in ("/", "~") or folder[1:2] == ":" or not base
    start = folder if whole else f"{base}/{folder}".rstrip("/")
    start = start if put else base
    for key, text in texts.items():
        if text == put:
            yield PathTarget(text, "write", True, base)
        elif key in words.STARTS:
            yield PathTarget(text, "read")
        elif key in TAKEN:
            # What is read and what is written through the link is read and written there.
            yield from [PathTarget(text, use, True, start) for use in ("read", "write")]


def contents(args: Mapping[str, Any]) -> Iterator[str]:
    """The texts that a call would write into files, deeper down too."""
    for key, text in reversed([*texts_given(args)]):
        if plain(key) in words.WRITTEN:
            yield text


def _downloads(said: ToolAct, args: Mapping[str, Any]) -> bool:
    """Whether a call puts what an address holds into a file."""
    return "download" in said.words and any(plain(str(key)) in words.URLS for key in args)


def _in_text(
    key: str, text: str, base: str, own: Use, said: ToolAct, seeing: Seeing
) -> Iterator[PathTarget]:
    name = plain(key)
    given = seeing.arguments.get(key)
    if given is not None:
        yield PathTarget(text, given, True, base)
    elif name in words.COMMANDS:
        return
    elif "\n" not in text and name not in words.CONTENTS and is_file_url(text):
        yield PathTarget(text, "read" if name in words.URLS else own, True, base, _how(said))
    elif name in READ or (name == "input" and "patch" in said.words):
        yield from READ.get(name, _in_patch)(text, base)
    elif name in words.CONTENTS or ("\n" in text and name not in words.PATHS):
        return
    elif name in NAMED:
        sure = any((not said.api, said.of_files))
        yield PathTarget(text, _turned(name, own, said), sure, base, _how(said))
    elif len(text) <= LONGEST_LOOSE:
        yield from _loosely(name, text, base, own, said)


def _in_patch(text: str, base: str) -> list[PathTarget]:
    return [PathTarget(path, use, True, base) for path, use in patched(text)]


READ: Final[dict[str, Callable[[str, str], list[PathTarget]]]] = {
    **dict.fromkeys(PATCHES, _in_patch),
    **dict.fromkeys(words.STARTS, lambda text, _: [PathTarget(text, "read")]),
    **dict.fromkeys(
        STATEMENTS,
        lambda text, base: [
            PathTarget(path, use, False, base) for path, use in opened_by_sql(text)
        ],
    ),
}
"""What finds the paths in a text, by the name of its argument."""


def _loosely(name: str, text: str, base: str, own: Use, said: ToolAct) -> Iterator[PathTarget]:
    """A text under a name that does not surely say that it is a path."""
    looks = _LOOKS.match(text) is not None
    if name in ATTACHED and (looks or text[:1] == "." or _FILE.fullmatch(text) is not None):
        yield PathTarget(text, "read", True, base)
    elif name in words.LOOSE_RESULTS and looks and not UNPACKS.isdisjoint(said.words):
        yield PathTarget(text, "write", True, base, "deep")
    elif _is_put(name, text, looks, said):
        yield PathTarget(text, "write", True, base)
    elif name in words.LOOSE and (said.of_files or (said.verb and looks and not said.api)):
        yield PathTarget(text, _turned(name, own, said), True, base)
    elif looks:
        use = own if (said.of_files or said.verb) and name not in words.URLS else "read"
        yield PathTarget(text, use, said.of_files, base, "" if name in PATTERNS else _how(said))


def _is_put(name: str, text: str, looks: bool, said: ToolAct) -> bool:
    """Whether an argument surely says into which file a call puts something: by its own name, or
    because the tool's name says that its work ends in a file; and it is the name of one."""
    if said.reads_only or said.api or not (looks or _FILE.fullmatch(text) is not None):
        return False
    if name in words.PUTS:
        return not said.says
    return name in words.LOOSE_PUTS and not words.MAKES.isdisjoint(said.words)


def _in_shell(text: Text, base: str, limits: ReadLimits) -> Iterator[PathTarget]:
    from stanchion.readings.shell.paths import paths_in

    text = text if isinstance(text, str) else join(text)
    for path, use, start, how, sure in paths_in(text, limits):
        seen = start if start.startswith(("/", "~")) or not base else f"{base}/{start}"
        yield PathTarget(path, use, sure, seen, how, True)


def _how(said: ToolAct) -> How:
    """Whether a tool says where things are and no more, or goes through all that is in a folder."""
    if not DEEP.isdisjoint(said.words):
        return "deep"
    looks = not LOOKS.isdisjoint(said.words) and SHOWS.isdisjoint(said.words)
    return "looks" if looks or not STATS.isdisjoint(said.words) else ""


def _turned(name: str, own: Use, said: ToolAct) -> Use:
    """How one argument is used where a call takes from one place and puts into another."""
    if name in words.RESULTS or name in words.LOOSE_RESULTS:
        return "read" if own == "read" and name in words.LOOSE_RESULTS else "write"
    if name in words.SOURCES or name in words.LOOSE_SOURCES:
        return "delete" if said.moves else "read" if own == "write" else own
    return own
