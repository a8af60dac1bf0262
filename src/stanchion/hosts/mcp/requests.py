"""Requests of the client: each goes to the server it is meant for, judged on the way there and
back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

import msgspec
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from stanchion.hosts.mcp.browsers import acted_on
from stanchion.hosts.mcp.client_side import OURS, REPORTS, HeldCall, asked_on
from stanchion.hosts.mcp.eras import passed_on
from stanchion.hosts.mcp.judging import ELICIT, Ask
from stanchion.hosts.mcp.listing import known
from stanchion.hosts.mcp.relay import ASKABLE, Relay
from stanchion.hosts.mcp.server_link import ServerLink

ROUNDS: Final = 10
"""How often a server may ask the client for more before it gives a result."""
INPUT: Final = "input_required"

Forward = Callable[[dict[str, Any]], dict[str, Any]]
"""A request's parameters for its server, made from the arguments that were judged."""


async def call_tool(relay: Relay, context: Any) -> dict[str, Any]:
    """`tools/call`: judged by the tool's own name and arguments."""
    params = passed_on(context.params)
    link, name = relay.by_name(params.get("name"))
    await known(relay, link, name)
    given = params.get("arguments")

    def forward(args: dict[str, Any]) -> dict[str, Any]:
        given_on = {} if given is None and not args else {"arguments": args}
        return {**params, "name": name, **given_on}

    args = {} if given is None else given
    return await _answered(relay, context, link, args, forward, params["name"])


async def read_resource(relay: Relay, context: Any) -> dict[str, Any]:
    """`resources/read`: judged as a call with the address."""
    params = passed_on(context.params)
    link, address = relay.by_address(params.get("uri"))
    own = {"uri": address}
    return await _answered(relay, context, link, own, lambda args: {**params, **args})


async def get_prompt(relay: Relay, context: Any) -> dict[str, Any]:
    """`prompts/get`: judged as a call with the prompt's name and arguments."""
    params = passed_on(context.params)
    link, name = relay.by_name(params.get("name"))
    given = {"arguments": params["arguments"]} if "arguments" in params else {}
    args = {"name": params["name"], **given}
    return await _answered(
        relay, context, link, args, lambda args: {**params, **args, "name": name}
    )


async def complete(relay: Relay, context: Any) -> dict[str, Any]:
    """`completion/complete`: what a user has typed so far goes to the server, judged as a call."""
    params = passed_on(context.params)
    ref = params.get("ref")
    if not isinstance(ref, dict):
        raise MCPError(INVALID_PARAMS, "`ref` says what is to be completed")
    if ref.get("type") == "ref/prompt":
        link, name = relay.by_name(ref.get("name"))
        meant = {**ref, "name": name}
    else:
        link, address = relay.by_address(ref.get("uri"))
        meant = {**ref, "uri": address}
    args = {key: value for key, value in params.items() if key != "_meta"}
    return await _answered(
        relay, context, link, args, lambda args: {**params, **args, "ref": meant}
    )


async def subscribe(relay: Relay, context: Any) -> dict[str, Any]:
    """`resources/subscribe`, and its opposite."""
    params = passed_on(context.params)
    link, address = relay.by_address(params.get("uri"))
    if context.method == "resources/subscribe":
        link.levels[f"subscribe {address}"] = ("resources/subscribe", {"uri": address})
    else:
        link.levels.pop(f"subscribe {address}", None)
    if link.greeted.is_modern:
        await relay.subscriptions.stand(link)
        return {}
    return await link.request(relay.tasks, context.method, {**params, "uri": address})


async def set_level(relay: Relay, context: Any) -> dict[str, Any]:
    """`logging/setLevel`: for every server that logs."""
    params = passed_on(context.params)
    for link in relay.links.values():
        if link.greeted.is_modern:
            link.stamp.level = str(params.get("level"))
        elif "logging" in link.greeted.capabilities:
            link.levels["level"] = (context.method, params)
            await link.request(relay.tasks, context.method, params)
    return {}


async def _answered(
    relay: Relay, context: Any, link: ServerLink, args: Any, forward: Forward, tool: str = ""
) -> dict[str, Any]:
    """A request from its judgement to its answer."""

    def work(ask: Ask | None) -> Awaitable[dict[str, Any]]:
        return _carried(relay, context, link, tool, args, forward, ask)

    if _may_be_held(relay, link):
        return await _held(relay, context, link, work)

    def ask(params: dict[str, Any]) -> Awaitable[dict[str, Any]]:
        return asked_on(context.session, context.request_id, ELICIT, params)

    key = relay.client.began(context)
    try:
        return await work(None if relay.client.caller.is_modern else ask)
    finally:
        relay.client.ended(key)


def _may_be_held(relay: Relay, link: ServerLink) -> bool:
    """Whether a client of the modern era may be asked something in the middle of a request: by a
    server of the other era, or by us."""
    caller = relay.client.caller
    if not caller.is_modern:
        return False
    return (
        relay.person is not None
        if link.greeted.is_modern
        else any(caller.can(one) for one in ASKABLE)
    )


async def _carried(
    relay: Relay,
    context: Any,
    link: ServerLink,
    tool: str,
    args: Any,
    forward: Forward,
    ask: Ask | None,
) -> dict[str, Any]:
    method = context.method
    responses = (context.params or {}).get("inputResponses")
    if responses is not None:
        responses = await relay.judged.read("inputResponses", responses)
    report = _progress(relay, context)

    async def carry(given: dict[str, Any]) -> dict[str, Any]:
        sent = forward(given)
        if responses is not None:
            sent = {**sent, "inputResponses": responses}
        result = await link.request(relay.tasks, method, sent, report)
        if not relay.client.caller.is_modern:
            result = await _asked_meanwhile(relay, link, method, sent, result, report)
        return relay.names.in_result(link.name, result)

    lets = None if relay.person is None or ask is None else partial(relay.person.lets, ask)
    on = await acted_on(relay, link, tool, args) if tool else ()
    return await relay.judged.call(method, tool if tool else method, args, carry, lets, on)


async def _asked_meanwhile(
    relay: Relay,
    link: ServerLink,
    method: str,
    sent: dict[str, Any],
    result: dict[str, Any],
    report: Any,
) -> dict[str, Any]:
    """The result, after the client of the handshake era has answered what the server wants to know
    first."""
    for _ in range(ROUNDS):
        if result.get("resultType") != INPUT:
            return {key: value for key, value in result.items() if key != "resultType"}
        answers: dict[str, Any] = {}
        for key, asked in dict(result.get("inputRequests") or {}).items():
            answers[key] = await relay.asked(
                link, asked.get("method", ""), dict(asked.get("params") or {})
            )
        state = {"requestState": result["requestState"]} if "requestState" in result else {}
        result = await link.request(
            relay.tasks, method, {**sent, "inputResponses": answers, **state}, report
        )
    raise MCPError(
        INVALID_PARAMS, f"the server `{link.name}` has asked {ROUNDS} times and given no result"
    )


async def _held(
    relay: Relay, context: Any, link: ServerLink, work: Callable[[Ask], Awaitable[dict[str, Any]]]
) -> dict[str, Any]:
    """A request in the middle of which the client may be asked something."""
    params = dict(context.params or {})
    answers, token = params.pop("inputResponses", None), params.pop("requestState", None)
    params.pop("_meta", None)
    if link.greeted.is_modern and not str(token).startswith(OURS):
        token = None  # the client goes on with what the server itself has asked
    what = msgspec.json.encode([context.method, params], order="deterministic")
    held = relay.held.find(token, what) if token is not None else None
    if token is not None and held is None:
        raise MCPError(
            INVALID_PARAMS, "the call that this continues is not there any more: make it again"
        )
    is_new = held is None
    if held is None:
        begun = held = HeldCall(what)
        relay.tasks.start_soon(held.run, lambda: work(lambda params: begun.ask(ELICIT, params)))
    elif isinstance(answers, dict):
        held.answered(answers)
    key = relay.client.began(context, held)
    try:
        result = await held.next()
    except BaseException:
        held.give_up()
        relay.held.drop(held)
        raise
    finally:
        relay.client.ended(key)
    if held.is_over:
        relay.held.drop(held)
    elif is_new:
        relay.held.keep(held)
    return result


def _progress(relay: Relay, context: Any) -> Any:
    """What passes a server's reports of progress on, where the client wants them."""
    if (context.meta or {}).get("progress_token") is None and "progressToken" not in (
        (context.params or {}).get("_meta") or {}
    ):
        return None
    waiting = 0

    async def report(progress: float, total: float | None, message: str | None) -> None:
        nonlocal waiting
        if waiting >= REPORTS:
            return
        waiting += 1
        try:
            words = (
                None
                if message is None
                else await relay.judged.read("notifications/progress", message)
            )
            await context.session.report_progress(progress, total, words)
        except MCPError:
            await context.session.report_progress(progress, total, None)
        finally:
            waiting -= 1

    return report
