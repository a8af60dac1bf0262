"""Reporting: what a host that runs things itself says of them, a method for each stage and its twin
for async code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from time import perf_counter_ns
from typing import Any, Concatenate, Final, ParamSpec, TypedDict, TypeVar, Unpack

from stanchion.kernel.actions import PROCEEDS
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import ToolCall, ToolResult
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Settle
from stanchion.kernel.units import JUST_ONE, NOTHING
from stanchion.policy.nearest import hint
from stanchion.runtime.calling import reports
from stanchion.runtime.calling.reports import USAGE, BadEvent, check, named_in, spending
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.judging import lapsed
from stanchion.runtime.deciding.quiet import Carry, QuietPassage, lane_of
from stanchion.runtime.deciding.reported import failure_in
from stanchion.runtime.deciding.spend import overruns, unforeseen
from stanchion.runtime.deciding.twins import Short, twins
from stanchion.runtime.driving.flow import Flow, T
from stanchion.runtime.values import Read, Unreadable, arguments, read

P = ParamSpec("P")
S = TypeVar("S", bound="Reporting")

Straight = Decision | Flow[Decision]
"""A decision, or the flow that leads to one."""


def judge_quiet_call(desk: Desk, carry: Carry, tool: str, args: dict[str, Any]) -> Straight | None:
    """Decide a call that may be quiet; gives the flow by which it goes on where it is not, and
    `None` where the engine has to be asked from the beginning."""
    shield = desk.shield
    at = shield.clock()
    lane = lane_of(desk, ToolCall, tool, at)
    took = None if lane is None or type(args) is not dict else _plain(_arguments, args)
    if lane is None or took is None:
        return None
    event = ToolCall(
        id=desk.new_id(), at=at, run=lane.plans.run, tool=tool, risk=lane.risk,
        traits=lane.traits, args=took.content,
    )  # fmt: skip
    begun_ns, awake_ns = perf_counter_ns(), shield.awake_ns()
    going = QuietPassage(desk, lane, event, lane.amounts, (), begun_ns, took.chars)
    try:
        decision = going.decide(carry)
        if going.lost is not None:
            return _opened(going, lane.lent)
        if decision is None:
            return going.on(reports.check(desk, tool, args, JUST_ONE, made=(took, event)))
        if shield.awake_ns() >= awake_ns + lane.kept_ns:
            return lapsed(desk, decision, event, lane.amounts)
        desk.opened(decision, tool, event.args, lane.amounts, lane.lent)
        return decision
    except BaseException as error:  # noqa: BLE001 - it is raised again behind what was taken
        return going.left(error)


def judge_quiet_result(
    desk: Desk, carry: Carry, tool: str, args: dict[str, Any], result: Any, call: str | None = None
) -> Straight | None:
    """Decide the result of an open call that may be quiet; gives the flow by which it goes on where
    it is not, and `None` where the engine has to be asked from the beginning."""
    at = desk.shield.clock()
    lane = lane_of(desk, ToolResult, tool, at)
    took = None if lane is None or type(args) is not dict else _plain(_arguments, args)
    given = None if took is None else _plain(read, result)
    if lane is None or took is None or given is None or failure_in(given.content) is not None:
        return None
    name, known = desk.found_open(call, tool, took.content)
    reserved, used = reports.used_of(desk, known)
    more = desk.measures and unforeseen(desk, reserved, used) != NOTHING
    if known is None or more or overruns(reserved, used) or not desk.close_call(name):
        return None
    settles: tuple[Settle, ...] = ((name, used),) if known.held else ()
    event = ToolResult(
        id=desk.new_id(), at=at, run=lane.plans.run, tool=tool, risk=lane.risk,
        traits=lane.traits, call=name, args=took.content, result=given.content,
    )  # fmt: skip
    chars = took.chars + given.chars if min(took.chars, given.chars) >= 0 else -1
    going = QuietPassage(desk, lane, event, JUST_ONE, settles, perf_counter_ns(), chars)
    try:
        decision = going.decide(carry)
        if decision is not None:
            return decision
        if going.lost is not None:
            return going.unwritten()
        return going.on(reports.ended(desk, event, settles))
    except BaseException as error:  # noqa: BLE001 - it is raised again behind what was owed
        return going.left(error)


def _opened(going: QuietPassage, lent: frozenset[int]) -> Flow[Decision]:
    """A call whose record could not be written, which goes ahead where a policy only watches."""
    decision = yield from going.unwritten()
    if decision.action <= PROCEEDS:
        event = going.event
        going.desk.opened(decision, event.tool, event.args, going.amounts, lent)
    return decision


_arguments = partial(arguments, copies=False)


def _plain(reading: Callable[[Any], Read], value: Any) -> Read | None:
    """What was plain data, all of it readable; `None` where it was not."""
    try:
        took = reading(value)
    except Unreadable:
        return None
    return took if took.plain and not took.parts else None


class Fields(TypedDict, total=False):
    """What `run.judge` takes, by name; each stage has its own, and `docs/reference/events.md` says
    which."""

    api_calls: int
    args: dict[str, Any]
    attempt: int
    bases: Sequence[str]
    call: str
    channel: str
    cost_usd: float
    duration_s: float
    error: BaseException | str
    fault: str
    final: bool
    headers: dict[str, str]
    index: int
    messages: list[Any]
    method: str
    model: str
    params: dict[str, Any]
    part: int
    payload: Any
    result: Any
    settled: bool
    source: str
    status: int | None
    text: str
    to: str
    tokens: int
    tool: str
    trusted: bool
    url: str


def given(**fields: Any) -> dict[str, Any]:
    """Those fields that a caller has given: `None` is what was left out."""
    return {name: value for name, value in fields.items() if value is not None}


LONGEST_WORD: Final = 64
"""How much of a word is shown that names no stage."""


def stage_named(word: object) -> Stage:
    """The stage of that name; `BadEvent` where there is none, with the one that was meant."""
    if type(word) is Stage:
        return word
    name = word if type(word) is str else ""
    try:
        return Stage(name)
    except ValueError:
        raise BadEvent(f"there is no stage `{name[:LONGEST_WORD]}`: {hint(name, Stage)}") from None


CALLED: Final = frozenset({"tool", "args"})
"""What a tool call is told by."""

SHORTEST: Final = CALLED | frozenset(USAGE)
"""What the shortest way takes of one."""


def of_stage(
    stage: Stage,
) -> Callable[
    [Callable[Concatenate[S, P], dict[str, Any]]], Callable[Concatenate[S, P], Flow[Decision]]
]:
    """The flow that judges an event of a stage, for a method that gives what it was told: a keyword
    that is `None` was left out."""

    def flow_of(
        told: Callable[Concatenate[S, P], dict[str, Any]],
    ) -> Callable[Concatenate[S, P], Flow[Decision]]:
        optional = told.__kwdefaults__ or {}

        @wraps(told)
        def flow(self: S, /, *args: P.args, **kwargs: P.kwargs) -> Flow[Decision]:
            fields = told(self, *args, **kwargs)
            del fields["self"]
            named = fields.items()
            return self._report(
                stage, {name: one for name, one in named if one is not None or name not in optional}
            )

        flow.__annotations__ = {**told.__annotations__, "return": "Flow[Decision]"}
        return flow

    return flow_of


class Reporting:
    """Has everything judged that a run's host runs itself. Every method has a twin for async code:
    `await run.acheck(...)` for `run.check(...)`."""

    _report: Callable[[Stage, dict[str, Any]], Flow[Decision]]
    """Judges a report: here, or where a broker does."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @property
    def desk(self) -> Desk:
        """What the runtime and adapters work with; not for agents."""
        return self._desk

    def _check(
        self,
        /,
        tool: str,
        args: dict[str, Any],
        *,
        tokens: int | None = None,
        cost_usd: float | None = None,
        api_calls: int | None = None,
        duration_s: float | None = None,
    ) -> Flow[Decision]:
        """Judge a tool call that the host will run itself; report what came of it with `result` or
        `error`.

        It is judged for real: a step is a step, and what it reserves (`tokens`, `cost_usd`,
        `api_calls`, `duration_s`: estimates) stays reserved until its outcome is reported. Raises
        `BadEvent` for what cannot be judged.
        """
        usage = given(tokens=tokens, cost_usd=cost_usd, api_calls=api_calls, duration_s=duration_s)
        return check(self._desk, tool, args, spending(usage), named_in(usage))

    @of_stage(Stage.TOOL_RESULT)
    def _result(
        self,
        /,
        tool: str,
        args: dict[str, Any],
        result: Any,
        *,
        call: str | None = None,
        part: int | None = None,
        tokens: int | None = None,
        cost_usd: float | None = None,
        api_calls: int | None = None,
        duration_s: float | None = None,
    ) -> dict[str, Any]:
        """Judge the result of a call that the host ran itself; `decision.patched(result)` is what
        the agent may see.

        `call` is the id of its `check`'s decision (found by tool and arguments otherwise), and
        `part` numbers the items of a result that comes piece by piece. `tokens`, `cost_usd`,
        `api_calls` and `duration_s` are what it really used. Raises `BadEvent` for what cannot be
        judged.
        """
        return locals()

    def _judge(self, stage: Stage | str, /, **fields: Unpack[Fields]) -> Flow[Decision]:
        """Judge an event of any stage, given the fields its stage has; an `error` may be the
        exception itself. Raises `BadEvent` for a field that the stage does not have, and for one
        that it needs."""
        return self._report(stage_named(stage), dict(fields))

    @of_stage(Stage.PROMPT)
    def _prompt(self, /, text: str, source: str = "user", trusted: bool = True) -> dict[str, Any]:
        """Judge words that enter the run: the user's own, or another's (`trusted=False`). Where it
        `proceeds`, `decision.patched(text)` is what the model may read; otherwise
        `decision.message` says why not."""
        return locals()

    @of_stage(Stage.MODEL_CALL)
    def _model_call(
        self,
        /,
        messages: list[Any],
        model: str = "",
        *,
        params: dict[str, Any] | None = None,
        tokens: int | None = None,
        cost_usd: float | None = None,
        api_calls: int | None = None,
        duration_s: float | None = None,
    ) -> dict[str, Any]:
        """A request is about to go to a model. `params` are those of the request; `tokens`,
        `cost_usd`, `api_calls` and `duration_s` are estimates, which stay reserved until its reply
        is reported."""
        return locals()

    @of_stage(Stage.MODEL_CHUNK)
    def _model_chunk(self, /, text: str, channel: str = "text", index: int = 0) -> dict[str, Any]:
        """A streamed piece of a reply has come."""
        return locals()

    @of_stage(Stage.MODEL_REPLY)
    def _model_reply(
        self,
        /,
        text: str,
        final: bool = False,
        *,
        model: str | None = None,
        call: str | None = None,
        tokens: int | None = None,
        cost_usd: float | None = None,
        api_calls: int | None = None,
        duration_s: float | None = None,
    ) -> dict[str, Any]:
        """A whole reply has come; `final` if it is the run's answer. `call` is the id of the
        decision on its request, and `tokens`, `cost_usd`, `api_calls` and `duration_s` are what it
        really used."""
        return locals()

    @of_stage(Stage.EGRESS)
    def _egress(
        self,
        /,
        url: str,
        method: str = "GET",
        *,
        headers: dict[str, str] | None = None,
        payload: Any = None,
        tool: str | None = None,
        call: str | None = None,
        tokens: int | None = None,
        cost_usd: float | None = None,
        api_calls: int | None = None,
        duration_s: float | None = None,
    ) -> dict[str, Any]:
        """An HTTP request is about to leave; `tool` is whose request it is, `call` the id of the
        decision on it."""
        return locals()

    @of_stage(Stage.ERROR)
    def _error(
        self,
        /,
        tool: str,
        error: BaseException | str,
        *,
        args: dict[str, Any] | None = None,
        call: str | None = None,
        text: str | None = None,
        status: int | None = None,
        attempt: int | None = None,
        bases: Sequence[str] | None = None,
        fault: str | None = None,
        tokens: int | None = None,
        cost_usd: float | None = None,
        api_calls: int | None = None,
        duration_s: float | None = None,
    ) -> dict[str, Any]:
        """A call that the host ran has failed: with this exception, or with an error of this name.

        `args` or `call` (the id of its `check`'s decision) say which call it was, `text` is what
        the error says, `status` an HTTP status, `attempt` counts from one. `fault` says whose it is
        (`system`, `user`, `business`, `unknown`) where the policy is not to work that out, and
        `bases` are the kinds of error that it is one of.
        """
        return locals()

    @of_stage(Stage.CHARGE)
    def _charge(
        self,
        /,
        tokens: int = 0,
        cost_usd: float = 0.0,
        *,
        api_calls: int | None = None,
        duration_s: float | None = None,
        model: str | None = None,
        settled: bool | None = None,
        call: str | None = None,
        tool: str | None = None,
    ) -> dict[str, Any]:
        """A cost is about to be booked, or has become known (`settled`); `call` is the id of the
        decision on what it was for, which is settled with it."""
        return locals()

    def _handoff(
        self,
        /,
        to: str,
        payload: dict[str, Any] | None = None,
        *,
        context: dict[str, Any] | None = None,
        artifacts: Sequence[str] | None = None,
        rationale: str | None = None,
        required_capabilities: Sequence[str] | None = None,
        type: str | None = None,
        tokens: int | None = None,
        cost_usd: float | None = None,
        api_calls: int | None = None,
        duration_s: float | None = None,
    ) -> Flow[Decision]:
        """Control is about to pass to another agent; `tokens`, `cost_usd`, `api_calls` and
        `duration_s` say what the other is expected to use. The payload says what it needs to know;
        `context`, `artifacts`, `rationale`, `required_capabilities` and `type` are fields of it
        that guards know."""
        named = given(
            context=context,
            rationale=rationale,
            required_capabilities=_listed(required_capabilities),
            type=type,
            artifacts=_listed(artifacts),
        )
        whole = isinstance(payload, Mapping) and named
        said = named if payload is None else {**payload, **named} if whole else payload
        usage = given(tokens=tokens, cost_usd=cost_usd, api_calls=api_calls, duration_s=duration_s)
        return self._report(Stage.HANDOFF, {"to": to, "payload": said, **usage})

    @of_stage(Stage.HANDOFF_DONE)
    def _handoff_done(
        self,
        /,
        to: str,
        *,
        payload: dict[str, Any] | None = None,
        call: str | None = None,
        tokens: int | None = None,
        cost_usd: float | None = None,
        api_calls: int | None = None,
        duration_s: float | None = None,
    ) -> dict[str, Any]:
        """The other agent has accepted; `call` is the id of the decision on the handoff, and
        `tokens`, `cost_usd`, `api_calls` and `duration_s` are what it really used."""
        return locals()

    check, acheck = twins(_check, Short(judge_quiet_call, 2))
    result, aresult = twins(_result, Short(judge_quiet_result, 3, frozenset({"call"})))
    judge, ajudge = twins(_judge)
    prompt, aprompt = twins(_prompt)
    model_call, amodel_call = twins(_model_call)
    model_chunk, amodel_chunk = twins(_model_chunk)
    model_reply, amodel_reply = twins(_model_reply)
    egress, aegress = twins(_egress)
    error, aerror = twins(_error)
    charge, acharge = twins(_charge)
    handoff, ahandoff = twins(_handoff)
    handoff_done, ahandoff_done = twins(_handoff_done)

    async def _adrive(self, flow: Flow[T]) -> T:
        from stanchion.runtime.driving.on_loop import adrive

        return await adrive(flow, self._desk)


def _listed(names: Any) -> Any:
    """Names as a list; what is none is for guards to see as it is, a text above all: its letters
    are no names."""
    return (
        list(names)
        if isinstance(names, Iterable) and not isinstance(names, str | bytes | Mapping)
        else names
    )


def judging(run: Reporting, stage: Stage, fields: dict[str, Any]) -> Flow[Decision]:
    """The flow of `run.judge`, for whoever has more to do around it; a tool call goes the shortest
    way."""
    if stage is Stage.TOOL_CALL and CALLED <= fields.keys() <= SHORTEST:
        return run._check(fields.pop("tool"), fields.pop("args"), **fields)
    return run._judge(stage, **fields)
