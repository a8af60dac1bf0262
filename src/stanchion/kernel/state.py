"""State operations: all state of a decision, written as one batch that a store carries out
atomically."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar, Final

import msgspec

from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.shown import Shown
from stanchion.kernel.tuples import NamedTuple
from stanchion.kernel.units import JUST_ONE, Amounts

BUCKETS: Final = 16
"""How finely a window slides: it is counted in this many buckets."""

CLOCK: Final = "@now"
"""The key under which an expectation speaks of the store's clock (milliseconds)."""

SKIPPED: Final = -1
"""A line's outcome where an earlier line stopped the chain."""
IDLE: Final = -2
"""A line's outcome where the lines it depends on did not warn."""

FOREVER: Final = 1 << 62
"""An upper end that every number is below."""


class When(IntEnum):
    """When a line or a record is written."""

    LOOK = 0
    """Never: it only looks."""
    JUDGED = 1
    """When the chain reached it, whatever the decision."""
    PROCEED = 2
    """When the decision goes ahead: all such lines or none."""


class Line(NamedTuple):
    """One counter with bands, at its place in the chain.

    The outcome is the value before and the action of the highest band that value + amount exceeds;
    bands ascend. `follows` makes it count only if the most severe of that many lines before it said
    WARN. `hold_ms` keeps what it took as a hold until settled: at expiry spend (`keep`) stays
    charged, a permit is given back. `shadow` numbers a guard in shadow mode, whose lines gate only
    each other. A named tuple, because a store unpacks several of them in every decision.

    With `bits` it is a register: instead of adding, it pushes one bit (`push`) behind the last
    `bits` of them. See `registers`.
    """

    key: str
    bands: tuple[tuple[int, Action], ...] = ()
    unit: int = 0
    when: When = When.PROCEED
    follows: int = 0
    hold_ms: int = 0
    keep: bool = True
    window_ms: int = 0
    shadow: int = 0
    idle_s: int = 604_800
    bits: int = 0
    push: int = 0


IDLE_S: Final = 604_800
"""How long a cell nobody touches is kept before it is collected as garbage."""

STANDING: Final = "}shield"
"""How the key of the shield's state ends."""
EPOCH: Final = "{*}epoch"
"""The key of the record by which a store is known to be the one it was; it is the whole fleet's."""
ANCHOR: Final = "@trail"
"""The last part of the key of a record that says how far a chain of a trail had come."""
OWED: Final = "@review"
"""How the id of a review ends, which is owed until somebody has given it."""
KEPT: Final = (
    STANDING, "}allowed", "}epoch", "}operators", "}trusted", "}retention", "}pinned", "}asking",
    "}reviews", OWED, f":{ANCHOR}",
)  # fmt: skip
"""How the keys of records end that are never garbage, however long nobody writes them: states,
allowances, epoch, operators, what they trust, what they let leave, who has asked people, reviews,
and how far trails had come."""

Put = tuple[str, Any, When, int, int]
"""A new value of a record: key, value (plain data, or a `LiveRecord`), when it is written, how many
lines stand before it (a stop among those leaves it unwritten), and the number of its guard if that
is in shadow mode. A bare tuple: one is made per call."""


Expect = tuple[str, int, int]
"""A cell's number (a record's version, a counter's total, the clock) must be in [lo, hi)."""

Records = dict[str, tuple[int, Any]]
"""A cache of records: key to (version, value). What is stale in it costs a round trip, never a
wrong decision."""

ABSENT: Final[tuple[int, Any]] = (0, None)
"""What a cache has where it has nothing."""


SIGN: Final = "~"
NAMED: Final = 1 + 16
"""How long the name of a record's value is: a sign and digits."""


class LiveRecord:
    """A value of a record that is kept as it is by whoever judges by it, and made a text only where
    it leaves the process. Whoever holds one does not change it.

    `name` is a digest of how it came about, and known without the text, which begins with it.
    """

    __slots__ = ()

    @property
    def name(self) -> str:
        """What stands for it."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        """Whether it is the same, and came about so."""
        if not isinstance(other, LiveRecord) or self.name != other.name:
            return False
        return self is other or self.text() == other.text()

    def __hash__(self) -> int:
        return hash(self.name)

    def body(self) -> str:
        """What is behind its name in the text."""
        raise NotImplementedError

    def text(self) -> str:
        """The text, by which others have it."""
        return f"{self.name}|{self.body()}"


def as_text(value: Any) -> str:
    """What an encoder writes of such a value; raises `TypeError` for any other."""
    if isinstance(value, LiveRecord):
        return value.text()
    raise TypeError(f"`{type(value).__name__}` cannot be written: give plain data")


def text_or_value(value: Any) -> Any:
    """A record's value as others have it."""
    return value.text() if isinstance(value, LiveRecord) else value


def name_or_value(value: Any) -> Any:
    """What names a record's value where that is written, and the value itself where it is not."""
    if isinstance(value, LiveRecord):
        return value.name
    named = type(value) is str and value[:1] == SIGN and value[NAMED : NAMED + 1] == "|"
    return value[:NAMED] if named else value


class Stake(NamedTuple):
    """A record that an action rests on: it must be at that version, before `until` by the store's
    clock, and becomes `value` when the action starts, in any case (`JUDGED`), or never (`LOOK`).
    Where somebody was first, or it is too late, the action is refused, and nothing is judged
    again."""

    key: str
    version: int
    value: Any
    when: When = When.PROCEED
    until: int = FOREVER


Settle = tuple[str, Amounts | None]
"""Close the hold of that batch id with actual amounts; `None`: nothing happened, all is given
back."""


class Batch(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """All state of one decision. `go` is False where a refusal is known already: only JUDGED parts
    write.

    `ceiling` is the most severe action under which the rest is written.
    """

    id: str
    tenant: str = "default"
    go: bool = True
    expects: tuple[Expect, ...] = ()
    settles: tuple[Settle, ...] = ()
    lines: tuple[Line, ...] = ()
    amounts: Amounts = JUST_ONE
    puts: tuple[Put, ...] = ()
    ceiling: int = int(PROCEEDS)


class Fresh(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A cell that was not as expected: its number now, and its value if it is a record."""

    key: str
    number: int
    value: Any = None


class Reply(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """What the store did. `stale`: an expectation failed, nothing was applied, `fresh` says how
    things stand.

    `actions` is empty where no line had anything to say.
    """

    now: int
    stale: bool = False
    go: bool = False
    values: tuple[int, ...] = ()
    actions: tuple[int, ...] = ()
    settled: tuple[str, ...] = ()
    fresh: tuple[Fresh, ...] = ()


class Moved(msgspec.Struct, frozen=True, gc=False):
    """A record or counter changed under a decision, which is about to be made again: whoever drives
    it may let others go first that race for the same."""

    key: str


UNREACHED: Final = "it cannot be reached"
"""Why a store is lost that does not say why."""


class StoreLost(Shown):
    """The store could not carry a batch out, or its answer did not come. Its text says why, to
    operators: it names hosts and files that no agent may see."""

    code: ClassVar[str] = "kernel.store_lost"
    """The code of a refusal for which this is the reason."""

    @property
    def why(self) -> str:
        """The reason in words."""
        return str(self) if self.args and str(self) else UNREACHED

    @property
    def said(self) -> tuple[str, ...]:
        """The arguments of such a refusal."""
        return (self.why,)


class StoreForgot(StoreLost):
    """The store answers, but no longer knows what this process has seen it carry out: it was
    emptied or restored, or has dropped something. Nothing was carried out."""

    code: ClassVar[str] = "kernel.store_forgot"

    @property
    def said(self) -> tuple[str, ...]:
        """Nothing: the code says it all, and the reason is for operators."""
        return ()


class Crowded(StoreLost):
    """The store was not asked, because too many in this process wait for it: nothing is wrong with
    it, and nothing was carried out. `others` is how many wait, `waited_ms` how long this one
    has."""

    code: ClassVar[str] = "kernel.crowded"

    def __init__(self, why: str, others: int, waited_ms: int) -> None:
        super().__init__(why)
        self.others: Final = others
        self.waited_ms: Final = waited_ms

    @property
    def said(self) -> tuple[str, ...]:
        """How many wait, for how long this one has, and the reason in words."""
        return (f"{self.others:,}", f"{self.waited_ms / 1000:.3g}", self.why)


def key(tenant: str, *parts: str) -> str:
    """A cell's key under its tenant's hash tag; parts cannot run into each other."""
    whole = tenant + "".join(parts)
    if whole.isalnum() or not ("%" in whole or ":" in whole or "{" in whole or "}" in whole):
        return "{" + tenant + "}" + ":".join(parts)
    return "{" + _plain(tenant) + "}" + ":".join([_plain(part) for part in parts])


def _plain(part: str) -> str:
    if part.isalnum():
        return part
    for char in "%:{}":
        if char in part:
            part = part.replace(char, f"%{ord(char):02x}")
    return part
