"""Deciding: which commands of a text decide how it ends, and whose output is all that is printed.

A text shows what one of its commands did only as far as no other command can decide, print or hide
that. What is not plain to see here is not sure: a command stands as `UNSURE` unless every step from
the text to it is one of these:

1. Lists. The last list of a text ends as the text does. In a list of `&&` alone each command has
   ended well where the list has; with `||` or `&` in it nothing is known of any.
2. Groups in braces or brackets, and texts of `sh -c`: as their last list ends.
3. Pipes end as their last part does, under `pipefail` well only where all of them did.
4. Commands that start another one and end as it does (`passing`).

And nothing in the whole text may change what a name stands for, end the text early or have
something run at its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, starmap
from typing import Final

from stanchion.kernel.names import names
from stanchion.kernel.sizes import LIMITS
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.shell.analysis import (
    KEPT,
    LATEST,
    PLAIN,
    analysed,
    is_alone,
)
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.kept import FollowedText, of_plain
from stanchion.readings.shell.known import WORDS, by_name
from stanchion.readings.shell.parse import RESERVED
from stanchion.readings.shell.partly_known import OpenText
from stanchion.readings.shell.script import Walker
from stanchion.readings.shell.tree import (
    GroupClause,
    Item,
    Meter,
    Node,
    Pipe,
    Redirect,
    Script,
    Simple,
    TooMuch,
    Turned,
)
from stanchion.readings.shell.wrappers import Prefix, inner_of, prefix_of
from stanchion.readings.word_lists import Pairs, Strings, in_order, listed

Settings = Pairs


PASSING: Final = by_name("ends_as", prefix_of)
"""The options with which a command still only passes on; short ones with a value may have it in the
same word. What is not written here may print, wait or start something else: an option that asks for
help keeps a command from running, one of `time` prints what it is given."""

SHELLS: Final = listed("sh bash dash zsh ksh")
LETTERS: Final = frozenset("lceu")
"""Options of a shell that leave what its text does as it stands."""


class PassedCommand(NamedTuple):
    """A command that others pass on to, and the variables they set for it."""

    argv: Strings
    settings: Settings


def started(argv: Strings) -> PassedCommand | None:
    """The command that runs in the end, behind all that only pass on; `None` where one of them may
    do more."""
    settings: Settings = ()
    while argv and (passing := PASSING.get(argv[0].rpartition("/")[2])) is not None:
        inner, more = inner_of(passing, argv[1:])
        if not all(_passes(passing, word) for word in argv[1 : len(argv) - len(inner)]):
            return None
        argv, settings = inner, (*settings, *more)
    return PassedCommand(argv, settings) if argv else None


def _passes(passing: Prefix, word: str) -> bool:
    """Whether a word leaves the command that is started as it stands."""
    if word[:1] != "-" or word in ("-", "--", *passing.alone):
        return True
    return not passing.valued.isdisjoint((word.partition("=")[0], word[:2]))


class Inner(NamedTuple):
    """A text that a shell is given to run, and whether a pipe in it fails where one of its parts
    does."""

    text: str
    pipefail: bool


def text_run_by(argv: Strings) -> Inner | None:
    """The text of `sh -c …`, where the shell's options leave it as it stands."""
    if argv[0].rpartition("/")[2] not in SHELLS:
        return None
    pipefail = False
    at = 1
    while at < len(argv) and argv[at].startswith("-"):
        letters = argv[at][1:]
        if not letters or not LETTERS.issuperset(letters.replace("o", "", 1)):
            return None
        at += 1
        if "o" in letters:
            if argv[at : at + 1] != ("pipefail",):
                return None
            pipefail = True
            at += 1
        if "c" in letters:
            return Inner(argv[at], pipefail) if len(argv) == at + 1 else None
    return None


COUNTED: Final = frozenset({"nproc"})
"""Programs whose output is a number, whatever it is."""


class CommandStanding(NamedTuple):
    """How a command stands in its text. `chain` numbers the `&&` list it is in, 0 where it is in
    none that is sure; `last`: the text ends well only where it did; `heard`: nothing but what it
    prints is printed, and all of that."""

    chain: int = 0
    last: bool = False
    heard: bool = False


UNSURE: Final = CommandStanding()

Decided = tuple[tuple[Command, CommandStanding], ...]


def decided(text: str) -> Decided:
    """The commands that a text would run, each with how it stands in it."""
    return _kept(text) if len(text) <= LIMITS.command_chars else ()


def _followed(text: str) -> FollowedText:
    """How a text was followed when it was analysed; it is followed once more where that was long
    ago."""
    commands = analysed(text).commands
    known = LATEST.pop(text, None)
    if known is not None:
        return known
    words = text.split() if PLAIN.fullmatch(text) is not None else []
    if words and is_alone(text, words) and words[0] not in RESERVED:
        texts, visits = of_plain(words)
        return FollowedText(commands, tuple(visits), visits, texts)
    walker = Walker(Meter(len(text)))
    try:
        walker.whole(text)
    except (TooMuch, RecursionError):
        return walker.so_far(False)
    return walker.so_far()


@lru_cache(maxsize=KEPT // 4)
def _kept(text: str) -> Decided:
    found = _followed(text)
    commands = found.commands
    if found.unsure or steers(commands, found.set_values):
        return tuple([(command, UNSURE) for command in commands])
    placing = _Placing(found)
    for script in found.texts.get(0, ()):
        placing.script(script, _Way(0, True, ()), False)
    return tuple([(command, placing.found.get(at, UNSURE)) for at, command in enumerate(commands)])


class _Way(NamedTuple):
    """The way from the whole text to a part of it: the chain it is in, whether it ends as the text
    does, the commands on the way, and whether something takes away what it prints."""

    chain: int
    last: bool
    path: tuple[int, ...]
    hidden: bool = False


class _Placing:
    """Finds how each command stands, from the outside inwards."""

    def __init__(self, text: FollowedText) -> None:
        self.found: dict[int, CommandStanding] = {}
        self._text = text
        self._chains = 0
        self._printing = [at for at, command in enumerate(text.commands) if prints(command)]

    def script(self, script: Script, way: _Way, pipefail: bool) -> None:
        """Follow the lists of a script."""
        lists = list(_lists(script))
        for at, items in enumerate(lists):
            if items[-1].after in ("&", "&&", "||") or any(
                item.after != "&&" for item in items[:-1]
            ):
                continue
            ends = at == len(lists) - 1
            if not (ends and way.chain):
                self._chains += 1
            inner = way._replace(
                chain=way.chain if ends and way.chain else self._chains, last=way.last and ends
            )
            fails = pipefail
            for place, item in enumerate(items):
                self._node(item.node, inner, fails)
                set_now = _sets_pipefail(item.node)
                fails = fails if set_now is None else set_now
                if set_now is not None and not place:
                    pipefail = set_now

    def _node(self, node: Node, way: _Way, pipefail: bool) -> None:
        if isinstance(node, Simple):
            self._simple(node, way)
        elif isinstance(node, GroupClause):
            self.script(
                node.body, way._replace(hidden=way.hidden or _hides(node.redirects)), pipefail
            )
        elif isinstance(node, Pipe) and not any(isinstance(part, Turned) for part in node.parts):
            for part in node.parts if pipefail else node.parts[-1:]:
                self._node(
                    part, way._replace(hidden=way.hidden or part is not node.parts[-1]), pipefail
                )

    def _simple(self, node: Simple, way: _Way) -> None:
        own = self._own(node)
        if not own:
            return
        commands = self._text.commands
        outer = commands[own[0]]
        runs = started(outer.argv) if all(_is_known(word) for word in outer.argv) else None
        if runs is None or any(starmap(steers_by, (*outer.settings, *runs.settings))):
            return
        way = way._replace(path=(*way.path, *own), hidden=way.hidden or _hides(node.redirects))
        inner = text_run_by(runs.argv)
        if inner is None:
            heard = way.last and not way.hidden and {*way.path}.issuperset(self._printing)
            self.found |= {
                at: CommandStanding(way.chain, way.last, heard)
                for at in own
                if commands[at].argv == runs.argv
            }
            return
        texts = self._text.texts.get(id(node), [])
        if len(texts) == 1:
            self.script(texts[0], way, inner.pipefail)

    def _own(self, node: Simple) -> list[int]:
        """The commands that are those of this part itself; none where it is followed more than
        once."""
        if self._text.visits.get(id(node)) != 1:
            return []
        return [at for at, part in enumerate(self._text.parts) if part == id(node)]


def _lists(script: Script) -> Iterator[list[Item]]:
    """The lists of a script, each up to where the next one begins whatever came of it."""
    items: list[Item] = []
    for item in script:
        items.append(item)
        if item.after not in ("&&", "||"):
            yield items
            items = []
    if items:
        yield items


def _sets_pipefail(node: Node) -> bool | None:
    if not isinstance(node, Simple) or node.words[:1] != ["set"] or "pipefail" not in node.words:
        return None
    before = node.words[node.words.index("pipefail") - 1]
    return isinstance(before, str) and before.startswith("-") and before.endswith("o")


def _hides(redirects: list[Redirect]) -> bool:
    """Whether some of what is printed goes elsewhere."""
    return any(
        not each.op.startswith("<")
        and not (each.op == ">&" and each.target in ("1", "2") and each.fd in ("", "1", "2"))
        for each in redirects
    )


def _is_known(word: str) -> bool:
    return not isinstance(word, OpenText) or (bool(word.origin) and COUNTED.issuperset(word.origin))


STEERING: Final = WORDS["programs that steer a shell"]
"""Words of the shell that give names another meaning, set variables by name, end a text or have
something run later."""

VARIABLES: Final = names(sorted(WORDS["variables that steer programs"]))
"""Variables that say where programs are found, what is run before them, or which options they have
besides; those of runners by how their names begin."""
HARMLESS: Final = WORDS["harmless variables"]
"""Variables of runners that say nothing about what runs."""
SOURCES: Final = frozenset({"", ".", "src", "lib", "app", "$PYTHONPATH"})
HERE: Final = ("./", "$PWD/", "$(pwd…)/")
"""Folders of a project itself, in which Python may look for modules, and how one says where it
stands."""
COMPILING: Final = listed("CFLAGS CXXFLAGS CPPFLAGS LDFLAGS RUSTFLAGS")
"""Options of compilers: they say how a program is made, not whether it runs."""

SILENT: Final = listed("cd true : test [ sleep export unset set mkdir")
ACTIVATES: Final = in_order(
    "/.venv/bin/activate /venv/bin/activate /.venv/Scripts/activate /venv/Scripts/activate"
)
"""How the names of scripts end that have a shell use an environment; others may do anything."""
SCRATCH: Final = in_order("/tmp/ /var/tmp/ /dev/ /private/tmp/")
"""Where environments are nobody's."""
SET: Final = listed("-e -u -eu -ue -o -eo -uo -euo -ueo +o pipefail errexit nounset")
"""What `set` may be given so that the rest of a text runs as it stands."""
CONFIGURING: Final = names(sorted(WORDS["files that configure runners"]))
"""Files that say what a runner of tests or a linter runs."""


def steers_by(variable: str, value: str) -> bool:
    """Whether a variable with that value says what programs are or what they do."""
    name = variable.upper()
    if name == "PYTHONPATH":
        return (isinstance(value, OpenText) and "$" not in value) or not all(
            map(_is_source, value.split(":"))
        )
    return name in VARIABLES and name not in COMPILING and name not in HARMLESS


def _is_source(folder: str) -> bool:
    path = f"{folder}/" if folder else ""
    for here in HERE:
        path = path.removeprefix(here)
    return path.rstrip("/") in SOURCES


def steers(commands: Sequence[Command], variables: Iterable[tuple[str, str]]) -> bool:
    """Whether one of the commands of a text, or a variable that it sets, may change what the others
    are."""
    if any(steers_by(name, value) for name, value in variables):
        return True
    programs = {command.name for command in commands}
    modules = {
        after for command in commands for word, after in pairwise(command.argv) if word == "-m"
    }
    return any(_steers(command) or _makes(command, programs | modules) for command in commands)


def prints(command: Command) -> bool:
    """Whether a command may print something."""
    argv = command.argv
    if not argv:
        return False
    if not command.known or (argv[0] not in SILENT and not _activates(command)):
        return True
    options = [word for word in argv[1:] if word.startswith("-")]
    match argv[0]:
        case "cd":
            return argv[1:2] == ("-",)
        case "mkdir":
            return bool(options) and options != ["-p"]
        case "export" | "set":
            return len(argv) == 1 or "-p" in options
        case _:
            return False


def _steers(command: Command) -> bool:
    argv = command.argv
    if any(steers_by(name, value) for name, value in command.settings):
        return True
    if not argv:
        return False
    if isinstance(argv[0], OpenText) or (
        argv[0] != "[" and any(char in argv[0] for char in "$*?[")
    ):
        return True
    match argv[0]:
        case "source" | ".":
            return not _activates(command)
        case "set":
            return not SET.issuperset(argv[1:])
        case "export" | "unset":
            return any(
                isinstance(word, OpenText) or steers_by(*_setting(word)) for word in argv[1:]
            )
        case "printf":
            return "-v" in argv[1:2]
        case _:
            return argv[0] in STEERING


def _setting(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name, value


def _activates(command: Command) -> bool:
    return (
        command.argv[0] in ("source", ".")
        and len(command.argv) == 2
        and command.known
        and f"/{command.argv[1]}".endswith(ACTIVATES)
        and not command.argv[1].startswith(SCRATCH)
        and not command.given
    )


def _makes(command: Command, run: set[str]) -> bool:
    """Whether a command writes or deletes a program that is run in the same text, or what says how
    it runs."""
    made = [path.rpartition("/")[2].lower() for path in (*command.writes, *command.deletes)]
    return any(
        name in CONFIGURING or name in run or name.removesuffix(".py") in run for name in made
    )
