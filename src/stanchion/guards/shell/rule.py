"""Rules: what a family of dangers looks like in a command, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Final

import msgspec

from stanchion.guards.shell.consequence import FAMILIES, RiskRow, Risks
from stanchion.guards.shell.places import NAMED, Roots, is_at, place_of
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.shell.command import BETWEEN, Command, find_roots
from stanchion.readings.shell.options import ComputedOnce
from stanchion.readings.shell.partly_known import origin_of
from stanchion.readings.word_lists import Strings, listed

Check = Callable[[Command, Roots], bool]

NO_ROOTS: Final = Roots((), False)
USES: Final[dict[str, Callable[[Command], Iterable[str]]]] = {
    "reads": attrgetter("reads"),
    "writes": attrgetter("writes"),
    "targets": attrgetter("targets"),
    "deletes": attrgetter("deletes"),
    "operands": attrgetter("operands"),
    "behind": lambda command: command.operands[1:],
    "last": lambda command: command.operands[-1:],
    "emptied": attrgetter("emptied"),
    "opened": lambda command: [path for op, path in command.opens if ">" in op],
    "roots": lambda command: find_roots(command.argv),
    "listed": lambda command: _listed(command),
}
"""What of a command may be asked for its paths: operands behind the first, and the last; what
redirections empty, and write; where a search begins, and where another one found the operands."""
CHECKS: Final[dict[str, Check]] = {}
"""The questions that no table answers, by the names that rows call them."""


def asked(check: Check) -> Check:
    """Let rows of the table ask this of a command and of the folders of the run: about the flow of
    data, the place of a path, other commands, or a grammar of its own."""
    CHECKS[check.__name__] = check
    return check


class WordPiece(NamedTuple):
    """What one word must be: anything, one of these, or something that begins or ends with, or has
    in it, one of those."""

    anything: bool
    exact: frozenset[str]
    beginnings: Strings
    endings: Strings
    inside: Strings
    parts: Strings
    """The last three as they are in `Command.lined`."""

    @property
    def only_words(self) -> bool:
        """Whether it is one of some words as they are."""
        return not (self.anything or self.beginnings or self.endings or self.inside)

    def is_in(self, command: Command) -> bool:
        """Whether a word of a command behind its program is that."""
        if not self.exact.isdisjoint(command.small):
            return True
        if self.anything:
            return len(command.argv) > 1
        return any(map(command.lined.__contains__, self.parts))

    def fits(self, word: str) -> bool:
        """Whether a word is that, in small letters."""
        return self.anything or self.is_like(word.lower())

    def is_like(self, word: str) -> bool:
        """Whether a word is that as it is written."""
        if word in self.exact or (self.beginnings and word.startswith(self.beginnings)):
            return True
        if self.endings and word.endswith(self.endings):
            return True
        return bool(self.inside) and any(each in word for each in self.inside)


class RiskRule(RiskRow, frozen=True, dict=True, omit_defaults=True, kw_only=True):
    """One danger: the programs that bring it, and why it is one.

    Among the names, `>` are redirections, `=` settings of variables, `*` commands with a mark, `$`
    those whose name is not known, `@` every command that names something of ours, `%` every one
    that has the hint.
    """

    names: str
    why: str

    @property
    def looks_at_words(self) -> bool:
        """Whether single words make it a danger, wherever they stand."""
        return bool(self.check or self.has or self.touches) and not self.words and not self.mark

    @ComputedOnce
    def _tests(self) -> tuple[Check, ...]:
        return tuple([made(said) for name, made in TESTS.items() if (said := getattr(self, name))])

    @ComputedOnce
    def wanted(self) -> tuple[frozenset[str], ...]:
        """Lists of words of each of which a command has one, in lower case, to be such a danger."""
        given = [*(self.has.split() if isinstance(self.has, str) else self.has)]
        given += [piece for piece in self.words.split() if piece != "**"]
        return tuple([piece.exact for piece in map(_piece, given) if piece.only_words])

    def holds(self, command: Command, roots: Roots) -> bool:
        """Whether a command is such a danger."""
        if self.hint and self.hint not in command.line and not command.cwd:
            return False
        for test in self._tests:  # noqa: SIM110  # `all` would cost as much again
            if not test(command, roots):
                return False
        return True


def rules_of(risks: Risks, names: str, family: str) -> Iterator[RiskRule]:
    """The risks of programs of these names as rows, of the family where one does not say it; raises
    `ValueError` for one that nobody could follow."""
    for why, rows in risks.items():
        for row in rows:
            given = RiskRow(words=row) if isinstance(row, str) else row
            said = msgspec.structs.asdict(given)
            rule = RiskRule(**{**said, "family": given.family or family}, names=names, why=why)
            if rule.family not in FAMILIES:
                raise ValueError(
                    f"`{names}`, {why}: there is no family `{rule.family}`: "
                    f"write one of {', '.join(FAMILIES)}"
                )
            for use, _, paths in [one.partition("=") for one in rule.touches.split()]:
                if use not in USES or not NAMED.issuperset(_places_in(paths)[0]):
                    raise ValueError(
                        f"`{names}`, {why}: `{use}={paths}` says no use of files: write one of "
                        f"{', '.join(USES)}, `=` and paths, or places behind `@`"
                    )
            if rule.check and rule.check not in CHECKS:
                raise ValueError(f"`{names}`, {why}: nothing answers `is: {rule.check}`")
            yield rule


ASKS: Final = listed("--help --dry-run --dryrun --dry_run --what-if --whatif --simulate")


def only_asks(command: Command) -> bool:
    """Whether a command only asks for help or for what it would do."""
    if not command.flags.isdisjoint(ASKS) or "-whatif" in map(str.lower, command.argv):
        return True
    if command.argv[-1:] == ("-help",) or command.argv[1:] == ("--version",):
        return True
    operands = command.operands
    return bool(operands) and "help" in (operands[0], operands[-1])


def begins_after(rule: RiskRule, command: Command, commands: Sequence[Command]) -> bool:
    """Whether an earlier command of a text is what a rule wants before this one, and names the
    same."""
    wanted = rule.after.removeprefix("!")
    strangers = wanted != rule.after
    begins = _begun(wanted)
    named = {word.partition("/")[0] for word in command.operands[1:]}
    for one in commands:
        if one is command:
            return False
        if (
            one.name == command.name
            and begins(one, NO_ROOTS)
            and not named.isdisjoint(one.operands[2:])
            and (not strangers or CHECKS["is_strangers"](one, NO_ROOTS))
        ):
            return True
    return False


STAR: Final = "\0"
"""What stands for a star that is meant as it is, `\\*`, until a piece is made."""


def _piece(text: str) -> WordPiece:
    words = [word for word in text.replace("\\*", STAR).split("|") if word]
    inside = [word[1:-1] for word in words if word[0] == word[-1] == "*" and len(word) > 2]
    begin = [word[:-1] for word in words if word[0] != "*" == word[-1]]
    end = [word[1:] for word in words if word[0] == "*" != word[-1]]
    exact = [word for word in words if "*" not in (word[0], word[-1])]
    lists = [[each.replace(STAR, "*") for each in one] for one in (exact, begin, end, inside)]
    exact, begin, end, inside = lists
    parts = [*[f"{BETWEEN}{each}" for each in begin], *[f"{each}{BETWEEN}" for each in end]]
    return WordPiece(
        text == "*",
        frozenset(exact),
        tuple(begin),
        tuple(end),
        tuple(inside),
        (*parts, *inside),
    )


def _marked(mark: str) -> Check:
    return lambda command, _: mark in command.marks


def _begun(text: str) -> Check:
    """Whether the first operands are those, or the ones behind up to four others."""
    pieces = [_piece(piece) for piece in text.split() if piece != "**"]
    starts = 5 if text[:2] == "**" else 1

    def holds(command: Command, _: Roots) -> bool:
        operands = command.operands
        for begin in range(min(starts, len(operands) - len(pieces) + 1)):
            if all(piece.fits(word) for piece, word in zip(pieces, operands[begin:], strict=False)):
                return True
        return False

    return holds


def _flagged(text: str) -> Check:
    groups = [frozenset(group.split("|")) for group in text.split()]
    return lambda command, _: not any(map(command.flags.isdisjoint, groups))


def _lacking(text: str) -> Check:
    bars = frozenset(text.split("|"))
    return lambda command, _: command.flags.isdisjoint(bars)


def _having(text: str | Sequence[str]) -> Check:
    pieces = [_piece(group) for group in (text.split() if isinstance(text, str) else text)]
    pieces.sort(key=lambda piece: not piece.only_words)  # single words are soon looked for

    def holds(command: Command, _: Roots) -> bool:
        for each in pieces:  # noqa: SIM110  # as above
            if not each.is_in(command):
                return False
        return True

    return holds


def _without(text: str) -> Check:
    piece = _piece(text)
    return lambda command, _: not piece.is_in(command)


def _valued(text: str) -> Check:
    pairs = [
        (option, _piece(values))
        for option, _, values in [group.partition("=") for group in text.split()]
    ]
    return lambda command, _: all(
        any(flag == option and piece.fits(value) for flag, value in command.sorted.values)
        for option, piece in pairs
    )


def _given(texts: Sequence[str]) -> Check:
    def holds(command: Command, _: Roots) -> bool:
        text = command.given
        return text is not None and any(map(text.lower().__contains__, texts))

    return holds


def _fed(text: str) -> Check:
    programs = frozenset(text.split("|"))
    return lambda command, _: not programs.isdisjoint((*command.origin, *command.carries))


def _setting(text: str) -> Check:
    names = frozenset(text.split("|"))
    return lambda command, _: any(
        name in names or f"{name}={value}" in names for name, value in command.settings
    )


def _below(text: str) -> Check:
    names = frozenset(text.split("|"))
    return lambda command, _: any(way.rpartition("/")[2] in names for way in command.via)


def _places_in(paths: str) -> tuple[frozenset[str], WordPiece]:
    """The places among the paths that a row wants, and what else a path may be."""
    words = paths.split("|")
    named = frozenset([word[1:] for word in words if word[:1] == "@"])
    return named, _piece("|".join([word for word in words if word[:1] != "@"]))


def _listed(command: Command) -> list[str]:
    """Where what a command is given was found; of a cmdlet, what it reads, too."""
    words = (*command.operands, command.given) if "cmdlet" in command.marks else command.operands
    return [each[1:] for word in words for each in origin_of(word) if each[:1] == "<"]


def _touching(text: str) -> Check:
    ways = [
        (USES[use], *_places_in(paths))
        for use, _, paths in [one.partition("=") for one in text.split()]
    ]
    return lambda command, roots: all(
        any(
            piece.is_like(path) or (places and is_at(places, path, command.cwd, roots))
            for path in paths_of(command)
        )
        for paths_of, places, piece in ways
    )


def _placed(text: str) -> Check:
    places = frozenset(text.split("|"))
    return lambda command, roots: any(
        place_of(path, command.cwd, roots) in places for path in command.operands
    )


TESTS: Final[dict[str, Callable[[Any], Check]]] = {
    "mark": _marked,
    "words": _begun,
    "flags": _flagged,
    "lacks": _lacking,
    "has": _having,
    "hasnt": _without,
    "value": _valued,
    "given": _given,
    "sources": _fed,
    "sets": _setting,
    "under": _below,
    "touches": _touching,
    "at": _placed,
    "check": CHECKS.__getitem__,
}
"""What a command is tried by, for each word of a row that asks something of it, in that order."""
