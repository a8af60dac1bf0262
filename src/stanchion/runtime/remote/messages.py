"""What a client and a broker say to each other, as data."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.experience.guidance import CallBeside
from stanchion.kernel.decision import Decision
from stanchion.runtime.values import UnreadPart

VERSION: Final = 3
"""What both sides speak; a broker turns away whoever speaks another."""

LOST: Final = "lost"
ENDED: Final = "ended"
BUSY: Final = "busy"
"""Why a broker cannot answer: nobody knows the first answer any more, the run is over, or so much
of this user is under way that nothing more is taken in."""


class Fault(msgspec.Struct, frozen=True, array_like=True):
    """What an exception says of itself: its kinds, its words, what it holds, and the errors behind
    it."""

    name: str
    bases: tuple[str, ...] = ()
    text: str = ""
    status: int | None = None
    stderr: str = ""
    notes: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    cause: Fault | None = None
    context: Fault | None = None
    grouped: tuple[Fault, ...] = ()
    harmless: bool = False
    unfit: bool = False
    """The call did not fit the function: it has not begun."""


class Value(msgspec.Struct, frozen=True, array_like=True):
    """A value as the client has read it: its content, what of it could not be read, and whether it
    was plain data. `unreadable` says why it could not be read at all."""

    content: Any = None
    unread: tuple[UnreadPart, ...] = ()
    seen: int = 0
    plain: bool = True
    unreadable: str = ""


class WireMessage(msgspec.Struct, frozen=True, tag=True):
    """What one side sends the other, told apart by its name."""


class RunRequest(WireMessage, frozen=True):
    """What is asked for in a run: its id, and the token that speaks for it."""

    id: str
    run: str
    token: str


class Hello(WireMessage, frozen=True):
    """The first message of a connection. One without a session begins one, which lives as long as
    this connection."""

    version: int
    session: bytes = b""


class Welcome(WireMessage, frozen=True):
    """The answer to it: which life of the broker this is, and the session."""

    version: int
    boot: str
    session: bytes


class Begin(WireMessage, frozen=True):
    """Begin a run, as a child where `parent` names one; `budget` is carved out of the parent's."""

    id: str
    agent: str = ""
    task: str | None = None
    role: str | None = None
    deadline_s: float | None = None
    tools: tuple[str, ...] | None = None
    can: tuple[str, ...] | None = None
    parent: str = ""
    token: str = ""
    budget: dict[str, Any] | None = None
    risk: str | None = None
    labels: dict[str, str] | None = None
    may: tuple[str, ...] | None = None


class Resume(WireMessage, frozen=True):
    """Go on with a run that an earlier life of the broker has begun."""

    id: str
    passed: bytes


class Began(WireMessage, frozen=True):
    """A run has begun: its id, the token that speaks for it, what a later life of the broker knows
    it by, and whether the broker's policy keeps locks."""

    run: str
    agent: str
    task: str
    token: str
    passed: bytes
    locks: bool = False


class StageReport(RunRequest, frozen=True):
    """Judge an event of a stage; `fields` are its fields, `fault` the error itself where there is
    one."""

    stage: str
    fields: Value
    fault: Fault | None = None


class CallRequest(RunRequest, frozen=True):
    """Judge a call that the client runs when it is told to; `key` names what is to happen once, and
    `usage` is what the tool says that a call uses."""

    tool: str
    args: Value
    risk: int | None = None
    effect: str | None = None
    sinks: tuple[str, ...] = ()
    timeout_s: float | None = None
    once: bool = False
    undo: bool = False
    key: str = ""
    usage: dict[str, int | float] | None = None


class CallOutcome(WireMessage, frozen=True):
    """What came of a function that the client was told to run."""

    value: Value | None = None
    fault: Fault | None = None


class RollBack(RunRequest, frozen=True):
    """Undo what a run has done."""


class Notices(RunRequest, frozen=True):
    """What a run's agent is to be told."""


class Advise(RunRequest, frozen=True):
    """What a run's agent should know: of a call where a tool is named, or else of all its tools, in
    so many tokens."""

    tokens: int | None = None
    tool: str | None = None
    args: Value = Value()


class Escalate(RunRequest, frozen=True):
    """Somebody is to look at a run, for a reason."""

    reason: str


class AskBypass(RunRequest, frozen=True):
    """People are asked to let an action of a run past a guardrail; the answer is the request."""

    guardrail: str
    reason: str
    urgency: str
    call: str | None = None


class End(RunRequest, frozen=True):
    """A run is over, or is cancelled, for a reason."""

    cancel: bool = False
    why: str = ""


class Tighten(WireMessage, frozen=True):
    """Stop something: `halt`, `quarantine` or `safe_mode`."""

    id: str
    what: str
    scope: str = ""
    why: str = ""
    for_s: float = 300.0


class Answer(WireMessage, frozen=True):
    """An operator's signed answer, which any process may carry."""

    id: str
    data: bytes


class Witness(WireMessage, frozen=True):
    """Write heads of the client's own trail down, with the broker's time; the answer is the line
    that was written."""

    id: str
    name: str
    heads: tuple[bytes, ...]
    every_s: int


class Witnessed(WireMessage, frozen=True):
    """What was written down for this user under a name, from a byte on; the answer is a piece,
    empty at the end."""

    id: str
    name: str
    offset: int


InRun = StageReport | CallRequest | RollBack | Notices | Advise | Escalate | AskBypass | End
"""What it asks for in a run."""
Request = InRun | Begin | Resume | Tighten | Answer | Witness | Witnessed
"""What a client asks for."""


class Decided(WireMessage, frozen=True):
    """A decision, without the state it was made from."""

    decision: Decision


class Go(WireMessage, frozen=True):
    """Run the call of a request, or its `undo`; `args` are there where something in them was
    changed."""

    request: str
    args: dict[str, Any] | None = None
    timeout_s: float | None = None
    undo: bool = False


class Done(WireMessage, frozen=True):
    """The client has what it asked for; `value` is it where the client does not have it already."""

    unchanged: bool = False
    value: Any = None


class Raised(WireMessage, frozen=True):
    """The client's own error goes on, with notes."""

    notes: tuple[str, ...] = ()


class Withheld(WireMessage, frozen=True):
    """The client's own error is withheld; this is what may be said of it."""

    text: str


class Refusal(WireMessage, frozen=True):
    """It does not go ahead; `behind` says that the client's own error is behind it."""

    decision: Decision
    approvers: tuple[str, ...] = ()
    partial: tuple[Any, ...] = ()
    ticket: str | None = None
    behind: bool = False
    undone: bool = False
    beside: CallBeside | None = None


class Misused(WireMessage, frozen=True):
    """What was asked for makes no sense: the kind of error, and its words."""

    kind: str
    text: str


class Sorry(WireMessage, frozen=True):
    """The broker cannot answer, and why; `code` is `lost`, `ended`, `busy` or empty."""

    text: str
    code: str = ""


Reply = Welcome | Began | Decided | Go | Done | Raised | Withheld | Refusal | Misused | Sorry
"""What a broker answers."""
