"""The integration: takes a configuration and hooks, carries out calls under them, and shows and moves the states."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from stanchion.dialects.errors import DialectError
from stanchion.dialects.veronica.carried import Asked, asked, listed
from stanchion.dialects.veronica.config import ErrorRateConfig, ShieldConfig
from stanchion.dialects.veronica.core import Primitive
from stanchion.dialects.veronica.pipeline import ShieldPipeline, charged, context_checked
from stanchion.dialects.veronica.shipped import (
    BudgetWindowHook,
    EgressAllowlistHook,
    SecretGuardHook,
    breaker_entry,
    state_entries,
)
from stanchion.dialects.veronica.words import STATES, WORDS, Decision, ShieldState, ToolCallContext, spoken
from stanchion.kernel.actions import Action
from stanchion.kernel.states import Mark, phase
from stanchion.policy.custom import BRAKE
from stanchion.runtime.calling.tool import Shape, Tool
from stanchion.runtime.deciding.trouble import told_on
from stanchion.runtime.errors import Refused

if TYPE_CHECKING:
    from stanchion.runtime.run import Run

MOST_TOOLS: Final = 256
"""Of how many functions is remembered how they look."""


class VeronicaIntegration:
    """Stands between an application and what it calls.

    Without a `shield`, and without anything else that could act, there is no pipeline, and calls are made as they are.
    The four boundaries take hooks of your own, `error_rate` moves the shield's state by itself, and `core` are parts of
    the runtime core (`AgentStepGuard` …) that bound all calls. Other options are those of `ShieldPipeline`.
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
        core: Iterable[Any] = (),
        policy: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        if shield is not None and not isinstance(shield, ShieldConfig):
            raise DialectError(f"`shield` is of the type `{type(shield).__name__}`: give a `ShieldConfig`")
        self.shield = shield
        hooks = {"pre_dispatch": pre_dispatch, "egress": egress, "retry": retry, "budget": budget}
        slots = {name: list(listed(name, given)) for name, given in hooks.items()}
        guards = [*_core_entries(core), *_rate_entries(error_rate)]
        self._shield_pipeline: ShieldPipeline | None = None
        self._run: Run | None = None
        self._parent: VeronicaIntegration | None = None
        if shield is None and policy is None and not guards and not any(slots.values()):
            unused = next(iter(options), None)
            if unused is not None:
                raise DialectError(f"nothing acts on `{unused}` without a shield: give one, or leave it out")
            return
        config = ShieldConfig() if shield is None else shield
        config.check()
        more = {} if policy is None else dict(policy)
        more["guards"] = [*_switched_on(config, slots), *guards, *more.get("guards", ())]
        brake = config.safe_mode.enabled
        self._shield_pipeline = ShieldPipeline(**slots, policy=more, safe_mode=brake, **options)
        self._run = self._shield_pipeline.shield.run("veronica")

    def execute(self, ctx: ToolCallContext, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Carry out a call: all boundaries judge it, and what comes back is the function's own result, or the decision
        by which it was refused, or by which its error is not tried again.

        `fn` is the tool that `ctx.tool_name` names, or without one what asks the model. The context's tokens and cost
        are what the call uses. An exception that no hook has anything to say of is the function's own.
        """
        run = self._run
        if run is None:
            context_checked(ctx)
            return fn(*args, **kwargs)
        token = asked.set(Asked(context_checked(ctx)))
        try:
            if ctx.tool_name is None:
                return run.model(*_model(fn, args, kwargs), **_spent(ctx), ended="raise")
            return run.call(_sync(_tool(ctx, fn)), *args, **kwargs)
        except Refused as refused:
            return spoken(refused.decision)
        except Exception as error:
            decision = _halted(error)
            if decision is None:
                raise
            return decision
        finally:
            asked.reset(token)

    async def aexecute(self, ctx: ToolCallContext, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """`execute` for async code; the function may be a coroutine or a plain one."""
        run = self._run
        if run is None:
            context_checked(ctx)
            came = fn(*args, **kwargs)
            return await came if inspect.isawaitable(came) else came
        token = asked.set(Asked(context_checked(ctx)))
        try:
            if ctx.tool_name is None:
                return await run.amodel(*_model(fn, args, kwargs), **_spent(ctx), ended="raise")
            return await run.acall(_tool(ctx, fn), *args, **kwargs)
        except Refused as refused:
            return spoken(refused.decision)
        except Exception as error:
            decision = _halted(error)
            if decision is None:
                raise
            return decision
        finally:
            asked.reset(token)

    def spawn(self, budget_usd: float | None = None) -> VeronicaIntegration:
        """An integration for a child agent: the same pipeline and the same state. It spends from what is left here, of
        which `budget_usd` can be carved out for it, and it is stopped when this one is."""
        run = self._acting()
        child = object.__new__(VeronicaIntegration)
        child.shield, child._shield_pipeline, child._parent = self.shield, self._shield_pipeline, self
        child._run = run.spawn("veronica", budget=None if budget_usd is None else {"cost_usd": budget_usd})
        return child

    @property
    def run(self) -> Run:
        """Stanchion's own run, by which calls are carried out: for HTTP clients (`run.httpx_transport()`)."""
        return self._acting()

    @property
    def state(self) -> ShieldState:
        """The state of the shield as a whole; NORMAL without one."""
        return ShieldState.NORMAL if self._shield_pipeline is None else self._state_of("")

    def tool_state(self, tool_name: str) -> ShieldState:
        """The state of one tool."""
        return ShieldState.NORMAL if self._shield_pipeline is None else self._state_of(f"tool:{tool_name}")

    def set_safe_mode(self, enabled: bool, why: str = "") -> None:
        """Set or clear the manual flag, for calls that begin from now on."""
        self._pipeline().shield.safe_mode(enabled, why)

    def halt(self, why: str = "") -> None:
        """Stop everything; only `restart` lets it go on."""
        self._pipeline().shield.halt(why)

    def restart(self, why: str = "") -> None:
        """An operator lets everything go on, whatever stopped it."""
        self._pipeline().shield.resume(why=why)

    def quarantine(self, tool_name: str, for_seconds: float = 300.0, why: str = "") -> None:
        """Isolate one tool for a time; others go on."""
        self._pipeline().shield.quarantine(f"tool:{tool_name}", for_seconds, why)

    def release(self, tool_name: str, why: str = "") -> None:
        """End a tool's quarantine, or its halt, before its time."""
        self._pipeline().shield.resume(scope=f"tool:{tool_name}", why=why)

    def abort(self, why: str = "by the caller") -> None:
        """End the work of this integration and of all its children."""
        self._acting().cancel(why)

    def close(self) -> None:
        """Let go of files and connections; a child leaves them to its parent."""
        if self._run is not None:
            self._run.close()
        if self._shield_pipeline is not None and self._parent is None:
            self._shield_pipeline.close()

    def __enter__(self) -> VeronicaIntegration:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _pipeline(self) -> ShieldPipeline:
        if self._shield_pipeline is None:
            raise DialectError("there is no shield whose state could change: give `shield=ShieldConfig()`")
        return self._shield_pipeline

    def _acting(self) -> Run:
        if self._run is None:
            raise DialectError("there is no shield, so calls belong to no run: give `shield=ShieldConfig()`")
        return self._run

    def _state_of(self, name: str) -> ShieldState:
        shield = self._pipeline().shield
        standing = shield.standing()
        mark = standing.marks.get(name, Mark()) if name else standing.own
        state = STATES[phase(mark, shield.clock()).state]
        braked = not name and any(seat.placed.id == BRAKE.id for seat in shield.policy.seats)
        return ShieldState.SAFE_MODE if braked and state is not ShieldState.HALT else state


def _switched_on(config: ShieldConfig, slots: dict[str, list[Any]]) -> list[dict[str, Any]]:
    """Put the hooks of all features that are switched on into their slots; gives the guards that have none. Safe mode
    is the shield's own brake, so that it can be released."""
    if config.budget.enabled:
        slots["budget"].insert(0, BudgetWindowHook(config=config.budget))
    if config.secret_guard.enabled:
        slots["egress"].insert(0, SecretGuardHook(config=config.secret_guard))
    if config.egress.enabled:
        slots["egress"].insert(0, EgressAllowlistHook(config=config.egress))
    return [breaker_entry(config.circuit_breaker)] if config.circuit_breaker.enabled else []


def _rate_entries(config: ErrorRateConfig | None) -> list[dict[str, Any]]:
    if config is None:
        return []
    if not isinstance(config, ErrorRateConfig):
        raise DialectError(f"`error_rate` is of the type `{type(config).__name__}`: give an `ErrorRateConfig`")
    config.check()
    return state_entries(config) if config.enabled else []


def _core_entries(core: Iterable[Any]) -> list[dict[str, Any]]:
    entries = []
    for part in core:
        if not isinstance(part, Primitive):
            wanted = "`RetryContainer`, `CircuitBreaker`, `BudgetEnforcer` or `AgentStepGuard`"
            raise DialectError(f"`core` has a `{type(part).__name__}`: give a {wanted}")
        entries.append(part.entry())
    return entries


def _spent(ctx: ToolCallContext) -> dict[str, Any]:
    used = charged(ctx, ctx.cost_usd)
    model = "" if ctx.model is None else ctx.model
    return {"model": model, "tokens": used["tokens"], "cost_usd": used["cost_usd"]}


def _model(
    fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], list[Any]]:
    """What asks a model, and its messages: a list in the first place, or none that are known."""
    noted = _noted(fn)
    if len(args) == 1 and isinstance(args[0], list):
        return functools.partial(noted, **kwargs), args[0]
    return lambda _messages: noted(*args, **kwargs), []


def _tool(ctx: ToolCallContext, fn: Callable[..., Any]) -> Tool:
    # A tool without a name is called by its function's: it is a tool, and safe mode refuses it like any other.
    name = ctx.tool_name if ctx.tool_name else None
    used = charged(ctx, ctx.cost_usd)
    try:
        return _known_tool(fn, name, used["tokens"], used["cost_usd"])
    except TypeError:
        return _made(fn, name, used["tokens"], used["cost_usd"])


def _sync(tool: Tool) -> Tool:
    """A tool that can be called without being awaited."""
    if tool.shape in (Shape.ASYNC, Shape.ASYNC_GENERATOR):
        raise DialectError(f"`{tool.name}` is async: call it with `await vi.aexecute(...)`")
    return tool


def _made(fn: Callable[..., Any], name: str | None, tokens: int, cost_usd: float) -> Tool:
    try:
        return Tool(_noted(fn), name, usage={"tokens": tokens, "cost_usd": cost_usd, "api_calls": 1})
    except (TypeError, ValueError) as error:
        raise DialectError(f"the call cannot be carried out: {error}") from None


_known_tool: Final = functools.lru_cache(MOST_TOOLS)(_made)


def _noted(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, whose exceptions reach the hooks of the retry boundary as they are."""
    if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn) or not callable(fn):
        return fn
    if inspect.iscoroutinefunction(fn):

        @functools.wraps(fn)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            try:
                return await fn(*args, **kwargs)
            except Exception as error:
                _note(error)
                raise

        return awaited

    @functools.wraps(fn)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return fn(*args, **kwargs)
        except Exception as error:
            _note(error)
            raise

    return called


def _note(error: Exception) -> None:
    known = asked.get()
    if known is not None:
        known.err = error


def _halted(error: Exception) -> Decision | None:
    """The decision by which an error is not tried again; `None` where it is the caller's."""
    trouble = told_on(error)
    if trouble is None:
        return None
    said = WORDS[Action[trouble.action]]
    return said if said in (Decision.HALT, Decision.QUARANTINE) else None
