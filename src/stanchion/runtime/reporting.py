"""Reporting: what a host that runs things itself says of them, one method for each stage."""

from __future__ import annotations

from typing import Any

from stanchion.kernel.decision import Decision
from stanchion.kernel.stages import Stage
from stanchion.kernel.units import JUST_ONE
from stanchion.runtime.desk import Desk
from stanchion.runtime.drivers import Flow, T, drive
from stanchion.runtime.faulting import told
from stanchion.runtime.reports import check, named_in, report, spending


class Reporting:
    """Has everything judged that a run's host runs itself."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @property
    def desk(self) -> Desk:
        """What the runtime and adapters work with; not for agents."""
        return self._desk

    def check(self, tool: str, args: dict[str, Any], **usage: Any) -> Decision:
        """Judge a tool call that the host will run itself; report what came of it with `result` or `error`.

        It is judged for real: a step is a step, and what it reserves (`tokens`, `cost_usd`, `api_calls`, `duration_s`:
        estimates) stays reserved until its outcome is reported.
        """
        return drive(self._check(tool, args, usage), self._desk)

    async def acheck(self, tool: str, args: dict[str, Any], **usage: Any) -> Decision:
        """`check` for async code."""
        return await self._adrive(self._check(tool, args, usage))

    def _check(self, tool: str, args: dict[str, Any], usage: dict[str, Any]) -> Flow[Decision]:
        if not usage:
            return check(self._desk, tool, args, JUST_ONE)
        return check(self._desk, tool, args, spending(usage), named_in(usage))

    def result(self, tool: str, args: dict[str, Any], result: Any, **fields: Any) -> Decision:
        """Judge the result of a call that the host ran itself; `decision.patched(result)` is what the agent may see.

        `call` names the decision of its `check` (found by tool and arguments otherwise); `tokens`, `cost_usd` and
        `api_calls` are what it really used.
        """
        return self.judge(Stage.TOOL_RESULT, tool=tool, args=args, result=result, **fields)

    async def aresult(self, tool: str, args: dict[str, Any], result: Any, **fields: Any) -> Decision:
        """`result` for async code."""
        return await self.ajudge(Stage.TOOL_RESULT, tool=tool, args=args, result=result, **fields)

    def judge(self, stage: Stage | str, /, **fields: Any) -> Decision:
        """Judge an event of any stage, given the fields its stage has."""
        return drive(report(self._desk, Stage(stage), fields), self._desk)

    async def ajudge(self, stage: Stage | str, /, **fields: Any) -> Decision:
        """`judge` for async code."""
        return await self._adrive(report(self._desk, Stage(stage), fields))

    def prompt(self, text: str, source: str = "user", trusted: bool = True) -> Decision:
        """Words enter the run: the user's own, or another's (`trusted=False`)."""
        return self.judge(Stage.PROMPT, text=text, source=source, trusted=trusted)

    def model_call(self, messages: list[Any], model: str = "", **fields: Any) -> Decision:
        """A request is about to go to a model; `params` and estimates may be given."""
        return self.judge(Stage.MODEL_CALL, messages=messages, model=model, **fields)

    def model_chunk(self, text: str, channel: str = "text", index: int = 0) -> Decision:
        """A streamed piece of a reply has come."""
        return self.judge(Stage.MODEL_CHUNK, text=text, channel=channel, index=index)

    def model_reply(self, text: str, final: bool = False, **fields: Any) -> Decision:
        """A whole reply has come; `final` if it is the run's answer. `model`, `call` and usage may be given."""
        return self.judge(Stage.MODEL_REPLY, text=text, final=final, **fields)

    def egress(self, url: str, method: str = "GET", **fields: Any) -> Decision:
        """An HTTP request is about to leave; `headers`, `payload` and `tool` may be given."""
        return self.judge(Stage.EGRESS, url=url, method=method, **fields)

    def error(self, tool: str, error: BaseException | str, **fields: Any) -> Decision:
        """A call that the host ran has failed; `args`, `call`, `status` and usage may be given."""
        return self.judge(Stage.ERROR, tool=tool, **told(self._desk.shield.policy, error, fields))

    def charge(self, tokens: int = 0, cost_usd: float = 0.0, **fields: Any) -> Decision:
        """A cost is about to be booked, or has become known (`settled`)."""
        return self.judge(Stage.CHARGE, tokens=tokens, cost_usd=cost_usd, **fields)

    def handoff(self, to: str, payload: dict[str, Any], **usage: Any) -> Decision:
        """Control is about to pass to another agent; `tokens`, `cost_usd`, `api_calls` and `duration_s` say what the
        other is expected to use."""
        return self.judge(Stage.HANDOFF, to=to, payload=payload, **usage)

    def handoff_done(self, to: str, **fields: Any) -> Decision:
        """The other agent has accepted."""
        return self.judge(Stage.HANDOFF_DONE, to=to, **fields)

    async def _adrive(self, flow: Flow[T]) -> T:
        from stanchion.runtime.loop import adrive

        return await adrive(flow, self._desk)
