"""Holding back: how much of a streamed text can be judged for good, and what has to wait for
more."""

from __future__ import annotations

import codecs
from collections.abc import Callable
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


class Held:
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
