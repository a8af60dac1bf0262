"""Hooks as guards: those that a policy can state, the limit of steps of an integration and all its
children, and hooks of the user's own, which may block, be coroutines, or raise."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from stanchion.dialects.errors import DialectError
from stanchion.dialects.veronica.words import (
    ACTIONS,
    SAID,
    Decision,
    ToolCallContext,
    several,
    whole,
)
from stanchion.guards.step_limit import StepLimit
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.counter_scopes import scope_key
from stanchion.kernel.events import Charge, Egress, Event, Failure, RunInfo
from stanchion.kernel.findings import Finding
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Line
from stanchion.kernel.units import MICRO
from stanchion.runtime.setting import setting

Entry = dict[str, Any]


class Stated(ABC):
    """A hook that needs no code of its own, because guards of Stanchion judge what it judges."""

    resolver: Callable[[str, int], Any] | None = None
    """What names of hosts are looked up with, in place of the system's."""

    @abstractmethod
    def entries(self, boundary: str) -> list[Entry]:
        """The guards that stand for this hook at a boundary."""


COUNTER: Final = "core"
"""The counter of the steps, alone and in an integration."""


class FamilySteps(StepLimit, frozen=True, kw_only=True):
    """A limit of steps that a run shares with the one it was spawned by: a child's steps are its
    parent's, also where a budget was carved out for it."""

    stages: ClassVar[frozenset[Stage]] = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL})

    id: str

    def lines(self, event: Event, /) -> tuple[Line, ...]:
        """The counter of the run that has no parent."""
        return super().lines(replace(event, run=eldest(event.run)) if event.run.parents else event)


def eldest(run: RunInfo) -> RunInfo:
    """A run under the name of the first of its family."""
    return replace(run, id=run.root) if run.parents else run


def steps_key(run: RunInfo) -> str:
    """Where the steps of a family are counted."""
    return scope_key(replace(eldest(run), purse=""), "run", "steps", COUNTER)


class CallerObjects:
    """What a caller has given: the context of a call, and the exception that came of it."""

    __slots__ = ("ctx", "err")

    def __init__(self, ctx: ToolCallContext, err: BaseException | None = None) -> None:
        self.ctx, self.err = ctx, err


asked: ContextVar[CallerObjects | None] = ContextVar("stanchion_veronica", default=None)
"""What the caller around has given: hooks get these very objects."""


def given_to_hooks(what: CallerObjects) -> setting[CallerObjects | None]:
    """Hooks that are asked inside get these objects."""
    return setting(asked, what)


BOUNDARIES: Final = {
    "pre_dispatch": ("before_llm_call", (Stage.TOOL_CALL, Stage.MODEL_CALL)),
    "egress": ("before_egress", (Stage.EGRESS,)),
    "retry": ("on_error", (Stage.ERROR,)),
    "budget": ("before_charge", (Stage.CHARGE,)),
}
"""The method of each boundary, and the stages that it stands at."""
ARGUMENTS: Final = {"before_llm_call": 1, "before_egress": 3, "on_error": 2, "before_charge": 2}


class CarriedError(Exception):
    """The exception that a hook is shown where only its name and text are known."""


class CarriedHooks:
    """The hooks of the user's own at one boundary, as a guard: all are asked, and the most severe
    answer counts."""

    category = Category.SAFETY

    def __init__(self, boundary: str, hooks: Sequence[Any]) -> None:
        method, self.stages = BOUNDARIES[boundary]
        self._method = method
        self._asks = [(type(one).__name__, checked(boundary, one, method)) for one in hooks]
        self.id = f"{boundary}-{'-'.join([name for name, _ in self._asks])}"
        self.deadline_ms = sum(
            [whole("deadline_ms", getattr(one, "deadline_ms", 1_000), 1) for one in hooks]
        )
        waits = any(inspect.iscoroutinefunction(ask) for _, ask in self._asks)
        self.judge = self._ajudge if waits else self._judge

    def _judge(self, event: Any) -> Any:
        answers = self._answers(event)
        waits = any(inspect.isawaitable(one) for one in answers)
        return self._awaited(answers, event) if waits else self._worst(answers, event)

    async def _ajudge(self, event: Any) -> Finding | None:
        return await self._awaited(self._answers(event), event)

    def _answers(self, event: Any) -> list[Any]:
        given = self._given(event)
        return [ask(*given) for _, ask in self._asks]

    async def _awaited(self, answers: list[Any], event: Any) -> Finding | None:
        said = [await one if inspect.isawaitable(one) else one for one in answers]
        return self._worst(said, event)

    def _worst(self, answers: list[Any], event: Any) -> Finding | None:
        named = zip(self._asks, answers, strict=True)
        found = [self._found(name, answer, event) for (name, _), answer in named]
        return max(filter(None, found), key=lambda one: one.action, default=None)

    def _given(self, event: Any) -> tuple[Any, ...]:
        known = asked.get()
        ctx, err = (context_of(event), None) if known is None else (known.ctx, known.err)
        match event:
            case Egress():
                return ctx, event.url, event.method
            case Failure():
                return ctx, CarriedError(f"{event.error}: {event.text}") if err is None else err
            case Charge():
                return ctx, event.cost_microusd / MICRO
            case _:
                return (ctx,)

    def _found(self, name: str, answer: Any, event: Any) -> Finding | None:
        if answer is None:
            return None
        # A hook may answer with the plain word; anything else is its failure, and fails closed.
        decision = Decision(answer)
        if decision is Decision.ALLOW:
            return None
        text = f"the hook `{name}` answers {decision} in `{self._method}`"
        # A quarantine is one of a tool: where there is none, this one call is refused, and nobody
        # is isolated.
        action = (
            ACTIONS[decision] if event.tool or decision is not Decision.QUARANTINE else Action.BLOCK
        )
        return Finding(action, SAID, (name, decision.value), text=text)


def context_of(event: Any) -> ToolCallContext:
    """The context of an event that was reported in Stanchion's own words, such as a request of an
    HTTP client."""
    model = getattr(event, "model", "")
    tool = event.tool if event.tool or event.stage is Stage.TOOL_CALL else None
    data = getattr(event, "args", None)
    return ToolCallContext(
        event.id,
        user_id=event.run.agent if event.run.agent else None,
        session_id=event.run.id,
        tool_name=tool,
        model=model if model else None,
        metadata={} if data is None else dict(data),
    )


def listed(boundary: str, hooks: Any) -> tuple[Any, ...]:
    """The hooks of a boundary: none, one, or several."""
    if hooks is None:
        return ()
    method = BOUNDARIES[boundary][0]
    if isinstance(hooks, Iterable) and not hasattr(hooks, method):
        return several(
            boundary, hooks, f"a hook, which has a method `{method}`, or a list of hooks"
        )
    return (hooks,)


def checked(boundary: str, hook: Any, method: str) -> Callable[..., Any]:
    """The method of a hook; `DialectError` where it has none, or one that cannot be asked in this
    way."""
    found = getattr(hook, method, None)
    name = hook.__name__ if isinstance(hook, type) else type(hook).__name__
    if isinstance(hook, type):
        raise DialectError(
            f"`{boundary}` is given the class `{name}`: give an object of it, as `{name}()`"
        )
    if not callable(found):
        raise DialectError(
            f"`{boundary}` is given `{name}`, which has no `{method}`: give a hook with this method"
        )
    try:
        inspect.signature(found).bind(*[None] * ARGUMENTS[method])
    except TypeError:
        wanted = {
            1: "ctx",
            2: "ctx, err" if method == "on_error" else "ctx, cost_usd",
            3: "ctx, url, method",
        }
        said = f"`{name}.{method}` does not take what it is given"
        raise DialectError(
            f"{said}: write `def {method}(self, {wanted[ARGUMENTS[method]]})`"
        ) from None
    except ValueError:
        pass  # a callable without a signature, such as one of C: it is asked, and fails closed
    return found  # type: ignore[no-any-return] # callable, as was seen above
