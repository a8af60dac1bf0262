"""Egress: where requests go, by their URLs and by the addresses that their hosts lead to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar, Final

import msgspec

from stanchion.guards.egress.codes import CURES
from stanchion.guards.egress.hosts import METADATA, Hosts, inside_name, written_in
from stanchion.guards.egress.places import SIGNS, CalledUrl, names_a_place, places
from stanchion.kernel.actions import STOPS, Action, Category
from stanchion.kernel.contract.values import Beside, GuardGate, Point, Standing
from stanchion.kernel.events import Egress, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.option import (
    ACTIONS,
    AtLeastZero,
    Fewer,
    More,
    Off,
    On,
    PlainActionName,
    Shorter,
)
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading
from stanchion.readings.addresses import Address, address_of, carried, inside, is_metadata
from stanchion.readings.shell.destinations import destinations
from stanchion.readings.signing_in import shown, unwritten
from stanchion.readings.urls import LONGEST_KEPT, UnreadableUrl, UrlTarget, same_host, url_of
from stanchion.readings.word_lists import in_order, listed


class AddressQuestion(msgspec.Struct, frozen=True):
    """A question: the addresses of a host for a port, on behalf of an event. `url` says where they
    are wanted."""

    host: str
    port: int
    event: str
    url: str


class Resolved(msgspec.Struct, frozen=True):
    """Judges the addresses of a request's host as `egress` judges those that are written."""

    name: ClassVar = "egress_resolved"
    kind: ClassVar = Kind.ASKING
    deep: ClassVar = False
    call: ClassVar = "stanchion.runtime.answers.resolver:addresses"
    stages: ClassVar = frozenset({Stage.EGRESS})
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 25

    egress: EgressGuard
    """The guard of requests that it stands beside."""

    def ask(self, reading: Reading[Egress], /) -> Lookup | None:
        """Ask for the addresses of a name; nothing where there is none, or the request stops here
        as it is."""
        event = reading.event
        target = url_of(event.url)
        if not isinstance(target, UrlTarget) or target.literal is not None or not target.host:
            return None
        finding = self.egress.judge(reading)
        if finding is not None and finding.action >= STOPS:
            return None
        port = 0 if target.port is None else target.port
        return Lookup(
            "", AddressQuestion(target.host, port, event.id, event.url), self.egress.deadline_ms
        )

    def judge(self, reading: Reading[Egress | AddressQuestion], value: Any, /) -> Finding | None:
        """Judge what the resolver says; an answer of any other shape is a failure, which refuses.

        That a name has no address matters only in time: what was refused for being late does not go
        anywhere. Where a shield that lets nothing leave looks no name up, there is nothing to
        judge.
        """
        if value == {"not_asked": True}:
            return None
        event = reading.event
        target = url_of(event.url)
        addresses = value["addresses"]
        if not isinstance(target, UrlTarget) or not isinstance(addresses, list):
            raise TypeError("a resolver answers with a list of addresses")
        if isinstance(event, AddressQuestion) and not addresses:
            return None
        return self.egress.judged_addresses(target, addresses)

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return self.egress.actions()


KEPT: Final = 1_024
"""How many judged URLs are remembered, so that a repeated one costs a look."""

METHOD_HEADERS: Final = listed("x-http-method-override x-http-method x-method-override")
"""Headers by which many servers take a request for one of another method."""

HERE: Final = listed("egress.internal egress.credentials egress.unreadable")
"""What is not said against a command where no list names its hosts: it runs on this machine, so
inside is where it is, a login reaches the host that it is for, and what is no URL is none."""

Port = Annotated[int, msgspec.Meta(ge=1, le=65_535)]
MAX_URL: Final = 8_192
"""The largest number of characters in a URL."""


class EgressGuard(msgspec.Struct, frozen=True, dict=True):
    """Refuses requests that leave for internal addresses, or for hosts that are not among those
    allowed.

    URLs are read as the standard says; one that other clients read otherwise is refused. Names are
    resolved, and what they resolve to is judged in the same way. URLs in the arguments of tool
    calls are judged by what is written.
    """

    name: ClassVar = "egress"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset({Stage.EGRESS, Stage.TOOL_CALL})
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 25
    cures: ClassVar = CURES

    allowed_hosts: Shorter[tuple[str, ...] | None] = None
    """The only hosts that may be reached: names, `*.example.com`, addresses or ranges, each with or
    without `:port`. An empty list allows none; if absent, all public hosts."""
    denied_hosts: More[tuple[str, ...]] = ()
    """Hosts that may not be reached, by name or by the addresses that a name resolves to, whatever
    else allows them."""
    internal_hosts: Shorter[tuple[str, ...]] = ()
    """Hosts that may be reached although they are not on the public network."""
    schemes: Shorter[tuple[str, ...]] = in_order("http https ws wss")
    """The only URL schemes that may be used."""
    ports: Fewer[tuple[Port, ...] | None] = None
    """The only ports that may be used; if absent, all ports."""
    methods: Fewer[tuple[str, ...] | None] = None
    """The only HTTP methods that may be used; if absent, all methods."""
    credentials: Off[bool] = False
    """If `true`, URLs may contain a user name and a password."""
    resolve: On[bool] = True
    """If `true`, host names are resolved and all their addresses are judged."""
    deadline_ms: AtLeastZero = 5_000
    """A request is refused if the resolver gives no answer within this many milliseconds."""
    proxies: Shorter[tuple[str, ...]] = ()
    """The only proxies that requests may go through."""
    action: PlainActionName = "block"
    """The action for a request that is not allowed."""

    def __post_init__(self) -> None:
        # A list that cannot be read is refused when the policy loads, not when somebody first asks
        # for a host.
        _ = (self._allowed, self._denied, self._internal, self._proxies)
        for scheme in self.schemes:
            if not scheme.isascii() or scheme != scheme.lower() or ":" in scheme or "/" in scheme:
                raise ValueError(
                    f"`{scheme}` is not a scheme: write it in small letters, as `https`"
                )

    def points(self, standing: Standing, /) -> Iterator[Point]:
        """Lists of hosts that hold for requests alone, where URLs in tool calls are easily thought
        to be judged too."""
        listed = [name for name in ("allowed_hosts", "denied_hosts") if getattr(self, name)]
        if listed and Stage.TOOL_CALL not in standing.stages:
            said = (
                f"`{standing.id}` judges no tool calls, so `{listed[0]}` does not hold for URLs in "
                f"their arguments"
            )
            advice = "write `stages: [egress, tool_call]` to have them judged, if that is not meant"
            yield Point("requests_only", "info", said, advice, (listed[0],))

    @cached_property
    def _allowed(self) -> Hosts | None:
        return None if self.allowed_hosts is None else Hosts(self.allowed_hosts)

    @cached_property
    def _denied(self) -> Hosts:
        return Hosts(self.denied_hosts)

    @cached_property
    def _internal(self) -> Hosts:
        return Hosts(self.internal_hosts)

    @cached_property
    def _proxies(self) -> Hosts:
        return Hosts(self.proxies)

    @cached_property
    def _methods(self) -> frozenset[str] | None:
        given = self.methods
        return None if given is None else frozenset([method.upper() for method in given])

    @cached_property
    def _kept(self) -> Any:
        return lru_cache(KEPT)(self._judged)

    @cached_property
    def gate(self) -> GuardGate | None:
        """What a call has in its texts that names a place against which something is said; `None`
        where something is said against plain names of hosts. An argument whose own name says that
        it is a place may be wrong in itself."""
        names = self._allowed is None and not self.denied_hosts and "*" in self.internal_hosts
        return GuardGate(flat=(SIGNS,), opens=names_a_place) if names else None

    def judge(self, reading: Reading[Egress | ToolCall], /) -> Finding | None:
        """What is said against where a request goes, or against the first of a call's URLs that
        goes wrong.

        Logins in URLs are kept out of records, also where they are allowed.
        """
        event = reading.event
        finding = self._against(event)
        if finding is None and isinstance(event, ToolCall):
            finding = self._commanded(reading)
        if finding is None and not self.credentials:
            return None
        hides = unwritten(event)
        if not hides:
            return finding
        if finding is None:
            return Finding(Action.ALLOW, "egress.login", hides=hides)
        return Finding(finding.action, finding.code, finding.args, hides=hides)

    def _against(self, event: Egress | ToolCall) -> Finding | None:
        if isinstance(event, Egress):
            finding = self._looked_up(CalledUrl(event.url, True))
            return self._beside(event) if finding is None else finding
        for place in places(event.args):
            finding = self._looked_up(place)
            if finding is not None:
                return finding
        return None

    def _commanded(self, reading: Reading[Any]) -> Finding | None:
        """What is said against where the commands of a call go. A host that is made when they run
        is none that the policy names."""
        for held in reading.commands:
            for url, known in destinations(held.text, reading.reader.limits):
                finding = None
                if known:
                    finding = self._looked_up(CalledUrl(url, True))
                elif self._allowed is not None:
                    finding = self._finding("egress.not_allowed", shown(url))
                if finding is not None and not (self._allowed is None and finding.code in HERE):
                    return finding
        return None

    def _looked_up(self, place: CalledUrl) -> Finding | None:
        judge: Callable[[CalledUrl], Finding | None]
        judge = self._kept if len(place.url) <= LONGEST_KEPT else self._judged
        return judge(place)

    def _beside(self, event: Egress) -> Finding | None:
        """What is said against the method of a request, or headers that name another one, or
        another host."""
        finding = self._method(event.method)
        for name, value in event.headers.items():
            if finding is not None:
                break
            low = name.lower()
            if low in METHOD_HEADERS:
                finding = self._method(value.strip())
            elif low == "host" and not same_host(event.url, value):
                finding = self._finding(
                    "egress.ambiguous", shown(value), "the header `host` and the URL differ"
                )
        return finding

    def _method(self, method: str) -> Finding | None:
        if self._methods is None or method.upper() in self._methods:
            return None
        said = shown(method)
        return self._finding("egress.method", said, _listed(self.methods))

    def _judged(self, place: CalledUrl) -> Finding | None:
        text = place.url
        if place.sure and len(text) > MAX_URL:
            return self._finding("egress.too_long", len(text), MAX_URL)
        target = url_of(text)
        if isinstance(target, UnreadableUrl):
            why = target.why
            return self._finding("egress.unreadable", shown(text), why) if place.sure else None
        if place.sure and target.scheme not in self.schemes:
            return self._finding("egress.scheme", target.scheme, _listed(self.schemes))
        if not target.host:
            why = "it has no host"
            return self._finding("egress.unreadable", shown(text), why) if place.sure else None
        plain = target.literal is None and "." not in target.host and target.host != "localhost"
        if plain and not place.sure:
            return None
        finding = self._barred(target)
        return self._strictly(target) if finding is None and place.sure else finding

    def _barred(self, target: UrlTarget) -> Finding | None:
        """What is said against a host as it is written, whatever is allowed."""
        host, port, literal = target.host, target.port, target.literal
        if literal is not None:
            return self.judged_address(host, literal, "it is", target)
        if self._denied.has(host, port):
            return self._finding("egress.denied", host, "the policy says so")
        if host in METADATA and not self._named_exactly(host, port):
            return self._finding("egress.metadata", host, "the name says so")
        where = inside_name(host)
        if where and not self.may_be_inside(host, port):
            return self._finding("egress.internal", host, where)
        for address in written_in(host):
            finding = self.judged_address(host, address, "its name leads to", target)
            if finding is not None:
                return finding
        return None

    def judged_address(
        self, host: str, address: Address, how: str, target: UrlTarget
    ) -> Finding | None:
        """What is said against one address of a host: it is denied, or inside and not allowed to
        be."""
        port = target.port
        if any(self._denied.has(one, port) for one in carried(address)):
            return self._finding("egress.denied", host, f"{how} `{address}`")
        if is_metadata(address):
            listed = host in METADATA and self._named_exactly(host, port)
            listed = listed or self._named_exactly(address, port)
            return None if listed else self._finding("egress.metadata", host, f"{how} `{address}`")
        what = inside(address)
        if not what or self._internal.has(address, port) or self.may_be_inside(host, port):
            return None
        if self._allowed is not None and self._allowed.holds(address, port):
            return None
        return self._finding("egress.internal", host, f"{how} `{address}` ({what})")

    def may_be_inside(self, name: str, port: int | None) -> bool:
        """Whether the policy names a host that is inside, so that it may be."""
        named = self._allowed is not None and self._allowed.exactly(name, port)
        return self._internal.has(name, port) or (named and inside_name(name) != "")

    def _named_exactly(self, host: str | Address, port: int | None) -> bool:
        return self._internal.exactly(host, port) or (
            self._allowed is not None and self._allowed.exactly(host, port)
        )

    def _strictly(self, target: UrlTarget) -> Finding | None:
        """What is said against a URL that would lead to a public host."""
        host, port = target.host, target.port
        if target.unclear:
            return self._finding("egress.ambiguous", host, target.unclear)
        if target.credentials and not self.credentials:
            return self._finding("egress.credentials", host)
        own: str | Address = host if target.literal is None else target.literal
        if self._allowed is not None and not self._allowed.has(own, port):
            return self._finding("egress.not_allowed", host if port is None else f"{host}:{port}")
        if self.ports is not None and port not in self.ports:
            return self._finding("egress.port", port, host, _listed(self.ports))
        return None

    def judged_addresses(self, target: UrlTarget, addresses: list[str]) -> Finding | None:
        """What is said against a name by what it resolves to: one address that leads inside is
        enough."""
        for text in addresses:
            finding = self.judged_address(target.host, address_of(text), "it resolves to", target)
            if finding is not None:
                return finding
        return self._finding("egress.unresolved", target.host) if not addresses else None

    def takes_proxy(self, proxy: str) -> bool:
        """Whether requests may go through a proxy, by its URL or by `host:port`."""
        target = url_of(proxy if "://" in proxy else f"http://{proxy}")
        if isinstance(target, UnreadableUrl) or target.unclear:
            return False
        own: str | Address = target.host if target.literal is None else target.literal
        return self._proxies.has(own, target.port)

    def beside(self, stages: frozenset[Stage], /) -> Beside | None:
        """What judges the addresses of names, where they are to be resolved."""
        if not self.resolve or Stage.EGRESS not in stages:
            return None
        return Beside("resolved", Resolved(self), Resolved.stages)

    def _finding(self, code: str, *args: str | int | None) -> Finding:
        return Finding(ACTIONS[self.action], code, args)

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        action = ACTIONS[self.action]
        return (Action.ALLOW, action) if self.credentials and action != Action.ALLOW else (action,)


def _listed(values: Any) -> str:
    return ", ".join([f"`{value}`" for value in values]) if values else "none"
