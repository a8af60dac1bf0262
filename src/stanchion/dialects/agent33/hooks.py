"""Hooks: the five places at which the actions of one agent are validated, for sync and async code alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from stanchion.approvals.bypass import BypassRequest, Urgency
from stanchion.dialects.agent33.results import ChainResult, ErrorResult
from stanchion.dialects.agent33.words import HookType
from stanchion.dialects.errors import DialectError

if TYPE_CHECKING:
    from stanchion.kernel.decision import Decision
    from stanchion.runtime.run import Run

PRE, POST = HookType.PRE_EXECUTION, HookType.POST_EXECUTION
BEFORE_HANDOFF, AFTER_HANDOFF = HookType.PRE_HANDOFF, HookType.POST_HANDOFF


class Hooks:
    """The hooks of one agent at work on one task. Make them with `guardrails.hooks(agent, task)`; use them as a context
    manager, or close them at the end. `after` is what the hook before said about the same action."""

    def __init__(self, run: Run) -> None:
        self.run = run
        """Stanchion's own run, with everything that the specification has no word for."""

    def pre_execution(
        self,
        tool: str,
        args: dict[str, Any] | None = None,
        *,
        estimated_tokens: int | None = None,
        estimated_duration: float | None = None,
        estimated_cost: float | None = None,
        api_calls: int | None = None,
    ) -> ChainResult:
        """Validate an action before it is executed. Estimates count towards budgets: tokens, seconds, US dollars."""
        decision = self.run.check(
            tool,
            {} if args is None else args,
            tokens=estimated_tokens,
            duration_s=estimated_duration,
            cost_usd=estimated_cost,
            api_calls=api_calls,
        )
        return self._said(PRE, decision)

    async def apre_execution(
        self,
        tool: str,
        args: dict[str, Any] | None = None,
        *,
        estimated_tokens: int | None = None,
        estimated_duration: float | None = None,
        estimated_cost: float | None = None,
        api_calls: int | None = None,
    ) -> ChainResult:
        """`pre_execution` for async code."""
        decision = await self.run.acheck(
            tool,
            {} if args is None else args,
            tokens=estimated_tokens,
            duration_s=estimated_duration,
            cost_usd=estimated_cost,
            api_calls=api_calls,
        )
        return self._said(PRE, decision)

    def post_execution(
        self,
        tool: str,
        args: dict[str, Any] | None,
        output: Any,
        *,
        after: ChainResult | None = None,
        tokens: int | None = None,
        cost: float | None = None,
        duration: float | None = None,
    ) -> ChainResult:
        """Validate what an action gave before it is committed or forwarded, and count what it used."""
        call = _call_of(after, PRE)
        given = {} if args is None else args
        return self._said(
            POST, self.run.result(tool, given, output, call=call, tokens=tokens, cost_usd=cost, duration_s=duration)
        )

    async def apost_execution(
        self,
        tool: str,
        args: dict[str, Any] | None,
        output: Any,
        *,
        after: ChainResult | None = None,
        tokens: int | None = None,
        cost: float | None = None,
        duration: float | None = None,
    ) -> ChainResult:
        """`post_execution` for async code."""
        call = _call_of(after, PRE)
        given = {} if args is None else args
        said = await self.run.aresult(tool, given, output, call=call, tokens=tokens, cost_usd=cost, duration_s=duration)
        return self._said(POST, said)

    def pre_handoff(
        self,
        to: str,
        *,
        context: dict[str, Any] | None = None,
        artifacts: Sequence[str] | None = None,
        rationale: str | None = None,
        required_capabilities: Sequence[str] | None = None,
        token_budget: int | None = None,
        cost_budget: float | None = None,
        payload: dict[str, Any] | None = None,
    ) -> ChainResult:
        """Validate a handoff before it is sent. The budgets are what the receiver gets of this agent's; `payload` is
        what else is handed over, such as a reviewer's `{"review": "approved"}`."""
        decision = self.run.handoff(
            to,
            payload,
            context=context,
            artifacts=artifacts,
            rationale=rationale,
            required_capabilities=required_capabilities,
            tokens=token_budget,
            cost_usd=cost_budget,
        )
        return self._said(BEFORE_HANDOFF, decision)

    async def apre_handoff(
        self,
        to: str,
        *,
        context: dict[str, Any] | None = None,
        artifacts: Sequence[str] | None = None,
        rationale: str | None = None,
        required_capabilities: Sequence[str] | None = None,
        token_budget: int | None = None,
        cost_budget: float | None = None,
        payload: dict[str, Any] | None = None,
    ) -> ChainResult:
        """`pre_handoff` for async code."""
        decision = await self.run.ahandoff(
            to,
            payload,
            context=context,
            artifacts=artifacts,
            rationale=rationale,
            required_capabilities=required_capabilities,
            tokens=token_budget,
            cost_usd=cost_budget,
        )
        return self._said(BEFORE_HANDOFF, decision)

    def post_handoff(self, to: str, *, after: ChainResult | None = None) -> ChainResult:
        """Say that the receiver has accepted: it is recorded, the sender's locks are released, the task's status is
        kept, and whoever this agent works for is told. It blocks nothing."""
        return self._said(AFTER_HANDOFF, self.run.handoff_done(to, call=_call_of(after, BEFORE_HANDOFF)))

    async def apost_handoff(self, to: str, *, after: ChainResult | None = None) -> ChainResult:
        """`post_handoff` for async code."""
        return self._said(AFTER_HANDOFF, await self.run.ahandoff_done(to, call=_call_of(after, BEFORE_HANDOFF)))

    def on_error(
        self,
        tool: str,
        error: BaseException | str,
        *,
        args: dict[str, Any] | None = None,
        after: ChainResult | None = None,
        attempt: int | None = None,
    ) -> ErrorResult:
        """Say that an action has failed: how bad that is, and what becomes of it."""
        decision = self.run.error(tool, error, args=args, call=_call_of(after, PRE), attempt=attempt)
        return self._failed(decision)

    async def aon_error(
        self,
        tool: str,
        error: BaseException | str,
        *,
        args: dict[str, Any] | None = None,
        after: ChainResult | None = None,
        attempt: int | None = None,
    ) -> ErrorResult:
        """`on_error` for async code."""
        decision = await self.run.aerror(tool, error, args=args, call=_call_of(after, PRE), attempt=attempt)
        return self._failed(decision)

    def execute(self, tool: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Execute an action between its hooks; gives its output. `Refused` is raised where it is blocked or waits, and
        an error comes back once nothing more becomes of it."""
        return self.run.call(tool, *args, **kwargs)

    async def aexecute(self, tool: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """`execute` for async code; the tool may be sync or async."""
        return await self.run.acall(tool, *args, **kwargs)

    def request_bypass(
        self,
        guardrail_id: str,
        reason: str,
        urgency: Urgency | str = Urgency.NORMAL,
        *,
        after: ChainResult | None = None,
    ) -> BypassRequest:
        """Ask to have one action let past one guardrail: the last that it refused, or the one that `after` is about.
        `BypassRefused` says in one line why that cannot be asked."""
        return self.run.request_bypass(guardrail_id, reason, str(urgency), call=_call_of(after))

    async def arequest_bypass(
        self,
        guardrail_id: str,
        reason: str,
        urgency: Urgency | str = Urgency.NORMAL,
        *,
        after: ChainResult | None = None,
    ) -> BypassRequest:
        """`request_bypass` for async code."""
        return await self.run.arequest_bypass(guardrail_id, reason, str(urgency), call=_call_of(after))

    def escalate(self, reason: str) -> str:
        """Go to a supervisor with what was blocked last; gives the id of the escalation."""
        return self.run.escalate(reason)

    async def aescalate(self, reason: str) -> str:
        """`escalate` for async code."""
        return await self.run.aescalate(reason)

    def warnings(self) -> tuple[str, ...]:
        """The warnings for the agent since the last call."""
        return self.run.notices()

    def close(self) -> None:
        """End this agent's work: nothing of it proceeds any more."""
        self.run.close()

    def _said(self, hook: HookType, decision: Decision) -> ChainResult:
        if decision.proceeds:
            return ChainResult(hook, decision)
        return ChainResult(hook, decision, self.run.ticket(decision))

    def _failed(self, decision: Decision) -> ErrorResult:
        return ErrorResult(decision, self.run.ticket(decision), self.run.last_error)

    def __enter__(self) -> Hooks:
        self.run.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.run.__exit__(kind, error, at)

    async def __aenter__(self) -> Hooks:
        await self.run.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.run.__aexit__(kind, error, at)


def _call_of(after: ChainResult | None, hook: HookType | None = None) -> str | None:
    """The action that a result is about; `DialectError` where it is none of that hook."""
    if after is None:
        return None
    if not isinstance(after, ChainResult):
        raise DialectError(f"`after` is a `{type(after).__name__}`: give what `{hook or 'a hook'}` has returned")
    if hook is not None and after.hook is not hook:
        raise DialectError(f"`after` is what `{after.hook}` has returned: give what `{hook}` has returned")
    return after.decision.id
