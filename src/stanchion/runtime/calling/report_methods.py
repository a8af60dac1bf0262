"""Reporting: what a host that runs things itself says of them, a method for each stage and its twin
for async code."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Unpack

from stanchion.kernel.decision import Decision
from stanchion.kernel.stages import Stage
from stanchion.runtime.calling import straight
from stanchion.runtime.calling.report_fields import Fields, given
from stanchion.runtime.calling.reports import USAGE, check, named_in, report, spending
from stanchion.runtime.calling.stage_names import stage_named
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.twins import Short, twins
from stanchion.runtime.driving.flow import Flow, T

CALLED: Final = frozenset({"tool", "args"})
"""What a tool call is told by."""

SHORTEST: Final = CALLED | frozenset(USAGE)
"""What the shortest way takes of one."""


class Reporting:
    """Has everything judged that a run's host runs itself. Every method has a twin for async code:
    `await run.acheck(...)` for `run.check(...)`."""

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
    ) -> Flow[Decision]:
        """Judge the result of a call that the host ran itself; `decision.patched(result)` is what
        the agent may see.

        `call` is the id of its `check`'s decision (found by tool and arguments otherwise), and
        `part` numbers the items of a result that comes piece by piece. `tokens`, `cost_usd`,
        `api_calls` and `duration_s` are what it really used. Raises `BadEvent` for what cannot be
        judged.
        """
        usage = given(tokens=tokens, cost_usd=cost_usd, api_calls=api_calls, duration_s=duration_s)
        about = given(call=call, part=part)
        return self._report(
            Stage.TOOL_RESULT, {"tool": tool, "args": args, "result": result, **about, **usage}
        )

    def _judge(self, stage: Stage | str, /, **fields: Unpack[Fields]) -> Flow[Decision]:
        """Judge an event of any stage, given the fields its stage has; an `error` may be the
        exception itself. Raises `BadEvent` for a field that the stage does not have, and for one
        that it needs."""
        return self._report(stage_named(stage), dict(fields))

    def _prompt(self, /, text: str, source: str = "user", trusted: bool = True) -> Flow[Decision]:
        """Judge words that enter the run: the user's own, or another's (`trusted=False`). Where it
        `proceeds`, `decision.patched(text)` is what the model may read; otherwise
        `decision.message` says why not."""
        return self._report(Stage.PROMPT, {"text": text, "source": source, "trusted": trusted})

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
    ) -> Flow[Decision]:
        """A request is about to go to a model. `params` are those of the request; `tokens`,
        `cost_usd`, `api_calls` and `duration_s` are estimates, which stay reserved until its reply
        is reported."""
        usage = given(tokens=tokens, cost_usd=cost_usd, api_calls=api_calls, duration_s=duration_s)
        return self._report(
            Stage.MODEL_CALL,
            {"messages": messages, "model": model, **given(params=params), **usage},
        )

    def _model_chunk(self, /, text: str, channel: str = "text", index: int = 0) -> Flow[Decision]:
        """A streamed piece of a reply has come."""
        return self._report(Stage.MODEL_CHUNK, {"text": text, "channel": channel, "index": index})

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
    ) -> Flow[Decision]:
        """A whole reply has come; `final` if it is the run's answer. `call` is the id of the
        decision on its request, and `tokens`, `cost_usd`, `api_calls` and `duration_s` are what it
        really used."""
        usage = given(tokens=tokens, cost_usd=cost_usd, api_calls=api_calls, duration_s=duration_s)
        about = given(model=model, call=call)
        return self._report(Stage.MODEL_REPLY, {"text": text, "final": final, **about, **usage})

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
    ) -> Flow[Decision]:
        """An HTTP request is about to leave; `tool` is whose request it is, `call` the id of the
        decision on it."""
        usage = given(tokens=tokens, cost_usd=cost_usd, api_calls=api_calls, duration_s=duration_s)
        about = given(headers=headers, payload=payload, tool=tool, call=call)
        return self._report(Stage.EGRESS, {"url": url, "method": method, **about, **usage})

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
    ) -> Flow[Decision]:
        """A call that the host ran has failed: with this exception, or with an error of this name.

        `args` or `call` (the id of its `check`'s decision) say which call it was, `text` is what
        the error says, `status` an HTTP status, `attempt` counts from one. `fault` says whose it is
        (`system`, `user`, `business`, `unknown`) where the policy is not to work that out, and
        `bases` are the kinds of error that it is one of.
        """
        usage = given(tokens=tokens, cost_usd=cost_usd, api_calls=api_calls, duration_s=duration_s)
        about = given(
            args=args,
            call=call,
            text=text,
            status=status,
            attempt=attempt,
            bases=bases,
            fault=fault,
        )
        return self._report(Stage.ERROR, {"tool": tool, "error": error, **about, **usage})

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
    ) -> Flow[Decision]:
        """A cost is about to be booked, or has become known (`settled`); `call` is the id of the
        decision on what it was for, which is settled with it."""
        about = given(
            api_calls=api_calls,
            duration_s=duration_s,
            model=model,
            settled=settled,
            call=call,
            tool=tool,
        )
        return self._report(Stage.CHARGE, {"tokens": tokens, "cost_usd": cost_usd, **about})

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
        usage = given(tokens=tokens, cost_usd=cost_usd, api_calls=api_calls, duration_s=duration_s)
        needs, handed = _listed(required_capabilities), _listed(artifacts)
        named = given(
            context=context,
            rationale=rationale,
            required_capabilities=needs,
            type=type,
            artifacts=handed,
        )
        whole = isinstance(payload, Mapping) and named
        said = named if payload is None else {**payload, **named} if whole else payload
        return self._report(Stage.HANDOFF, {"to": to, "payload": said, **usage})

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
    ) -> Flow[Decision]:
        """The other agent has accepted; `call` is the id of the decision on the handoff, and
        `tokens`, `cost_usd`, `api_calls` and `duration_s` are what it really used."""
        usage = given(tokens=tokens, cost_usd=cost_usd, api_calls=api_calls, duration_s=duration_s)
        return self._report(
            Stage.HANDOFF_DONE, {"to": to, **given(payload=payload, call=call), **usage}
        )

    def _report(self, stage: Stage, fields: dict[str, Any]) -> Flow[Decision]:
        """Have somebody judge a report: the run's own desk, unless a run says otherwise."""
        return report(self._desk, stage, fields)

    check, acheck = twins(_check, Short(straight.call, 2))
    result, aresult = twins(_result, Short(straight.outcome, 3, frozenset({"call"})))
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
