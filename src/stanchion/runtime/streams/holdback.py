"""Holding back: how much of a streamed text can be judged for good, and what has to wait for
more."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, Final, TypeVar

from stanchion.kernel.actions import Action
from stanchion.kernel.chain import Policy
from stanchion.kernel.contract.powers import having
from stanchion.kernel.events import RunInfo
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Placed
from stanchion.kernel.sizes import CEILING
from stanchion.kernel.stages import Stage
from stanchion.kernel.tuples import NamedTuple

LONGEST: Final = 16_384
"""How many characters a guard may hold back: nothing that is looked for is longer."""
RARELY: Final = 4
"""What is held back for long is looked at again when it has grown by this part of itself."""
SHORT: Final = 256
"""So much of it is looked at again with every piece."""
ROUNDS: Final = 16
"""How often guards are asked for a place that all of them agree on."""

ESCAPED: Final = "surrogateescape"

Back = Callable[[int], int]
"""Gives the last place up to another one where a text may be cut."""


class Piece(NamedTuple):
    """A piece of a stream that has several channels: `text`, `arguments`, `reasoning`, or whatever
    the host has."""

    channel: str
    text: str


Item = TypeVar("Item")
"""What a stream is made of: texts, bytes, pieces, or objects of an SDK. What comes out has the type
of what went in."""


class Keepers:
    """The guards of a run that look for things which can be cut in two, and what they agree on."""

    __slots__ = ("_placed", "any", "context")

    def __init__(self, policy: Policy, run: RunInfo) -> None:
        chain = policy.guards(Stage.MODEL_CHUNK, "", run, "")
        self._placed: tuple[Placed, ...] = tuple(
            [p for p in chain if having(p.guard, "settled") is not None]
        )
        self.any: Final = bool(self._placed)
        self.context: Final[int] = max([placed.guard.CONTEXT for placed in self._placed], default=0)
        """How much of what was passed on still matters for what comes."""

    def settled(self, text: str) -> tuple[int, Finding | None]:
        """How many characters can be judged for good whatever follows; or what refuses the stream:
        a guard that fails, or that holds back more than there can be to wait for."""
        backs: list[Back] = []
        for placed in self._placed:
            back, trouble = _asked(placed, text)
            if not trouble:
                backs.append(back)
            elif not placed.shadow and not placed.fail_open:
                return 0, Finding(
                    Action.BLOCK, "kernel.guard_error", (placed.id, trouble), guard="kernel"
                )
        at = agreed(backs, len(text))
        if len(text) - at > LONGEST:
            names = ", ".join([placed.id for placed in self._placed])
            return 0, Finding(
                Action.BLOCK, "kernel.guard_error", (names, "Disagreement"), guard="kernel"
            )
        return at, None


def _asked(placed: Placed, text: str) -> tuple[Back, str]:
    """What tells where a text may be cut for a guard, and what is wrong with the guard."""
    knows = having(placed.guard, "cuts")
    back: Back = partial(_nearest, placed.guard, text)
    try:
        if knows is None:
            point = int(placed.guard.settled(text))
        else:
            back = knows.cuts(text)
            point = back(len(text))
    except Exception as error:  # noqa: BLE001 - a guard may raise anything, and fails closed
        return back, type(error).__name__
    if not 0 <= point <= len(text):
        return back, "ValueError"
    return back, "HeldTooLong" if len(text) - point > LONGEST else ""


def agreed(backs: list[Back], at: int) -> int:
    """The last place up to another one where all guards let a text be cut; 0 if they differ."""
    for _ in range(ROUNDS):
        lower = at
        for back in backs:
            lower = back(lower)
        if lower == at:
            return at
        at = lower
    return 0


def _nearest(guard: Any, text: str, at: int) -> int:
    """The last place up to `at` where a text can be cut for a guard, as far as a few looks tell."""
    best, more = 0, 0
    while at + more <= len(text):
        try:
            point = int(guard.settled(text[: at + more]))
        except Exception:  # noqa: BLE001 - a guard may raise anything; then nothing is settled for it
            return 0
        if point == at:
            return at
        if point > at:
            break
        best = max(best, point)
        more = more * 2 if more else 1
    return best


class HeldText:
    """What waits on one channel of a stream, what was passed on just before it, and the shape it
    came in."""

    __slots__ = ("_came", "_decoder", "_next", "before", "passed", "shape", "text")

    def __init__(self, shape: type[Any]) -> None:
        self.shape = shape
        self.text = ""
        self.before = ""
        self.passed: list[str] = []
        """What was delivered, after redaction."""
        self._came: list[str] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")(ESCAPED) if shape is bytes else None
        self._next = 0

    def add(self, given: str | bytes) -> None:
        """Append a chunk. Bytes become characters when all of them have come; broken ones survive
        as they are."""
        if isinstance(given, str):
            self.text += given
            self._came.append(given)
        else:
            self.text += self._decode(given)

    def is_all(self, text: str) -> bool:
        """Whether this is everything that came, and all of it was passed on. Bytes are never
        repeated."""
        return (
            not self.text
            and bool(text)
            and sum(map(len, self._came)) == len(text)
            and "".join(self._came) == text
        )

    def end(self) -> None:
        """Say that nothing more comes."""
        self.text += self._decode(b"", final=True)

    def _decode(self, given: bytes, final: bool = False) -> str:
        return "" if self._decoder is None else self._decoder.decode(given, final)

    def ready(self, keepers: Keepers) -> tuple[int, Finding | None]:
        """How much can be judged now, or what refuses the stream. What is too large is not looked
        at: it is refused."""
        if len(self.text) < self._next:
            return 0, None
        if len(self.text) > CEILING:
            return len(self.text), None
        at, trouble = keepers.settled(self.text)
        left = len(self.text) - at
        self._next = min(left + max(0, left - SHORT) // RARELY, LONGEST + 1)
        return at, trouble

    def take(self, count: int, context: int) -> tuple[str, str]:
        """Take that many characters to be judged, with what stands before them."""
        if count == len(self.text):
            piece, self.text = self.text, ""
        else:
            piece, self.text = self.text[:count], self.text[count:]
        before = self.before
        self.before = (before + piece)[-context:] if context else ""
        return piece, before

    def shaped(self, channel: str, text: str) -> Any:
        """A delivered text in the shape of what came in."""
        if self.shape is bytes:
            return text.encode("utf-8", ESCAPED)
        return Piece(channel, text) if self.shape is Piece else text


class _Waiting(NamedTuple):
    """An object that waits: for the text of these channels, or for what stands before it. One
    without text has a number, by which channels know that they began behind it."""

    made: Any
    after: frozenset[str] = frozenset()
    number: int = 0


class Order:
    """Objects without text wait behind text that is held back, and so does whatever began after
    them: what opens a block goes out before what is in it, and what ends it behind that. Text that
    is not behind them does not wait."""

    def __init__(self, held: Mapping[str, HeldText]) -> None:
        self._held = held
        self._line: list[_Waiting] = []
        self._count = 0
        self._began: dict[str, int] = {}
        """The last object that waited where a channel began."""

    def put(
        self, made: Any, spoken: Collection[str], begun: Collection[str] = (), last: bool = False
    ) -> tuple[Any, ...]:
        """Take an object with text of some channels, and the channels that begin with it; gives
        what goes out now. The last object of its text also says that nothing comes behind it: what
        waited goes out first."""
        if spoken:
            self._begin(begun)
            behind = max([self._began.get(name, 0) for name in spoken])
            if not any(0 < one.number <= behind for one in self._line):
                return (*self.settle(), made) if last else (made, *self.settle())
            self._line.insert(len(self._line) if last else self._place(behind), _Waiting(made))
            return self.settle()
        after = frozenset([name for name, held in self._held.items() if held.text])
        if not after and not self._line:
            return (made,)
        self._count += 1
        self._line.append(_Waiting(made, after, self._count))
        self._begin(begun)
        return self.settle()

    def _begin(self, channels: Collection[str]) -> None:
        """Note behind which object channels begin, where one waits."""
        last = max([one.number for one in self._line], default=0)
        if last:
            self._began |= dict.fromkeys(channels, last)

    def _place(self, behind: int) -> int:
        """Where text has to stand that began behind an object: before the next one that has
        none."""
        return next(
            (place for place, one in enumerate(self._line) if one.number > behind), len(self._line)
        )

    def settle(self) -> tuple[Any, ...]:
        """What no longer waits, in its order."""
        out = []
        while self._line and not any(self._held[name].text for name in self._line[0].after):
            out.append(self._line.pop(0).made)
        return tuple(out)

    def first(self) -> list[str]:
        """The channels, those that began behind an object later than it."""
        return sorted(self._held, key=lambda name: self._began.get(name, 0))


NUMBERS: Final = ("output_index", "content_index", "summary_index")
BLOCKS: Final = "content_block"
"""What is in the type of an event about one of several blocks."""
ENDING: Final = ("_stop", ".done", ".completed", ".incomplete", ".failed", ".cancelled")
STARTING: Final = ("_start", ".created", ".added", ".in_progress", ".queued")
WHOLE: Final = (*ENDING, *STARTING)

Block = tuple[int, ...]
"""Numbers that name a block, from the outermost; a part of it has the same and more."""


def numbers_of(content: Any, outermost: bool) -> Block:
    """The numbers that an object, or a part of one, gives to what it is about.

    An object's own `index` may just count objects. It is that of a block only where the object says
    so.
    """
    if not isinstance(content, dict):
        return ()
    own = not outermost or BLOCKS in str(content.get("type"))
    numbers = [content.get(name) for name in (("index", *NUMBERS) if own else NUMBERS)]
    return tuple([number for number in numbers if type(number) is int])


def is_whole(content: Any) -> bool:
    """Whether an object brings whole texts: those that came in pieces once more, or such as come at
    once."""
    return isinstance(content, dict) and "delta" not in content and _named(content).endswith(WHOLE)


def ended_by(content: Any) -> list[Block]:
    """The blocks that end with an object; without numbers all of them do."""
    if not isinstance(content, dict):
        return []
    if _named(content).endswith(ENDING):
        return [numbers_of(content, True)]
    choices = content.get("choices")
    over = [one for one in choices if isinstance(one, dict)] if isinstance(choices, list) else []
    return [numbers_of(one, False) for one in over if one.get("finish_reason") is not None]


def is_of(block: Block, outer: Block) -> bool:
    """Whether a block is another one, or a part of it."""
    return block[: len(outer)] == outer


def _named(content: dict[str, Any]) -> str:
    name = content.get("type")
    return name if isinstance(name, str) else ""
