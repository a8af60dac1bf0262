"""What is written into files that run by themselves or for others: whether it would leak, or run
what it fetches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from html import unescape
from itertools import islice
from shlex import quote
from typing import Any, Final

import msgspec

from stanchion.guards.shell.consequence import level_of
from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.rules import dangers
from stanchion.kernel.regex import regex
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.command import Command
from stanchion.readings.word_lists import in_order, listed

READ_BY_PEOPLE: Final = in_order(
    ".md .rst .adoc .markdown .html .htm .tex .org .csv .tsv .svg .po .log"
)  # fmt: skip
"""How the names of files end that nobody runs."""
SHELL: Final = in_order(".sh .bash .zsh .ksh .fish .command .bats .envrc .profile rc")
RECIPES: Final = listed("makefile gnumakefile justfile .justfile procfile")
LONGEST_NAME: Final = 256
MANY: Final = 64
"""How many words are read as those of one command."""

ARGUMENTS: Final = listed("args arguments argv")
"""What the words of a program are called that stand in a list beside its name."""

_SETTING: Final = regex(r"\s*(?:export\s+|override\s+)?([A-Za-z_]\w*)\s*(?:[:?+]*=)\s*(.*)")
_USED: Final = regex(r"\$[({]\s*(?!shell\b)([A-Za-z_]\w*)\s*[)}]|\{\{\s*([A-Za-z_]\w*)\s*\}\}")
_SHELL_CALL: Final = regex(r"\$\(shell ")
_SHEBANG: Final = regex(r"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?)?([\w.+-]+)\s*(\S*)")


def begins_with(text: str) -> re.Match[str] | None:
    """The line at the head of a text that says what runs it."""
    return _SHEBANG.match(text)


def scripts(name: str, text: str, shebang: re.Match[str] | None) -> Iterator[str]:
    """The shell texts that are in a file."""
    program = "" if shebang is None else shebang[1].lower()
    if program in ("make", "just") or name in RECIPES or name.endswith((".mk", ".just")):
        yield _recipes(text)
    elif program.endswith("sh") or name.endswith(SHELL) or (not program and "." not in name):
        yield text
    elif name.endswith(".json"):
        yield from _strings(text)


def _recipes(text: str) -> str:
    """The recipes of a Makefile or a justfile as a shell would run them, its variables before
    them."""
    lines: list[str] = []
    for line in text.replace("\\\n", " ").split("\n"):
        if line[:1] in ("\t", " "):
            line = line.strip().lstrip("@-+")
        elif (found := _SETTING.fullmatch(line)) is not None:
            value = found[2].strip().strip("'\"")
            line = f"{found[1]}='{value}'" if "$" not in value else f'{found[1]}="{value}"'
        else:
            continue
        lines.append(
            _USED.sub(lambda one: f"${{{one[1] or one[2]}}}", _SHELL_CALL.sub("$(", line)).replace(
                "$$", "$"
            )
        )
    return "\n".join(lines)


def _strings(text: str) -> Iterator[str]:
    """The texts of a JSON document, wherever they stand."""
    try:
        waiting: list[Any] = [msgspec.json.decode(text)]
    except (msgspec.DecodeError, RecursionError):
        return
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list):
            yield from _together(one)
            waiting += one
        elif isinstance(one, dict):
            for name, words in one.items():
                if name in ARGUMENTS and isinstance(words, list):
                    yield from _together(
                        [value for key, value in one.items() if key != name], words
                    )
            waiting += one.values()


def _together(first: list[Any], words: list[Any] | None = None) -> Iterator[str]:
    """Words that stand beside each other as one command: those of a list, or each of some texts
    with a list behind."""
    if words is None:
        first, words = first[:1], first[1:]
    behind = [quote(word) for word in words[:MANY] if isinstance(word, str)]
    for program in first if behind else ():
        if isinstance(program, str) and len(program) <= LONGEST_NAME:
            yield " ".join([program, *behind])


LONGEST: Final = 65_536
MOST: Final = 200
"""How many texts of a file are read as commands."""
CODE: Final = in_order(".rs .js .ts .mjs .cjs .rb .go .php .gradle .groovy .kts jenkinsfile")
BUILDS: Final = in_order(".targets .props .csproj .vbproj .fsproj .vcxproj .proj")
UNASKED: Final = in_order(
    "setup.py build.rs conftest.py sitecustomize.py usercustomize.py noxfile.py"
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
_ALL_SECRETS: Final = r"toJSON\(\s*secrets\s*\)"
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


SAYING: Final = (
    ("frees", regex(r"\A(?=[\s\S]*/\.)[\s\S]*\.(?:jsonc?|toml|ya?ml)\Z"), _FREES),
    ("leak", regex(r"\.github/workflows/"), regex(r"\A(?=[\s\S]*curl)[\s\S]*" + _ALL_SECRETS)),
)  # fmt: skip
"""What a text would do by what it says, by the path of the file that it is in."""
HOMES: Final = in_order("~/ /home/ /Users/ /root/")
RUN_UNASKED: Final = (*[f"/{name}" for name in UNASKED], ".gyp", ".gypi")
SIGNS: Final = (
    ("/package.json", _LIFE), ("", _OPENS), ("", _ON_HOST), (BUILDS, _WITH_EACH),
)  # fmt: skip
"""What a file says of itself that runs unasked, by how its path ends."""


def harm_in_file(path: str, text: str, takes: Callable[[str], bool]) -> str:
    """What a text would do once it is in a file of that name and runs: `leak`, `fetched`, `frees`,
    `takes` (it reads what is protected, which `takes` says of a shell text), or nothing."""
    name = path.replace("\\", "/").lower()
    last = name.rpartition("/")[2]
    if len(text) < 8 or last.endswith(READ_BY_PEOPLE):
        return ""
    text = text[:LONGEST]
    for harm, where, sign in SAYING:
        if where.search(f"/{name}") is not None and sign.search(text) is not None:
            return harm
    job = ".github/workflows/" in name
    unasked = "secrets." in text if job else _runs_unasked(f"/{name}", text)
    for danger in [each for command in _commands(last, text) for each in dangers(command, HERE)]:
        if danger.family.name == "exfiltration" and level_of(danger.loss) == "danger":
            return "leak"
        if unasked and danger.family.name == "remote_code":
            return "fetched"
    return "takes" if any(map(takes, _reading(last, text))) else ""


def _runs_unasked(name: str, text: str) -> bool:
    """Whether a file runs although nobody calls it: by its name, or by what it says of itself."""
    if name.endswith(RUN_UNASKED) or _HOOKS.search(name) is not None:
        return True
    return any(name.endswith(ends) and sign.search(text) for ends, sign in SIGNS)


def _reading(name: str, text: str) -> Iterator[str]:
    """Shell texts that read what a file reads when it runs."""
    notebook = name.endswith(".ipynb")
    tests = notebook or name in UNASKED or _TESTS.search(name)
    if tests and _HOME.search(text) and _READ.search(text):
        yield from [f"cat {_in_home(each)}" for each in _literals(text) if each]
    if notebook:
        paths = [each for each in _literals(text) if each.startswith(HOMES)]
        yield from [f"cat {each if each[0] == '~' else quote(each)}" for each in paths]
        lines = text.split("\n")[:MOST]
        yield from [line.lstrip("!% \t") for line in lines if line[:1] in ("!", "%")]
    elif not name.endswith(".py"):
        yield from islice(_scripts(name, text), MOST)


def _texts(text: str) -> Iterator[str]:
    """The texts in a piece of code."""
    for found in _TEXT.finditer(text):
        yield next(part for part in found.groups() if part is not None)


def _literals(text: str) -> list[str]:
    return list(islice(_texts(text), MOST))


def _commands(name: str, text: str) -> Iterator[Command]:
    if name.endswith(".py"):
        yield from analysed(("python3", "-c", text)).commands
        return
    for script in islice(_scripts(name, text), MOST):
        yield from analysed(script).commands


def _values(text: str) -> Iterator[str]:
    """The values of a document of YAML that are more than a word."""
    for line in text.split("\n"):
        found = _LINE.fullmatch(line)
        said = "" if found is None else found[1].strip()
        if len(said) > 1 and said[0] == said[-1] and said[0] in "'\"":
            said = said[1:-1]
        if " " in said and said[0] != "#":
            yield said


TEXTS: Final[tuple[tuple[tuple[str, ...], Callable[[str], Iterable[str]]], ...]] = (
    ((".yml", ".yaml"), _values),
    ((".gyp", ".gypi"), lambda text: (found[1] for found in _GYP.finditer(text))),
    (BUILDS, lambda text: (unescape(said) for said in _attributes(text) if " " in said)),
    (CODE, lambda text: (said for said in _texts(text) if " " in said)),
)
"""What finds the texts that a shell would run, by how the name of a file ends."""


def _attributes(text: str) -> Iterator[str]:
    return (found[1] or found[2] or "" for found in _ATTRIBUTE.finditer(text))


def _scripts(name: str, text: str) -> Iterable[str]:
    """The texts in a file that a shell would run."""
    read = next((read for ends, read in TEXTS if name.endswith(ends)), None)
    if read is not None:
        return read(text)
    if name == "package.json" and text.lstrip()[:1] != "{":
        pairs = [found[1] for found in _PAIR.finditer(text)]
        return [said.replace('\\"', '"').replace("\\\\", "\\") for said in pairs]
    return scripts(name, text, begins_with(text))


def _in_home(path: str) -> str:
    """A path as a shell is told of it in somebody's home."""
    return "~/" + quote(path.removeprefix("~").lstrip("/"))
