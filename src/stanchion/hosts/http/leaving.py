"""Leaving: a request is judged as it is about to be sent, and goes out as it was decided, to what
was judged."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.hosts import EVERYTHING, Host, Hosted
from stanchion.hosts.contract.acting import call_off, go_ahead
from stanchion.hosts.http.codes import (
    FRAMING,
    HOST,
    OVERRIDE,
    PROXY,
    TOO_LONG,
    UNPINNED,
    UNREDACTABLE,
)
from stanchion.hosts.http.outgoing import OutgoingRequest, crooked, parsed, rewritten
from stanchion.hosts.http.payload import Unfit, read
from stanchion.kernel.actions import Action
from stanchion.kernel.contract.powers import having
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Egress
from stanchion.kernel.findings import Finding
from stanchion.kernel.regex import regex
from stanchion.kernel.stages import Stage
from stanchion.readings.signing_in import unwritten
from stanchion.runtime.answers.resolver import pinned, proxy_listed
from stanchion.runtime.calling.at_work import tool_at_work
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.values import project

MAX_BODY: Final = 1 << 20
"""The longest body that is judged, and so the longest that leaves, unless a client is made with
another."""


_HOST: Final = regex(r"[A-Za-z0-9._:\[\]-]+")


HTTP: Final = Host("HTTP client", can=EVERYTHING)
"""A client that sends a request as it was decided, or raises `Refused`."""


class ClientTerms(msgspec.Struct, frozen=True, gc=False):
    """For whom a client sends requests: a run, the tool named where none is at work, and how long a
    body may be."""

    hosted: Hosted
    tool: str = ""
    max_body: int = MAX_BODY


class Cleared(msgspec.Struct, frozen=True, gc=False):
    """A request that may leave, and the addresses it may go to; none where nobody judged any, or a
    proxy is used."""

    request: OutgoingRequest
    addresses: tuple[str, ...] = ()


def leave(terms: ClientTerms, request: OutgoingRequest) -> Flow[Cleared]:
    """Judge a request and give it as it goes out; raises `Refused` where it does not."""
    desk = terms.hosted.run.desk
    headers = request.shown()
    payload = read(request.body, headers, request.encoding, terms.max_body)
    at_work = tool_at_work()
    event: Any = desk.event(
        Egress,
        at_work if at_work else terms.tool,
        url=str(project(request.url)),
        method=request.method,
        headers=headers,
        payload=payload.data,
    )
    against = _against(desk, request, event, payload.whole)
    if not payload.whole:
        against.append((TOO_LONG, terms.max_body))
    refused = tuple([_finding(event, code, *args) for code, *args in against])
    going = yield from go_ahead(desk, event, refused)
    addresses = () if request.proxy else _judged_addresses(going.decision, event.url)
    if addresses is None and hosts_are_judged(desk, event):
        target = parsed(event.url)
        yield from call_off(
            desk, going, _finding(event, UNPINNED, "" if target is None else target.hostname)
        )
    addresses = () if addresses is None else addresses
    if not going.decision.patches:
        return Cleared(request, addresses)
    try:
        return Cleared(rewritten(request, payload, event, going.event), addresses)
    except Unfit as unfit:
        why = str(unfit)
    yield from call_off(desk, going, _finding(going.event, UNREDACTABLE, why))
    raise AssertionError("what is called off does not leave")


def _finding(event: Egress, code: str, *args: Any) -> Finding:
    """What the transport itself has against a request."""
    return Finding(Action.BLOCK, code, args, guard="kernel", hides=unwritten(event))


def _judged_addresses(decision: Decision, url: str) -> tuple[str, ...] | None:
    """The addresses that were judged, none where nobody asked for any; `None` where guards do not
    agree on one."""
    try:
        return pinned(decision, url)
    except ValueError:
        return None


def _against(
    desk: Desk, request: OutgoingRequest, event: Egress, whole: bool
) -> list[tuple[Any, ...]]:
    """What speaks against a request before any guard is asked, as codes with their arguments: a
    proxy that is not listed, a request that would not be the one which is judged, or not lead to
    the host which is."""
    policy = desk.shield.policy
    if policy.shadow:
        return []
    found: list[tuple[Any, ...]] = []
    if request.proxy and not proxy_listed(policy, request.proxy):
        proxy = parsed(request.proxy)
        found.append((PROXY, "" if proxy is None else proxy.host))
    unlike = crooked(request) if whole else ""
    if unlike:
        found.append((FRAMING, unlike))
    if request.target:
        found.append((OVERRIDE, "target"))
    target = parsed(request.url)
    if target is None or not hosts_are_judged(desk, event):
        return found
    said = event.headers.get("host")
    if said is not None and not _names(said, target.protocol, target.host):
        found.append((HOST, target.host))
    if request.server_name and not _names(request.server_name, target.protocol, target.hostname):
        found.append((OVERRIDE, "server name"))
    return found


def _names(said: str, protocol: str, host: str) -> bool:
    """Whether a text is a host, and nothing else beside it."""
    named = parsed(f"{protocol}//{said}/") if _HOST.fullmatch(said) is not None else None
    return named is not None and named.host == host


def hosts_are_judged(desk: Desk, event: Egress) -> bool:
    """Whether a guard that is enforced judges where the request goes."""
    policy = desk.shield.policy
    seats = policy.seated(Stage.EGRESS, event.tool, event.run)
    judging = [
        seat
        for seat in seats
        if having(seat.placed.guard, "takes_proxy") is not None and not seat.placed.shadow
    ]
    return bool(judging) and not policy.shadow
