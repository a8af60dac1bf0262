"""Rules: what a family of dangers looks like in a command, as data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from stanchion.guards.shell.places import Roots
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.once import Once

if TYPE_CHECKING:
    from stanchion.guards.shell.consequence import Loss

Known = Literal["", "changed", "untracked", "tree", "pushed"]
"""What a repository knows by which less may be lost; see `questions`."""

Check = Callable[[Command, Roots], bool]


class Piece(NamedTuple):
    """What one operand must be: anything, one of these, or something that begins with one of
    those."""

    anything: bool
    exact: frozenset[str]
    beginnings: tuple[str, ...]

    def fits(self, word: str) -> bool:
        """Whether an operand is that."""
        if self.anything:
            return True
        word = word.lower()
        return word in self.exact or (bool(self.beginnings) and word.startswith(self.beginnings))


class Rule(msgspec.Struct, frozen=True, dict=True):
    """One danger: the programs that bring it, what their words must be, why it is one, and what is
    lost (`loss`) where that is not what its family says.

    `words` is compared with the first operands: alternatives are parted by `|`, `*` stands for any
    one, `**` for up to four, and an alternative that ends in `*` for everything that begins so.
    `flags` are groups of options, parted by blanks, of each of which one must be there; `lacks` are
    options none of which may. `check` sees the whole command and the folders of the run; it is
    asked only where `hint` is somewhere in the words, which costs less. A `strict` rule holds only
    where everyday commands are to be refused, too. `known` is what a repository can be asked: where
    it knows of nothing that would go, of the command's paths if it is `by_path`, `otherwise` is
    what is lost. Among the names, `>` are redirections, `=` settings of variables, `*` commands
    with a mark, `$` those whose name is not known, `@` every command, `%` every one that has the
    hint.
    """

    names: str
    why: str
    words: str = ""
    flags: str = ""
    lacks: str = ""
    check: Check | None = None
    loss: Loss | None = None
    marks: str = ""
    hint: str = ""
    strict: bool = False
    known: Known = ""
    by_path: bool = False
    otherwise: Loss = "nothing"

    @Once
    def _wants(self) -> tuple[frozenset[str], ...]:
        return tuple([frozenset(group.split("|")) for group in self.flags.split()])

    @Once
    def _bars(self) -> frozenset[str]:
        return frozenset(self.lacks.split("|")) if self.lacks else frozenset()

    @Once
    def _pieces(self) -> tuple[Piece, ...]:
        return tuple([_piece(piece) for piece in self.words.split() if piece != "**"])

    @Once
    def first(self) -> frozenset[str]:
        """What the first operand must be, one of these; nothing where it may be anything."""
        if not self.words or self.words[0] == "*" or not self._pieces or self._pieces[0].beginnings:
            return frozenset()
        return self._pieces[0].exact

    def holds(self, command: Command, roots: Roots) -> bool:
        """Whether a command is such a danger."""
        if self.marks and self.marks not in command.marks:
            return False
        if self.hint and self.hint not in command.line and not command.cwd:
            return False
        if self.words and not _begins(command.operands, self._pieces, self.words[:2] == "**"):
            return False
        if self.flags:
            flags = command.flags
            for group in self._wants:
                if flags.isdisjoint(group):
                    return False
        if self.lacks and not command.flags.isdisjoint(self._bars):
            return False
        return self.check is None or self.check(command, roots)


class Family(msgspec.Struct, frozen=True):
    """Rules of one kind of danger, what is lost where a rule does not say it, and the code of their
    findings."""

    name: str
    loss: Loss
    rules: tuple[Rule, ...]

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
    options = text.split("|")
    exact = frozenset([option for option in options if not option.endswith("*")])
    return Piece(
        text == "*", exact, tuple([option[:-1] for option in options if option.endswith("*")])
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
