"""What guards hide does not leave: the URL, headers and body go out as they were decided, or not at
all."""

from __future__ import annotations

import gzip
import json

import msgspec
import pytest

from stanchion import Action, Refused, Shield
from stanchion.hosts.http.outgoing import OutgoingRequest, rewritten
from stanchion.hosts.http.payload import Payload, Unfit
from stanchion.kernel.events import Egress, RunInfo
from stanchion.kernel.findings import Patch
from stanchion.kernel.stages import Stage
from tests.hosts.http.clients import Ask, Send
from tests.hosts.http.policies import WORD, Hides, decided, judged, shield
from tests.hosts.http.servers import Server
from tests.runtime.guards import says


@pytest.fixture
def here(outside: Server) -> Shield:
    """A shield that hides the word."""
    return shield({"public.test": ["127.0.0.1"]}, [Hides()], internal_hosts=["127.0.0.1"])


def test_a_url_goes_out_redacted(send: Send, here: Shield, outside: Server) -> None:
    """The rest of it stays as it is."""
    ask = Ask(f"http://public.test:{outside.port}/a%20b?user=x&key={WORD}&z=1")
    assert send(here.run(), ask) == ["ok"]
    assert outside.got[0].path == "/a%20b?user=x&key=%5Bredacted:word%5D&z=1"
    assert judged(here)[0].action == "REDACT"


def test_a_header_goes_out_redacted(send: Send, here: Shield, outside: Server) -> None:
    """Others stay as they are."""
    headers = {"X-Key": f"key {WORD}", "X-Other": "b"}
    send(here.run(), Ask(f"http://public.test:{outside.port}/", "POST", headers, b"body"))
    got = outside.got[0]
    assert (got.headers["x-key"], got.headers["x-other"], got.body) == (
        "key [redacted:word]",
        "b",
        b"body",
    )


@pytest.mark.parametrize("streamed", [False, True])
def test_a_text_body_goes_out_redacted(
    send: Send, here: Shield, outside: Server, streamed: bool
) -> None:
    """Its length is that of what is sent, also where it comes in pieces that cut the word."""
    body = f"name=é&key={WORD}&end".encode()
    given = [body[:14], body[14:]] if streamed else body
    send(here.run(), Ask(f"http://public.test:{outside.port}/", "POST", body=given))
    assert outside.got[0].body.decode() == "name=é&key=[redacted:word]&end"


def test_the_name_of_a_header_is_judged_as_it_is_sent() -> None:
    """In small letters a key is not the same; where it would be redacted the request is refused."""
    request = OutgoingRequest(
        "GET",
        "http://public.test/",
        (("X-AKIAQ3EGSZ7YJLV5WXKP", "1"), ("Content-Type", "text/plain")),
    )
    was = request.shown()
    assert was == {
        "X-AKIAQ3EGSZ7YJLV5WXKP": "1",
        "x-akiaq3egsz7yjlv5wxkp": "1",
        "content-type": "text/plain",
    }
    event = Egress(id="e", at=0, run=RunInfo("r"), url=request.url, headers=was)
    hidden = {"X-[redacted:key]": "1", "x-akiaq3egsz7yjlv5wxkp": "1", "content-type": "text/plain"}
    with pytest.raises(Unfit, match="the name of a header"):
        rewritten(request, Payload(), event, msgspec.structs.replace(event, headers=hidden))


def test_a_json_body_goes_out_redacted(send: Send, here: Shield, outside: Server) -> None:
    """On its structure: an escape does not hide the word, and what is sent is JSON."""
    body = b'{"a": ["x", {"b": "\\u0068unter2!"}], "n": 1.5, "k": null}'
    headers = {"Content-Type": "application/json"}
    send(here.run(), Ask(f"http://public.test:{outside.port}/", "POST", headers, body))
    got = outside.got[0]
    assert json.loads(got.body) == {"a": ["x", {"b": "[redacted:word]!"}], "n": 1.5, "k": None}
    assert got.headers["content-type"] == "application/json"


def test_what_nobody_objects_to_goes_out_byte_for_byte(
    send: Send, here: Shield, outside: Server
) -> None:
    """Reading a body changes nothing of it."""
    body = b'{"b" :1e400,\n "b": [ ] , "c": "\\ud800"}'
    url = f"http://public.test:{outside.port}/x?q=%7e&r=a+b"
    send(
        here.run(),
        Ask(url, "POST", {"X-A": "1"}, body),
        Ask(url, "PUT", body=[b"\xff\x00", b"\xfe"]),
    )
    assert [got.body for got in outside.got] == [body, b"\xff\x00\xfe"]
    assert outside.got[0].headers["content-length"] == str(len(body))


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"Content-Encoding": "gzip"}, gzip.compress(f"key={WORD}".encode(), mtime=0)),
        ({"Authorization": "AWS4-HMAC-SHA256 Credential=x"}, f"key={WORD}".encode()),
        ({"Content-MD5": "Q2hlY2s="}, f"key={WORD}".encode()),
        ({"Content-Type": "application/json"}, f'{{"a": "{WORD}", "a": 1}}'.encode()),
        ({"Content-Type": "multipart/form-data; boundary=b"}, f"--b {WORD} ".encode() + b"\xff"),
    ],
)
def test_what_cannot_be_redacted_is_refused(
    send: Send, here: Shield, outside: Server, headers: dict[str, str], body: bytes
) -> None:
    """Packed, signed and torn bodies are judged by what is in them, and do not leave half
    redacted."""
    with pytest.raises(Refused) as refused:
        send(here.run(), Ask(f"http://public.test:{outside.port}/", "POST", headers, body))
    assert refused.value.decision.code == "http.unredactable"
    assert WORD not in str(refused.value)
    assert outside.connections == 0


def test_a_redaction_never_changes_where_a_request_goes(
    send: Send, outside: Server, inside: Server
) -> None:
    """A patch of the URL that leads to another server is no redaction."""
    elsewhere = Patch(("url",), f"http://public.test:{inside.port}/")
    guard = says(Action.REDACT, Stage.EGRESS, patches=(elsewhere,))
    here = shield({"public.test": ["127.0.0.1"]}, [guard], internal_hosts=["127.0.0.1"])
    with pytest.raises(Refused) as refused:
        send(here.run(), Ask(f"http://public.test:{outside.port}/"))
    assert refused.value.decision.code in ("http.unredactable", "egress.ambiguous")
    assert (outside.connections, inside.connections) == (0, 0)


def test_a_patch_that_changes_nothing_breaks_no_signature(send: Send, outside: Server) -> None:
    """What goes out is what was signed."""
    guard = says(Action.REDACT, Stage.EGRESS, patches=(Patch(("payload",), "signed"),))
    here = shield({"public.test": ["127.0.0.1"]}, [guard], internal_hosts=["127.0.0.1"])
    headers = {"Authorization": "AWS4-HMAC-SHA256 Credential=x"}
    assert send(
        here.run(), Ask(f"http://public.test:{outside.port}/", "POST", headers, b"signed")
    ) == ["ok"]
    with pytest.raises(Refused):
        send(here.run(), Ask(f"http://public.test:{outside.port}/", "POST", headers, b"other"))
    assert [got.body for got in outside.got] == [b"signed"]


def test_a_secret_can_be_refused(send: Send, outside: Server) -> None:
    """Nothing leaves of a request that a guard blocks, wherever in it the reason stands."""
    here = shield(
        {"public.test": ["127.0.0.1"]}, [Hides(action=Action.BLOCK)], internal_hosts=["127.0.0.1"]
    )
    url = f"http://public.test:{outside.port}/"
    for ask in (
        Ask(f"{url}?k={WORD}"),
        Ask(url, headers={"X-K": WORD}),
        Ask(url, "POST", body=WORD.encode()),
    ):
        with pytest.raises(Refused, match="a secret would leave"):
            send(here.run(), ask)
    assert outside.connections == 0
    assert decided(here) == ["test.secret"] * 3


def test_a_redirect_does_not_carry_what_was_hidden(
    send: Send, here: Shield, outside: Server
) -> None:
    """The client repeats its own headers; each hop is redacted by itself."""
    base = f"http://public.test:{outside.port}"
    send(here.run(), Ask(f"{base}/to/{base}/end", headers={"X-Key": WORD}))
    assert [got.headers["x-key"] for got in outside.got] == ["[redacted:word]"] * 2
