"""Runs whose every action a broker judges: the same methods as those of a run in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, Unpack

from stanchion import typed
from stanchion.kernel.actions import NAMES, Action
from stanchion.kernel.chain import EVERY_ACTION
from stanchion.kernel.decision import Decision
from stanchion.kernel.happened import OUTCOMES
from stanchion.kernel.names import require_texts, texts_in
from stanchion.kernel.stages import Stage
from stanchion.runtime.calling.at_work import tool_at_work
from stanchion.runtime.calling.call_methods import AsksForBypass, CallsOnce, Locking
from stanchion.runtime.calling.refusal_text import TEXT, answered_in_text
from stanchion.runtime.calling.report_methods import Reporting, given
from stanchion.runtime.calling.reports import BadEvent
from stanchion.runtime.calling.tool import Tool, ToolShape
from stanchion.runtime.deciding.hosts import able
from stanchion.runtime.deciding.twins import twins
from stanchion.runtime.deciding.undos import Undone
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.errors import Refused
from stanchion.runtime.keywords import RunOptions, check_run_options
from stanchion.runtime.remote import messages
from stanchion.runtime.remote.broker_link import BadFrame, BrokerLink, Conversation, conversed
from stanchion.runtime.remote.carrying import CarriedCall, RequestedUndos, sent
from stanchion.runtime.remote.errors import (
    BrokerLost,
    NotThroughBroker,
    misfit,
    refused,
    told,
    unjudged,
    value_of,
)
from stanchion.runtime.remote.messages import (
    Advise,
    AskBypass,
    Began,
    Begin,
    CallRequest,
    Decided,
    Done,
    End,
    Escalate,
    Go,
    Notices,
    Resume,
    StageReport,
    Value,
)
from stanchion.runtime.values import Read, arguments, read
from stanchion.runtime.values.parts import digested

if TYPE_CHECKING:
    from stanchion.approvals.bypass import BypassRequest


class AsksBroker(AsksForBypass):
    """Asks people where a run's actions are judged by a broker."""

    _named: Callable[[], dict[str, Any]]
    _simply: Callable[[Callable[[], Any]], Flow[Any]]

    def _asked_past(
        self, guardrail: str, reason: str, urgency: str, call: str | None
    ) -> Flow[BypassRequest]:
        about: dict[str, Any] = {
            "guardrail": guardrail,
            "reason": reason,
            "urgency": urgency,
            "call": call,
        }
        reply = yield from self._simply(lambda: AskBypass(**self._named(), **about))

        from stanchion.approvals.bypass import BypassRequest

        return typed.convert(value_of(reply), BypassRequest)

    def _escalate(self, /, reason: str) -> Flow[str]:
        """Ask for a person to look at this run, with what was refused last; gives the ticket's
        id."""
        return str(
            value_of((yield from self._simply(lambda: Escalate(**self._named(), reason=reason))))
        )

    def _awareness(self, /, *, tokens: int | None = None) -> Flow[str]:
        """What the agent should know of its tools, for its prompt, in no more than so many
        tokens."""
        return str(
            value_of((yield from self._simply(lambda: Advise(**self._named(), tokens=tokens))))
        )

    def _advice(self, /, tool: str, args: dict[str, Any] | None = None) -> Flow[str]:
        """Advice about a call: what is known of its tool, and how the arguments differ from a call
        that worked."""
        value: Value = sent(lambda: arguments({} if args is None else args, copies=False))[0]
        return str(
            value_of(
                (yield from self._simply(lambda: Advise(**self._named(), tool=tool, args=value)))
            )
        )

    escalate, aescalate = twins(_escalate)
    awareness, aawareness = twins(_awareness)
    advice, aadvice = twins(_advice)


class Far(Protocol):
    """A shield that is somewhere else, as far as its runs need it."""

    @property
    def link(self) -> BrokerLink: ...

    @property
    def tool_of(self) -> Callable[..., Tool]: ...
    def new_id(self) -> str: ...


_open: ContextVar[tuple[RemoteRun, ...]] = ContextVar("stanchion_remote_runs", default=())


def open_remote_runs() -> tuple[RemoteRun, ...]:
    """The runs through a broker that stand around the caller, the innermost last."""
    return _open.get()


class Afar:
    """Stands where a run in this process has its desk: that one is the broker's."""

    def __getattr__(self, name: str) -> Any:
        raise NotThroughBroker(
            f"`{name}` belongs to the broker: report what happens with the methods of the run"
        )


class RemoteRun(CallsOnce, AsksBroker, Locking, Reporting):
    """One agent's work on one task, judged by a broker. Made by `shield.run(...)`."""

    _around, _begins_at_once = _open, True

    def __init__(
        self, shield: Far, began: Began, boot: str, can: tuple[Action, ...] = EVERY_ACTION
    ) -> None:
        far: Any = Afar()
        super().__init__(far)
        self._shield, self._began, self._boot = shield, began, boot
        self.was_over = False
        """Whether it had ended before it was closed."""
        self.can = can
        """What its host can carry out."""
        self._undos = RequestedUndos()
        self._tokens = []

    @property
    def shield(self) -> Any:
        """The shield that the run is under."""
        return self._shield

    @property
    def id(self) -> str:
        """The run's identity."""
        return self._began.run

    @property
    def agent(self) -> str:
        """Who is at work."""
        return self._began.agent

    @property
    def task(self) -> str:
        """What is worked on."""
        return self._began.task

    def __getattr__(self, name: str) -> Any:
        raise NotThroughBroker(
            f"there is no `run.{name}` through a broker: use a run in this process for it"
        )

    # Every request names the run and what speaks for it, and has an id that no other has.
    def _named(self) -> dict[str, Any]:
        return {"id": self._shield.new_id(), "run": self._began.run, "token": self._began.token}

    def _ask(self, talk: Callable[[Conversation], Flow[Any]]) -> Flow[Any]:
        def going_on(conversation: Conversation) -> Flow[Any]:
            boot = conversation.wire.boot
            if boot != self._boot:
                reply = yield from conversation.ask(
                    Resume(self._shield.new_id(), self._began.passed)
                )
                if not isinstance(reply, Began):
                    raise misfit(reply)
                self._began, self._boot = reply, boot
            return (yield from talk(conversation))

        return conversed(self._shield.link, going_on)

    def _simply(self, make: Callable[[], Any]) -> Flow[Any]:
        """Ask for something that is one question and one answer; raises `Refused` where there is
        none."""
        try:
            return (yield from self._ask(lambda talk: talk.ask(make())))
        except (BrokerLost, BadFrame) as lost:
            refusal = unjudged(lost)
        raise Refused(refusal) from None

    def _report(self, stage: Stage, fields: dict[str, Any]) -> Flow[Decision]:
        fault = None
        if stage is Stage.PROMPT and tool_at_work():
            fields["trusted"] = False
        if isinstance(fields.get("error"), BaseException):
            fault = told(fields.pop("error"))
        if stage is Stage.TOOL_CALL and set(fields) >= {"tool", "args"}:
            tool, args = fields.pop("tool"), fields.pop("args")
            if type(tool) is not str or not isinstance(args, dict):
                raise BadEvent("`tool_call` takes the tool's name and its arguments as a mapping")
            value, _ = sent(lambda: arguments(args, copies=False))
            value = _with(value, {"tool": tool, "args": value.content, **fields})
        else:
            value, _ = sent(lambda: _reported(stage, read(fields)))
        try:
            reply = yield from self._simply(
                lambda: StageReport(**self._named(), stage=stage, fields=value, fault=fault)
            )
        except Refused as lost:
            why = lost.decision.findings[0].args[0]
            return unjudged(str(why), stage) if stage in OUTCOMES else lost.decision
        if isinstance(reply, Decided):
            return reply.decision
        error = misfit(reply)
        if isinstance(error, Refused):
            return error.decision
        raise error

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
        `error`."""
        usage = given(tokens=tokens, cost_usd=cost_usd, api_calls=api_calls, duration_s=duration_s)
        return self._report(Stage.TOOL_CALL, {"tool": tool, "args": args, **usage})

    check, acheck = twins(_check)
    result, aresult = twins(Reporting._result)

    def _keeps_locks(self) -> bool:
        return self._began.locks

    def _tool_of(self, tool: Callable[..., Any] | Tool) -> Tool:
        known = self._shield.tool_of(tool)
        if known.shape in (ToolShape.GENERATOR, ToolShape.ASYNC_GENERATOR):
            raise NotThroughBroker(
                f"`{known.name}` gives its items one by one, which a broker cannot judge: return a "
                f"list"
            )
        return known

    def called(
        self, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any], key: str = ""
    ) -> Flow[Any]:
        """A call as a flow: judged by the broker, run here."""
        flow = self._carried(tool, args, kwargs, key)
        return answered_in_text(flow) if tool.refusal == TEXT else flow

    def _carried(
        self, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any], key: str
    ) -> Flow[Any]:
        carried, said = CarriedCall(self._undos, tool, args, kwargs), tool.declared

        def talk(conversation: Conversation) -> Flow[Any]:
            request = CallRequest(
                **self._named(),
                tool=tool.name,
                args=carried.sent,
                risk=None if said.risk is None else int(said.risk),
                effect=said.effect,
                sinks=said.sinks,
                timeout_s=tool.timeout_s,
                once=tool.once,
                undo=tool.undo is not None,
                key=key,
                usage=None if tool.usage is None else dict(tool.usage),
            )
            return carried.call(conversation, request)

        try:
            return (yield from self._ask(talk))
        except (BrokerLost, BadFrame) as lost:
            refusal = unjudged(lost)
        raise Refused(refusal) from None

    def _rollback(self, /) -> Flow[tuple[Undone, ...]]:
        """Undo what this run and its children have done, newest first: every finished call whose
        tool has an undo."""

        def talk(conversation: Conversation) -> Flow[Any]:
            reply = yield from conversation.ask(messages.RollBack(**self._named()))
            while isinstance(reply, Go):
                reply = yield from conversation.say((yield from self._undos.run(reply.request)))
            return reply

        try:
            reply = yield from self._ask(talk)
        except (BrokerLost, BadFrame) as lost:
            raise Refused(unjudged(lost)) from None
        return tuple([Undone(*one) for one in value_of(reply)])

    rollback, arollback = twins(_rollback)

    def _spawn(
        self,
        /,
        agent: str = "",
        task: str | None = None,
        *,
        budget: Mapping[str, Any] | None = None,
        **options: Unpack[RunOptions],
    ) -> Flow[RemoteRun]:
        """A child run: it inherits policy, tenant, deadline and cancellation, and spends from this
        run's budgets. What this run may not do, it may not, whatever `may` says."""
        check_run_options(RemoteRun.spawn, options)
        own, about = begin_fields(agent, task, options)

        def make() -> Begin:
            named = self._named()
            parent, token = named.pop("run"), named.pop("token")
            return Begin(
                **named,
                **about,
                parent=parent,
                token=token,
                budget=None if budget is None else dict(budget),
            )

        reply = yield from self._simply(make)
        if not isinstance(reply, Began):
            raise misfit(reply)
        child = RemoteRun(self._shield, reply, self._boot, self.can if own is None else own)
        child._undos = self._undos
        return child

    spawn, aspawn = twins(_spawn)

    def cancel(self, why: str = "by the caller") -> None:
        """End this run and its children, in every process; what is under way is refused its next
        step."""
        self._over(
            drive(self._simply(lambda: End(**self._named(), cancel=True, why=why)), self._desk)
        )

    def notices(self) -> tuple[str, ...]:
        """Warnings for the agent since the last call."""
        return tuple(value_of(drive(self._simply(lambda: Notices(**self._named())), self._desk)))

    def _ended(self) -> Flow[None]:
        try:
            reply = yield from self._simply(lambda: End(**self._named()))
            self.was_over = isinstance(reply, Done) and reply.value is True
            self._over(reply)
        except Refused:
            # Whoever judges its runs has gone: nothing of this one proceeds without it.
            return

    def _over(self, reply: Any) -> None:
        if not isinstance(reply, Done) and refused(reply).code != "kernel.ended":
            raise misfit(reply)

    def _entered(self) -> None:
        """A broker knows of it already."""


def _reported(stage: Stage, seen: Read) -> Read:
    return digested(seen) if stage is Stage.TOOL_RESULT else seen


def _with(value: Any, content: dict[str, Any]) -> Any:
    from msgspec.structs import replace

    return replace(value, content=content)


def begin_fields(
    agent: str, task: str | None, options: RunOptions
) -> tuple[tuple[Action, ...] | None, dict[str, Any]]:
    """What a run's host can, where it says so, and what the run begins with, as a broker is told
    it; raises `ValueError` for what makes no sense."""
    said: dict[str, Any] = {name: one for name, one in options.items() if one is not None}
    for name in ("id", "tenant"):
        if name in said:
            raise NotThroughBroker(f"`{name}` of a run is set by the broker: leave it out")
    require_texts(agent=agent, task="" if task is None else task, role=said.get("role", ""))
    said |= {name: texts_in(name, said[name]) for name in ("tools", "may") if name in said}
    own = able(said["can"]) if "can" in said else None
    if own is not None:
        said["can"] = tuple([NAMES[action] for action in own])
    return own, {"agent": agent, "task": task, **said}
