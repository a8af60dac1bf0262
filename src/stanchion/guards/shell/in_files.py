"""What is written into files that run by themselves or for others: whether it would leak, or run
what it fetches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import unescape
from shlex import quote
from typing import Final

from stanchion.guards.shell.consequence import level_of
from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.worst import dangers
from stanchion.guards.shell.written import READ_BY_PEOPLE, begins_with, scripts
from stanchion.kernel.regex import regex
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.command import Command

LONGEST: Final = 65_536
MOST: Final = 200
"""How many texts of a file are read as commands."""
CODE: Final = (
    ".rs",
    ".js",
    ".ts",
    ".mjs",
    ".cjs",
    ".rb",
    ".go",
    ".php",
    ".gradle",
    ".groovy",
    ".kts",
    "jenkinsfile",
)
BUILDS: Final = (".targets", ".props", ".csproj", ".vbproj", ".fsproj", ".vcxproj", ".proj")
UNASKED: Final = (
    "setup.py",
    "build.rs",
    "conftest.py",
    "sitecustomize.py",
    "usercustomize.py",
    "noxfile.py",
)
"""Files that run although nobody calls them: when something is built, installed, tested or
begun."""
HERE: Final = Roots((), True)

_TESTS: Final = regex(r"\Atest_|[._]test\.|[._]spec\.|\Atests?\.")
"""Files that tests are in: nothing that they test is in somebody's home."""
_HOME: Final = regex(
    r"homedir\(|Path\.home|expanduser|env\.HOME|ENV\[.HOME|UserHomeDir|home_dir|getenv\(.HOME|"
    r"environ\[.HOME"
)
_READ: Final = regex(r"read\w*\(|\bopen\(|File::|ReadFile|fs\.|copy\w*\(")
_LINE: Final = regex(r"\s*(?:-\s+)?(?:[\w-]+:\s+)?(?:[|>][-+]?\s*\Z)?(.*)")
_TEXT: Final = regex(r"\"((?:[^\"\\\n]|\\.)*)\"|'((?:[^'\\\n]|\\.)*)'|`([^`]*)`")
_ATTRIBUTE: Final = regex(r"(?i)\bcommand\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
"""What a target of a build runs."""
_GYP: Final = regex(r"<!@?\(([^\n\"']+)\)")
_ALL_SECRETS: Final = regex(r"toJSON\(\s*secrets\s*\)")
_ON_HOST: Final = regex(r"\"initializeCommand\"\s*:")
"""What a container's settings run on the computer itself."""
_WITH_EACH: Final = regex(r"(?i)\b(?:before|after)targets\s*=|initialtargets\s*=")
_PAIR: Final = regex(r"\"[\w:.-]+\"\s*:\s*\"((?:[^\"\\\n]|\\.)*)\"")
"""A setting in a piece of a document that is not whole."""
_LIFE: Final = regex(r"\"(?:(?:pre|post)?install|prepare|prepublish\w*|preuninstall)\"\s*:")
_OPENS: Final = regex(r"\"runOn\"\s*:\s*\"folderOpen\"")
_HOOKS: Final = regex(r"(?:\A|/)(?:\.husky|\.githooks|hooks)/[^/]+\Z")
_FREES: Final = regex(
    r"(?i)auto[-_.]?approve\w*[\"']?\s*[:=]\s*(?:true|\[|\{|\"\*)|bypasspermissions|"
    r"dangerously\w*[\"']?\s*[:=]\s*true"
    r"|approval_policy\s*=\s*\"never\"|danger-full-access|yolo\w*[\"']?\s*[:=]\s*true"
)
"""Settings that let an agent do things without a person."""


def harm_in_file(path: str, text: str, takes: Callable[[str], bool]) -> str:
    """What a text would do once it is in a file of that name and runs: `leak`, `fetched`, `frees`,
    `takes` (it reads what is protected, which `takes` says of a shell text), or nothing."""
    name = path.replace("\\", "/").lower()
    last = name.rpartition("/")[2]
    if len(text) < 8 or last.endswith(READ_BY_PEOPLE):
        return ""
    text = text[:LONGEST]
    if (
        last.endswith((".json", ".jsonc", ".toml", ".yaml", ".yml"))
        and "/." in f"/{name}"
        and _FREES.search(text)
    ):
        return "frees"
    unasked = last in UNASKED or _HOOKS.search(name) is not None
    unasked = (
        unasked
        or (last == "package.json" and _LIFE.search(text) is not None)
        or _OPENS.search(text) is not None
    )
    unasked = unasked or last.endswith((".gyp", ".gypi")) or _ON_HOST.search(text) is not None
    unasked = unasked or (last.endswith(BUILDS) and _WITH_EACH.search(text) is not None)
    if ".github/workflows/" in name:
        if _ALL_SECRETS.search(text) is not None and "curl" in text:
            return "leak"
        unasked = "secrets." in text
    for command in _commands(last, text):
        for danger in dangers(command, HERE):
            if danger.family.name == "exfiltration" and level_of(danger.loss) == "danger":
                return "leak"
            if unasked and danger.family.name == "remote_code":
                return "fetched"
    if (
        (last in UNASKED or _TESTS.search(last) or last.endswith(".ipynb"))
        and _HOME.search(text)
        and _READ.search(text)
    ):
        literals = [
            next(part for part in found.groups() if part is not None)
            for found in _TEXT.finditer(text)
        ]
        if any(takes(f"cat {_in_home(each)}") for each in literals[:MOST] if each):
            return "takes"
    if last.endswith(".ipynb"):
        literals = [
            next(part for part in found.groups() if part is not None)
            for found in _TEXT.finditer(text)
        ]
        paths = [
            each
            for each in literals[:MOST]
            if each.startswith(("~/", "/home/", "/Users/", "/root/"))
        ]
        lines = [line.lstrip("!% \t") for line in text.split("\n")[:MOST] if line[:1] in ("!", "%")]
        reads = [f"cat {each if each[0] == '~' else quote(each)}" for each in paths]
        return "takes" if any(takes(each) for each in [*reads, *lines]) else ""
    if last.endswith(".py"):
        return ""
    return "takes" if any(takes(script) for script in list(_scripts(last, text))[:MOST]) else ""


def _commands(name: str, text: str) -> Iterator[Command]:
    if name.endswith(".py"):
        yield from analysed(("python3", "-c", text)).commands
        return
    for script in list(_scripts(name, text))[:MOST]:
        yield from analysed(script).commands


def _scripts(name: str, text: str) -> Iterator[str]:
    """The texts in a file that a shell would run."""
    if name.endswith((".yml", ".yaml")):
        for line in text.split("\n"):
            found = _LINE.fullmatch(line)
            said = "" if found is None else found[1].strip()
            said = (
                said[1:-1] if len(said) > 1 and said[0] == said[-1] and said[0] in "'\"" else said
            )
            if " " in said and said[0] != "#":
                yield said
    elif name.endswith((".gyp", ".gypi")):
        yield from [found[1] for found in _GYP.finditer(text)]
    elif name.endswith(BUILDS):
        yield from [
            unescape(found[1] or found[2])
            for found in _ATTRIBUTE.finditer(text)
            if " " in (found[1] or found[2])
        ]
    elif name == "package.json" and text.lstrip()[:1] != "{":
        yield from [
            found[1].replace('\\"', '"').replace("\\\\", "\\") for found in _PAIR.finditer(text)
        ]
    elif name.endswith(CODE):
        for found in _TEXT.finditer(text):
            said = next(part for part in found.groups() if part is not None)
            if " " in said:
                yield said
    else:
        yield from scripts(name, text, begins_with(text))


def _in_home(path: str) -> str:
    """A path as a shell is told of it in somebody's home."""
    return "~/" + quote(path.removeprefix("~").lstrip("/"))
