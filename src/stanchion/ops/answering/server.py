"""Serves the page of a ticket and takes a chat's buttons: what is looked at changes nothing, and
what is sent answers once."""

from __future__ import annotations

import logging
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

from stanchion.approvals.act import Way
from stanchion.approvals.answerers import Relayed
from stanchion.approvals.errors import AnswerRefused, TicketClosed, TicketError, UnknownTicket
from stanchion.approvals.links import BadLink, TicketLink, TicketLinks
from stanchion.approvals.rules import AnswererRole, refusal
from stanchion.approvals.ticket import State, Ticket, fate
from stanchion.approvals.words import says_something
from stanchion.kernel.autonomy import OPERATOR
from stanchion.kernel.state import StoreLost
from stanchion.ops.answering.chat import ChatDoor
from stanchion.ops.answering.other_end import OtherEnd
from stanchion.ops.answering.page import SECURITY, ticket_page, words_page
from stanchion.ops.daemon.wire import HookRequest, HookWire, HungUp, TurnedDown
from stanchion.ops.views.people import ticket_view
from stanchion.ops.views.ticket_rows import ONLY_NO, outcome
from stanchion.runtime.shield import Shield
from stanchion.telemetry.notices.config import AnswerPage
from stanchion.telemetry.notices.post import own_text

LOG: Final = logging.getLogger("stanchion.service")
MOST_BODY: Final = 64 << 10
MOST_COMMENT: Final = 500
NOT_NOW: Final = "not now"
"""What an agent reads where somebody says no, and not why."""
MOST_CONNECTIONS: Final = 64
FIRST_S: Final = 10.0
HURRIED_S: Final = 1.0
"""How long it is waited for what is asked, and where an address has asked too often by now."""
MINUTE_S: Final = 60.0
OF_ONE: Final = 120
IN_ALL: Final = 1_200
"""How many requests are heard in a minute of one link or one address, and of all addresses."""
CHAT: Final = "/chat"
PAGE: Final = "/a/"
SIGNING: Final = "put the signing secret of the chat's app there"


class PageAnswer(NamedTuple):
    """What is sent back: a status, and a page."""

    status: int
    page: str


class RequestRate:
    """Counts requests by who sends them, anew each minute: by their link where it is one that was
    made here, and by their address where it is not. Strangers cannot take the turn of a link."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s, self._lock = now_s, threading.Lock()
        self._minute, self._counts, self._strangers = -1, Counter[tuple[bool, str]](), 0

    def take(self, who: str, known: bool = False) -> None:
        """Count one; `TurnedDown` where it is one too many. `known` is who has a link: the bound of
        all is for strangers alone."""
        with self._lock:
            if not self._fits(who, known):
                raise TurnedDown(429, "too many requests: wait a minute")
            self._counts[known, who] += 1
            self._strangers += not known

    def has_room(self, address: str) -> bool:
        """Whether one more stranger is heard of an address."""
        with self._lock:
            return self._fits(address, False)

    def _fits(self, who: str, known: bool) -> bool:
        minute = int(self._now_s() // MINUTE_S)
        if minute != self._minute:
            self._minute, self._strangers = minute, 0
            self._counts.clear()
        return (known or self._strangers < IN_ALL) and self._counts[known, who] < OF_ONE


class AnswerDesk:
    """Shows tickets to whoever has their link, and has them answered."""

    def __init__(
        self, shield: Shield, page: AnswerPage, links: TicketLinks, other_end: OtherEnd
    ) -> None:
        self._shield, self._page, self._links = shield, page, links
        self._other_end = other_end
        chat = page.chat
        self._door: ChatDoor | None = None
        if chat is not None:
            secret = partial(own_text, chat.secret_file, SIGNING)
            self._door = ChatDoor(secret, lambda: shield.clock() / 1000)

    def hosts(self, port: int) -> set[str]:
        """By which names the page may be asked for: another one was made to lead here."""
        own = {urlsplit(self._links.base).netloc, self._page.bind}
        return own | {f"127.0.0.1:{port}", f"localhost:{port}"}

    def holder(self, path: str) -> str:
        """The ticket and the holder of the link that a path is; empty where it is none."""
        try:
            link = self._links.opened(path.removeprefix(PAGE)) if path.startswith(PAGE) else None
        except BadLink:
            return ""
        return "" if link is None else f"{link.tenant}/{link.ticket}/{link.holder}"

    def shown(self, token: str) -> PageAnswer:
        """The page of a ticket; nothing changes."""
        ticket = self._asked(self._links.opened(token))
        roster, now = self._shield.authority.known(), self._shield.clock()
        why = "" if ticket.whole else ONLY_NO
        if not ticket.kind.starts:
            why = f"nothing starts on a yes to this: `stanchion tickets show {ticket.id}`"
        if not why:
            asked = self._shield.authority.asked(ticket.asked)
            why = refusal(asked, AnswererRole(Way.LINK, "", OPERATOR, (), roster.enrolled))
        form = self._links.form(token, now)
        return PageAnswer(200, ticket_page(ticket, ticket_view(ticket, roster), now, form, why))

    def answered(self, token: str, body: bytes, sock: socket.socket) -> PageAnswer:
        """What came of the form of a page."""
        link = self._links.opened(token)
        sent = _fields(body)
        by = Relayed(f"link:{link.holder}", Way.LINK)

        def checked() -> None:
            self._links.check_form(token, sent.get("form", ""), self._shield.clock())
            if sent.get("answer") not in ("yes", "no"):
                raise AnswerRefused("this is neither a yes nor a no: open the link again")
            if sent["answer"] == "yes" and sent.get("read") != "yes":
                raise AnswerRefused("say that you have read it: open the link again")

        said = sent.get("why", "")[:MOST_COMMENT]
        return self._answer(link, by, sent.get("answer") == "yes", said, sock, checked)

    def pressed(self, request: HookRequest, body: bytes, sock: socket.socket) -> PageAnswer:
        """What came of a button in the chat."""
        if self._door is None or self._page.chat is None:
            raise TurnedDown(404, "no chat answers here: see `answers.chat`")
        pressed = self._door.opened(request.headers, body)
        if pressed is None:
            return PageAnswer(200, "")
        link = self._links.opened(pressed.token)
        name = self._page.chat.people.get(pressed.user, "")

        def checked() -> None:
            if not name:
                raise AnswerRefused("nobody says who this user of the chat is: `answers.chat`")

        by = Relayed(name if name else "chat:unknown", Way.CHAT)
        return self._answer(link, by, pressed.yes, "", sock, checked)

    def _answer(
        self,
        link: TicketLink,
        by: Relayed,
        yes: bool,
        why: str,
        sock: socket.socket,
        check: Callable[[], None],
    ) -> PageAnswer:
        tickets, ticket = self._shield.ticketing(), self._asked(link)
        doubt = self._other_end.doubt(sock)
        try:
            check()
            if doubt:
                raise AnswerRefused(f"{doubt}: an agent does not answer for itself")
        except AnswerRefused as refused:
            tickets.refuse(ticket, by.name, link.generation, str(refused))
            raise
        comment = why if says_something(why) or yes else NOT_NOW
        after = tickets.answer(
            ticket.id,
            by,
            yes=yes,
            comment=comment,
            tenant=ticket.tenant,
            generation=link.generation,
        )
        view = ticket_view(after, self._shield.authority.known())
        return PageAnswer(200, words_page(outcome(view), view.state))

    def _asked(self, link: TicketLink) -> Ticket:
        """The ticket as it was asked when the link was made; `TicketClosed` where that is over."""
        try:
            ticket = self._shield.ticket(link.ticket, link.tenant)
        except UnknownTicket:
            raise TicketClosed("this ticket is gone: the link leads nowhere any more") from None
        if (ticket.generation, ticket.deed.digest) != (link.generation, link.digest):
            raise TicketClosed(
                f"ticket `{ticket.id}` was asked for again since: use the link of the newer notice"
            )
        if ticket.state is not State.OPEN:
            raise TicketClosed(f"ticket `{ticket.id}` {fate(ticket)}")
        return ticket


STATUS: Final[tuple[tuple[type[Exception], int], ...]] = (
    (BadLink, 404),
    (TicketClosed, 410),
    (AnswerRefused, 403),
    (TicketError, 409),
    (StoreLost, 503),
)
"""What each thing that goes wrong is told as; the first that fits."""


class AnswerServer(ThreadingTCPServer):
    """Hears requests, each connection in a thread of its own. `OSError` or `ssl.SSLError` where it
    cannot listen, or has no certificate that fits."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def __init__(self, desk: AnswerDesk, page: AnswerPage) -> None:
        self._desk, self._rate = desk, RequestRate()
        self._places = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._tls: ssl.SSLContext | None = None
        if page.certificate is not None:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(page.certificate, page.private_key)
        host, _, port = page.bind.rpartition(":")
        super().__init__((host, int(port)), BaseRequestHandler)
        self.place = f"{host}:{self.server_address[1]}"
        self._hosts = desk.hosts(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Attend to a connection, unless too many are open."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Attend to a connection in its thread."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Answer what comes on a connection; each has one request."""
        request.settimeout(FIRST_S)
        with suppress(HungUp, OSError):
            secure = request if self._tls is None else self._tls.wrap_socket(request, True)
            with secure:
                self._attend(HookWire(secure), client_address[0])

    def _attend(self, wire: HookWire, address: str) -> None:
        try:
            request = wire.head(FIRST_S if self._rate.has_room(address) else HURRIED_S)
            holder = self._desk.holder(request.path)
            self._rate.take(holder if holder else address, holder != "")
            status, page = self._answer(wire, request)
        except TurnedDown as turned_down:
            status, page = turned_down.status, words_page(str(turned_down))
        except tuple(kind for kind, _ in STATUS) as error:
            status = next(status for kind, status in STATUS if isinstance(error, kind))
            page = words_page(str(error))
        except HungUp:
            raise
        except Exception:
            LOG.exception("a request to the page of answers failed")
            status, page = 503, words_page("this could not be answered: the log says why")
        wire.send(status, page.encode(), *SECURITY, "Connection: close")

    def _answer(self, wire: HookWire, request: HookRequest) -> PageAnswer:
        self._check(request)
        body = wire.body(request.length, MOST_BODY)
        match request.method, request.path:
            case "POST", path if path == CHAT:
                return self._desk.pressed(request, body, wire.sock)
            case "GET", path if path.startswith(PAGE):
                return self._desk.shown(path.removeprefix(PAGE))
            case "POST", path if path.startswith(PAGE):
                return self._desk.answered(path.removeprefix(PAGE), body, wire.sock)
        raise TurnedDown(404, "there is nothing here: use the link that you were sent")

    def _check(self, request: HookRequest) -> None:
        """Turn away what another web page sends."""
        headers = request.headers
        origin = headers.get("origin", "null")
        if headers.get("host", "") not in self._hosts:
            raise TurnedDown(421, "this page is not asked for by that name: see `answers.url`")
        here = headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
        known = origin == "null" or urlsplit(origin).netloc in self._hosts
        if request.method != "GET" and not (here and known):
            raise TurnedDown(403, "another page has sent this: open the link itself")


def _fields(body: bytes) -> dict[str, str]:
    """The fields of a form; `AnswerRefused` where it is none, or has one twice."""
    try:
        found = parse_qs(body.decode("ascii"), True, True, max_num_fields=8)
        return {name: value for name, (value,) in found.items()}
    except ValueError:
        raise AnswerRefused("this is no form of this page: open the link again") from None
