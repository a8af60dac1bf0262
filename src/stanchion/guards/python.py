"""Python guard: a user's own code judges, by shape alone, as a lookup with a deadline."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final

import msgspec

from stanchion.kernel.actions import RISK_NAMES, Action, Category
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading

CODES: Final = declare({"python.refused": Words("{}")})


class PythonGuard(msgspec.Struct, frozen=True):
    """Hands the event to the code at `call` (`module:name`) and takes its answer.

    The code gives None to pass, a text to refuse with that reason, or a Finding. It may block or be a coroutine:
    no answer within the deadline refuses, and the answer that comes later enters the run's next event. A `deep`
    guard that is late lets calls of low and medium risk proceed. The code of an `isolated` guard works in a process of
    its own, which is ended at the deadline.
    """

    name: ClassVar[str] = "python"
    kind: ClassVar[Kind] = Kind.ASKING
    stages: ClassVar[frozenset[Stage]] = frozenset({Stage.TOOL_CALL})
    category: ClassVar[Category] = Category.QUALITY
    priority: ClassVar[int] = 100

    call: str
    deadline_ms: Annotated[int, msgspec.Meta(ge=0)] = 1_000
    deep: bool = False
    isolated: bool = False
    deadlines_ms: dict[str, Annotated[int, msgspec.Meta(ge=0)]] | None = None

    def __post_init__(self) -> None:
        for risk in () if self.deadlines_ms is None else self.deadlines_ms:
            if risk not in RISK_NAMES:
                known = ", ".join(RISK_NAMES)
                raise ValueError(f"`deadlines_ms` has `{risk}`, which is no risk: choose among {known}")

    def ask(self, reading: Reading[Event], /) -> Lookup:
        """The question is the event itself."""
        event = reading.event
        deadlines = self.deadlines_ms
        if deadlines is None:
            return Lookup("", event, self.deadline_ms)
        return Lookup("", event, deadlines.get(RISK_NAMES[event.risk], self.deadline_ms))

    def judge(self, _reading: Reading[Event], value: Any, /) -> Finding | None:
        """Read the answer of the user's code; an answer of any other shape is the guard's failure."""
        match value:
            case None | Finding():
                return value
            case str():
                return Finding(Action.BLOCK, "python.refused", (value,))
            case _:
                raise TypeError("a python guard answers None, a text or a Finding")

    def rises_with(self, _table: str, _key: str, _old: Any, /) -> bool:
        """Only its author knows."""
        return False

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer: its author knows, so what makes no sense becomes the next stricter."""
        return ()
