"""Recovery: what becomes of an error: tried again, rolled back, given to a person, isolated, or
handed on."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.declared import FORMER
from stanchion.kernel.events import Failure
from stanchion.kernel.faults import tool_fault
from stanchion.kernel.findings import ROLLBACK, Finding, Isolate, Retry
from stanchion.kernel.guard import Kind
from stanchion.kernel.option import ACTIONS, Fraction, Off, UpToThousand
from stanchion.kernel.stages import Stage
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading
from stanchion.readings.act import act_of
from stanchion.readings.word_lists import in_order

CODES: Final = declare(
    {
        "recovery.recoverable": Words(
            "`{}` of {} is likely to go away by itself",
            "try it again later, or go on with something else meanwhile",
        ),
        "recovery.fatal": Words(
            "`{}` of {} does not go away by itself",
            "do not repeat it; report what stands in the way",
        ),
        "recovery.unknown": Words(
            "it is not known whether `{}` of {} goes away by itself",
            "do not repeat it until someone has looked at it",
        ),
        "recovery.unsafe": Words(
            "`{}` of {} is likely to go away by itself, but the call may have taken effect, so it "
            "is not retried",
            "find out whether it has happened before you repeat it",
        ),
        "recovery.exhausted": Words(
            "`{}` of {} did not go away in {} attempts",
            "go on with something else, or report what stands in the way",
        ),
    }
)

Severity = Literal["recoverable", "fatal", "unknown"]
Reaction = Literal["retry", "rollback", "escalate", "quarantine", "block", "halt", "allow"]
GivenUp = Literal["allow", "warn", "escalate", "block", "halt"]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=86_400)]

HARMLESS: Final = "harmless"
"""Says that the runtime knows that nothing has happened."""
ONCE: Final = "once"
ISOLATE_MS: Final = 300_000
"""How long a quarantine lasts."""


class Recovery(msgspec.Struct, frozen=True):
    """Tells errors that pass by themselves from those that do not, and says what becomes of each.

    Words in `recoverable`, `fatal` and `ignore` are names of errors or of their base classes,
    traits of tools, or faults; the nearest counts. Only what is safe to repeat is tried again.
    """

    name: ClassVar = "recovery"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset({Stage.ERROR})
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 60
    does_more: ClassVar = True

    max_retries: UpToThousand = 3
    """How many times one call is retried, counting all calls inside it."""
    per_run: UpToThousand = 20
    """How many retries a run and its children have in total, in all processes."""
    backoff_base_s: Seconds = 1.0
    """How many seconds to wait before the first retry."""
    backoff_max_s: Seconds = 30.0
    """The longest wait, in seconds."""
    jitter: Fraction = 0.25
    """The share, from 0 to 1, by which a wait is randomly made longer or shorter."""
    on_recoverable: Reaction = "retry"
    """The reaction to an error that is likely to go away by itself."""
    on_fatal: Reaction = "rollback"
    """The reaction to an error that does not go away by itself."""
    on_unknown: Reaction = "escalate"
    """The reaction to an error that is in none of the three lists."""
    on_given_up: GivenUp = "allow"
    """The reaction to an error that is likely to go away by itself and is not retried."""
    recoverable: tuple[str, ...] = in_order(
        "ConnectionError TimeoutError InterruptedError BlockingIOError system"
    )
    """Error types, traits of tools or faults that are likely to go away by themselves."""
    fatal: tuple[str, ...] = in_order(
        "MemoryError RecursionError SystemError NotImplementedError ImportError"
    )
    """Error types, traits of tools or faults that do not go away by themselves."""
    ignore: tuple[str, ...] = ("user", "business")
    """Error types, traits of tools or faults that the agent itself has to correct."""
    retry_unsafe: Off[bool] = False
    """If `true`, calls that may do their work twice are retried too."""
    isolate: Literal["tool", "agent"] = "tool"
    """Whether a quarantine isolates the tool or the agent."""

    def __post_init__(self) -> None:
        lists = (self.recoverable, self.fatal, self.ignore)
        old = next((word for words in lists for word in words if word in FORMER), None)
        if old is not None:
            raise ValueError(f"no tool is `{old}` any more: write `{FORMER[old]}`")
        twice = [
            word
            for at, words in enumerate(lists)
            for word in words
            if any(word in w for w in lists[at + 1 :])
        ]
        if twice:
            raise ValueError(
                f"`{twice[0]}` stands in two of `recoverable`, `fatal` and `ignore`: leave it in "
                f"one"
            )
        if self.backoff_max_s < self.backoff_base_s:
            said = (
                f"`backoff_max_s: {self.backoff_max_s:g}` is less than `backoff_base_s: "
                f"{self.backoff_base_s:g}`"
            )
            raise ValueError(f"{said}: give more, or begin with less")

    def severity(self, event: Failure) -> Severity | None:
        """How bad an error is; `None` where it is for the agent to mend."""
        for word in (event.error, *event.bases, *event.traits, tool_fault(event)):
            if word in self.fatal:
                return "fatal"
            if word in self.recoverable:
                return "recoverable"
            if word in self.ignore:
                return None
        return "unknown"

    def judge(self, reading: Reading[Failure], /) -> Finding | None:
        """Say what becomes of an error."""
        event = reading.event
        severity = self.severity(event)
        if severity is None:
            return None
        reaction: Reaction = getattr(self, f"on_{severity}")
        about = (event.error, f"tool `{event.tool}`" if event.tool else "a model call")
        code = f"recovery.{severity}"
        if reaction == "retry":
            given_up = ACTIONS[self.on_given_up]
            if not self._repeatable(event):
                return Finding(given_up, "recovery.unsafe", about)
            if event.attempt > self.max_retries:
                return Finding(given_up, "recovery.exhausted", (*about, event.attempt))
            return Finding(Action.RETRY, code, about, terms=self._terms)
        undone = reaction == "rollback"
        what = "failing_tool" if self.isolate == "tool" else self.isolate
        isolated = Isolate(what, ISOLATE_MS) if reaction == "quarantine" else None
        action = Action.BLOCK if reaction == "rollback" else ACTIONS[reaction]
        return Finding(action, code, about, effects=(ROLLBACK,) if undone else (), terms=isolated)

    def _repeatable(self, event: Failure) -> bool:
        """Whether repeating it does no harm. What happens once is never repeated while its outcome
        is not known."""
        if not event.tool or HARMLESS in event.traits or act_of(event.tool, event.traits).repeats:
            return True
        return self.retry_unsafe and ONCE not in event.traits

    @property
    def _terms(self) -> Retry:
        return Retry(
            self.max_retries,
            round(self.backoff_base_s * 1_000),
            2.0,
            round(self.backoff_max_s * 1_000),
            self.jitter,
            self.per_run,
        )

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        said = (self.on_recoverable, self.on_fatal, self.on_unknown, self.on_given_up)
        return tuple(
            Action.BLOCK if reaction == "rollback" else ACTIONS[reaction] for reaction in said
        )
