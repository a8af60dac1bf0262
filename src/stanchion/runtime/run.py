"""Runs: one agent's work on one task, with a method for everything it can do."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Unpack
from weakref import WeakSet

from stanchion.kernel.decision import Decision
from stanchion.kernel.shown import brief
from stanchion.runtime.calling.advice_methods import Advised
from stanchion.runtime.calling.call_methods import AsksForBypass, Calling, Repairing
from stanchion.runtime.calling.children import carve, give_back
from stanchion.runtime.calling.clients import client
from stanchion.runtime.deciding.aftermath import end_run
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.discretion import kept
from stanchion.runtime.deciding.left import close
from stanchion.runtime.deciding.open_calls import listed
from stanchion.runtime.deciding.twins import twins
from stanchion.runtime.deciding.undos import roll_back
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.keywords import ModelOptions, RunOptions, check_run_options, spelled

if TYPE_CHECKING:
    import aiohttp
    import httpx
    import requests.adapters

    from stanchion.approvals.answerers import By
    from stanchion.runtime.calling.clients import (
        AiohttpOptions,
        HttpxOptions,
        RequestsOptions,
    )
    from stanchion.runtime.calling.model_call import Ended
    from stanchion.runtime.deciding.faults import Trouble
    from stanchion.runtime.deciding.open_calls import OpenCall
    from stanchion.runtime.deciding.undos import Undone
    from stanchion.runtime.streams.holdback import Item

_open: ContextVar[tuple[Run, ...]] = ContextVar("stanchion_runs", default=())


def open_runs() -> tuple[Run, ...]:
    """The runs whose `with shield.run(...)` stands around the caller, the innermost last."""
    return _open.get()


def current_run() -> Run | None:
    """The run of the innermost `with shield.run(...)` around the caller."""
    runs = _open.get()
    return runs[-1] if runs else None


@spelled
class Run(Calling, AsksForBypass, Advised, Repairing):
    """One agent's work on one task. Make one with `shield.run(...)`; use it as a context manager or
    as it is."""

    _around = _open

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._tokens = []
        self._children: WeakSet[Run] | None = None
        presence = desk.shield.presence
        self._stay = None if presence is None else presence.enter()
        if desk.shield.policy.file.bypass.safety_responses:
            from stanchion.runtime.people.missed_reviews import tell_missed

            tell_missed(desk.shield, desk.info.tenant)

    def __repr__(self) -> str:
        """Who is at work on what, and whether it is over."""
        about = "".join([f" {brief(word)}" for word in (self.agent, self.task) if word])
        return f"<Run {self.id}{about}{'' if self._desk.ended is None else ', ended'}>"

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

    def settle_effect(
        self, key: str, happened: bool, *, result: Any = None, by: By = "an operator"
    ) -> None:
        """Say whether something happened whose outcome nobody knew: by the key of `call_once`, or
        by the id that the refusal names. What has not happened can start again."""
        info = self._desk.info
        from stanchion.runtime.operating.settle_effects import effect_named, settle_effect

        settle_effect(
            self._desk.shield,
            effect_named(info, key),
            happened,
            result=result,
            by=by,
            tenant=info.tenant,
        )

    def _rollback(self, /) -> Flow[tuple[Undone, ...]]:
        """Undo what this run and its children have done, newest first: every finished call whose
        tool has an undo.

        An undo runs once; one that fails does not keep the others from running. Says what was
        undone and what not.
        """
        return roll_back(self._desk)

    rollback, arollback = twins(_rollback)

    @property
    def last_error(self) -> Trouble | None:
        """What is known of the failure that came last: what failed, what was tried, what was
        decided about it."""
        return self._desk.trouble

    def model(
        self,
        fn: Callable[..., Any],
        messages: Iterable[Any],
        *,
        model: str = "",
        params: Mapping[str, Any] | None = None,
        final: bool | None = None,
        tokens: int | None = None,
        cost_usd: float | None = None,
        ended: Ended = "text",
    ) -> Any:
        """Call a model through any function of its messages; gives its reply.

        Guidance and notices are added as system messages, and a refused reply is asked for again.
        Where a guard ends the run, its safe message is the reply, a text whatever `fn` gives
        otherwise; `ended="raise"` raises `Refused`. `params` are handed to `fn` as keywords,
        `final` says whether the reply is the run's answer where it does not say so itself, and
        `tokens` and `cost_usd` are estimates.
        """
        from stanchion.runtime.calling.model_call import converse

        options = ModelOptions(model, params, final, tokens, cost_usd)
        asked = converse(self._desk, fn, messages, options, ended=ended)
        return self._replied(drive(asked, self._desk), False)

    async def amodel(
        self,
        fn: Callable[..., Any],
        messages: Iterable[Any],
        *,
        model: str = "",
        params: Mapping[str, Any] | None = None,
        final: bool | None = None,
        tokens: int | None = None,
        cost_usd: float | None = None,
        ended: Ended = "text",
    ) -> Any:
        """`model` for async code."""
        from stanchion.runtime.calling.model_call import converse
        from stanchion.runtime.driving.doors import abegin

        options = ModelOptions(model, params, final, tokens, cost_usd)
        asked = converse(self._desk, fn, messages, options, ended=ended)
        return self._replied(await abegin(asked, self._desk), True)

    def _replied(self, reply: Any, awaited: bool) -> Any:
        """A model's reply, or its chunks as they come: judged as they are consumed."""
        from stanchion.runtime.calling.stream_end import Streaming

        if type(reply) is not Streaming:
            return reply
        from stanchion.runtime.streams.stream import delivered

        return delivered(self._desk, reply, awaited)

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
        """Pass a streamed reply on, judged piece by piece; the whole is judged at the end, and
        charged.

        Items are texts, bytes (UTF-8, broken or not), `Piece(channel, text)` where there are
        several channels, or the chunks of an SDK; what comes out has the same type. A piece goes
        out as soon as nothing in it can become part of something that a guard redacts, at the
        latest at the end. A stream whose request was not judged before reserves what it may use
        (`tokens`, `cost_usd`: estimates) and is settled at its end.
        """
        from stanchion.runtime.calling.stream_end import StreamAccount
        from stanchion.runtime.streams import stream as streams

        return streams.chunks(
            self._desk,
            chunks,
            channel,
            StreamAccount(self._desk),
            final,
            model=model,
            tokens=tokens,
            cost_usd=cost_usd,
        )

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
        from stanchion.runtime.calling.stream_end import StreamAccount
        from stanchion.runtime.streams import stream as streams

        return streams.achunks(
            self._desk,
            chunks,
            channel,
            StreamAccount(self._desk),
            final,
            model=model,
            tokens=tokens,
            cost_usd=cost_usd,
        )

    def _spawn(
        self,
        /,
        agent: str = "",
        task: str | None = None,
        *,
        budget: Mapping[str, Any] | None = None,
        **options: Unpack[RunOptions],
    ) -> Flow[Run]:
        """A child run: it inherits policy, tenant, deadline and cancellation, and ends when its
        parent does. What its parent may not do, it may not, whatever `may` says.

        It spends from this run's budgets. With a `budget` (`tokens`, `cost_usd`, `calls`,
        `api_calls`, `duration_s`) that much is carved out of them for it; what it has not used
        comes back when it is closed. `Refused` is raised where so much is not left. The other
        options are those of `shield.run`.
        """
        check_run_options(Run.spawn, options)
        if self._desk.shield.authority.is_agent(agent):
            raise ValueError(
                f"`{agent}` answers tickets, and not those of a run above its own: begin its work "
                f"with `shield.run`"
            )
        carved = None
        if budget is not None:
            carved = yield from carve(self._desk, agent, budget)
        child: Run = self._desk.shield.run(
            agent,
            self.task if task is None else task,
            parent=self,
            carved=carved,
            **options,
        )
        if self._children is None:
            self._children = WeakSet()
        self._children.add(child)
        return child

    spawn, aspawn = twins(_spawn)

    def _open_calls(self, /) -> Flow[tuple[OpenCall, ...]]:
        """What this run has reserved and nobody has settled, the oldest first; calls of a process
        of it that was killed are among them. `run.result(..., call=...)`, `error` or a settled
        `charge` closes one."""
        return listed(self._desk)

    open_calls, aopen_calls = twins(_open_calls)

    def cancel(self, why: str = "by the caller") -> None:
        """End this run and its children, in every process; what is under way is refused its next
        step."""
        drive(end_run(self._desk, "kernel.cancelled", why), self._desk)

    def notices(self) -> tuple[str, ...]:
        """Warnings for the agent since the last call."""
        return self._desk.take_notices()

    def ticket(self, decision: Decision) -> str | None:
        """The id of the ticket that a decision of this run waits for, or by which a person has
        refused it.

        When it is approved the same call goes ahead the next time it is asked for; `None` where
        nobody was asked.
        """
        return self._desk.ticket_of(decision)

    def keep(self, value: Any) -> None:
        """Keep something the run has produced: it comes with whatever ends the run, and is in the
        record of its end.

        Raises `PartialOverflow` where there is no more room: 10,000 values, 10 MiB.
        """
        self._desk.partial.append(kept(self._desk, value))

    @property
    def partial(self) -> tuple[Any, ...]:
        """What the run has produced so far: what was kept, chunks of streams, and the last result
        or reply."""
        return self._desk.produced()

    def httpx_transport(self, **options: Unpack[HttpxOptions]) -> httpx.HTTPTransport:
        """A transport for `httpx.Client`: every request is judged, or refused, and reaches only
        what was judged.

        Options: `tool` (whose requests they are where none is at work), `max_body`, and those of
        the transport.
        """
        made: httpx.HTTPTransport = client("httpx_transport", self, options)
        return made

    def async_httpx_transport(self, **options: Unpack[HttpxOptions]) -> httpx.AsyncHTTPTransport:
        """`httpx_transport` for `httpx.AsyncClient` on asyncio."""
        made: httpx.AsyncHTTPTransport = client("async_httpx_transport", self, options)
        return made

    def requests_adapter(self, **options: Unpack[RequestsOptions]) -> requests.adapters.HTTPAdapter:
        """The same for `requests`, to be mounted on a session for `http://` and `https://`."""
        made: requests.adapters.HTTPAdapter = client("requests_adapter", self, options)
        return made

    def requests_session(self, **options: Unpack[RequestsOptions]) -> requests.Session:
        """A `requests.Session` with that adapter mounted; it takes no proxies from the
        environment."""
        made: requests.Session = client("requests_session", self, options)
        return made

    def aiohttp_connector(self, **options: Unpack[AiohttpOptions]) -> aiohttp.TCPConnector:
        """The same as a connector for `aiohttp.ClientSession`; make it on a running event loop."""
        made: aiohttp.TCPConnector = client("aiohttp_connector", self, options)
        return made

    def _ended(self) -> Flow[None]:
        children, self._children = self._children, None
        for child in () if children is None else list(children):
            yield from child._ended()
        if self._stay is not None:
            self._stay.end()
        close(self._desk)
        if self._desk.carved or self._desk.shield.unsettled.waiting:
            yield from give_back(self._desk)

    def _entered(self) -> None:
        self._desk.shield.telemetry.run_entered(self._desk.info)
