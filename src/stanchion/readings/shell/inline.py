"""Code of other languages on a command line: the commands and deletions in it, found by a small
scan."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.shell.escapes import unescape
from stanchion.readings.shell.limits import Meter
from stanchion.readings.word_lists import listed


class Language(NamedTuple):
    """How a program takes code: the options before it, or as its first operand."""

    options: tuple[str, ...]
    program: bool = False


PYTHON: Final = Language(("-c",))
E_CODE: Final = Language(("-e", "-E", "--eval", "-p", "--print"))
POWERSHELL: Final = Language(("-command", "-c", "/c", "/command"))
LANGUAGES: Final[dict[str, Language]] = {
    **dict.fromkeys(
        listed(
            "python python2 python3 python3.8 python3.9 python3.10 python3.11 python3.12 "
            "python3.13 python3.14 pypy pypy3 ipython"
        ),
        PYTHON,
    ),
    **dict.fromkeys(
        listed("perl ruby node nodejs bun lua lua5.1 lua5.3 lua5.4 groovy jrunscript "
               "tsx ts-node"), E_CODE
    ),
    "deno": Language(("eval",)),
    "php": Language(("-r",)),
    "osascript": Language(("-e",)),
    "tclsh": Language(()),
    "expect": Language(("-c",)),
    "gdb": Language(("-ex", "--eval-command")),
    "vim": Language(("-c", "--cmd")),
    "powershell": POWERSHELL,
    "pwsh": POWERSHELL,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), Language((), True)),
}  # fmt: skip


NO_FILES: Final[Mapping[str, str]] = MappingProxyType({})


def clustered(word: str, options: tuple[str, ...]) -> bool:
    """Whether short options stand together, the last of which takes code: `-ne`."""
    return (
        len(word) in (3, 4, 5)
        and word[0] == "-"
        and word[1].isalpha()
        and f"-{word[-1]}" in options
        and word not in options
        and word[1] != "-"
    )


def codes_in(
    argv: tuple[str, ...],
    given: str | None,
    language: Language,
    files: Mapping[str, str] = NO_FILES,
) -> list[str]:
    """The code that a program is given: behind its options, as its first operand, by its input or
    in a file."""
    args = argv[1:]
    low = language is POWERSHELL
    options = {option.lower() for option in language.options} if low else set(language.options)
    codes = [
        args[at + 1]
        for at, word in enumerate(args[:-1])
        if (word.lower() if low else word) in options
    ]
    codes += [
        word[2:]
        for word in args
        if len(word) > 3 and word[:2] in language.options and not word.startswith("--")
    ]
    codes += [
        args[at + 1] for at, word in enumerate(args[:-1]) if clustered(word, language.options)
    ]
    operands = [word for word in args if not word.startswith("-")]
    if language.program and not codes and operands:
        codes = [operands[0]]
    elif not codes and given is not None and (not operands or args[-1:] == ("-",)):
        codes = [given]
    elif not codes and operands and operands[0] in files:
        codes = [files[operands[0]]]
    return codes


CALLS: Final = regex(
    r"(?:\b(?:os|subprocess|sp|child_process|pty|commands|Kernel|IO|Open3|shutil|fs|FileUtils|File|"
    r"Dir|io|Deno|process)"
    r"(?:\)|\"\)|'\))?\s*(?:\.|::)\s*)?"
    r"\b(system|popen[234]?|exec[lv]?p?e?|execSync|execFile(?:Sync)?|spawn[lv]?p?e?|spawnSync|run|"
    r"call|check_call|"
    r"check_output|Popen|getoutput|getstatusoutput|shell_exec|passthru|proc_open|rmtree|remove|"
    r"unlink(?:Sync)?|"
    r"rm_rf|rm_r|remove_dir|removedirs|rmSync|rmdirSync|rm|capture2e?|execute|b64decode)"
    r"\b\s*\(?\s*(?=[\[\"'(`])"
)
BACKQUOTES: Final = regex(r"`([^`]*)`|%x[\(\{]([^)}]*)[\)\}]")
DELETERS: Final = frozenset(
    {
        "rmtree",
        "remove",
        "unlink",
        "unlinkSync",
        "rm_rf",
        "rm_r",
        "remove_dir",
        "removedirs",
        "rmSync",
        "rmdirSync",
        "rm",
    }
)
RECURSIVE: Final = frozenset(
    {"rmtree", "rm_rf", "rm_r", "removedirs", "remove_dir", "rmSync", "rmdirSync"}
)
SOCKET: Final = (
    "socket",
    "TCPSocket",
    "Socket",
    "fsockopen",
    "net.",
    "TCPClient",
    "/inet/tcp",
    "/dev/tcp",
)
CONNECTS: Final = (
    "connect",
    "TCPSocket",
    "fsockopen",
    "TCPClient",
    "/inet/tcp",
    "/dev/tcp",
    "INET",
)
EMPTIES: Final = regex(
    r"\.(?:clear\w+|delete(?:Index|By|Many|Objects?|Collection|Database|_all|_many)|dropDatabase|"
    r"dropCollection|drop_all|"
    r"destroy_all|flush(?:all|db|All|Db)|drop_database)\("
)
SPELLED: Final = regex(
    r"(?s)(?:sprintf\(\s*\"%c\"|fromCharCode).*\b(?:system|exec\w*|spawn\w*)\(\s*[A-Za-z_$]\w*\s*[,"
    r")]"
)
"""A text that is spelled by the numbers of its letters and then runs."""
ATTACHED: Final = (
    "dup2", "pty.spawn", "/bin/sh", "/bin/bash", "cmd.exe", "exec(", "popen", "system", "iex ",
    "IEX", '"sh"', "'sh'", "spawn(", "subprocess", "getline",
)  # fmt: skip


XOR: Final = regex(r"\s*print\s*'((?:[^'\\]|\\.)*)'\s*\^\s*'((?:[^'\\]|\\.)*)'\s*;?\s*", re.DOTALL)


_PERL: Final = regex(r"\\(['\\])")


class Found(NamedTuple):
    """What a piece of code runs: texts for a shell, words of commands, and marks on what it is."""

    texts: list[str]
    argvs: list[tuple[str, ...]]
    marks: set[str]


def found_in(code: str, meter: Meter, depth: int = 0) -> Found:
    """The commands in a piece of code whose words are written out."""
    found = Found([], [], set())
    meter.step(1 + len(code) // 16)
    if _any(SOCKET, code) and _any(CONNECTS, code) and _any(ATTACHED, code):
        found.marks.add("reverse")
    if "%c" in code or "fromCharCode" in code:
        spelled = SPELLED.search(code)
        if spelled is not None:
            found.marks.add("hidden")
    if EMPTIES.search(code):
        found.marks.add("deletes")
    lowered = code[:512].lower()
    if "downloadstring" in lowered or ("invoke-webrequest" in lowered and "iex" in lowered):
        found.marks.add("fetched")
    for match in CALLS.finditer(code):
        words = _literals(code, match.end(), meter)
        if not words:
            continue
        called = match.group(1)
        if called == "b64decode":
            _decoded(words[0], found, meter, depth)
        elif called in DELETERS:
            found.argvs.append(("rm", "-rf", words[0]) if called in RECURSIVE else ("rm", words[0]))
        elif len(words) > 1:
            found.argvs.append(tuple(words))
        else:
            found.texts.append(words[0])
    for match in BACKQUOTES.finditer(code):
        inner = match.group(1) if match.group(1) is not None else match.group(2)
        if inner and not inner[0].isspace():
            found.texts.append(inner)
    return found


def _any(words: tuple[str, ...], code: str) -> bool:
    return any(word in code for word in words)


def printed_by(code: str) -> str | None:
    """What a line of Perl prints that only combines two texts; None where that is not known."""
    match = XOR.fullmatch(code)
    if match is None:
        return None
    first, second = (_PERL.sub(r"\1", text).encode("latin-1", "replace") for text in match.groups())
    return bytes([one ^ other for one, other in zip(first, second, strict=False)]).decode("latin-1")


def _decoded(text: str, found: Found, meter: Meter, depth: int) -> None:
    try:
        code = b64decode(text + "=" * (-len(text) % 4)).decode("utf-8")
    except ValueError:
        return
    if depth < 4:
        inner = found_in(code, meter, depth + 1)
        found.texts.extend(inner.texts)
        found.argvs.extend(inner.argvs)
        found.marks.update(inner.marks)


def _literals(code: str, at: int, meter: Meter) -> list[str]:
    """The texts written out at one place: one, or several of a list or of the arguments."""
    words: list[str] = []
    while at < len(code) and len(words) < 64:
        meter.step()
        char = code[at]
        if char in "\"'`":
            begin = at + 1
            triple = code.startswith(char * 3, at)
            close = char * 3 if triple else char
            begin = at + len(close)
            end = begin
            while end < len(code) and not code.startswith(close, end):
                meter.step()
                end += 2 if code[end] == "\\" else 1
            words.append(unescape(code[begin:end]))
            at = end + len(close)
        elif char in "[( \t\n,":
            at += 1
        else:
            break
    return words
