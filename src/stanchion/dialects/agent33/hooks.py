"""Hooks: the five places at which the actions of one agent are validated, for sync and async code
alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, Final
from uuid import uuid4

from stanchion.approvals.bypass import BypassRequest, Urgency
from stanchion.dialects.agent33.results import ChainResult, ErrorResult
from stanchion.dialects.agent33.words import (
    ESTIMATED,
    HANDED,
    Border,
    HookType,
    a_mapping,
    a_text,
    names_of,
    word,
)
from stanchion.dialects.errors import DialectError
from stanchion.hosts.contract.host import Entered
from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.compare_and_set import change
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Finding
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import ABSENT, StoreLost, key
from stanchion.readings.canonical import canonical
from stanchion.runtime.calling.report_methods import given
from stanchion.runtime.calling.reports import handed_to, report
from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.twins import twins
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.run import Run
from stanchion.runtime.values import Unreadable, arguments

GIVEN_UP: Final = 1_001
"""The attempt that is said where nobody can count: no retry is left."""


def _counted(
    desk: Desk, tool: str, args: dict[str, Any], attempt: int | None, failed: bool
) -> Flow[int]:
    """Which attempt of an action failed, counted in the store for the agent and its task, so that
    other hooks and processes count on; one that worked begins anew. A host that counts is
    believed."""
    info, records = desk.info, desk.shield.records
    name = key(info.tenant, "attempts", info.agent, info.task, _action(tool, args))
    if not failed and not records.get(name, ABSENT)[1]:
        return 0

    def which(before: Any, _now: int) -> int:
        counted = int(before or 0) + 1 if attempt is None else attempt
        return counted if failed else 0

    try:
        changed = yield from change(records, f"{uuid4()}.attempt", info.tenant, name, which)
    except StoreLost:
        return GIVEN_UP
    return int(changed.value)


def _action(tool: str, args: dict[str, Any]) -> str:
    """What an action is known by. Arguments that cannot be read do not tell actions of a tool
    apart."""
    try:
        said = canonical(arguments(args, copies=False).content)
    except Unreadable:
        said = ""
    return sha256(f"{tool}\0{said}".encode("utf-8", "surrogatepass")).hexdigest()


PRE, POST = HookType.PRE_EXECUTION, HookType.POST_EXECUTION
BEFORE_HANDOFF, AFTER_HANDOFF = HookType.PRE_HANDOFF, HookType.POST_HANDOFF
AT_PRE, AT_POST, AT_ERROR = Border(PRE, ESTIMATED), Border(POST), Border(HookType.ON_ERROR)
AT_BEFORE, AT_AFTER = Border(BEFORE_HANDOFF, HANDED), Border(AFTER_HANDOFF)
AT_ESCALATE, AT_BYPASS = Border("escalate"), Border("request_bypass")


class Hooks(Entered):
    """The hooks of one agent at work on one task. Make them with `guardrails.hooks(agent, task)`;
    use them as a context manager, or close them at the end. `after` is what the hook before said
    about the same action."""

    def __init__(self, run: Run) -> None:
        self.run: Run = run
        """Stanchion's own run, with everything that the specification has no word for."""
        self._desk: Desk = run.desk

    def _pre_execution(
        self,
        tool: str,
        args: dict[str, Any] | None = None,
        *,
        estimated_tokens: int | None = None,
        estimated_duration: float | None = None,
        estimated_cost: float | None = None,
        api_calls: int | None = None,
    ) -> Flow[ChainResult]:
        """Validate an action before it is executed. Estimates count towards budgets: tokens,
        seconds, US dollars."""
        args = {} if args is None else args
        with AT_PRE:
            decision = yield from self.run._check(
                _named(tool, PRE),
                args,
                tokens=estimated_tokens,
                duration_s=estimated_duration,
                cost_usd=estimated_cost,
                api_calls=api_calls,
            )
        return self._said(PRE, decision, tool, args)

    pre_execution, apre_execution = twins(_pre_execution)

    def _post_execution(
        self,
        tool: str,
        args: dict[str, Any] | None,
        output: Any,
        *,
        after: ChainResult | None = None,
        tokens: int | None = None,
        cost: float | None = None,
        duration: float | None = None,
    ) -> Flow[ChainResult]:
        """Validate what an action gave before it is committed or forwarded, and count what it used,
        whatever was said before. What comes of an action that did not go ahead is blocked."""
        used = given(tokens=tokens, cost_usd=cost, duration_s=duration)
        if args is None and after is None:
            raise DialectError(
                f"`{POST}` has neither `args` nor `after`: give what `{PRE}` has returned, or "
                f"arguments"
            )
        with AT_POST:
            decision = yield from self._ended(_named(tool, POST), args, output, after, used)
        if decision.proceeds:
            yield from _counted(self._desk, tool, _args(args, after), None, False)
        return self._said(POST, decision)

    post_execution, apost_execution = twins(_post_execution)

    def _pre_handoff(
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
    ) -> Flow[ChainResult]:
        """Validate a handoff before it is sent. The budgets are what the receiver gets of this
        agent's; `payload` is what else is handed over, such as a reviewer's `{"review":
        "approved"}`."""
        said: dict[str, tuple[Any, Callable[[Any, str, str], Any], str]] = {
            "payload": (payload, a_mapping, "of fields to what they say"),
            "context": (context, a_mapping, "of what the receiver has to know"),
            "artifacts": (artifacts, names_of, "files"),
            "rationale": (rationale, a_text, BEFORE_HANDOFF),
            "required_capabilities": (required_capabilities, names_of, "capabilities"),
        }
        told: dict[str, Any] = {
            name: check(value, name, of)
            for name, (value, check, of) in said.items()
            if value is not None
        }
        with AT_BEFORE:
            decision = yield from self.run._handoff(
                _receiver(to, BEFORE_HANDOFF), tokens=token_budget, cost_usd=cost_budget, **told
            )
        return self._said(BEFORE_HANDOFF, decision, to)

    pre_handoff, apre_handoff = twins(_pre_handoff)

    def _post_handoff(self, to: str, *, after: ChainResult | None = None) -> Flow[ChainResult]:
        """Say that the receiver has accepted: it is recorded, the sender's locks are released, the
        task's status is kept, and whoever this agent works for is told. It blocks nothing."""
        call = self._handed(_receiver(to, AFTER_HANDOFF), after)
        with AT_AFTER:
            return self._said(AFTER_HANDOFF, (yield from self.run._handoff_done(to, call=call)))

    post_handoff, apost_handoff = twins(_post_handoff)

    def _on_error(
        self,
        tool: str,
        error: BaseException | str,
        *,
        args: dict[str, Any] | None = None,
        after: ChainResult | None = None,
        attempt: int | None = None,
    ) -> Flow[ErrorResult]:
        """Say that an action has failed: how bad that is, and what becomes of it. Failures of the
        same action in a row are counted, unless `attempt` says which one it was, the first being
        1."""
        call = self._begun(_named(tool, HookType.ON_ERROR), args, after)[0]
        with AT_ERROR:
            which = attempt
            if attempt is None or type(attempt) is int:
                which = yield from _counted(self._desk, tool, _args(args, after), attempt, True)
            return self._failed(
                (yield from self.run._error(tool, error, args=args, call=call, attempt=which))
            )

    on_error, aon_error = twins(_on_error)

    def execute(self, tool: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Execute an action between its hooks; gives its output. `Refused` is raised where it is
        blocked or waits, and an error comes back once nothing more becomes of it."""
        return self.run.call(_function(tool, "execute"), *args, **kwargs)

    async def aexecute(self, tool: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """`execute` for async code; the tool may be sync or async."""
        return await self.run.acall(_function(tool, "aexecute"), *args, **kwargs)

    def _request_bypass(
        self,
        guardrail_id: str,
        reason: str,
        urgency: Urgency | str = Urgency.NORMAL,
        *,
        after: ChainResult | None = None,
    ) -> Flow[BypassRequest]:
        """Ask to have one action let past one guardrail: the last that it refused, or the one that
        `after` is about. `BypassRefused` says in one line why that cannot be asked."""
        past = a_text(guardrail_id, "guardrail_id", "request_bypass")
        why, how = (
            a_text(reason, "reason", "request_bypass"),
            str(word(Urgency, urgency, "urgency")),
        )
        with AT_BYPASS:
            return (yield from self.run._request_bypass(past, why, how, call=self._id_of(after)))

    request_bypass, arequest_bypass = twins(_request_bypass)

    def _escalate(self, reason: str) -> Flow[str]:
        """Go to a supervisor with what was blocked last; gives the id of the escalation. A yes to
        it says that somebody has looked, and lets nothing through: to have the action go ahead, ask
        with `request_bypass`."""
        with AT_ESCALATE:
            return (yield from self.run._escalate(reason))

    escalate, aescalate = twins(_escalate)

    def warnings(self) -> tuple[str, ...]:
        """The warnings for the agent since the last call."""
        return self.run.notices()

    def _ended(
        self,
        tool: str,
        args: dict[str, Any] | None,
        output: Any,
        after: ChainResult | None,
        used: dict[str, Any],
    ) -> Flow[Decision]:
        """Judge what an action gave. What it used is counted also where its hook before it had
        ended or blocked it, and what had blocked it stands."""
        call, stands = self._begun(tool, args, after)
        fields = {
            "tool": tool,
            "args": _args(args, after),
            "result": output,
            **given(call=call),
            **used,
        }
        return report(self._desk, Stage.TOOL_RESULT, fields, stands)

    def _begun(
        self, tool: str, args: dict[str, Any] | None, after: ChainResult | None
    ) -> tuple[str | None, tuple[Finding, ...]]:
        """The action that `after` has let begin, as long as its end has not been told, and what had
        blocked it."""
        call = self._id_of(after, PRE)
        if after is None:
            return None, ()
        if tool != after.about:
            raise DialectError(
                f"`after` is about the tool `{after.about!s:.80}`, and this is `{tool!s:.80}`"
            )
        if args is not None and args != after.args and args != after.decision.patched(after.args):
            raise DialectError(
                f"`after` is about other arguments of `{tool!s:.80}`: give the same, or what "
                f"`{PRE}` said about these"
            )
        if after.proceeds:
            return call if call is not None and self._desk.is_open(call) else None, ()
        stood = [one for one in after.decision.findings if one.action > PROCEEDS]
        return None, tuple(
            [
                Finding(Action.BLOCK, one.code, one.args, one.text, one.guidance, guard=one.guard)
                for one in stood
            ]
        )

    def _handed(self, to: str, after: ChainResult | None) -> str | None:
        call = self._id_of(after, BEFORE_HANDOFF)
        if after is not None and to != after.about:
            raise DialectError(
                f"`after` is about a handoff to `{after.about!s:.80}`, and this is one to "
                f"`{to!s:.80}`"
            )
        if after is not None and not after.proceeds:
            raise DialectError(
                f"the handoff to `{to!s:.80}` did not go ahead: correct it, and hand over again"
            )
        if after is None and not self._desk.open_call(handed_to(to), {}):
            said = f"no handoff to `{to!s:.80}` is under way"
            raise DialectError(
                f"{said}: ask `{BEFORE_HANDOFF}` first, and give what it returns as `after`"
            )
        return call

    def _id_of(self, after: ChainResult | None, hook: HookType | None = None) -> str | None:
        """The action that a result of these hooks is about; `DialectError` where it is none of that
        hook."""
        if after is None:
            return None
        if not isinstance(after, ChainResult):
            raise DialectError(
                f"`after` is a `{type(after).__name__}`: give what `{hook or 'a hook'}` has "
                f"returned"
            )
        if hook is not None and after.hook is not hook:
            raise DialectError(
                f"`after` is what `{after.hook}` has returned: give what `{hook}` has returned"
            )
        if not self._desk.made(after.decision.id):
            raise DialectError(
                "`after` is what the hooks of another agent or task have returned: use those hooks"
            )
        return after.decision.id

    def _said(
        self,
        hook: HookType,
        decision: Decision,
        about: str = "",
        args: dict[str, Any] | None = None,
    ) -> ChainResult:
        ticket = None if decision.proceeds else self.run.ticket(decision)
        return ChainResult(hook, decision, ticket, about, args)

    def _failed(self, decision: Decision) -> ErrorResult:
        return ErrorResult(decision, self.run.ticket(decision), self.run.last_error)


def _receiver(to: str, hook: HookType) -> str:
    """Who receives a handoff; `DialectError` where that is nobody."""
    if not a_text(to, "to", hook).strip():
        raise DialectError(
            f"`to` of `{hook}` is empty: give the id of the agent that receives the handoff"
        )
    return to


def _named(tool: str, hook: HookType) -> str:
    """The name of a tool; `DialectError` where that is none. An error without a tool is one of a
    model."""
    if isinstance(tool, str) and not tool.strip() and (hook is not HookType.ON_ERROR or tool):
        raise DialectError(f"`tool` of `{hook}` is empty: give the name of the tool")
    return tool if hook is PRE else a_text(tool, "tool", hook)


def _args(args: dict[str, Any] | None, after: ChainResult | None) -> dict[str, Any]:
    """The arguments of an action: `None` stands for those that `after` is about."""
    return args if args is not None else {} if after is None or after.args is None else after.args


def _function(tool: Any, method: str) -> Any:
    if not callable(tool) and not isinstance(tool, Tool):
        said = f"`tool` of `{method}` is a `{type(tool).__name__}`, which cannot be called"
        raise DialectError(f"{said}: give the function itself; `{PRE}` takes names")
    return tool
