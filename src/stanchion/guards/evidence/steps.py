"""Steps: what a call would do to code: change it, test it, lint it, hand it on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from stanchion.guards.evidence import tables
from stanchion.guards.evidence.commands import Catalogue, program, unwrapped
from stanchion.guards.evidence.files import COMMANDS, changed_by, is_code, plain, words_of
from stanchion.kernel.names import Names

LONGEST_TEXT: Final = 65_536
SHOWN: Final = 80

RUNS: Final = frozenset({"run", "runs", "execute", "exec", "start", "invoke", "trigger"})
TESTS: Final = frozenset({"test", "tests", "pytest", "unittest", "unittests", "jest", "vitest", "testsuite"})
LINTS: Final = frozenset({"lint", "linter", "linters", "typecheck", "ruff", "mypy", "eslint", "flake", "pylint", "tsc"})
COMMITS: Final = (
    {"commit"}, {"git", "push"}, {"push", "files"}, {"create", "pull", "request"}, {"open", "pull", "request"},
    {"merge", "pull", "request"}, {"create", "merge", "request"}, {"accept", "merge", "request"}, {"create", "pr"},
    {"open", "pr"}, {"merge", "pr"}, {"deploy"}, {"publish"}, {"release"}, {"finish"}, {"submit"},
    {"attempt", "completion"}, {"complete", "task"},
)  # fmt: skip
"""Words that are together in the name of a tool that hands work on."""
ASKING: Final = frozenset(
    {"get", "list", "show", "read", "view", "status", "search", "find", "fetch", "check", "describe"}
)
"""Words in the name of a tool that only asks."""
SAYING: Final = frozenset(
    {"send", "post", "comment", "message", "mail", "email", "notify", "reply", "report", "answer"}
)
"""Words in the name of a tool that tells somebody something."""

_QUOTED: Final = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|\d{0,2}>&\d?|&>>?", re.DOTALL)
_PARTED: Final = re.compile(r"\n|;")


class Ran(NamedTuple):
    """A command of a shell text: its words, what starts it, and the files that it writes or deletes."""

    argv: tuple[str, ...]
    via: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


ShellReader = Callable[[str], Iterable[Ran]]
"""Reads the commands that a shell text would run."""

What = Literal["change", "test", "lint", "commit", "say"]


class Step(NamedTuple):
    """One thing that a call does, and of what.

    `chain` numbers the `&&` chain that it is in, -1 where how it ends is not how the chain ends; `last`: the chain's
    end is the call's; `alone`: nothing else in it fails; `heard`: what it prints is in the result. `texts` is what it
    says to others.
    """

    what: What
    name: str
    chain: int = 0
    last: bool = True
    alone: bool = True
    heard: bool = True
    by_shell: bool = False
    texts: tuple[str, ...] = ()


TEST_COMMANDS: Final = Catalogue(tables.TESTS)
LINT_COMMANDS: Final = Catalogue(tables.LINTS)
COMMIT_COMMANDS: Final = Catalogue(tables.COMMITS)
CHANGE_COMMANDS: Final = Catalogue(tables.CHANGES)
NOISELESS: Final = tables.QUIET | tables.PASSING


class Known(NamedTuple):
    """What a policy says of commands, tools and files; `None` where it says nothing and what is known counts."""

    tests: Catalogue = TEST_COMMANDS
    lints: Catalogue = LINT_COMMANDS
    commits: Catalogue = COMMIT_COMMANDS
    test_tools: Names | None = None
    lint_tools: Names | None = None
    commit_tools: Names | None = None
    code: Names | None = None
    shell: ShellReader | None = None


def steps_of(tool: str, traits: tuple[str, ...], args: Mapping[str, Any], known: Known) -> list[Step]:
    """What a call does, in order: by its tool, and by the shell texts in its arguments."""
    does = list(_by_tool(tool, traits, args, known))
    for key, value in args.items():
        if plain(str(key)) in COMMANDS:
            text = _shell_text(value)
            if text and known.shell is not None:
                does += _in_shell(text, known, known.shell)
    return does


def _by_tool(tool: str, traits: tuple[str, ...], args: Mapping[str, Any], known: Known) -> Iterator[Step]:
    path = changed_by(tool, traits, args, known.code)
    if path:
        yield Step("change", _short(path))
    if _checks(tool, known.test_tools, TESTS, RUNS):
        yield Step("test", tool)
    elif _checks(tool, known.lint_tools, LINTS, RUNS | {"check"}):
        yield Step("lint", tool)
    words = words_of(tool)
    if known.commit_tools is not None:
        commits = tool in known.commit_tools
    else:
        commits = words.isdisjoint(ASKING) and any(group <= words for group in COMMITS)
    if commits or not words.isdisjoint(SAYING):
        texts = [value for value in args.values() if isinstance(value, str)]
        yield Step("commit" if commits else "say", tool, texts=tuple(texts))


def _checks(tool: str, given: Names | None, words: frozenset[str], runs: frozenset[str]) -> bool:
    if given is not None:
        return tool in given
    said = words_of(tool)
    if said.isdisjoint(words) or not said.isdisjoint(ASKING - runs):
        return False
    return len(said) == 1 or not said.isdisjoint(runs)


def _shell_text(value: Any) -> str:
    """A command as a text; of words, what a shell among them is given to run."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else ""
    if not isinstance(value, list) or not value or not all(isinstance(word, str) for word in value):
        return ""
    if len(value) == 3 and value[0].endswith("sh") and value[1].startswith("-") and value[1].endswith("c"):
        return _shell_text(value[2])
    from shlex import join

    return _shell_text(join(value))


def _in_shell(text: str, known: Known, shell: ShellReader) -> Iterator[Step]:
    parts = _parts(text)
    if parts is None:
        yield from [
            step._replace(chain=-1, last=False, alone=False, heard=False) for step in _of_chain(text, 0, known, shell)
        ]
        return
    for chain, (part, plainly) in enumerate(parts):
        last = plainly and chain == len(parts) - 1
        heard = ">" not in _QUOTED.sub("", part)
        for step in _of_chain(part, chain, known, shell):
            sure = plainly and step.chain >= 0
            counts = last and sure
            yield step._replace(
                chain=chain if sure else -1, last=counts, alone=counts and step.alone, heard=counts and heard
            )


def _parts(text: str) -> list[tuple[str, bool]] | None:
    """The `&&` chains of a text, each with whether nothing hides how it ends; `None` where a text has more to it."""
    text = text.strip().rstrip(";").rstrip()
    blank = _QUOTED.sub(lambda quoted: "q" * len(quoted[0]), text)
    if any(sign in blank for sign in ("{", "}", "(", ")", "`", "$(", "<<")) or _COMPOUND.search(blank) is not None:
        return None
    parts, begun = [], 0
    for cut in [*_PARTED.finditer(blank), None]:
        end = len(text) if cut is None else cut.start()
        bare = blank[begun:end].replace("&&", "  ")
        if bare.strip():
            hidden = "|" in bare or "&" in bare or any(p.lstrip().startswith("!") for p in blank[begun:end].split("&&"))
            parts.append((text[begun:end], not hidden))
        begun = end if cut is None else cut.end()
    return parts


_COMPOUND: Final = re.compile(r"(?:^|[;\n&|]|\b(?:then|do|else))\s*(?:if|for|while|until|case|function|trap)\b|<<")


def _of_chain(text: str, chain: int, known: Known, shell: ShellReader) -> Iterator[Step]:
    ran = [one for one in shell(text) if one.argv]
    busy = [one for one in ran if program(one.argv) not in NOISELESS]
    alone = len(busy) == 1
    for one in ran:
        sure = all(name in tables.PASSING for name in one.via)
        chained = chain if sure else -1
        name = _short(" ".join(one.argv[:3]))
        argv = unwrapped(one.argv)
        changed = next((path for path in one.changes if is_code(path, known.code)), "")
        if changed or CHANGE_COMMANDS.has(argv):
            yield Step("change", _short(changed) if changed else name, chained, by_shell=True)
        if known.lints.has(argv):
            yield Step("lint", name, chained, alone=alone and sure, by_shell=True)
        elif known.tests.has(argv):
            yield Step("test", name, chained, alone=alone and sure, by_shell=True)
        if known.commits.has(argv):
            yield Step("commit", name, chained, by_shell=True, texts=tuple([word for word in one.argv if " " in word]))


def _short(text: str) -> str:
    plainly = "".join([char if char.isprintable() and char != "`" else "?" for char in text[: SHOWN + 1]])
    return plainly if len(plainly) <= SHOWN else f"{plainly[:SHOWN]}…"
