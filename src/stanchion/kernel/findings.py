"""Findings: one guard's answer, with what it wants changed and on which terms."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from stanchion.kernel.actions import NAMES, PROCEEDS, Action
from stanchion.kernel.shown import brief, visible
from stanchion.kernel.states import Terms as StateTerms
from stanchion.kernel.words import advice_of, detail_of, message_of

PathStep = str | int

ROLLBACK: Final = "rollback"
"""The effect by which a finding has everything undone that its run has done and that can be
undone."""


ASK: Final = "ask_person"
"""The effect by which a finding has a person asked to look at the run, although its action is
refused already."""


TELL: Final = "tell"
"""The effect by which a warning only tells: it is no warning that counts towards the one that waits
for a person."""


GUIDE: Final = "guide"
"""The effect by which the advice of a retry goes into the run's next request to a model, too, as a
system message."""


FINAL: Final = "final"
"""The effect by which the words of what ends a run are its last: whatever comes later is refused in
the same words."""


FLAG: Final = "flag_trajectory"
"""The effect by which a finding marks its run, so that people look at it."""


STRIKE: Final = "increment_strike"
"""The effect by which a finding is counted against its run; the policy's `strikes` say what so many
lead to."""


ALERT: Final = "emit_alert"
"""The effect by which a finding is told to operators at once."""


MARKS: Final = frozenset({FLAG, STRIKE, ALERT})
"""The effects by which a finding marks its run or tells of it; nothing is changed by them alone."""


class Patch(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One edit of an event's content: the whole value at `path`, or the characters `start` to `end`
    of a text; of the name that the path ends with, where it is `named`."""

    path: tuple[PathStep, ...]
    value: Any
    start: int = -1
    end: int = -1
    kind: str = ""
    named: bool = False

    def __repr__(self) -> str:
        """What kind of edit it is; the content, and the names on the way to it, are no part of
        it."""
        what = "a value" if self.start < 0 else f"characters {self.start} to {self.end}"
        what = "a name" if self.named else what
        return f"<Patch of {what}{f': {self.kind}' if self.kind else ''}>"


class Retry(msgspec.Struct, frozen=True, gc=False, tag="retry"):
    """How often a step may be asked for again after its first try (`max_attempts`), and how long to
    wait before: `base_ms`, then `factor` times as long each time, at most `max_ms`, more or less by
    the share `jitter`. `per_run` bounds what is tried again in a whole run."""

    max_attempts: int = 2
    base_ms: int = 0
    factor: float = 2.0
    max_ms: int = 30_000
    jitter: float = 0.25
    per_run: int = 20


class Wait(msgspec.Struct, frozen=True, gc=False, tag="wait"):
    """How long a queued action waits between judgements, and at the most."""

    pause_ms: int = 100
    timeout_ms: int = 30_000


class Isolate(msgspec.Struct, frozen=True, gc=False, tag="isolate"):
    """What a quarantine isolates, for how long, and from which time in a day on it does: a `tool`,
    or the agent where no tool is at work; the `agent`; `only_tool`, which isolates nobody where no
    tool is at work; or a `failing_tool`, from its run alone until another run meets it, too."""

    what: str = "tool"
    for_ms: int = 300_000
    after: int = 1


PauseScope = Literal["tool_call", "step", "run"]
"""What waits while a person is asked: the action itself; with it all that the agent would begin
before it asks its model again; or all that the run would begin."""


class Pause(msgspec.Struct, frozen=True, gc=False, tag="pause"):
    """What a person is asked who has to answer for an action: the question in words for them, the
    roles that may answer, in this order, for how long they may, and what waits meanwhile; without
    words or roles, the usual ones."""

    prompt: str = ""
    roles: tuple[str, ...] = ()
    timeout_ms: int = 300_000
    scope: PauseScope = "tool_call"


class Signals(msgspec.Struct, frozen=True, gc=False, tag="signals"):
    """What moves states: whose (empty: the tenant's own) and which signals, one after the other,
    and on what terms."""

    to: tuple[tuple[str, tuple[str, ...]], ...]
    terms: StateTerms = StateTerms()


class Narrow(msgspec.Struct, frozen=True, gc=False, tag="narrow"):
    """What the run may do from now on, of what it might do before: effects and tools."""

    layer: tuple[str, ...]


Terms = Retry | Wait | Isolate | Pause | Signals | Narrow


class Finding(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One guard's answer about one event.

    A guard gives the action, a code and its arguments; the engine adds who said it. `text` and
    `guidance` are words a rule's author wrote; where they are empty the words of the code are used.
    `hides` are edits of what is written down and shown to people; what goes ahead stays as it is.
    `about` is what the finding is about (a path, a host, a field), a line for each, the same
    however a call is worded; where it is empty the texts among `args` say it.

    The agent reads `message` and `advice`. `args` and `detail` are for hosts, records and people:
    they may have ids, addresses and paths that no agent may see.
    """

    action: Action
    code: str
    args: tuple[str | int | float | bool | None, ...] = ()
    text: str = ""
    guidance: str = ""
    patches: tuple[Patch, ...] = ()
    effects: tuple[str, ...] = ()
    terms: Terms | None = None
    guard: str = ""
    shadow: bool = False
    said: Action | None = None
    hides: tuple[Patch, ...] = ()
    about: str = ""

    def __repr__(self) -> str:
        """What it says, as an agent may read it: its arguments and patches are no part of it."""
        by = f" by {visible(self.guard)}" if self.guard else ""
        why = f": {brief(self.message)}" if self.message else ""
        return (
            f"<Finding {NAMES[self.action]} "
            f"{self.code}{by}{', in shadow' if self.shadow else ''}{why}>"
        )

    @property
    def message(self) -> str:
        """Why, in words for the agent."""
        return visible(self.text, lines=True) or message_of(self.code, self.args)

    @property
    def advice(self) -> str:
        """What to do instead; empty where there is nothing to say."""
        return visible(self.guidance, lines=True) or advice_of(
            self.code, self.args, self.action == Action.ESCALATE
        )

    @property
    def detail(self) -> str:
        """What people have to know beside the message, and the agent must not; empty where there is
        nothing more."""
        return detail_of(self.code, self.args)

    @property
    def counts(self) -> bool:
        """Whether it is a warning that is counted."""
        return self.action == Action.WARN and TELL not in self.effects

    @property
    def proceeds(self) -> bool:
        """Whether the event goes ahead as far as this finding is concerned."""
        return self.action <= PROCEEDS


class Trace(msgspec.Struct, frozen=True, eq=False):
    """The chain by which a decision was made, each guard with the one whose verdict it is part of,
    how long guards took, and what those would have hidden that a stop skips. It is no part of what
    was decided: two decisions are the same whatever their traces are."""

    chain: tuple[tuple[str, str], ...] = ()
    took_ns: tuple[tuple[str, int], ...] | None = None
    hides: tuple[Patch, ...] = ()
    hides_in_record: tuple[Patch, ...] = ()
    """The same, with what guards in shadow mode would have hidden."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trace)

    def __hash__(self) -> int:
        return hash(Trace)


def worse(one: Finding | None, other: Finding | None) -> Finding | None:
    """The severer of two findings, and the first of two that are as severe."""
    return other if other is not None and (one is None or other.action > one.action) else one
