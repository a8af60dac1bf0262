"""Runs: one agent's work on one task, with a method for everything it can do."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar, Token
from types import TracebackType
from typing import TYPE_CHECKING, Any

from stanchion.kernel.decision import Decision
from stanchion.kernel.gates import Ending
from stanchion.runtime.at_work import awork, work
from stanchion.runtime.desk import Desk
from stanchion.runtime.drivers import drive
from stanchion.runtime.holding import Item
from stanchion.runtime.reporting import Reporting
from stanchion.runtime.standing import end_run
from stanchion.runtime.tool import Shape, Tool

if TYPE_CHECKING:
    import aiohttp
    import httpx
    import requests.adapters

    from stanchion.approvals.answering import By
    from stanchion.guards.loops import Metrics
    from stanchion.runtime.open_calls import OpenCall
    from stanchion.runtime.recovering import Trouble
    from stanchion.runtime.undoing import Undone

_open: ContextVar[tuple[Run, ...]] = ContextVar("stanchion_runs", default=())


def open_runs() -> tuple[Run, ...]:
    """The runs whose `with shield.run(...)` stands around the caller, the innermost last."""
    return _open.get()


def current_run() -> Run | None:
    """The run of the innermost `with shield.run(...)` around the caller."""
    runs = _open.get()
    return runs[-1] if runs else None


class Run(Reporting):
    """One agent's work on one task. Make one with `shield.run(...)`; use it as a context manager or as it is."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._tokens: list[Token[tuple[Run, ...]]] = []
        presence = desk.shield.presence
        self._stay = None if presence is None else presence.enter()

    @property
    def id(self) -> str:
        """The run's identity."""
        return self._desk.info.id

    @property
    def agent(self) -> str:
        """Who is at work."""
        return self._desk.info.agent

    @property
    def task(self) -> str:
        """What is worked on."""
        return self._desk.info.task

    def call(self, tool: Callable[..., Any] | Tool, /, *args: Any, **kwargs: Any) -> Any:
        """Call a tool: judged, run, its result judged, settled, recorded. Returns the tool's own result.

        Raises `Refused` where it does not go ahead, and whatever the tool raises. A generator tool gives an
        iterator that judges every item.
        """
        known = self._desk.shield.tool_of(tool)
        if known.shape is Shape.GENERATOR:
            from stanchion.runtime.items import items

            return items(self._desk, known, args, kwargs)
        if known.shape is Shape.ASYNC_GENERATOR:
            raise TypeError(f"`{known.name}` is an async generator: use `async for item in run.acall(...)`")
        if known.shape is not Shape.PLAIN:
            raise TypeError(f"`{known.name}` is async: call it with `run.acall(...)`")
        from stanchion.runtime import calling
        from stanchion.runtime.items import handed

        return handed(self._desk, work(self._desk, known.name, calling.call(self._desk, known, args, kwargs)), False)

    def acall(self, tool: Callable[..., Any] | Tool, /, *args: Any, **kwargs: Any) -> Any:
        """`call` for async code: await it. Sync tools run in a thread.

        A generator tool, sync or async, gives an async iterator that judges every item; awaiting that gives it back.
        """
        known = self._desk.shield.tool_of(tool)
        if known.shape in (Shape.ASYNC_GENERATOR, Shape.GENERATOR):
            from stanchion.runtime.aitems import Items
            from stanchion.runtime.items import aitems

            return Items(aitems(self._desk, known, args, kwargs))
        return self._acall(known, args, kwargs)

    async def _acall(self, known: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        from stanchion.runtime import calling
        from stanchion.runtime.items import handed

        came = await awork(self._desk, known.name, calling.call(self._desk, known, args, kwargs))
        return handed(self._desk, came, True)

    def call_once(self, key: str, tool: Callable[..., Any] | Tool, /, *args: Any, **kwargs: Any) -> Any:
        """`call` for something that happens once, whatever is retried, resumed or crashes: `key` names it in its task,
        or in a run without one. Where it was done before, its result comes back as plain data and nothing runs.

        Raises `Refused` where it is under way elsewhere, or where nobody knows what came of it.
        """
        known = self._once(key, tool)
        if known.shape is not Shape.PLAIN:
            raise TypeError(f"`{known.name}` is async: call it with `run.acall_once(...)`")
        from stanchion.runtime import calling

        return work(self._desk, known.name, calling.call(self._desk, known, args, kwargs, key))

    async def acall_once(self, key: str, tool: Callable[..., Any] | Tool, /, *args: Any, **kwargs: Any) -> Any:
        """`call_once` for async code."""
        from stanchion.runtime import calling

        known = self._once(key, tool)
        return await awork(self._desk, known.name, calling.call(self._desk, known, args, kwargs, key))

    def _once(self, key: str, tool: Callable[..., Any] | Tool) -> Tool:
        known = self._desk.shield.tool_of(tool)
        if not key or not isinstance(key, str):
            raise ValueError(f"the key is `{key}`: give a text that names the one thing that is to happen")
        if known.shape in (Shape.GENERATOR, Shape.ASYNC_GENERATOR):
            raise TypeError(f"`{known.name}` gives many items, and only a call with one result can happen once")
        return known

    def settle_effect(self, key: str, happened: bool, *, result: Any = None, by: By = "an operator") -> None:
        """Say whether something happened whose outcome nobody knew: by the key of `call_once`, or by the id that the
        refusal names. What has not happened can start again."""
        info = self._desk.info
        from stanchion.runtime.settling import effect_named, settle_effect

        settle_effect(self._desk.shield, effect_named(info, key), happened, result=result, by=by, tenant=info.tenant)

    def rollback(self) -> tuple[Undone, ...]:
        """Undo what this run and its children have done, newest first: every finished call whose tool has an undo.

        An undo runs once; one that fails does not keep the others from running. Says what was undone and what not.
        """
        from stanchion.runtime.undoing import roll_back

        return drive(roll_back(self._desk), self._desk)

    async def arollback(self) -> tuple[Undone, ...]:
        """`rollback` for async code."""
        from stanchion.runtime.undoing import roll_back

        return await self._adrive(roll_back(self._desk))

    @property
    def last_error(self) -> Trouble | None:
        """What is known of the failure that came last: what failed, what was tried, what was decided about it."""
        return self._desk.trouble

    def model(self, fn: Callable[..., Any], messages: Iterable[Any], **options: Any) -> Any:
        """Call a model through any function of its messages; gives its reply.

        Guidance and notices are added as system messages, a refused reply is asked for again, and where a guard
        ends the run its safe message is the reply. Options: `model`, `params` (handed to `fn`), `final`, and
        estimates (`tokens`, `cost_usd`).
        """
        from stanchion.runtime import modelling

        return self._replied(drive(modelling.converse(self._desk, fn, messages, **options), self._desk), False)

    async def amodel(self, fn: Callable[..., Any], messages: Iterable[Any], **options: Any) -> Any:
        """`model` for async code."""
        from stanchion.runtime import modelling
        from stanchion.runtime.doors import abegin

        return self._replied(await abegin(modelling.converse(self._desk, fn, messages, **options), self._desk), True)

    def _replied(self, reply: Any, awaited: bool) -> Any:
        """A model's reply, or its chunks as they come: judged as they are consumed."""
        from stanchion.runtime.streamed import Streaming, is_stream

        if type(reply) is not Streaming:
            return reply
        from stanchion.runtime import streams

        awaited = is_stream(reply.source, awaited=True) if awaited else not is_stream(reply.source, awaited=False)
        pass_on: Any = streams.achunks if awaited else streams.chunks
        return pass_on(self._desk, reply.source, "text", reply.account, reply.final)

    def stream(
        self,
        chunks: Iterable[Item],
        channel: str = "text",
        *,
        model: str = "",
        tokens: int | None = None,
        cost_usd: float | None = None,
        final: bool | None = None,
    ) -> Iterator[Item]:
        """Pass a streamed reply on, judged piece by piece; the whole is judged at the end, and charged.

        Items are texts, bytes (UTF-8, broken or not), `Piece(channel, text)` where there are several channels, or the
        chunks of an SDK; what comes out has the same type. A piece goes out as soon as nothing in it can become part of
        something that a guard redacts, at the latest at the end. A stream whose request was not judged before reserves
        what it may use (`tokens`, `cost_usd`: estimates) and is settled at its end.
        """
        from stanchion.runtime import streams
        from stanchion.runtime.streamed import Account

        about = {"model": model, "tokens": tokens, "cost_usd": cost_usd}
        return streams.chunks(self._desk, chunks, channel, Account(self._desk), final, **about)

    def astream(
        self,
        chunks: AsyncIterable[Item],
        channel: str = "text",
        *,
        model: str = "",
        tokens: int | None = None,
        cost_usd: float | None = None,
        final: bool | None = None,
    ) -> AsyncIterator[Item]:
        """`stream` for async code."""
        from stanchion.runtime import streams
        from stanchion.runtime.streamed import Account

        about = {"model": model, "tokens": tokens, "cost_usd": cost_usd}
        return streams.achunks(self._desk, chunks, channel, Account(self._desk), final, **about)

    def spawn(
        self, agent: str = "", task: str | None = None, *, budget: Mapping[str, Any] | None = None, **options: Any
    ) -> Run:
        """A child run: it inherits policy, tenant, deadline and cancellation, and ends when its parent does.

        It spends from this run's budgets. With a `budget` (`tokens`, `cost_usd`, `calls`, `api_calls`, `duration_s`)
        that much is carved out of them for it; what it has not used comes back when it is closed. `Refused` is raised
        where so much is not left.
        """
        if budget is not None:
            from stanchion.runtime.children import carve

            options["carved"] = drive(carve(self._desk, agent, budget), self._desk)
        return self._spawned(agent, task, options)

    async def aspawn(
        self, agent: str = "", task: str | None = None, *, budget: Mapping[str, Any] | None = None, **options: Any
    ) -> Run:
        """`spawn` for async code."""
        if budget is not None:
            from stanchion.runtime.children import carve

            options["carved"] = await self._adrive(carve(self._desk, agent, budget))
        return self._spawned(agent, task, options)

    def _spawned(self, agent: str, task: str | None, options: dict[str, Any]) -> Run:
        return self._desk.shield.run(agent, self.task if task is None else task, parent=self, **options)

    def open_calls(self) -> tuple[OpenCall, ...]:
        """What this run has reserved and nobody has settled, the oldest first; calls of a process of it that was killed
        are among them. `run.result(..., call=...)`, `error` or a settled `charge` closes one."""
        from stanchion.runtime.open_calls import listed

        return drive(listed(self._desk), self._desk)

    async def aopen_calls(self) -> tuple[OpenCall, ...]:
        """`open_calls` for async code."""
        from stanchion.runtime.open_calls import listed

        return await self._adrive(listed(self._desk))

    def cancel(self, why: str = "by the caller") -> None:
        """End this run and its children, in every process; what is under way is refused its next step."""
        drive(end_run(self._desk, "kernel.cancelled", why), self._desk)

    def notices(self) -> tuple[str, ...]:
        """Warnings for the agent since the last call."""
        return self._desk.take_notices()

    def ticket(self, decision: Decision) -> str | None:
        """The id of the ticket that a decision of this run waits for, or by which a person has refused it.

        When it is approved the same call goes ahead the next time it is asked for; `None` where nobody was asked.
        """
        return self._desk.ticket_of(decision)

    def keep(self, value: Any) -> None:
        """Keep something the run has produced: it comes with whatever ends the run, and is in the record of its end.

        Raises `PartialOverflow` where there is no more room: 10,000 values, 10 MiB.
        """
        from stanchion.runtime.cleaning import kept

        self._desk.partial.append(kept(self._desk, value))

    @property
    def partial(self) -> tuple[Any, ...]:
        """What the run has produced so far: what was kept, chunks of streams, and the last result or reply."""
        return self._desk.produced()

    def loop_metrics(self) -> Metrics:
        """How many calls of this run the guard `loops` has looked at, and how many loops it found, as the store has
        it."""
        from stanchion.guards.loops import history_key, metrics

        return metrics(self._desk.store.read(history_key(self._desk.info.tenant, self.id))[1])

    def httpx_transport(self, **options: Any) -> httpx.HTTPTransport:
        """A transport for `httpx.Client`: every request is judged, or refused, and reaches only what was judged.

        Options: `tool` (whose requests they are where none is at work), `max_body`, and those of the transport.
        """
        from stanchion.runtime.http.opening import httpx_transport

        return httpx_transport(self._desk, **options)

    def async_httpx_transport(self, **options: Any) -> httpx.AsyncHTTPTransport:
        """`httpx_transport` for `httpx.AsyncClient` on asyncio."""
        from stanchion.runtime.http.opening import async_httpx_transport

        return async_httpx_transport(self._desk, **options)

    def requests_adapter(self, **options: Any) -> requests.adapters.HTTPAdapter:
        """The same for `requests`, to be mounted on a session for `http://` and `https://`."""
        from stanchion.runtime.http.opening import requests_adapter

        return requests_adapter(self._desk, **options)

    def requests_session(self, **options: Any) -> requests.Session:
        """A `requests.Session` with that adapter mounted; it takes no proxies from the environment."""
        from stanchion.runtime.http.opening import requests_session

        return requests_session(self._desk, **options)

    def canary(self, label: str = "system prompt", lasting: bool = False) -> str:
        """A token for a prompt, a file or a decoy record: the guard `canary` refuses what would carry it out."""
        from stanchion.runtime.canaries import canary

        return canary(self, label, lasting)

    def aiohttp_connector(self, **options: Any) -> aiohttp.TCPConnector:
        """The same as a connector for `aiohttp.ClientSession`; make it on a running event loop."""
        from stanchion.runtime.http.opening import aiohttp_connector

        return aiohttp_connector(self._desk, **options)

    def close(self) -> None:
        """Close the run: nothing of it proceeds any more, and what it has not used of its budget goes back."""
        self._end()
        if self._desk.carved or self._desk.shield.unsettled.waiting:
            from stanchion.runtime.children import give_back

            drive(give_back(self._desk), self._desk)

    async def aclose(self) -> None:
        """`close` for async code."""
        self._end()
        if self._desk.carved or self._desk.shield.unsettled.waiting:
            from stanchion.runtime.children import give_back

            await self._adrive(give_back(self._desk))

    def _end(self) -> None:
        if self._desk.ended is None:
            self._desk.ended = Ending("kernel.ended", "it was closed")
        if self._stay is not None:
            self._stay.end()
        self._desk.over(self._desk.ended.code, self._desk.ended.why)

    def __enter__(self) -> Run:
        self._tokens.append(_open.set((*_open.get(), self)))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        _open.reset(self._tokens.pop())
        self.close()

    async def __aenter__(self) -> Run:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        _open.reset(self._tokens.pop())
        await self.aclose()
