"""Consequences: what a command would cost, whether that can be brought back, and so how it is
answered; and families of dangers, with what an agent reads of them.

A row of the table of programs names a consequence; what becomes of the command follows from the
consequence alone.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from stanchion.kernel.contract.values import Cure
from stanchion.kernel.tuples import NamedTuple
from stanchion.kernel.words import Words, declare
from stanchion.readings.word_lists import Strings

Level = Literal["pass", "note", "doubt", "danger"]
"""How it is answered: not at all, said aloud, a person decides, or refused."""

Loss = Literal[
    "nothing", "regenerable", "recoverable", "visible", "work", "changed", "unknown", "others",
    "good", "control"
]  # fmt: skip
"""What is lost, by its name in the table."""


class Consequence(NamedTuple):
    """What is lost, how it is brought back, and what follows."""

    level: Level
    lost: str
    back: str


CONSEQUENCES: Final[dict[Loss, Consequence]] = {
    "nothing": Consequence("pass", "nothing", "there is nothing to bring back"),
    "regenerable": Consequence(
        "pass",
        "build folders, caches, temporary files, what containers left behind",
        "the next build makes it again",
    ),
    "recoverable": Consequence(
        "note",
        "commits, branches and changes that git or another copy still keeps",
        "reflog, stash, the other copy",
    ),
    "visible": Consequence(
        "note", "nothing, but others see it at once", "by another step of the same kind"
    ),
    "work": Consequence("doubt", "work in the working copy that is in no commit", "not at all"),
    "changed": Consequence(
        "doubt",
        "the settings of a machine, a service or an account, or whether it runs",
        "a person can restore it",
    ),
    "unknown": Consequence("doubt", "what cannot be told from the command", "nobody can say"),
    "others": Consequence(
        "danger",
        "what others rely on: shared branches, services and their data",
        "not by the agent",
    ),
    "good": Consequence(
        "danger", "disks, home folders, system folders, databases, histories", "not at all"
    ),
    "control": Consequence(
        "danger",
        "secrets, rights or control that somebody else would gain",
        "not at all: whoever has them keeps them",
    ),
}
"""The table, from what matters least to what matters most."""


class Family(NamedTuple):
    """A kind of danger: what is lost where a rule does not say it, and what to do instead."""

    name: str
    loss: Loss
    instead: str

    @property
    def code(self) -> str:
        """The code of its findings."""
        return f"shell.{self.name}"


_FAMILIES: Final = (
    Family("tampering", "control", "leave records and Stanchion's own files, variables and "
           "processes alone; a person changes the policy"),
    Family("destructive", "good", "delete only what you made, by its exact path in the working "
           "directory; ask a person for more"),
    Family("remote_code", "control", "save it to a file, read it, then run the steps you need "
           "openly"),
    Family("exfiltration", "control", "send only what the task asks for, by the tool that is meant "
           "for it; secrets stay where they are"),
    Family("privilege", "control", "work with the rights you have; say which single right is "
           "missing and let a person give it"),
    Family("persistence", "control", "do the step now and once; where something has to run by "
           "itself, propose it to a person"),
    Family("exhaustion", "others", "stop only the process you started, by its id; let a person "
           "stop servers and machines"),
    Family("database", "good", "bound the statement by a condition, try it as a SELECT first, and "
           "let a person drop or empty things"),
    Family("service", "others", "say what it would do, and to whom, and let a person do it; try "
           "`--dry-run` where the command has it"),
    Family("git", "others", "commit or copy what is there first, and push without force to your "
           "own branch"),
    Family("credentials", "control", "use the tool that holds the key instead of reading it; say "
           "which access is missing"),
)  # fmt: skip
FAMILIES: Final = {family.name: family for family in _FAMILIES}
"""The families, in the order in which they are looked for."""

CODES: Final = declare(
    {
        **{one.code: Words("`{}`{} {}", one.instead) for one in FAMILIES.values()},
        "shell.not_allowed": Words(
            "`{}`{} is not among the commands that are allowed: {}",
            "do the step with those, or ask for this one",
        ),
        "shell.unclear": Words(
            "what `{}` would run cannot be determined: {}",
            "write it as plain commands, one step at a time",
        ),
        "shell.scrambled": Words(
            "`{}` is scrambled, so that nobody can read what it runs",
            "write it as plain commands, one step at a time",
        ),
        "shell.malformed": Words("no shell accepts `{}`: {}", "write the command again"),
    }
)

CURES: Final = {
    **{
        one.code: (Cure(f"families/{one.name}", "escalate", "command"),)
        for one in FAMILIES.values()
    },
    "shell.destructive": (
        Cure("roots+", "{path}", "path"),
        Cure("roots+", "{folder}", "path"),
        Cure("families/destructive", "escalate", "command"),
    ),
    "shell.not_allowed": (Cure("allow+", "{about}", "program"),),
}
"""Lines that may cure what it says."""

ORDER: Final = {loss: at for at, loss in enumerate(CONSEQUENCES)}


def level_of(loss: Loss) -> Level:
    """How a command is answered that would cost this."""
    return CONSEQUENCES[loss].level


def worst_of(losses: list[Loss]) -> Loss:
    """The one that matters most; nothing where there is none."""
    return max(losses, key=ORDER.__getitem__, default="nothing")


Known = Literal["", "changed", "untracked", "tree", "pushed"]
"""What a repository knows by which less may be lost; see `questions`."""


class RiskRow(
    msgspec.Struct,
    frozen=True,
    dict=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    rename={"check": "is", "known": "ask", "otherwise": "else", "sources": "from"},
):
    """When a program is a danger, by its words. Alternatives are parted by `|`; groups, each of
    which must be met, by blanks."""

    words: str = ""
    """The first operands: `*` is any one, `**` up to four, `x*` whatever begins with `x`."""
    flags: str = ""
    """Options that must be there."""
    lacks: str = ""
    """Options of which none may be there."""
    has: str | Strings = ()
    """Words that must stand somewhere behind the name, in whatever case; `*` at either end is
    whatever stands there. As a list, one group each."""
    hasnt: str = ""
    """Words of which none may stand there."""
    value: str = ""
    """Options with values that they must have, as `--option=value`."""
    given: Strings = ()
    """Texts of which one must be in the input."""
    sources: str = ""
    """Programs of which one makes what it reads."""
    sets: str = ""
    """Variables of which one must be set."""
    under: str = ""
    """Programs of which one must be what starts it, or starts what does."""
    touches: str = ""
    """Paths of which it must use one, by how: `reads=…`, `writes=…`, `deletes=…`, `targets=…` (what
    it writes, and all that redirections open for that), `emptied=…` and `opened=…` (by
    redirections), `operands=…`, `behind=…` (the first), `last=…`, `roots=…` (of a search) or
    `listed=…` (where a search found them). `@home` is a path in that place, one of `at`, `secret`,
    `traces` or `remote`."""
    mark: str = ""
    """What the reader must have noticed of the command."""
    hint: str = ""
    """A text without which nothing else is asked, which costs less."""
    at: str = ""
    """Places of which one operand must be: `root`, `home`, `core`, `system`, `disk`, `outside`,
    `open`, `shared`, `all`."""
    check: str = ""
    """A question that no table answers, by its name."""
    family: str = ""
    """The family of the danger; if absent, `service`."""
    loss: Loss | None = None
    """What is lost, a name of the table of consequences; if absent, what the family says."""
    strict: bool = False
    """If `true`, it holds only where everyday commands are refused, too."""
    known: Known = ""
    """What a repository is asked, by which less may be lost."""
    by_path: bool = False
    """If `true`, the repository is asked about the command's paths alone."""
    after: str = ""
    """How an earlier command of the same program and text must begin whose words name the same, as
    `remote add` before `push`; behind `!` it has to name an address of a stranger."""
    then: Loss | None = None
    """What is lost where the repository knows of something that would go; if absent, as much as
    without an answer."""
    otherwise: Loss = "nothing"
    """What is lost where the repository knows of nothing that would go."""


Risks = dict[str, tuple[str | RiskRow, ...]]
"""Rows, by why they are a danger."""


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of programs: risks, each by why it is one; commands that are such, and that are
    none."""

    risks: Risks
    """Rows by why they are a danger; a text is a row of `words`."""
    hits: Strings = ()
    """Commands for which a row must hold."""
    misses: Strings = ()
    """Commands for which no row may hold."""
