"""Reporting: what a host that runs things itself says of them, a method for each stage and its twin for async code."""

from __future__ import annotations

from typing import Any

from stanchion.kernel.decision import Decision
from stanchion.kernel.stages import Stage
from stanchion.kernel.units import JUST_ONE
from stanchion.runtime.desk import Desk
from stanchion.runtime.drivers import Flow, T
from stanchion.runtime.reports import check, named_in, report, spending
from stanchion.runtime.twins import twins


class Reporting:
    """Has everything judged that a run's host runs itself. Every method has a twin for async code: `await
    run.acheck(...)` for `run.check(...)`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @property
    def desk(self) -> Desk:
        """What the runtime and adapters work with; not for agents."""
        return self._desk

    def _check(self, /, tool: str, args: dict[str, Any], **usage: Any) -> Flow[Decision]:
        """Judge a tool call that the host will run itself; report what came of it with `result` or `error`.

        It is judged for real: a step is a step, and what it reserves (`tokens`, `cost_usd`, `api_calls`, `duration_s`:
        estimates) stays reserved until its outcome is reported.
        """
        if not usage:
            return check(self._desk, tool, args, JUST_ONE)
        return check(self._desk, tool, args, spending(usage), named_in(usage))

    def _result(self, /, tool: str, args: dict[str, Any], result: Any, **fields: Any) -> Flow[Decision]:
        """Judge the result of a call that the host ran itself; `decision.patched(result)` is what the agent may see.

        `call` names the decision of its `check` (found by tool and arguments otherwise); `tokens`, `cost_usd` and
        `api_calls` are what it really used.
        """
        return self._judge(Stage.TOOL_RESULT, tool=tool, args=args, result=result, **fields)

    def _judge(self, stage: Stage | str, /, **fields: Any) -> Flow[Decision]:
        """Judge an event of any stage, given the fields its stage has; an `error` may be the exception itself."""
        return report(self._desk, stage if type(stage) is Stage else Stage(stage), fields)

    def _prompt(self, /, text: str, source: str = "user", trusted: bool = True) -> Flow[Decision]:
        """Words enter the run: the user's own, or another's (`trusted=False`)."""
        return self._judge(Stage.PROMPT, text=text, source=source, trusted=trusted)

    def _model_call(self, /, messages: list[Any], model: str = "", **fields: Any) -> Flow[Decision]:
        """A request is about to go to a model; `params` and estimates may be given."""
        return self._judge(Stage.MODEL_CALL, messages=messages, model=model, **fields)

    def _model_chunk(self, /, text: str, channel: str = "text", index: int = 0) -> Flow[Decision]:
        """A streamed piece of a reply has come."""
        return self._judge(Stage.MODEL_CHUNK, text=text, channel=channel, index=index)

    def _model_reply(self, /, text: str, final: bool = False, **fields: Any) -> Flow[Decision]:
        """A whole reply has come; `final` if it is the run's answer. `model`, `call` and usage may be given."""
        return self._judge(Stage.MODEL_REPLY, text=text, final=final, **fields)

    def _egress(self, /, url: str, method: str = "GET", **fields: Any) -> Flow[Decision]:
        """An HTTP request is about to leave; `headers`, `payload` and `tool` may be given."""
        return self._judge(Stage.EGRESS, url=url, method=method, **fields)

    def _error(self, /, tool: str, error: BaseException | str, **fields: Any) -> Flow[Decision]:
        """A call that the host ran has failed; `args`, `call`, `status` and usage may be given."""
        return self._judge(Stage.ERROR, tool=tool, error=error, **fields)

    def _charge(self, /, tokens: int = 0, cost_usd: float = 0.0, **fields: Any) -> Flow[Decision]:
        """A cost is about to be booked, or has become known (`settled`)."""
        return self._judge(Stage.CHARGE, tokens=tokens, cost_usd=cost_usd, **fields)

    def _handoff(self, /, to: str, payload: dict[str, Any], **usage: Any) -> Flow[Decision]:
        """Control is about to pass to another agent; `tokens`, `cost_usd`, `api_calls` and `duration_s` say what the
        other is expected to use."""
        return self._judge(Stage.HANDOFF, to=to, payload=payload, **usage)

    def _handoff_done(self, /, to: str, **fields: Any) -> Flow[Decision]:
        """The other agent has accepted."""
        return self._judge(Stage.HANDOFF_DONE, to=to, **fields)

    check, acheck = twins(_check)
    result, aresult = twins(_result)
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
        from stanchion.runtime.loop import adrive

        return await adrive(flow, self._desk)
