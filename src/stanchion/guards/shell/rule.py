"""Rules: what a family of dangers looks like in a command, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from stanchion.guards.shell.codes import FAMILIES
from stanchion.guards.shell.consequence import Loss
from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.row import Program, RiskRow
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.once import Once

Check = Callable[[Command, Roots], bool]

CHECKS: Final[dict[str, Check]] = {}
"""The questions that no table answers, by the names that rows call them."""


def asked(check: Check) -> Check:
    """Let rows of the table ask this of a command and of the folders of the run: about the flow of
    data, the place of a path, other commands, or a grammar of its own."""
    CHECKS[check.__name__] = check
    return check


class Piece(NamedTuple):
    """What one word must be: anything, one of these, or something that begins or ends with, or has
    in it, one of those."""

    anything: bool
    exact: frozenset[str]
    beginnings: tuple[str, ...]
    endings: tuple[str, ...]
    inside: tuple[str, ...]

    def fits(self, word: str) -> bool:
        """Whether a word is that."""
        if self.anything:
            return True
        word = word.lower()
        if word in self.exact or (self.beginnings and word.startswith(self.beginnings)):
            return True
        if self.endings and word.endswith(self.endings):
            return True
        return bool(self.inside) and any(each in word for each in self.inside)


class SpokenWords(NamedTuple):
    """What a row wants of the words of a command beside its first operands and its options."""

    has: tuple[Piece, ...]
    hasnt: Piece | None
    values: tuple[tuple[str, Piece], ...]
    given: tuple[str, ...]
    sets: frozenset[str]

    def holds(self, command: Command) -> bool:
        """Whether a command says all that."""
        words = command.argv[1:]
        if not all(any(map(each.fits, words)) for each in self.has):
            return False
        if self.hasnt is not None and any(map(self.hasnt.fits, words)):
            return False
        values = command.sorted.values
        for option, wanted in self.values:
            if not any(flag == option and wanted.fits(value) for flag, value in values):
                return False
        text = command.given
        if self.given and (text is None or not any(each in text for each in self.given)):
            return False
        return not self.sets or any(name in self.sets for name, _ in command.settings)


class Rule(RiskRow, frozen=True, dict=True, omit_defaults=True, kw_only=True):
    """One danger: the programs that bring it, and why it is one.

    Among the names, `>` are redirections, `=` settings of variables, `*` commands with a mark, `$`
    those whose name is not known, `@` every command that names something of ours, `%` every one
    that has the hint.
    """

    names: str
    why: str

    @Once
    def _wants(self) -> tuple[frozenset[str], ...]:
        return tuple([frozenset(group.split("|")) for group in self.flags.split()])

    @property
    def _has(self) -> Sequence[str]:
        return self.has.split() if isinstance(self.has, str) else self.has

    @property
    def looks_at_words(self) -> bool:
        """Whether single words make it a danger, wherever they stand."""
        return bool(self.check or self.has) and not self.words and not self.mark

    @Once
    def _bars(self) -> frozenset[str]:
        return frozenset(self.lacks.split("|")) if self.lacks else frozenset()

    @Once
    def _pieces(self) -> tuple[Piece, ...]:
        return tuple([_piece(piece) for piece in self.words.split() if piece != "**"])

    @Once
    def _said(self) -> SpokenWords | None:
        if not (self.has or self.hasnt or self.value or self.given or self.sets):
            return None
        return SpokenWords(
            tuple([_piece(group) for group in self._has]),
            _piece(self.hasnt) if self.hasnt else None,
            tuple([_valued(group) for group in self.value.split()]),
            self.given,
            frozenset(self.sets.split("|") if self.sets else ()),
        )

    @Once
    def first(self) -> frozenset[str]:
        """What the first operand must be, one of these; nothing where it may be anything."""
        if not self.words or self.words[0] == "*" or not self._pieces or self._pieces[0].beginnings:
            return frozenset()
        return self._pieces[0].exact

    def holds(self, command: Command, roots: Roots) -> bool:
        """Whether a command is such a danger."""
        if self.mark and self.mark not in command.marks:
            return False
        if self.hint and self.hint not in command.line and not command.cwd:
            return False
        if self.words and not _begins(command.operands, self._pieces, self.words[:2] == "**"):
            return False
        if self.flags and any(map(command.flags.isdisjoint, self._wants)):
            return False
        if self.lacks and not command.flags.isdisjoint(self._bars):
            return False
        if self._said is not None and not self._said.holds(command):
            return False
        return not self.check or CHECKS[self.check](command, roots)


def rules_of(program: Program, names: str, family: str) -> Iterator[Rule]:
    """The rows of a program of these names, of the family where a row does not say it; raises
    `ValueError` for one that nobody could follow."""
    for why, rows in program.risks.items():
        for row in rows:
            given = RiskRow(words=row) if isinstance(row, str) else row
            said = msgspec.structs.asdict(given)
            rule = Rule(**{**said, "family": given.family or family}, names=names, why=why)
            if rule.family not in FAMILIES:
                raise ValueError(
                    f"`{names}`, {why}: there is no family `{rule.family}`: "
                    f"write one of {', '.join(FAMILIES)}"
                )
            if rule.check and rule.check not in CHECKS:
                raise ValueError(f"`{names}`, {why}: nothing answers `is: {rule.check}`")
            yield rule


class Family(msgspec.Struct, frozen=True):
    """A kind of danger: what is lost where a rule does not say it, and the code of its findings."""

    name: str
    loss: Loss

    @property
    def code(self) -> str:
        """The code of its findings."""
        return f"shell.{self.name}"


ASKS: Final = frozenset(
    {"--help", "--dry-run", "--dryrun", "--dry_run", "--what-if", "--whatif", "--simulate"}
)


def only_asks(command: Command) -> bool:
    """Whether a command only asks for help or for what it would do."""
    if not command.flags.isdisjoint(ASKS):
        return True
    if command.argv[1:] == ("--version",):
        return True
    operands = command.operands
    return bool(operands) and "help" in (operands[0], operands[-1])


def _piece(text: str) -> Piece:
    words = text.split("|")
    inside = tuple([word[1:-1] for word in words if word[0] == word[-1] == "*" and len(word) > 2])
    return Piece(
        text == "*",
        frozenset([word for word in words if "*" not in (word[0], word[-1])]),
        tuple([word[:-1].removeprefix("\\") for word in words if word[0] != "*" == word[-1]]),
        tuple([word[1:] for word in words if word[0] == "*" != word[-1]]),
        inside,
    )


def _begins(operands: tuple[str, ...], pieces: tuple[Piece, ...], anywhere: bool) -> bool:
    last = len(operands) - len(pieces)
    for begin in range(min(5 if anywhere else 1, last + 1)):
        at = begin
        for piece in pieces:
            if not piece.fits(operands[at]):
                break
            at += 1
        else:
            return True
    return False


def _valued(group: str) -> tuple[str, Piece]:
    option, _, values = group.partition("=")
    return option, _piece(values)
