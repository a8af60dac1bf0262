"""The integration: takes a configuration and hooks, carries out calls under them, and shows and
moves the states."""

from __future__ import annotations

import inspect
import threading
import weakref
from collections.abc import Callable, Mapping
from typing import Any, Final

from stanchion.dialects.errors import DialectError
from stanchion.dialects.veronica.carried import CallerObjects, given_to_hooks, listed
from stanchion.dialects.veronica.config import ErrorRateConfig, ShieldConfig
from stanchion.dialects.veronica.core import AgentStepGuard, CircuitBreaker, Primitive
from stanchion.dialects.veronica.dispatched import called, model_of, replied, tool_of
from stanchion.dialects.veronica.pipeline import (
    SENT,
    ShieldPipeline,
    charged,
    context_checked,
    guards_of,
    or_empty,
    policy_checked,
)
from stanchion.dialects.veronica.shipped import (
    BudgetWindowHook,
    EgressAllowlistHook,
    SecretGuardHook,
)
from stanchion.dialects.veronica.words import (
    STATES,
    WORDS,
    Decision,
    ShieldState,
    ToolCallContext,
    dollars,
    flag,
    function,
    seconds,
    several,
    spoken,
    text,
)
from stanchion.kernel.actions import Action
from stanchion.kernel.stages import Stage
from stanchion.kernel.states import Mark, phase
from stanchion.policy.custom import BRAKE
from stanchion.policy.formats import veronica
from stanchion.runtime.calling.report_methods import judging
from stanchion.runtime.deciding.faults import told_on
from stanchion.runtime.driving.doors import abegin
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.errors import Refused, StateError
from stanchion.runtime.run import Run
from stanchion.runtime.values import Unreadable, project

AWAITED: Final = "call it with `await vi.aexecute(...)`"
"""What to do with a function that has to be awaited."""


class VeronicaIntegration:
    """Stands between an application and what it calls.

    Without a `shield`, and without anything else that could act, there is no pipeline, and calls
    are made as they are. The four boundaries take hooks of your own, `error_rate` moves the
    shield's state by itself, and `core` are parts of the runtime core (`AgentStepGuard` …) that
    bound all calls. Other options are those of `ShieldPipeline`.
    """

    def __init__(
        self,
        shield: ShieldConfig | None = None,
        *,
        pre_dispatch: Any = None,
        egress: Any = None,
        retry: Any = None,
        budget: Any = None,
        error_rate: ErrorRateConfig | None = None,
        core: Any = (),
        policy: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        if shield is not None and not isinstance(shield, ShieldConfig):
            raise DialectError(
                f"`shield` is of the type `{type(shield).__name__}`: give a `ShieldConfig`"
            )
        self.shield = shield
        hooks = {"pre_dispatch": pre_dispatch, "egress": egress, "retry": retry, "budget": budget}
        slots = {name: list(listed(name, given)) for name, given in hooks.items()}
        parts = _core_parts(core)
        stepping = [part for part in parts if isinstance(part, AgentStepGuard)]
        guards = [
            *[part.entry() for part in parts if part not in stepping],
            *_rate_entries(_rates(shield, error_rate)),
        ]
        limits = [part.bound(number) for number, part in enumerate(stepping, start=1)]
        self._shield_pipeline: ShieldPipeline | None = None
        self._run: Run | None = None
        self._parent: VeronicaIntegration | None = None
        self._family = _Family()
        if (
            shield is None
            and policy is None
            and not guards
            and not limits
            and not any(slots.values())
        ):
            unused = next(iter(options), None)
            if unused is not None:
                raise DialectError(
                    f"nothing acts on `{unused}` without a shield: give one, or leave it out"
                )
            return
        if "safe_mode" in options:
            said = "`ShieldConfig(safe_mode=SafeModeConfig(enabled=True))`"
            raise DialectError(f"`safe_mode` is part of the shield's configuration: say {said}")
        config = ShieldConfig() if shield is None else shield
        config.read()
        more = policy_checked(policy)
        more["guards"] = [*_switched_on(config, slots), *guards, *guards_of(more)]
        brake = config.safe_mode.enabled
        self._shield_pipeline = ShieldPipeline(
            **slots, policy=more, safe_mode=brake, core=limits, **options
        )
        self._run = self._shield_pipeline.shield.run("veronica")
        for part in parts:
            part.join(self._run)

    def execute(
        self, ctx: ToolCallContext, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Any:
        """Carry out a call: all boundaries judge it, and what comes back is the function's own
        result, or the decision by which it was refused, or by which its error is not tried again.

        `fn` is the tool that `ctx.tool_name` names, or without one what asks the model. The
        context's tokens and cost are what the call uses. An exception that no hook has anything to
        say of is the function's own.
        """
        run = self._checked(ctx, fn, AWAITED)
        return (
            fn(*args, **kwargs)
            if run is None
            else drive(self._executed(run, False, ctx, fn, args, kwargs), run.desk)
        )

    async def aexecute(
        self, ctx: ToolCallContext, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Any:
        """`execute` for async code; the function may be a coroutine or a plain one."""
        run = self._checked(ctx, fn)
        if run is not None:
            return await abegin(self._executed(run, True, ctx, fn, args, kwargs), run.desk)
        came = fn(*args, **kwargs)
        return await came if inspect.isawaitable(came) else came

    def _checked(
        self, ctx: ToolCallContext, fn: Callable[..., Any], instead: str | None = None
    ) -> Run | None:
        context_checked(ctx)
        function(fn, ctx.tool_name, instead)
        return self._run

    def _executed(
        self,
        run: Run,
        awaited: bool,
        ctx: ToolCallContext,
        fn: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Flow[Any]:
        """The flow of both: the call between its boundaries, and what became of it in the dialect's
        words."""
        try:
            with given_to_hooks(CallerObjects(ctx)):
                blind, used = (
                    self._pipeline().is_blind,
                    charged(ctx, ctx.cost_usd, self._pipeline().is_counted),
                )
                if ctx.tool_name is not None:
                    tool = tool_of(ctx, fn, used, blind)
                    return (yield from called(run, tool, args, kwargs, awaited))
                asks, messages, said = model_of(ctx, fn, args, kwargs, blind)
                for url in self._pipeline().destinations(said):
                    leaving = {"url": url, "method": SENT, "payload": project(said)}
                    decision = yield from judging(run, Stage.EGRESS, leaving)
                    if not decision.proceeds:
                        return spoken(decision)
                about = {
                    "params": said,
                    "model": or_empty(ctx.model),
                    "tokens": used["tokens"],
                    "cost_usd": used["cost_usd"],
                }
                return (yield from replied(run, asks, messages, about, awaited))
        except Unreadable:
            return Decision.HALT
        except Refused as refused:
            return spoken(refused.decision)
        except Exception as error:
            halted = _halted(error)
            if halted is None:
                raise
            return halted

    def spawn(self, budget_usd: float | None = None) -> VeronicaIntegration:
        """An integration for a child agent: the same pipeline and the same state. It spends from
        what is left here, of which `budget_usd` can be carved out for it, and it is stopped when
        this one is."""
        budget = None if budget_usd is None else {"cost_usd": dollars("`budget_usd`", budget_usd)}
        if self._run is None and budget is not None:
            raise DialectError(
                "nothing acts on `budget_usd` without a shield: give one, or leave it out"
            )
        child = object.__new__(VeronicaIntegration)
        child.shield, child._shield_pipeline, child._parent = (
            self.shield,
            self._shield_pipeline,
            self,
        )
        child._family = _Family()
        with self._family.lock:
            if self._family.is_over:
                raise DialectError(
                    "the integration is closed, and has no children any more: make a new one"
                )
            try:
                child._run = (
                    None if self._run is None else self._run.spawn("veronica", budget=budget)
                )
            except Refused as refused:
                raise DialectError(
                    f"`budget_usd` is `{budget_usd}`, and so much is not left: {refused}"
                ) from None
            self._family.children.add(child)
        return child

    @property
    def run(self) -> Run:
        """Stanchion's own run, by which calls are carried out: for HTTP clients
        (`run.httpx_transport()`)."""
        return self._acting()

    @property
    def state(self) -> ShieldState:
        """The state of the shield as a whole; NORMAL without one."""
        return ShieldState.NORMAL if self._shield_pipeline is None else self._state_of("")

    def tool_state(self, tool_name: str) -> ShieldState:
        """The state of one tool."""
        scope = _scope(tool_name)
        return ShieldState.NORMAL if self._shield_pipeline is None else self._state_of(scope)

    def set_safe_mode(self, enabled: bool, why: str = "") -> None:
        """Set or clear the manual flag, for calls that begin from now on."""
        shield = self._pipeline().shield
        try:
            shield.safe_mode(flag("enabled", enabled), text("why", why))
        except StateError:
            raise DialectError(
                "the shield is halted, whatever its safe mode: only `restart` lets it go on"
            ) from None

    def halt(self, why: str = "") -> None:
        """Stop everything; only `restart` lets it go on."""
        self._pipeline().shield.halt(text("why", why))

    def restart(self, why: str = "") -> None:
        """An operator lets everything go on, whatever stopped it."""
        self._pipeline().shield.resume(why=text("why", why))

    def quarantine(self, tool_name: str, for_seconds: float = 300.0, why: str = "") -> None:
        """Isolate one tool for a time; others go on."""
        self._pipeline().shield.quarantine(
            _scope(tool_name), seconds("for_seconds", for_seconds), text("why", why)
        )

    def release(self, tool_name: str, why: str = "") -> None:
        """End a tool's quarantine, or its halt, before its time."""
        self._pipeline().shield.resume(scope=_scope(tool_name), why=text("why", why))

    def abort(self, why: str = "by the caller") -> None:
        """End the work of this integration and of all its children."""
        self._acting().cancel(text("why", why))

    def close(self) -> None:
        """End the work of all children, and let go of files and connections; a child leaves these
        to its parent."""
        with self._family.lock:
            self._family.is_over = True
            children = list(self._family.children)
        for child in children:
            child.close()
        if self._run is not None:
            self._run.close()
        if self._shield_pipeline is not None and self._parent is None:
            self._shield_pipeline.close()

    def __enter__(self) -> VeronicaIntegration:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _pipeline(self) -> ShieldPipeline:
        if self._shield_pipeline is None:
            raise DialectError(
                "there is no shield whose state could change: give `shield=ShieldConfig()`"
            )
        return self._shield_pipeline

    def _acting(self) -> Run:
        if self._run is None:
            raise DialectError(
                "there is no shield, so calls belong to no run: give `shield=ShieldConfig()`"
            )
        return self._run

    def _state_of(self, name: str) -> ShieldState:
        shield = self._pipeline().shield
        standing = shield.standing()
        mark = standing.marks.get(name, Mark()) if name else standing.own
        state = STATES[phase(mark, shield.clock()).state]
        braked = not name and any(seat.placed.id == BRAKE.id for seat in shield.policy.seats)
        return ShieldState.SAFE_MODE if braked and state is not ShieldState.HALT else state


class _Family:
    """The children of an integration, for as long as it can have any."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.children: weakref.WeakSet[VeronicaIntegration] = weakref.WeakSet()
        self.is_over = False


def _scope(tool_name: Any) -> str:
    return f"tool:{text('tool_name', tool_name, 1)}"


def _switched_on(config: ShieldConfig, slots: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Put the hooks of all features that are switched on into their slots; gives the guards that
    have none. Safe mode is the shield's own brake, so that it can be released."""
    if config.budget.enabled:
        slots["budget"].insert(0, BudgetWindowHook(config=config.budget))
    if config.secret_guard.enabled:
        slots["egress"].insert(0, SecretGuardHook(config=config.secret_guard))
    if config.egress.enabled:
        slots["egress"].insert(0, EgressAllowlistHook(config=config.egress))
    breaker = config.circuit_breaker
    return veronica.circuit_breaker(breaker) if breaker.enabled else []


def _rates(shield: ShieldConfig | None, given: Any) -> Any:
    """What moves the states: the configuration's own part, or the one that is given beside it."""
    if shield is None or not shield.error_rate.enabled:
        return given
    if given is not None:
        raise DialectError(
            "`error_rate` is given, and the `ShieldConfig` has one that is on: give one of the two"
        )
    return shield.error_rate


def _rate_entries(config: ErrorRateConfig | None) -> list[dict[str, Any]]:
    if config is None:
        return []
    if not isinstance(config, ErrorRateConfig):
        raise DialectError(
            f"`error_rate` is of the type `{type(config).__name__}`: give an `ErrorRateConfig`"
        )
    config.check()
    config.check_acts()
    config.seal()
    return veronica.error_rate(config) if config.enabled else []


def _core_parts(core: Any) -> list[Primitive]:
    given = (
        (core,)
        if isinstance(core, Primitive)
        else several("core", core, "a part of the core, or a list of them")
    )
    for number, part in enumerate(given):
        name = type(part).__name__
        if not isinstance(part, Primitive):
            wanted = "`RetryContainer`, `CircuitBreaker`, `BudgetEnforcer` or `AgentStepGuard`"
            raise DialectError(f"`core` has a `{name}`: give a {wanted}")
        if part.is_taken or any(part is other for other in given[:number]):
            raise DialectError(
                f"`core` has a `{name}` that counts something else already: give a new one"
            )
        if isinstance(part, CircuitBreaker) and part.failure_predicate is not None:
            said = "`core` has a `CircuitBreaker` whose `failure_predicate` nobody would ask"
            raise DialectError(
                f"{said}: leave it out, or put the breaker round the function itself"
            )
    return list(given)


def _halted(error: Exception) -> Decision | None:
    """The decision by which an error is not tried again; `None` where it is the caller's."""
    trouble = told_on(error)
    if trouble is None:
        return None
    said = WORDS[Action[trouble.action]]
    return said if said in (Decision.HALT, Decision.QUARANTINE) else None
