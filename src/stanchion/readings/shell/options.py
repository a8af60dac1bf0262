"""Options and operands: which words of a command are which, which of them are for people, and which
run, as a command or as code of another language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar

from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.shell.known import WORDS, by_name, kinds_of, named
from stanchion.readings.word_lists import Pairs, Strings, in_order, listed

VALUED: Final = by_name("values", listed)
"""Options that take the next word as their value, by command; a long option with `=` carries it."""

SLASH: Final = 12
"""How long such an option may be; more is a path."""
NONE: Final[frozenset[str]] = frozenset()


class Sorted(NamedTuple):
    """A command's options, its operands, and the values options took."""

    flags: frozenset[str]
    operands: Strings
    values: Pairs


def sort(name: str, args: Strings) -> Sorted:
    """Sort a command's words; short options that stand together count each."""
    valued = VALUED.get(name, NONE)
    flags: set[str] = set()
    operands: list[str] = []
    values: list[tuple[str, str]] = []
    at, count = 0, len(args)
    while at < count:
        arg = args[at]
        at += 1
        if (
            arg[:1] == "/"
            and "slashed" in kinds_of(name)
            and len(arg) <= SLASH
            and "/" not in arg[1:]
        ):
            flag, colon, value = arg.partition(":")
            flags.add(flag.lower())
            if colon:
                values.append((flag.lower(), value))
        elif arg[:1] != "-" or arg == "-":
            operands.append(arg)
        elif arg == "--":
            operands += args[at:]
            break
        elif arg[:2] == "--":
            flag, equals, value = arg.partition("=")
            flag = flag.lower()
            flags.add(flag)
            if equals:
                values.append((flag, value))
            elif flag in valued:
                at = _take(flag, args, at, values)
        else:
            at = _short(arg, args, at, valued, flags, values)
    return Sorted(frozenset(flags), tuple(operands), tuple(values))


def _short(
    arg: str,
    args: Strings,
    at: int,
    valued: frozenset[str],
    flags: set[str],
    values: list[tuple[str, str]],
) -> int:
    """Sort short options that stand in one word; where to go on."""
    flag, equals, value = arg.partition("=")
    flags.add(flag)
    if equals:
        values.append((flag, value))
    elif flag in valued:
        return _take(flag, args, at, values)
    for place in range(1, min(len(arg), 24)):
        letter = "-" + arg[place]
        flags.add(letter)
        if letter in valued:
            rest = arg[place + 1 :]
            if not rest:
                return _take(letter, args, at, values)
            values.append((letter, rest))
            break
    return at


def _take(flag: str, args: Strings, at: int, values: list[tuple[str, str]]) -> int:
    """Take the next word as an option's value; where to go on. A long option is none: in `docker
    system prune -f --volumes` the letter is a switch, while it names a file elsewhere."""
    if at == len(args) or (args[at][:2] == "--" and len(args[at].split()) == 1):
        return at
    values.append((flag, args[at]))
    return at + 1


T = TypeVar("T")


class ComputedOnce(Generic[T]):
    """Computes a value when it is first asked for and leaves it in the object's dictionary."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        self.name = compute.__name__
        self.__doc__ = compute.__doc__

    def __get__(self, owner: Any, kind: Any = None) -> T:
        value = self.compute(owner)
        owner.__dict__[self.name] = value
        return value


DATA: Final = named("prints", "seeks", "keeps")
"""Programs that only look at what they are given, print it or keep it: nothing of it would run."""


TOLD: Final = WORDS["options for people"]
"""Last words of options whose value is for people, or is looked for, whichever program has them."""
TOLD_SHORT: Final = listed("-m -am -S -G")
"""Short options that mean the same nearly everywhere; `-e` and `-c` are none of them."""


def is_told(option: str) -> bool:
    """Whether an option's value is for people, or is looked for."""
    return option in TOLD_SHORT or (
        option.startswith("--") and option[2:].rpartition("-")[2].lower() in TOLD
    )


def is_told_in(word: str) -> bool:
    """Whether a word is such an option with its value: `--body=…`, `-Sname`."""
    if word.startswith("--"):
        return is_told(word.partition("=")[0])
    return len(word) > 2 and word[:2] in TOLD_SHORT


RUNS: Final = WORDS["options that run"]
"""Last words of options whose value runs, even where the program treats everything else as data."""
RUNS_SHORT: Final = frozenset({("man", "-P"), ("man", "-H"), ("split", "--filter")})
SHELLS: Final = listed("sh bash dash zsh ksh ash")
MARKS: Final = in_order("+! ! :! +:!")
"""How a word begins by which pagers and editors start a program."""
BEGIN: Final = frozenset("-+!:")
"""How every option begins that may have a command."""
VARIABLES: Final = listed("LESSOPEN LESSCLOSE BASH_ENV ENV")
"""Variables that hold a command although their names do not say so."""


def is_run(name: str, option: str) -> bool:
    """Whether an option's value is a command."""
    if option[:1] not in BEGIN:
        return False
    if option.startswith("--"):
        own = option.partition("=")[0]
        return own[2:].rpartition("-")[2].lower() in RUNS or (name, own) in RUNS_SHORT
    return (name, option) in RUNS_SHORT or ("pages" in kinds_of(name) and option.startswith(MARKS))


def names_command(variable: str) -> bool:
    """Whether a variable's name says that its value is a command: `PAGER`, `GIT_SSH_COMMAND`."""
    return variable.rpartition("_")[2].lower() in RUNS or variable in VARIABLES


class Language(NamedTuple):
    """How a program takes code: the options before it, or as its first operand."""

    options: Strings
    program: bool = False


LANGUAGES: Final = by_name("code", lambda code: Language(tuple(code.behind.split()), code.operands))


NO_FILES: Final[Mapping[str, str]] = MappingProxyType({})


def clustered(word: str, options: Strings) -> bool:
    """Whether short options stand together, the last of which takes code: `-ne`."""
    return (
        len(word) in (3, 4, 5)
        and word[0] == "-"
        and word[1].isalpha()
        and f"-{word[-1]}" in options
        and word not in options
        and word[1] != "-"
    )


def _behind_options(args: Strings, language: Language) -> list[str]:
    """The code behind options: as the next word, in the same one, or after others in one word."""
    spelled = str.lower if "-command" in language.options else str
    options = set(map(spelled, language.options))
    codes = [after for word, after in pairwise(args) if spelled(word) in options]
    codes += [
        word[2:]
        for word in args
        if len(word) > 3 and word[:2] in language.options and not word.startswith("--")
    ]
    codes += [
        word.partition("=")[2]
        for word in args
        if word[:2] == "--" and word.partition("=")[0] in language.options and "=" in word
    ]
    return codes + [after for word, after in pairwise(args) if clustered(word, language.options)]


def codes_in(
    argv: Strings,
    given: str | None,
    language: Language,
    files: Mapping[str, str] = NO_FILES,
) -> list[str]:
    """The code that a program is given: behind its options, as its first operand, by its input or
    in a file."""
    args = argv[1:]
    codes = _behind_options(args, language)
    operands = [word for word in args if not word.startswith("-")]
    if language.program and not codes and operands:
        codes = [*sort(argv[0].rpartition("/")[2], args).operands[:1]]
    elif not codes and given is not None and (not operands or args[-1:] == ("-",)):
        codes = [given]
    elif not codes:
        first = operands[1:2] if operands[:1] == ["run"] else operands[:1]
        codes = [files[each] for each in first if each in files]
    return codes
