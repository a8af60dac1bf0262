"""Judging: what wants to leave by the door is an `egress` event of its run, and a connection leads
to an address that was judged for it, or is not made."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Iterable
from typing import Any, Final, NoReturn

import msgspec

from stanchion.audit.journal import Fact
from stanchion.guards.egress.hosts import Hosts
from stanchion.hosts.contract.acting import go_ahead
from stanchion.hosts.http.leaving import HTTP, Cleared, ClientTerms, hosts_are_judged, leave
from stanchion.hosts.http.outgoing import OutgoingRequest
from stanchion.kernel.actions import Action
from stanchion.kernel.events import Egress
from stanchion.kernel.findings import Finding
from stanchion.policy.sections import DoorRules
from stanchion.readings.signing_in import unwritten
from stanchion.readings.urls import PORTS, UrlTarget, url_of
from stanchion.runtime.answers.resolver import Resolver, system
from stanchion.runtime.door.codes import BYTES, NAMES, OWN, STRAYED, UNGUARDED, UNJUDGED
from stanchion.runtime.door.credentials import CredentialWatch, DoorCredential
from stanchion.runtime.door.learning import LearnedPlaces
from stanchion.runtime.door.names import DoorNames
from stanchion.runtime.door.unjudged import DOOR, JudgedHosts
from stanchion.runtime.door.wires import DoorWire, TlsWire
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.errors import Refused
from stanchion.runtime.standing.veil import tell

CONNECT_S: Final = 10.0
"""How long a connection to one address may take to be made."""


class Unreached(OSError):
    """No address that was judged could be connected to."""


class DoorDesk:
    """Judges for one door, and connects to what was judged."""

    def __init__(
        self,
        run: Any,
        terms: DoorRules,
        credentials: tuple[DoorCredential, ...] = (),
        tls: ssl.SSLContext | None = None,
        resolver: Resolver = system,
        closed: Iterable[int] = (),
    ) -> None:
        self._closed = frozenset(closed)
        self.watch = CredentialWatch(credentials)
        self._client = ClientTerms(HTTP.on(run), DOOR, terms.largest_body)
        self._desk = run.desk
        self.terms = terms
        self.learned = LearnedPlaces()
        self._judged = JudgedHosts(self._desk, terms.strict)
        self.names = DoorNames(terms.most_names)
        self._opaque = Hosts(terms.opaque)
        self._tls, self._resolver = tls, resolver
        self.sent = self.received = 0

    @property
    def shadow(self) -> bool:
        """Whether the policy only tells, and nothing is refused."""
        found: bool = self._desk.shield.policy.shadow
        return found

    @property
    def over(self) -> bool:
        """Whether the run has ended, and nothing of it goes on."""
        return self._desk.ended is not None

    @property
    def hidden_may_pass(self) -> bool:
        """Whether TLS may hide which host it asks for: as the policy says, or else where it names
        no hosts."""
        said = self.terms.hidden_names
        return said == "allow" if said else not hosts_are_named(self._desk.shield.policy)

    def opaque(self, url: str) -> bool:
        """Whether anything may be said to a place."""
        target = url_of(url)
        if not isinstance(target, UrlTarget):
            return False
        return self._opaque.has(
            target.host if target.literal is None else target.literal, target.port
        )

    async def clear(self, request: OutgoingRequest) -> Cleared:
        """Have a request judged; raises `Refused` where it does not leave, or where nobody has
        judged where it leads."""
        try:
            cleared = await self._cleared(request)
        except Refused as refused:
            self.learned.refused(request.url, refused.decision.code)
            raise
        self.learned.reached(request.url, request.method, cleared.addresses)
        return cleared

    async def _cleared(self, request: OutgoingRequest) -> Cleared:
        target = url_of(request.url)
        if (
            isinstance(target, UrlTarget)
            and target.literal is None
            and not self.names.admits(target.host)
        ):
            await self.refuse(request, NAMES, target.host, self.names.most)
        if (
            isinstance(target, UrlTarget)
            and not self._judged.settled(target.host)
            and not await asyncio.to_thread(self._judged.passes, target.host)
        ):
            await self.refuse(request, UNJUDGED, target.host)
        cleared = await self._client.hosted.adrive(leave(self._client, request))
        host = target.host if isinstance(target, UrlTarget) else request.url
        if cleared.addresses and hosts_are_judged(self._desk, self._event(request)):
            return cleared
        await self.refuse(request, UNGUARDED, host)
        port = target.port if isinstance(target, UrlTarget) and target.port else 0
        addresses = await asyncio.to_thread(self._resolver, host, port)
        return msgspec.structs.replace(cleared, addresses=tuple(addresses))

    def question(self, name: str) -> OutgoingRequest:
        """A question for a name as a request."""
        return asked_for(self._desk.shield.policy, name)

    async def keep_in(self, host: str, *said: bytes) -> None:
        """Raise an alarm, and refuse, where the placeholder of a credential goes anywhere but to
        its local door."""
        name = self.watch.strayed(host.encode(), *said)
        if not name:
            return
        shown = "a name" if self.watch.strayed(host.encode()) else host
        shield, info = self._desk.shield, self._desk.info
        why = f"it was sent to `{shown}`"
        fact = Fact(shield.clock(), "credential.strayed", name, info.tenant, info.id, DOOR, why)
        await asyncio.to_thread(tell, shield, fact)
        await self.refuse(UNREADABLE, STRAYED, name, shown)

    async def refuse(self, request: OutgoingRequest, code: str, *args: Any) -> None:
        """Refuse by the door's own word, as a decision of the run: raises `Refused`. Where the
        policy only tells, nothing is raised."""
        if self.shadow:
            return
        event = self._event(request)
        finding = Finding(Action.BLOCK, code, args, guard="kernel", hides=unwritten(event))
        await self._client.hosted.adrive(self._refused(event, finding))

    def _refused(self, event: Egress, finding: Finding) -> Flow[NoReturn]:
        yield from go_ahead(self._desk, event, (finding,))
        raise AssertionError("what the door refuses does not go ahead")

    def _event(self, request: OutgoingRequest) -> Egress:
        event: Egress = self._desk.event(
            Egress, DOOR, url=request.url, method=request.method, headers=request.shown()
        )
        return event

    async def connect(
        self, request: OutgoingRequest, addresses: tuple[str, ...], named: bool = False
    ) -> DoorWire:
        """A connection to the first of these addresses that answers. None to this machine itself,
        unless `allowed_hosts`, or the caller, has `named` it; and none to our own servers."""
        target = url_of(request.url)
        port = target.port if isinstance(target, UrlTarget) and target.port is not None else 0
        trouble: OSError = Unreached("there is no address")
        for address in addresses:
            own = is_own(address)
            if own and (port in self._closed or not (named or self._is_named(target))):
                await self.refuse(request, OWN, address)
            if own and port in self._closed:
                continue
            made = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
            made.setblocking(False)
            try:
                async with asyncio.timeout(CONNECT_S):
                    await asyncio.get_running_loop().sock_connect(made, (address, port))
            except OSError as error:
                made.close()
                trouble = error
                continue
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return DoorWire(made, address=address)
        raise Unreached(f"no connection: {trouble}") from trouble

    def _is_named(self, target: Any) -> bool:
        """Whether `allowed_hosts` has this very host."""
        entries = [one for hosts in _allowed(self._desk.shield.policy) for one in hosts or ()]
        host = target.host if target.literal is None else target.literal
        return Hosts(entries).exactly(host, target.port)

    async def secured(self, wire: DoorWire, request: OutgoingRequest) -> DoorWire:
        """The connection with TLS where the door itself sends a request by `https`."""
        target = url_of(request.url)
        if not isinstance(target, UrlTarget) or target.scheme != "https":
            return wire
        if self._tls is None:
            self._tls = ssl.create_default_context()
        try:
            async with asyncio.timeout(CONNECT_S):
                streams = await asyncio.open_connection(
                    sock=wire.sock, ssl=self._tls, server_hostname=target.host
                )
        except ssl.SSLCertVerificationError as error:
            wire.close()
            raise Unreached(f"its certificate does not hold: {error.verify_message}") from None
        except BaseException:
            wire.close()
            raise
        checked = self._tls.check_hostname and self._tls.verify_mode is ssl.CERT_REQUIRED
        return TlsWire(wire, streams, target.host if checked else "")

    def meter_out(self, count: int) -> None:
        """Count what goes out."""
        self.sent += count
        self._bounded(self.sent, self.terms.sent_bytes, "sent")

    def meter_in(self, count: int) -> None:
        """Count what comes in."""
        self.received += count
        self._bounded(self.received, self.terms.received_bytes, "received")

    def _bounded(self, count: int, most: int | None, done: str) -> None:
        if most is not None and count > most and not self.shadow:
            raise TooManyBytes(BYTES, (count, done, most))


def is_own(address: str) -> bool:
    """Whether an address is this machine's: one at which it can listen. What cannot be told is."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError as error:
            return error.errno != errno.EADDRNOTAVAIL
    return True


class TooManyBytes(Exception):
    """More has gone through than may; holds the code and its arguments."""

    def __init__(self, code: str, args: tuple[Any, ...]) -> None:
        super().__init__(code)
        self.code, self.about = code, args


def hosts_are_named(policy: Any) -> bool:
    """Whether a policy says which hosts may be reached."""
    return any(hosts is not None for hosts in _allowed(policy))


def _allowed(policy: Any) -> list[Any]:
    return [getattr(seat.placed.guard, "allowed_hosts", None) for seat in policy.seats]


def asked_for(policy: Any, name: str) -> OutgoingRequest:
    """A question for a name as a request: to the first port that the policy lists it with."""
    for entry in [entry for hosts in _allowed(policy) if hosts is not None for entry in hosts]:
        host, _, port = entry.rpartition(":")
        if port.isdigit() and (host == name or (host[:2] == "*." and name.endswith(host[1:]))):
            return place(name, int(port))
    return place(name, PORTS["https"])


UNREADABLE: Final = OutgoingRequest("GET", "http://unreadable.invalid/")
"""What is recorded of a request that cannot be read, or must not be."""


def place(host: str, port: int) -> OutgoingRequest:
    """A connection to a host as a request: a tunnel, whatever goes through it."""
    scheme = "http" if port == PORTS["http"] else "https"
    shown = f"[{host}]" if ":" in host and not host.startswith("[") else host
    behind = "" if port == PORTS[scheme] else f":{port}"
    return OutgoingRequest("CONNECT", f"{scheme}://{shown}{behind}/")
