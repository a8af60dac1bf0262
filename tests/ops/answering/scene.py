"""A page of answers with a ticket, an agent that asks, a person with a phone, and a scripted
chat."""

from __future__ import annotations

import hmac
import http.client
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from stanchion import Refused, Shield
from stanchion.approvals.links import TicketLink
from stanchion.approvals.operators import Operator
from stanchion.approvals.ticket import State, Ticket
from stanchion.ops.answering.other_end import NOBODY, OtherEnd
from stanchion.ops.answering.server import AnswerDesk, AnswerServer
from stanchion.ops.broker.peers import Admission
from stanchion.runtime.run import Run
from stanchion.runtime.standing.listeners import read_notify
from stanchion.runtime.standing.ticket_links import links_of
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock
from tests.ports import Port

SIGNING = "8f742231b10e8888abcd99yyyzzz85a5"


class Told(NamedTuple):
    """What a page or a chat was answered."""

    status: int
    text: str
    headers: dict[str, str]


class Scene:
    """One shield on a file, its page on loopback, and what was paid."""

    def __init__(
        self,
        folder: Path,
        terms: dict[str, Any] | None = None,
        risk: str = "medium",
        operators: tuple[Operator, ...] = (),
        destinations: str = "{}",
        agents: Admission = NOBODY,
        tool: dict[str, Any] | None = None,
        guards: tuple[Any, ...] = (),
    ) -> None:
        self.clock, self.paid = FakeClock(), []  # type: FakeClock, list[Any]
        self.port = Port()
        secret = folder / "chat.secret"
        secret.write_text(SIGNING)
        secret.chmod(0o600)
        self.notify = folder / "notify.yaml"
        self.notify.write_text(
            f"answers:\n  bind: 127.0.0.1:{self.port.number}\n"
            f"  chat: {{secret_file: {secret}, people: {{U1: ann}}}}\n"
            f"destinations: {destinations}\n"
        )
        policy = {
            "name": "p",
            "tools": {
                "pay": {"risk": risk, "ask": True, "effect": "outward"} if tool is None else tool
            },
            "escalation": {"timeout_s": 1800, **(terms or {})},
        }
        self.shield = Shield.load(
            policy,
            store=SqliteStore(folder / "state.db", self.clock),
            journal="memory:",
            clock=self.clock,
            notify=self.notify,
            operators=operators,
            guards=guards,
        )
        file = read_notify(self.notify)
        links = links_of(file, {"STANCHION_STATE_DIR": str(folder)})
        assert links is not None
        assert file.answers is not None
        assert self.shield.presence is not None
        self.links = links
        end = OtherEnd(self.shield.presence.state, agents, ())
        desk = AnswerDesk(self.shield, file.answers, links, end)
        self.server = AnswerServer(desk, file.answers)
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()

    def close(self) -> None:
        """End it all."""
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
        self.shield.close()
        self.port.release()

    def run(self) -> Run:
        """A run of the agent; while it is open this process is the agent's."""
        return self.shield.run(agent="bot", task="bills")

    def asks(self, amount: Any = 5, run: Run | None = None) -> Ticket:
        """The agent wants to pay; gives the ticket."""
        with self.run() if run is None else run as asking:
            try:
                asking.call(self.pay, amount=amount)
            except Refused as refused:
                return self.shield.ticket(str(refused.ticket))
        raise AssertionError("nobody was asked")

    def asks_again(self, amount: Any = 5) -> Ticket:
        """The agent wants the same when its ticket has expired: that is told first, and then it is
        asked again."""
        self.asks(amount)
        ticket = self.asks(amount)
        assert (ticket.state, ticket.generation) == (State.OPEN, 2)
        return ticket

    def pay(self, amount: Any) -> None:
        """Pay."""
        self.paid.append(amount)

    def goes_ahead(self, amount: Any = 5) -> bool:
        """Whether the same call goes ahead now."""
        before = len(self.paid)
        with self.run() as run:
            try:
                run.call(self.pay, amount=amount)
            except Refused:
                return False
        return len(self.paid) == before + 1

    def link(self, ticket: Ticket, holder: str = "phone") -> str:
        """The link to a ticket that a destination was sent."""
        digest = ticket.deed.digest
        return self.links.url(
            TicketLink(ticket.tenant, ticket.id, ticket.generation, digest, holder)
        )

    def opens(self, link: str, **headers: str) -> Told:
        """Open a link."""
        return self.sends("GET", urlsplit(link).path, None, **headers)

    def answers(self, link: str, answer: str = "yes", form: str | None = None, **more: str) -> Told:
        """Press a button of the page, which was opened before unless its form is given."""
        if form is None:
            form = form_of(self.opens(link).text)
        read = {"read": "yes"} if answer == "yes" else {}
        body = urlencode({"form": form, "answer": answer, **read, **more})
        return self.sends("POST", urlsplit(link).path, body.encode())

    def presses(
        self,
        link: str,
        answer: str = "yes",
        user: str = "U1",
        secret: str = SIGNING,
        at: int | None = None,
    ) -> Told:
        """Press a button in the chat."""
        body, headers = self.pressed(link, answer, user, secret, at)
        return self.sends("POST", "/chat", body, **headers)

    def pressed(
        self,
        link: str,
        answer: str = "yes",
        user: str = "U1",
        secret: str = SIGNING,
        at: int | None = None,
    ) -> tuple[bytes, dict[str, str]]:
        """What the chat sends where somebody presses a button."""
        action = {"action_id": f"stanchion_{answer}", "value": link.rpartition("/")[2]}
        said = {"type": "block_actions", "user": {"id": user}, "actions": [action]}
        body = urlencode({"payload": json.dumps(said)}).encode()
        moment = str(self.clock() // 1000 if at is None else at)
        signed = b"v0:" + moment.encode() + b":" + body
        signature = "v0=" + hmac.new(secret.encode(), signed, "sha256").hexdigest()
        return body, {"X-Slack-Request-Timestamp": moment, "X-Slack-Signature": signature}

    def sends(self, method: str, path: str, body: bytes | None, **headers: str) -> Told:
        """Send a request."""
        link = http.client.HTTPConnection("127.0.0.1", self.port.number, timeout=30)
        try:
            link.request(
                method, path, body, {name.replace("_", "-"): v for name, v in headers.items()}
            )
            answer = link.getresponse()
            return Told(answer.status, answer.read().decode(), dict(answer.getheaders()))
        finally:
            link.close()

    def facts(self, what: str) -> list[Any]:
        """What the trail says of a kind."""
        return [one for one in self.shield.journal.facts() if one.what == what]


def form_of(page: str) -> str:
    """The token in the form of a page; empty where it has none."""
    found = re.search(r'name="form" value="([^"]+)"', page)
    return unescape(found[1]) if found else ""


@contextmanager
def scene(folder: Path, **options: Any) -> Iterator[Scene]:
    """A scene that is closed at the end."""
    made = Scene(folder, **options)
    try:
        yield made
    finally:
        made.close()
