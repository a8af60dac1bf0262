"""Events: one immutable fact at a stage, and the moment that groups those which share a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec

from stanchion.kernel.actions import Risk, RiskName
from stanchion.kernel.findings import Finding
from stanchion.kernel.mandate import UNLIMITED, Mandate
from stanchion.kernel.names import Names
from stanchion.kernel.shown import brief
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Stake
from stanchion.kernel.units import JUST_ONE, Amounts

if TYPE_CHECKING:
    from stanchion.kernel.carried import CarriedRecords

Data = Any
"""JSON-like data: what a parser gave us or `data.project` made; never an arbitrary object."""


SPAWNED: Final = "spawned"
"""The trait of a handoff by which a run only gives a child its budget."""


class RunInfo(msgspec.Struct, frozen=True, gc=False):
    """Who is at work: the identity and scope of one agent's work on one task.

    `level` is how much harm its work can do, where somebody says it. `purse` is the run whose
    budgets it spends from, if that is another. `allotment` is what was carved out for it, by unit,
    -1 where nothing was; `allotted_by` and `allotted_for` are the agent and the task out of whose
    budgets.
    """

    id: str
    agent: str = ""
    role: str = ""
    task: str = ""
    tenant: str = "default"
    parents: tuple[str, ...] = ()
    allowed_tools: Names | None = None
    additional_tools: Names = Names()
    capabilities: tuple[str, ...] = ()
    purse: str = ""
    # Trails have these three under the older names, and a record's bytes never change.
    allotment: Amounts | None = msgspec.field(default=None, name="grant")
    allotted_by: str = msgspec.field(default="", name="granted_by")
    allotted_for: str = msgspec.field(default="", name="granted_for")
    # Left out of records where nobody gives one, so that they are as they always were.
    level: RiskName | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="risk")
    labels: tuple[tuple[str, str], ...] | msgspec.UnsetType = msgspec.UNSET
    """Names that the host gives, such as `customer`, each with whom or what it stands for here."""
    may: Mandate | msgspec.UnsetType = msgspec.UNSET
    """What its task may do, where somebody says it."""

    @property
    def root(self) -> str:
        """The first run of its family: what its children meet, it meets."""
        return self.parents[-1] if self.parents else self.id

    @property
    def risk(self) -> str:
        """The run's risk level; empty where it has none."""
        return self.level if self.level is not msgspec.UNSET else ""

    @property
    def labelled(self) -> tuple[str, ...]:
        """All words of its labels."""
        return () if self.labels is msgspec.UNSET else sum(self.labels, ())

    @property
    def label_values(self) -> tuple[str, ...]:
        """Whom or what its labels stand for."""
        return () if self.labels is msgspec.UNSET else tuple([value for _, value in self.labels])

    @property
    def mandate(self) -> Mandate:
        """What its task may do; where nobody says it, nothing is outside of it."""
        return UNLIMITED if self.may is msgspec.UNSET else self.may

    def label(self, name: str) -> str:
        """Whom or what a name stands for that the host gives; empty where it gives none."""
        return "" if self.labels is msgspec.UNSET else dict(self.labels).get(name, "")


class _Event(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What every event has: an id, the call it belongs to, host time, the run, and what is known of
    the tool.

    `traits` are the policy's annotations of the tool and the trust its results have. `cleared` are
    fingerprints of what was found in it before and a person has allowed.
    """

    id: str
    at: int
    run: RunInfo
    call: str = ""
    tool: str = ""
    risk: Risk = Risk.MEDIUM
    traits: tuple[str, ...] = ()
    cleared: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """What it is and whose; what it says is content, and no part of it."""
        about = {"tool": self.tool, "agent": self.run.agent, "run": self.run.id}
        said = [f"{name} {brief(value)}" for name, value in about.items() if value]
        return f"<{type(self).__name__} {self.id}: {', '.join(said)}>"


class Prompt(_Event, frozen=True, gc=False, kw_only=True):
    """Words that enter the run; `trusted` only where they are the user's own."""

    stage: ClassVar[Stage] = Stage.PROMPT
    text: str
    source: str = "user"
    trusted: bool = True


class ModelCall(_Event, frozen=True, gc=False, kw_only=True):
    """A request that is about to go to a model; `duration_ms` is how long it takes by its host's
    estimate."""

    stage: ClassVar[Stage] = Stage.MODEL_CALL
    model: str = ""
    messages: list[Data] = []
    params: dict[str, Data] = {}
    duration_ms: int = 0


class ModelChunk(_Event, frozen=True, gc=False, kw_only=True):
    """One streamed piece of a reply on one channel (text, arguments, reasoning).

    `before` is what the model said just before it on that channel and was passed on: guards read it
    to know what the piece means. It is no content: it is not patched and not recorded.
    """

    stage: ClassVar[Stage] = Stage.MODEL_CHUNK
    text: str
    channel: str = "text"
    index: int = 0
    before: str = ""


class ModelReply(_Event, frozen=True, gc=False, kw_only=True):
    """A whole reply; `final` where it is the run's answer."""

    stage: ClassVar[Stage] = Stage.MODEL_REPLY
    text: str
    model: str = ""
    final: bool = False


class ToolCall(_Event, frozen=True, gc=False, kw_only=True):
    """A tool is about to run with these arguments; `duration_ms` is how long it takes by its host's
    estimate."""

    stage: ClassVar[Stage] = Stage.TOOL_CALL
    args: dict[str, Data] = {}
    duration_ms: int = 0


class ToolResult(_Event, frozen=True, gc=False, kw_only=True):
    """A tool ran; the agent has not seen the result yet. `part` numbers the items of a
    generator."""

    stage: ClassVar[Stage] = Stage.TOOL_RESULT
    args: dict[str, Data] = {}
    result: Data = None
    part: int = 0


class Egress(_Event, frozen=True, gc=False, kw_only=True):
    """An outbound HTTP request is about to leave."""

    stage: ClassVar[Stage] = Stage.EGRESS
    url: str
    method: str = "GET"
    headers: dict[str, str] = {}
    payload: Data = None


class Failure(_Event, frozen=True, gc=False, kw_only=True):
    """A call raised or reported failure; `attempt` counts from one.

    `bases` are the kinds of error that this one is a kind of; `fault` says whose it is: `system`,
    `user`, `business` or `unknown`.
    """

    stage: ClassVar[Stage] = Stage.ERROR
    error: str
    text: str = ""
    args: dict[str, Data] = {}
    status: int | None = None
    attempt: int = 1
    bases: tuple[str, ...] = ()
    fault: str = ""


class Charge(_Event, frozen=True, gc=False, kw_only=True):
    """A cost is about to be booked (an estimate), or has become known (`settled`)."""

    stage: ClassVar[Stage] = Stage.CHARGE
    tokens: int = 0
    cost_microusd: int = 0
    model: str = ""
    settled: bool = False


class Handoff(_Event, frozen=True, gc=False, kw_only=True):
    """Control is about to pass to another agent; `duration_ms` is how long that takes by its host's
    estimate."""

    stage: ClassVar[Stage] = Stage.HANDOFF
    to: str
    payload: dict[str, Data] = {}
    duration_ms: int = 0


class HandoffDone(_Event, frozen=True, gc=False, kw_only=True):
    """The other agent has accepted."""

    stage: ClassVar[Stage] = Stage.HANDOFF_DONE
    to: str
    payload: dict[str, Data] = {}


Event = (
    Prompt
    | ModelCall
    | ModelChunk
    | ModelReply
    | ToolCall
    | ToolResult
    | Egress
    | Failure
    | Charge
    | Handoff
    | HandoffDone
)

OF_STAGE: Final[dict[Stage, type[Event]]] = {
    cls.stage: cls
    for cls in (
        Prompt,
        ModelCall,
        ModelChunk,
        ModelReply,
        ToolCall,
        ToolResult,
        Egress,
        Failure,
        Charge,
        Handoff,
        HandoffDone,
    )
}


BY_POLICY: Final = "approved."
"""How `granted` begins where nobody was asked, because the policy approves the call."""


class Moment(msgspec.Struct, frozen=True, gc=False):
    """The events that share one batch, what they amount to, what they settle, and late answers that
    enter here.

    `attempt` is 2 for a lesser request, judged because the first attempt was degraded; `again` says
    that the same action was judged before, because it waited or was degraded, and has had its
    warnings. `stakes` are records that it rests on. `granted` names the ticket by which a person
    has said yes, or what the policy approves, and `lifts` the guards that asked for one: what
    another guard asks for still waits. `bypasses` are the guards that this one action goes past,
    their refusals included. `readings` are what is known already of what the events say,
    `judged` what pure guards have found in them, `carried` what the runtime keeps in the store
    along with the decision, and `template` the bytes of their record that are known before; none of
    it is recorded.
    """

    events: tuple[Event, ...]
    amounts: Amounts = JUST_ONE
    settles: tuple[tuple[str, Amounts | None], ...] = ()
    late: tuple[Finding, ...] = ()
    attempt: int = 1
    stakes: tuple[Stake, ...] = ()
    granted: str = ""
    again: bool = False
    lifts: tuple[str, ...] = ()
    bypasses: tuple[str, ...] = ()
    readings: tuple[Any, ...] = ()
    carried: CarriedRecords | None = None
    judged: Any = None
    template: Any = None

    @property
    def id(self) -> str:
        """The id of the decision and of its batch: that of the first event."""
        return self.events[0].id

    @property
    def has_a_yes(self) -> bool:
        """Whether a person has said yes to this very action, or to it among others."""
        return bool(self.granted) and not self.granted.startswith(BY_POLICY)
