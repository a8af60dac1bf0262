"""Python guard: a user's own code judges, by shape alone, as a lookup with a deadline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import msgspec

from stanchion.guards._routes import Waits, lookup, named, routed
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.option import AtLeastZero
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading
from stanchion.readings.word_lists import listed

LONGEST: Final = 2_000
"""How many characters of an answer are read in all."""
MOST: Final = 64
"""How many arguments of a finding are, and how many edits it may ask for."""
LARGEST: Final = 1 << 20
"""How many bytes these edits have at the most: one cannot be left out, nor cut."""


def cut(text: str, longest: int = LONGEST) -> str:
    """A text that is no longer than that."""
    return text if len(text) <= longest else f"{text[: max(0, longest - 1)]}…"


def bounded(finding: Finding) -> Finding:
    """A finding as it is, or with its words cut; one with more edits than anybody needs is none."""
    if len(finding.patches) + len(finding.hides) + len(finding.effects) > MOST:
        raise TypeError(f"a finding has {MOST} edits and effects at the most")
    if finding.patches and len(msgspec.json.encode(finding.patches)) > LARGEST:
        raise TypeError(f"the edits of a finding have {LARGEST:,} bytes at the most")
    words = [
        finding.text,
        finding.guidance,
        finding.about,
        *[arg for arg in finding.args[:MOST] if isinstance(arg, str)],
    ]
    if len(finding.args) <= MOST and sum(map(len, words)) <= LONGEST:
        return finding
    left = LONGEST

    def shortened(value: Any) -> Any:
        nonlocal left
        if not isinstance(value, str):
            return value
        short = cut(value, left)
        left = max(0, left - len(short))
        return short

    return msgspec.structs.replace(
        finding,
        text=shortened(finding.text),
        guidance=shortened(finding.guidance),
        about=shortened(finding.about),
        args=tuple([shortened(arg) for arg in finding.args[:MOST]]),
    )


ONE_EVENT: Final = listed("id at run call")
"""What tells one event from another that says the same."""
SHAPES: Final = "a python guard answers None, a text or a Finding"

CODES: Final = declare(
    {"python.refused": Words("{}", "do it in a way that this allows, or ask the user")}
)

_LEFT_OPEN: Final = "or set `fail_open` for the guard"
REMEDIES: Final = {
    # The guard itself fails only on an answer that is none; what the code raises is told by its
    # type, and its words were never kept.
    "kernel.guard_error": (
        "`{call}` gave something that is not an answer: have it return None, a text or a Finding",
        _LEFT_OPEN,
    ),
    "kernel.lookup_failed": (
        "`{call}` raised `{1}`: fix it (the error's text is not kept, because it may hold secrets)",
        "{1:unless}`{call}` raised an error: fix it (the error's text is not kept, because it may "
        "hold secrets)",
        _LEFT_OPEN,
    ),
    "": ("another answer of `{call}`: None lets it pass",),
}


class PythonGuard(msgspec.Struct, frozen=True):
    """Hands the event to the code at `call` (`module:name`) and takes its answer.

    The code gives None to pass, a text to refuse with that reason, or a Finding. It may block or be
    a coroutine: no answer within the deadline refuses, and the answer that comes later enters the
    run's next event. A `deep` guard is waited for by the risk of a call, and what it is late for
    goes ahead at low and medium risk. The code of an `isolated` guard works in a process of its
    own, which is ended at the deadline.
    """

    name: ClassVar = "python"
    paid: ClassVar = False
    kind: ClassVar = Kind.ASKING
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.QUALITY
    priority: ClassVar = 100
    remedies: ClassVar = REMEDIES
    does_more: ClassVar = True

    call: str
    """The code that judges, as `module:name`: a function or an object, not a class; imported when
    the policy loads."""
    deadline_ms: AtLeastZero = 1_000
    """A call is refused if the code gives no answer within this many milliseconds."""
    deep: bool = False
    """If `true`, a call waits by its risk, and goes ahead at low and medium risk when the answer is
    late."""
    isolated: bool = False
    """If `true`, the code runs in its own process, which is stopped at the deadline."""
    waits: Waits | None = None
    """How many milliseconds a call waits for the answer, by its risk (`low`, `medium`, `high`,
    `critical`); never longer than `deadline_ms`. If absent, as the policy's `deep` says."""
    cache: bool = False
    """If `true`, the answer to an event is used again for one that says the same, for the same
    agent and task."""

    def __post_init__(self) -> None:
        named(self.waits)
        if not self.deep and (self.waits is not None or self.cache):
            option = "waits" if self.waits is not None else "cache"
            raise ValueError(f"`{option}` is for deep guards: set `deep: true`, or leave it out")

    @property
    def rule_version(self) -> str | None:
        """A deep guard's version: the code it calls."""
        return f"{self.call};{self.cache}" if self.deep else None

    def routed(self, waits: Mapping[str, int], /) -> PythonGuard:
        """The same guard, which waits as the policy says where it does not say so itself."""
        return msgspec.structs.replace(self, waits=routed(self.waits, waits)) if self.deep else self

    def content(self, payload: Any, /) -> Any:
        """All of an event but which one it is and when; nothing is kept unless that is asked
        for."""
        if not self.cache:
            return None
        run = payload.run
        told = {
            name: getattr(payload, name)
            for name in payload.__struct_fields__
            if name not in ONE_EVENT
        }
        return [str(payload.stage), told, run.agent, run.role, run.task]

    def checked(self, value: Any, /) -> Any:
        """An answer that is one, no longer than what the run's next event can bear."""
        if value is None:
            return None
        if isinstance(value, str):
            return cut(value)
        if isinstance(value, Finding):
            return bounded(value)
        raise TypeError(SHAPES)

    def cost(self, _value: Any, /) -> tuple[int, int]:
        """Nothing that is known."""
        return 0, 0

    def ask(self, reading: Reading[Event], /) -> Lookup:
        """The question is the event itself."""
        event = reading.event
        return (
            lookup(event, event.risk, self.waits, self.deadline_ms)
            if self.deep
            else Lookup("", event, self.deadline_ms)
        )

    def judge(self, _reading: Reading[Event], value: Any, /) -> Finding | None:
        """Read the answer of the user's code; an answer of any other shape is the guard's
        failure."""
        match value:
            case None | Finding():
                return value
            case str():
                return Finding(Action.BLOCK, "python.refused", (value,))
            case _:
                raise TypeError(SHAPES)

    def rises_with(self, _table: str, _key: str, _old: Any, /) -> bool:
        """Only its author knows."""
        return False

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer: its author knows, so what makes no sense becomes the next
        stricter."""
        return ()
