"""The page of a ticket: to look changes nothing, what agents write is text, and the link is where
people look and nowhere else."""

from __future__ import annotations

import hmac
import http.client
import ipaddress
import json
import logging
import os
import ssl
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from stanchion import Refused, Shield
from stanchion.approvals.errors import AnswerRefused
from stanchion.approvals.links import LONGEST, BadLink, TicketLink, TicketLinks
from stanchion.ops.answering import server
from stanchion.ops.answering.chat import ChatDoor
from stanchion.ops.answering.other_end import OtherEnd
from stanchion.ops.answering.server import AnswerDesk, AnswerServer, RequestRate
from stanchion.ops.daemon.wire import TurnedDown
from stanchion.runtime.errors import NotifyError
from stanchion.telemetry.notices.config import AnswerPage
from tests.approvals.origins import Origins
from tests.ops.answering.scene import SIGNING, form_of, scene
from tests.telemetry.receiver import SECRET, receiving

HOSTILE = {
    "to": "<script>alert(1)</script><img src=x onerror=alert(2)></pre></main>",
    "turned": "\u202egnp.exe\u2066\u200b\x07\x1b[31m",
    'key"><b>': "' onload='x",
    "long": "word " * 5_000,
}


def test_to_look_changes_nothing_however_often(tmp_path: Path) -> None:
    with scene(tmp_path) as at:
        ticket = at.asks()
        before = {cell.key: (cell.number, cell.value) for cell in at.shield.store.look()}
        facts = len(list(at.shield.journal.facts()))
        for more in ("", "?answer=yes", "/yes"):
            assert at.opens(at.link(ticket) + more).status in (200, 404)
        after = {cell.key: (cell.number, cell.value) for cell in at.shield.store.look()}
        assert (after, len(list(at.shield.journal.facts()))) == (before, facts)
        assert not at.goes_ahead()


def test_what_an_agent_writes_is_text_on_the_page(tmp_path: Path) -> None:
    with scene(tmp_path) as at:
        page = at.opens(at.link(at.asks(HOSTILE))).text
    assert "alert(1)" in page
    assert all(tag not in page for tag in ("<script", "<img", "<b>", "onload='"))
    assert page.count("</main>") == 1
    assert page.isprintable() or all(char.isprintable() or char == "\n" for char in page)
    assert "word " * 5_000 in page, "all that would go ahead is shown"


def test_a_question_about_values_has_its_danger_first_and_where_they_stand(tmp_path: Path) -> None:
    tool = {"effect": "irreversible", "sinks": ["amount"]}
    with scene(tmp_path, tool=tool, guards=(Origins(),)) as at:
        ticket = at.asks("read:DE89")
        page = at.opens(at.link(ticket)).text
        order = ["t cannot be taken back", "DE89", "the user asked for", ">No<", ">Yes<"]
        places = [page.index(words) for words in order]
        assert places == sorted(places)
        assert at.answers(at.link(ticket)).status == 200
        assert at.shield.ticket(ticket.id).state == "approved"


def test_every_answer_has_headers_that_keep_it_from_others(tmp_path: Path) -> None:
    with scene(tmp_path) as at:
        link = at.link(at.asks())
        said = [at.opens(link), at.opens(link + "x"), at.sends("GET", "/", None)]
        said += [at.answers(link, form="1.0"), at.answers(link), at.opens(link)]
        assert [one.status for one in said] == [200, 404, 404, 403, 200, 410]
        for one in said:
            policy = one.headers["Content-Security-Policy"]
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "script" not in policy
            assert one.headers["Cache-Control"] == "no-store"
            assert one.headers["Referrer-Policy"] == "no-referrer"
            assert "<script" not in one.text


def test_a_yes_is_not_offered_where_it_would_not_count(tmp_path: Path) -> None:
    with scene(tmp_path, risk="high") as at:
        page = at.opens(at.link(at.asks())).text
    assert "only an operator with a key can say yes" in page
    assert ">Yes" not in page
    assert ">No<" in page


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin", "Origin": "null"}, 200),
    ],
    ids=str,
)
def test_another_web_page_cannot_send_an_answer(
    headers: dict[str, str], status: int, tmp_path: Path
) -> None:
    with scene(tmp_path) as at:
        link = at.link(at.asks())
        opened = at.opens(link).text
        form = opened.partition('name="form" value="')[2].partition('"')[0]
        body = f"form={form}&answer=yes&read=yes".encode()
        assert at.sends("POST", urlsplit(link).path, body, **headers).status == status
        assert at.goes_ahead() is (status == 200)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"answer=yes", 403),
        (b"answer=maybe&read=yes", 403),
        (b"answer=no&answer=yes", 403),
        (b"\xff", 403),
        (b"", 403),
        (b"x" * (64 * 1024 + 1), 413),
    ],
    ids=lambda value: str(value)[:24],
)
def test_what_is_no_form_of_the_page_answers_nothing(
    body: bytes, status: int, tmp_path: Path
) -> None:
    with scene(tmp_path) as at:
        ticket = at.asks()
        link = at.link(ticket)
        form = at.links.form(link.rpartition("/")[2], at.clock()).encode()
        whole = b"form=" + form + b"&" + body if status == 403 else body
        assert at.sends("POST", urlsplit(link).path, whole).status == status
        assert at.shield.ticket(ticket.id).state == "open"


def test_a_page_that_was_opened_long_ago_answers_nothing(tmp_path: Path) -> None:
    with scene(tmp_path, terms={"timeout_s": 7_200}) as at:
        link = at.link(at.asks())
        form = form_of(at.opens(link).text)
        at.clock.advance(3_600_000)
        late = at.answers(link, form=form)
        assert (late.status, "opened too long ago" in late.text) == (403, True)
        assert not at.goes_ahead()
        assert at.answers(link).status == 200
        assert at.goes_ahead()


def test_a_link_says_what_became_of_its_ticket(tmp_path: Path) -> None:
    with scene(tmp_path) as at:
        ticket = at.asks()
        link = at.link(ticket)
        at.clock.advance(1_800_000)
        over = at.opens(link)
        assert (over.status, "has expired" in over.text) == (410, True)
        newer = at.link(at.asks_again())
        over = at.opens(link)
        assert (over.status, "was asked for again since" in over.text) == (410, True)
        assert at.opens(newer).status == 200
        at.shield.deny(ticket.id, by="bob", comment="no")
        assert "was already denied, by `bob`" in at.opens(newer).text


def test_too_many_requests_in_a_minute_are_turned_away() -> None:
    now = [0.0]
    rate = RequestRate(lambda: now[0])
    for _ in range(server.OF_ONE):
        rate.take("a")
    with pytest.raises(TurnedDown, match="wait a minute"):
        rate.take("a")
    for each in range(server.IN_ALL - server.OF_ONE):
        rate.take(f"{each}")
    with pytest.raises(TurnedDown):
        rate.take("b")
    assert not rate.has_room("c")
    for _ in range(server.OF_ONE):
        rate.take("a", known=True)
    with pytest.raises(TurnedDown):
        rate.take("a", known=True)
    now[0] = server.MINUTE_S
    assert rate.has_room("a")
    rate.take("a")


def test_strangers_cannot_take_the_turn_of_who_has_a_link(tmp_path: Path) -> None:
    """All of them come from one address; the one with a link is counted by it."""
    with scene(tmp_path) as at:
        link = at.link(at.asks())
        told = [at.sends("GET", "/a/none", None).status for _ in range(server.OF_ONE + 1)]
        assert told == [404] * server.OF_ONE + [429]
        assert at.answers(link).status == 200
        assert at.goes_ahead()


def test_what_a_chat_signed_counts_once() -> None:
    now = [1_000.0]
    door = ChatDoor(lambda: "s", lambda: now[0])
    said: dict[str, Any] = {"type": "block_actions", "user": {"id": "U"}, "actions": []}
    body = ("payload=" + json.dumps(said)).encode()

    def signed(at: str) -> dict[str, str]:
        mark = "v0=" + hmac.new(b"s", f"v0:{at}:".encode() + body, "sha256").hexdigest()
        return {"x-slack-request-timestamp": at, "x-slack-signature": mark}

    assert door.opened(signed("1000"), body) is None
    with pytest.raises(AnswerRefused, match="sent before"):
        door.opened(signed("1000"), body)
    for late in ("699", "1301", "soon"):
        with pytest.raises(AnswerRefused):
            door.opened(signed(late), body)
    for headers in ({}, {"x-slack-signature": "v0="}, {**signed("1000"), "x-slack-signature": "é"}):
        with pytest.raises(AnswerRefused, match="has not signed"):
            door.opened(headers, body)


def test_a_link_is_known_by_its_key_alone_and_has_one_spelling() -> None:
    links, others = TicketLinks("http://x", b"k" * 32), TicketLinks("http://x", b"l" * 32)
    link = TicketLink("default", "abc", 1, "d" * 64, "phone")
    token = links.token(link)
    assert links.opened(token) == link
    for wrong in (others.token(link), token + "=", token[:-1], "", "é", "A" * (LONGEST + 1)):
        with pytest.raises(BadLink):
            links.opened(wrong)


def test_the_link_is_in_the_notice_and_nowhere_that_an_agent_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PAGER_SECRET", SECRET)
    monkeypatch.setenv("STANCHION_STATE_DIR", str(tmp_path))
    caplog.set_level(logging.DEBUG)
    with receiving() as receiver:
        pager = f"{{pager: {{to: webhook, url: '{receiver.url}', secret_env: PAGER_SECRET}}}}"
        with scene(tmp_path, destinations=pager) as at:
            with at.run() as run:
                with pytest.raises(Refused) as refused:
                    run.call(at.pay, amount=5)
                notices = run.notices()
            (got, *_) = receiver.wait_for(1)
            link = got.data["link"]
            assert link.startswith(f"http://127.0.0.1:{at.port.number}/a/")
            token = link.rpartition("/")[2]
            said = [str(refused.value), repr(refused.value.decision), *notices, caplog.text]
            said += [repr(vars(one)) for one in caplog.records]
            said += [repr(one) for one in at.shield.journal.facts()]
            said += [repr(entry.read()) for entry in at.shield.journal.kept()]
            said += [f"{name}={value}" for name, value in os.environ.items()]
            assert not [one for one in said if token in one or "/a/" in one]
            logged = [vars(one).get("occurrence", {}) for one in caplog.records]
            assert not [one for one in logged if "asked" in one], "no arguments are logged"
            assert at.answers(link).status == 200
            assert at.goes_ahead()
            (fact,) = at.facts("ticket.approved")
            assert fact.by == "link:pager"


def test_a_page_that_others_can_reach_needs_a_certificate(tmp_path: Path) -> None:
    file = tmp_path / "notify.yaml"
    for bind in ("0.0.0.0:8717", "192.168.1.4:8717", "example.org:8717"):
        file.write_text(f"answers: {{bind: '{bind}'}}\n")
        with pytest.raises(NotifyError) as refused:
            Shield.load("default", store="memory:", journal="memory:", notify=file)
        (line,) = refused.value.faults
        assert "give `certificate` and `private_key`" in line
    for more in ("certificate: /c.pem", "url: 'http://example.org'", "url: 'https://x.org/y'"):
        file.write_text(f"answers: {{{more}}}\n")
        with pytest.raises(NotifyError):
            Shield.load("default", store="memory:", journal="memory:", notify=file)


def certificate(folder: Path) -> tuple[str, str]:
    """A certificate of 127.0.0.1 for itself, and its key."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - timedelta(1)).not_valid_after(now + timedelta(1))
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = made.add_extension(x509.SubjectAlternativeName([address]), False)
    files = folder / "cert.pem", folder / "key.pem"
    encoding = serialization.Encoding.PEM
    files[0].write_bytes(made.sign(key, hashes.SHA256()).public_bytes(encoding))
    private = key.private_bytes(
        encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    files[1].write_bytes(private)
    return str(files[0]), str(files[1])


def test_with_a_certificate_the_page_speaks_tls_alone(tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    with scene(tmp_path) as at:
        ticket = at.asks()
        page = AnswerPage(bind="127.0.0.1:0", certificate=cert, private_key=key)
        desk = AnswerDesk(at.shield, page, at.links, OtherEnd(None, hosts=()))
        secure = AnswerServer(desk, page)
        at.port.release()
        thread = threading.Thread(target=secure.serve_forever, args=(0.05,))
        thread.start()
        try:
            port, path = secure.server_address[1], urlsplit(at.link(ticket)).path
            context = ssl.create_default_context(cafile=cert)
            link = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=30)
            link.request("GET", path)
            assert link.getresponse().status == 200
            link.close()
            plain = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            plain.request("GET", path)
            with pytest.raises((http.client.HTTPException, OSError)):
                plain.getresponse()
            plain.close()
        finally:
            secure.shutdown()
            secure.server_close()
            thread.join()


def test_the_secret_of_a_chat_is_for_its_owner_alone(tmp_path: Path) -> None:
    with scene(tmp_path) as at:
        ticket = at.asks()
        secret = tmp_path / "chat.secret"
        assert secret.read_text() == SIGNING
        secret.chmod(0o644)
        assert at.presses(at.link(ticket)).status == 503
        secret.chmod(0o600)
        assert at.presses(at.link(ticket)).status == 200
        assert at.goes_ahead()
