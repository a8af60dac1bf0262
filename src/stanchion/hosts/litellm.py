"""LiteLLM: its functions guarded for a run, and a guardrail for its proxy.

A callback of the library cannot refuse what `litellm.completion` sends: what it raises is logged,
and the request is sent. So in your own code the functions are guarded, and in the proxy, whose
hooks can refuse, a guardrail is.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

from stanchion.hosts import EVERYTHING, Host, Hosted, survey, tried
from stanchion.hosts.clients.forms import (
    CHAT,
    COMPLETIONS,
    RESPONSES,
    RequestForm,
    calls_of,
    results_for,
)
from stanchion.hosts.clients.guarded import CANARY, canaries_of, running
from stanchion.hosts.clients.guardrail import guardrail_class
from stanchion.hosts.clients.sending import ClientRuns
from stanchion.hosts.clients.tools import refused
from stanchion.hosts.contract.frameworks import by_provider
from stanchion.kernel.actions import Action

tried("litellm", "1.106", "2")

LITELLM: Final = Host("litellm", can=EVERYTHING, refused=refused, stream="chunk")
"""Functions that send a request as it was decided, or raise `Refused`."""
PROXY: Final = Host(
    "litellm proxy", can=[action for action in EVERYTHING if action != Action.RETRY], stream="chunk"
)
"""A proxy that sends a request as it was decided, once."""

EMBEDDING: Final = RequestForm("embeddings", said="input")
FUNCTIONS: Final = {
    "completion": CHAT,
    "text_completion": COMPLETIONS,
    "responses": RESPONSES,
    "embedding": EMBEDDING,
}
"""The functions of LiteLLM that ask a model, without the `a` of those that are awaited."""
FIRST: Final = {
    "responses": ("input", "model"),
    "text_completion": ("prompt", "model"),
    "embedding": ("model", "input"),
}
"""What they take without a name, where it is not `model` and `messages`."""


class Functions:
    """LiteLLM's functions for a shield or a run: `completion`, `text_completion`, `responses` and
    `embedding`, and `acompletion` and so on for async code. They take what LiteLLM's take and give
    what those give; a stream gives its chunks."""

    def __init__(self, given: Any) -> None:
        self._runs = ClientRuns(LITELLM, given)

    @property
    def hosted(self) -> Hosted:
        """The run that they work for here."""
        return self._runs.now

    def __getattr__(self, name: str) -> Callable[..., Any]:
        form = FUNCTIONS.get(name.removeprefix("a"))
        if form is None:
            known = ", ".join([f"`{one}`" for one in FUNCTIONS])
            raise AttributeError(f"`{name}` is not guarded: use {known}, or those for async code")
        asks = self._asked if name in FUNCTIONS else self._awaited
        return lambda *args, **kwargs: asks(name, form, _named(name, args, kwargs))

    def _asked(self, name: str, form: RequestForm, body: dict[str, Any]) -> Any:
        hosted = self._surveyed(body)
        return hosted.model(
            lambda said, **more: _send(name, form.written(body, said, more)), **form.asked(body)
        )

    async def _awaited(self, name: str, form: RequestForm, body: dict[str, Any]) -> Any:
        async def ask(said: list[Any], **more: Any) -> Any:
            return await _send(name, form.written(body, said, more))

        return await self._surveyed(body).amodel(ask, **form.asked(body))

    def _surveyed(self, body: dict[str, Any]) -> Hosted:
        """The run of a request; tools that the provider runs are named."""
        hosted = self.hosted
        survey(hosted.run, by_provider(body.get("tools") or ()))
        return hosted


def guard(run: Any) -> Functions:
    """LiteLLM's functions for a shield or a run. With a shield, a request belongs to the run that
    its caller is in, or else to one of these functions' own. What is refused raises `Refused`."""
    return Functions(run)


run_tools, arun_tools = running(calls_of, results_for, attrgetter("hosted"))


def guardrail(shield: Any, agent: str = "litellm") -> type[Any]:
    """A class of guardrails for LiteLLM's proxy, to be named in its configuration: every request
    and every reply is judged, and no request can switch that off. Requests of one session and key
    belong to one run."""
    return guardrail_class(shield, PROXY, agent)


def _send(name: str, body: dict[str, Any]) -> Any:
    import litellm

    return getattr(litellm, name)(**body)


def _named(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """What a function was given, by name."""
    order = FIRST.get(name.removeprefix("a"), ("model", "messages"))
    if len(args) > len(order):
        raise TypeError(
            f"`{name}` takes {len(order)} arguments without a name: give the others by name"
        )
    return {**dict(zip(order, args, strict=False)), **kwargs}


def _canary(client: Any, hosted: Hosted) -> Any:
    functions = guard(hosted)
    ask = functions.acompletion if hasattr(client, "__aenter__") else functions.completion
    return ask(**CANARY, custom_llm_provider="openai", max_retries=0, client=client)


canary, async_canary = canaries_of(LITELLM, ("openai:OpenAI", "openai:AsyncOpenAI"), _canary)
