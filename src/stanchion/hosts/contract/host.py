"""Hosts and runs on them: everything that an adapter has judged, carried out and answered, for sync
and for async code."""

from __future__ import annotations

from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any, Self

from stanchion.approvals.answerers import Dialog
from stanchion.approvals.errors import TicketError
from stanchion.hosts.contract import flows
from stanchion.hosts.contract.carrying import Carry
from stanchion.hosts.contract.elements import ActedOn
from stanchion.hosts.contract.flows import HostWork, aitems_in_words, items_in_words
from stanchion.hosts.contract.terms import HostTerms, Refusal, Told
from stanchion.kernel.stages import Stage
from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.deciding.twins import twins
from stanchion.runtime.driving.flow import Flow, T
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.keywords import ModelOptions, spelled
from stanchion.runtime.run import Run


class Entered:
    """Is entered, left and closed as its run is, in sync and in async code."""

    run: Any

    def close(self) -> None:
        """End the run: nothing of it proceeds any more."""
        self.run.close()

    async def aclose(self) -> None:
        """`close` for async code."""
        await self.run.aclose()

    def __enter__(self) -> Self:
        self.run.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.run.__exit__(*error)

    async def __aenter__(self) -> Self:
        await self.run.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.run.__aexit__(*error)


def said(hosted: HostWork, refusal: Refusal, yes: bool, comment: str) -> bool:
    """Hand an answer on; gives whether it counts. Through a broker none does: it judges in a
    process of its own."""
    if refusal.ticket is None or not isinstance(hosted.run, Run):
        return False
    shield: Any = hosted.run.desk.shield
    by = Dialog(hosted.host.name)
    try:
        if yes:
            shield.approve(refusal.ticket, by=by, comment=comment)
        else:
            shield.deny(
                refusal.ticket, by=by, comment=comment if comment else f"no, says {by.name}"
            )
    except TicketError:
        return False
    return True


@spelled
class Hosted(Entered, HostWork):
    """One run on one host; `host.run(shield, ...)` and `host.on(run)` make them.

    Every method has a twin for async code: `await hosted.acall(...)` for `hosted.call(...)`.
    """

    def call(
        self,
        tool: Tool | str,
        args: Any,
        carry: Carry,
        *,
        about: Any = None,
        on: Sequence[ActedOn] = (),
    ) -> Any:
        """Have a tool call judged, carried out and its outcome judged and settled; gives the host's
        own result.

        `carry` runs the call with the arguments it is given, which may not be those that were asked
        for; it is called again where a failed call is tried again. What the agent must not do or
        see is answered in the host's words. What `carry` raises is judged and raised. `tool` is its
        name, or a `Tool` that says more of it. `about` is the host's own request, for its words.
        `on` is what the call acts on in a page: guards read it beside the arguments, and `carry`
        does not get it.
        """
        return flows.handed(
            self, self.drive(flows.around(self, tool, args, carry, about, on)), about, False
        )

    async def acall(
        self,
        tool: Tool | str,
        args: Any,
        carry: Carry,
        *,
        about: Any = None,
        on: Sequence[ActedOn] = (),
    ) -> Any:
        """`call` for async code; a `carry` that is not async works in a thread."""
        came = await self.adrive(flows.around(self, tool, args, carry, about, on))
        return flows.handed(self, came, about, True)

    def model(
        self,
        ask: Callable[..., Any],
        messages: Iterable[Any],
        *,
        about: Any = None,
        model: str = "",
        params: Mapping[str, Any] | None = None,
        final: bool | None = None,
        tokens: int | None = None,
        cost_usd: float | None = None,
    ) -> Any:
        """Have a request to a model judged and sent, and its reply judged and settled; gives the
        reply.

        `ask` takes the messages, and is called again where a reply is to be tried again: guidance
        is among the messages then. The other options are those of `run.model`. A streamed reply is
        judged as it is consumed.
        """
        options = ModelOptions(model, params, final, tokens, cost_usd)
        came = self.drive(flows.asked(self, ask, messages, about, options))
        return flows.replied(self, came, about, False)

    async def amodel(
        self,
        ask: Callable[..., Any],
        messages: Iterable[Any],
        *,
        about: Any = None,
        model: str = "",
        params: Mapping[str, Any] | None = None,
        final: bool | None = None,
        tokens: int | None = None,
        cost_usd: float | None = None,
    ) -> Any:
        """`model` for async code."""
        options = ModelOptions(model, params, final, tokens, cost_usd)
        came = await self.adrive(flows.asked(self, ask, messages, about, options))
        return flows.replied(self, came, about, True)

    def stream(self, chunks: Iterable[Any], *, about: Any = None, **options: Any) -> Iterator[Any]:
        """Pass a streamed reply on, judged piece by piece; a refusal is the last item, in the
        host's words.

        Options are those of `run.stream`.
        """
        return items_in_words(
            self.host, self.run.stream(chunks, **options), Stage.MODEL_CHUNK, "", about
        )

    def astream(
        self, chunks: AsyncIterable[Any], *, about: Any = None, **options: Any
    ) -> AsyncIterator[Any]:
        """`stream` for async code."""
        return aitems_in_words(
            self.host, self.run.astream(chunks, **options), Stage.MODEL_CHUNK, "", about
        )

    def _report(
        self, stage: Stage | str, /, *, key: str = "", about: Any = None, **fields: Any
    ) -> Flow[Told]:
        """Report an event of any stage, with the fields that its stage has; says whether it goes
        ahead, and with what.

        `key` is the host's own name for a call: its outcome is reported under the same, and until
        then the same call gets the same answer without being judged again. The key of a `charge` is
        the provider's id of the reply that was paid for: it is charged once. What cannot be judged
        is refused.
        """
        return flows.reported(self, stage, key, about, fields)

    report, areport = twins(_report)

    def child(self, agent: str, **options: Any) -> Hosted:
        """A run on this host for another agent that works for this one: it spends from the same
        budgets, and ends when this one does. The options are those of `run.spawn`."""
        return Hosted(self.host, self.run.spawn(agent, **options))

    def answered(self, refusal: Refusal, yes: bool, comment: str = "") -> bool:
        """Hand on what somebody has said in a dialog of the host about a call that waits; gives
        whether it counts.

        A yes does where the policy names this host under `escalation.dialogs`, for one call that is
        not critical: make the same call again then. Every answer is recorded, and counts as that of
        the operator `host:NAME`.
        """
        return said(self, refusal, yes, comment)

    def notices(self) -> tuple[str, ...]:
        """Warnings for the agent since the last call; a host that can `warn` shows them."""
        notices: tuple[str, ...] = self.run.notices()
        return notices

    def drive(self, flow: Flow[T]) -> T:
        """Run a flow of an adapter's own to its end in this thread."""
        return drive(flow, self._desk)

    async def adrive(self, flow: Flow[T]) -> T:
        """The same on the running event loop, when it is its turn to begin."""
        if isinstance(self.run, Run):
            from stanchion.runtime.driving.doors import abegin

            return await abegin(flow, self._desk)
        from stanchion.runtime.driving.on_loop import adrive

        return await adrive(flow, self._desk)


class Host(HostTerms, frozen=True):
    """A framework, a client or a loop of your own, as Stanchion sees it.

    `can` names the actions that it can carry out, at every stage that it reports. What it cannot
    becomes the next stricter thing that it can, so a host that names nothing lets things go ahead
    or refuses them. Its words:

    - `refused` makes its answer from a refusal: returns a message or a response of its own, or
      raises;
    - `retried` does so where the agent is to try again; without it that is `refused`;
    - `ended` does so where the whole run is over; unless it says otherwise that is raised, so that
      its loop ends;
    - `shown` picks from a tool's result what is judged, `changed` puts what was changed back into
      the result;
    - `failed` says whether a tool's result reports a failure in a way of the host's own; it is
      judged as an error then.
      The marks of MCP, JSON-RPC and HTTP are known;
    - `guided` makes a message of guidance for a model.

    `pause` says what it does with a call that waits for a person, `stream` what it streams of a
    reply. The behaviour suite (`stanchion.testing.host_suite`) holds it to both.
    """

    def run(self, shield: Any, agent: str = "", task: str = "", **options: Any) -> Hosted:
        """Begin a run on this host; the options are those of `shield.run`. Use it as a context
        manager, or close it."""
        return self.on(shield.run(agent, task, can=self.can, **options))

    def on(self, run: Any) -> Hosted:
        """Work for a run that has begun; raises `ValueError` where it may be decided what this host
        cannot do."""
        return Hosted(self, run)
