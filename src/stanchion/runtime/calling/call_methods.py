"""Calling: a run's tools, called through it; what comes back has the type that the tool gives."""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextvars import ContextVar, Token
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Self, TypeVar, overload

from stanchion.kernel.actions import Action
from stanchion.runtime.calling.at_work import awork, work
from stanchion.runtime.calling.report_methods import Reporting
from stanchion.runtime.calling.reports import report
from stanchion.runtime.calling.tool import Tool, ToolShape
from stanchion.runtime.deciding.twins import twins
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.keywords import ModelOptions

if TYPE_CHECKING:
    from stanchion.approvals.bypass import BypassRequest
    from stanchion.runtime.calling.bound import RunThreads
    from stanchion.runtime.calling.items import Items
    from stanchion.runtime.calling.model_call import Repaired
    from stanchion.runtime.deciding.desk import Desk
    from stanchion.tutor.envelope.repair import Checked

P = ParamSpec("P")
R = TypeVar("R")
Y = TypeVar("Y")


class AsksForBypass:
    """The methods of a run by which its agent asks to go past a guardrail."""

    _desk: Desk

    def _request_bypass(
        self, /, guardrail: str, reason: str, urgency: str = "normal", *, call: str | None = None
    ) -> Flow[BypassRequest]:
        """Ask people to let an action past the guardrail that refused it: the last one that it
        refused this run, or that of the decision `call`. After their yes the same call goes ahead
        once when it is made again.

        `urgency` is `normal`, `urgent` or `emergency`. Raises `BypassRefused` where it cannot be
        asked for like that: the guardrail allows no bypass or has refused nothing, or the reason
        says too little.
        """
        return self._asked_past(guardrail, reason, urgency, call)

    request_bypass, arequest_bypass = twins(_request_bypass)

    def _asked_past(
        self, guardrail: str, reason: str, urgency: str, call: str | None
    ) -> Flow[BypassRequest]:
        from stanchion.runtime.deciding.bypass_requests import request

        return request(self._desk, guardrail, reason, urgency, call)


class Repairing:
    """The methods of a run by which replies are compared before one is used."""

    _desk: Desk

    def _repair(
        self,
        /,
        generate: Callable[..., Any],
        precheck: Callable[[Any], Checked],
        budget: int,
        *,
        messages: Iterable[Any] = (),
        model: str = "",
        params: Mapping[str, Any] | None = None,
        seed: int | None = None,
        final: bool | None = None,
        tokens: int | None = None,
        cost_usd: float | None = None,
    ) -> Flow[Repaired]:
        """Ask a model, as `model` does, until `precheck` has nothing against its reply, `1 +
        budget` times at most; gives the best reply.

        `precheck` looks at a reply and says how good it is, and whether to ask again and why; it
        must not use the reply. The reasons are added as system messages. Every call is judged and
        charged like any other, and nobody else has the model asked again. With a `seed` each call
        is given one of its own. Raises `Refused` where no reply may be handed on.
        """
        from stanchion.runtime.calling.model_call import repair

        options = ModelOptions(model, params, final, tokens, cost_usd)
        return repair(self._desk, generate, precheck, budget, messages, options, seed)

    repair, arepair = twins(_repair)


def lock_file(path: str = "", resource: str = "", lock_type: str = "exclusive") -> str:
    """Lock a file, a folder with everything below it (`src/**`), or a resource, for the rest of the
    run."""
    return f"{path or resource} is locked ({lock_type})"


def unlock_file(path: str = "", resource: str = "") -> str:
    """Release what this run has locked."""
    return f"{path or resource} is released"


def named(kept: bool, path: str, resource: str) -> dict[str, Any]:
    """What is to be locked or released; `ValueError` where that is nothing, or nobody would lock it
    (not `kept`)."""
    if bool(path) == bool(resource):
        raise ValueError("give either a path or a resource")
    if not kept:
        raise ValueError("the policy has no guard `locks`, so nothing can be locked: add one")
    return {"path": path} if path else {"resource": resource}


class Locking:
    """Locks things for a run, by calling the tools that the guard `locks` acts on."""

    call: Callable[..., Any]
    acall: Callable[..., Any]

    def _keeps_locks(self) -> bool:
        """Whether the policy has somebody who locks."""
        raise NotImplementedError

    def lock(self, path: str = "", *, resource: str = "", shared: bool = False) -> None:
        """Lock a file, a folder with everything below it (`src/**`), or a resource by its name, for
        the rest of the run. A shared lock is for those who only read. Waits as the guard `locks`
        says, and raises `Refused` where it is not to be had, `ValueError` where the policy has no
        such guard."""
        how = "shared" if shared else "exclusive"
        self.call(lock_file, **named(self._keeps_locks(), path, resource), lock_type=how)

    async def alock(self, path: str = "", *, resource: str = "", shared: bool = False) -> None:
        """`lock` for async code."""
        how = "shared" if shared else "exclusive"
        await self.acall(lock_file, **named(self._keeps_locks(), path, resource), lock_type=how)

    def unlock(self, path: str = "", *, resource: str = "") -> None:
        """Release what this run has locked; what others have locked stays as it is."""
        self.call(unlock_file, **named(self._keeps_locks(), path, resource))

    async def aunlock(self, path: str = "", *, resource: str = "") -> None:
        """`unlock` for async code."""
        await self.acall(unlock_file, **named(self._keeps_locks(), path, resource))


class CallsOnce:
    """Calls what happens once, and takes a run into threads: the same for a run in this process and
    for one through a broker."""

    _desk: Desk
    _around: ClassVar[ContextVar[Any]]
    """The runs that stand around the caller, this one's kind alone."""
    _begins_at_once: ClassVar[bool] = False
    """Whether an async call begins without waiting for its turn."""
    _tokens: list[Token[Any]]
    called: Callable[..., Flow[Any]]
    _tool_of: Callable[..., Tool]
    """The tool that a function is."""
    _entered: Callable[[], None]
    _ended: Callable[[], Flow[None]]
    """What is done where it begins to stand around the caller, and where it is closed."""

    def __enter__(self) -> Self:
        self._tokens.append(self._around.set((*self._around.get(), self)))
        self._entered()
        return self

    def __exit__(self, *_: object) -> None:
        self._around.reset(self._tokens.pop())
        self.close()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        self._around.reset(self._tokens.pop())
        await self.aclose()

    def close(self) -> None:
        """Close the run: nothing of it proceeds any more, and what it has not used of its budget
        goes back."""
        drive(self._ended(), self._desk)

    async def aclose(self) -> None:
        """`close` for async code."""
        from stanchion.runtime.driving.on_loop import adrive

        await adrive(self._ended(), self._desk)

    @overload
    def call(self, tool: Tool, /, *args: Any, **kwargs: Any) -> Any: ...

    @overload
    def call(self, tool: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def call(self, tool: Callable[..., Any] | Tool, /, *args: Any, **kwargs: Any) -> Any:
        """Call a tool: judged, run, its result judged, settled, recorded. Returns the tool's own
        result.

        Raises `Refused` where it does not go ahead, and whatever the tool raises. A generator tool
        gives an iterator that judges every item.
        """
        known = self._tool_of(tool)
        if known.shape is ToolShape.GENERATOR:
            from stanchion.runtime.calling.items import items

            return items(self._desk, known, args, kwargs)
        if known.shape is ToolShape.ASYNC_GENERATOR:
            raise TypeError(
                f"`{known.name}` is an async generator: use `async for item in run.acall(...)`"
            )
        if known.shape is not ToolShape.PLAIN:
            raise TypeError(f"`{known.name}` is async: call it with `run.acall(...)`")
        from stanchion.runtime.calling.items import handed

        came = work(self._desk, known.name, self.called(known, args, kwargs))
        return handed(self._desk, came, False)

    # Of these the first that fits is taken, so the last stands for whatever is none of the others.
    # A function that says it gives an `Iterator` may be a generator or hand one on, which are not
    # the same here.
    @overload
    def acall(self, tool: Tool, /, *args: Any, **kwargs: Any) -> Any: ...

    @overload
    def acall(
        self, tool: Callable[P, Coroutine[Any, Any, R]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, R]: ...

    @overload
    def acall(  # type: ignore[overload-overlap]  # the last is the rest
        self, tool: Callable[P, AsyncIterator[Y]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Items[Y]: ...

    @overload
    def acall(  # type: ignore[overload-overlap]  # the last is the rest
        self, tool: Callable[P, Generator[Y, Any, Any]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Items[Y]: ...

    @overload
    def acall(
        self, tool: Callable[P, Iterator[Any]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Any: ...

    @overload
    def acall(
        self, tool: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs
    ) -> Coroutine[Any, Any, R]: ...

    def acall(self, tool: Callable[..., Any] | Tool, /, *args: Any, **kwargs: Any) -> Any:
        """`call` for async code: await it. Sync tools run in a thread.

        A generator tool, sync or async, gives an async iterator that judges every item; awaiting
        that gives it back.
        """
        known = self._tool_of(tool)
        if known.shape in (ToolShape.ASYNC_GENERATOR, ToolShape.GENERATOR):
            from stanchion.runtime.calling.items import Items, aitems

            return Items(aitems(self._desk, known, args, kwargs))
        return self._acall(known, args, kwargs)

    async def _acall(self, known: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from stanchion.runtime.calling.items import handed

        flow = self.called(known, args, kwargs)
        came = await awork(self._desk, known.name, flow, self._begins_at_once)
        return handed(self._desk, came, True)

    @overload
    def call_once(self, key: str, tool: Tool, /, *args: Any, **kwargs: Any) -> Any: ...

    @overload
    def call_once(
        self, key: str, tool: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> Any: ...

    def call_once(
        self, key: str, tool: Callable[..., Any] | Tool, /, *args: Any, **kwargs: Any
    ) -> Any:
        """`call` for something that happens once, whatever is retried, resumed or crashes: `key`
        names it in its task, or in a run without one. Where it was done before, its result comes
        back as plain data and nothing runs.

        Raises `Refused` where it is under way elsewhere, or where nobody knows what came of it.
        """
        known = self._once(key, tool)
        if known.shape is not ToolShape.PLAIN:
            raise TypeError(f"`{known.name}` is async: call it with `run.acall_once(...)`")
        return work(self._desk, known.name, self.called(known, args, kwargs, key))

    @overload
    async def acall_once(self, key: str, tool: Tool, /, *args: Any, **kwargs: Any) -> Any: ...

    @overload
    async def acall_once(
        self, key: str, tool: Callable[P, Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> Any: ...

    async def acall_once(
        self, key: str, tool: Callable[..., Any] | Tool, /, *args: Any, **kwargs: Any
    ) -> Any:
        """`call_once` for async code."""
        known = self._once(key, tool)
        flow = self.called(known, args, kwargs, key)
        return await awork(self._desk, known.name, flow, self._begins_at_once)

    def _once(self, key: str, tool: Callable[..., Any] | Tool) -> Tool:
        if not key or not isinstance(key, str):
            raise ValueError(
                f"the key is `{key}`: give a text that identifies what must happen only once"
            )
        known = self._tool_of(tool)
        if known.shape in (ToolShape.GENERATOR, ToolShape.ASYNC_GENERATOR):
            raise TypeError(
                f"`{known.name}` gives many items, and only a call with one result can be made once"
            )
        return known

    def bind(self, fn: Callable[P, R]) -> Callable[P, R]:
        """The same function, in this run wherever it is called:
        `threading.Thread(target=run.bind(work))`, `pool.submit(run.bind(work))`. Threads of your
        own begin without a run, and `@shield.tool` raises `NoRun` there.
        """
        from stanchion.runtime.calling.bound import bound

        return bound(self._around, self, fn)

    def thread_pool(
        self, max_workers: int | None = None, name: str = "stanchion-run"
    ) -> RunThreads:
        """A `ThreadPoolExecutor` whose threads are in the run of whoever submits something, or else
        in this one.

        Close it before the run: `with shield.run() as run, run.thread_pool() as pool:` does. What
        is still at work when the run is closed goes on, and is refused its next step.
        """
        from stanchion.runtime.calling.bound import RunThreads

        return RunThreads(self._around, self, max_workers, name)


class Calling(CallsOnce, Locking, Reporting):
    """Calls tools: judged, run, their results judged, settled, recorded."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._report = partial(report, desk)

    @property
    def can(self) -> tuple[Action, ...]:
        """What its host can carry out."""
        return self._desk.can

    def called(
        self, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any], key: str = ""
    ) -> Flow[Any]:
        """A call as a flow: judged and run in this process."""
        from stanchion.runtime.calling.call import call

        return call(self._desk, tool, args, kwargs, key)

    def _keeps_locks(self) -> bool:
        return bool(self._desk.shield.policy.ends_with_runs)

    def _tool_of(self, tool: Callable[..., Any] | Tool) -> Tool:
        known: Tool = self._desk.shield.tool_of(tool)
        return known

    def _escalate(self, /, reason: str) -> Flow[str]:
        """Ask for a person to look at this run, with what was refused last; gives the ticket's id.

        The answer lets nothing through. `TicketError` where the reason says nothing, where people
        were asked too often, or where the store cannot be used.
        """
        from stanchion.runtime.deciding.bypass_requests import call_somebody

        return call_somebody(self._desk, reason)

    escalate, aescalate = twins(_escalate)


T = TypeVar("T")
