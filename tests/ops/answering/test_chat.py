"""A channel of a chat: what it is sent, and that its buttons answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from stanchion.telemetry.notices.message import NoticeMessage
from stanchion.telemetry.notices.slack import MOST_TEXT, SlackPost, in_blocks
from tests.ops.answering.scene import scene


class Channel:
    """A channel that keeps what it is sent."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        self.arrived = threading.Condition()
        self.url = ""

    def wait(self) -> dict[str, Any]:
        """The first message, when it has come."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: self.got, 60)
            return self.got[0]


@contextmanager
def channel() -> Iterator[Channel]:
    made = Channel()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            with made.arrived:
                made.got.append(json.loads(body))
                made.arrived.notify_all()
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_address[1]}/services/T/B/x"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def buttons(message: dict[str, Any]) -> dict[str, dict[str, Any]]:
    (row,) = [one for one in message["blocks"] if one["type"] == "actions"]
    return {one["action_id"].removeprefix("stanchion_"): one for one in row["elements"]}


def test_a_channel_is_asked_and_its_button_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANCHION_STATE_DIR", str(tmp_path))
    with channel() as team:
        address = tmp_path / "team.url"
        address.write_text(team.url)
        address.chmod(0o600)
        where = f"{{team: {{to: slack, url_file: {address}, kinds: [ticket.opened]}}}}"
        with scene(tmp_path, destinations=where) as at:
            at.asks(120)
            message = team.wait()
            assert "`pay`" in message["text"]
            assert '"amount": 120' in json.dumps(message["blocks"][1]).replace("\\", "")
            known = buttons(message)
            assert list(known) == ["no", "yes", "page"]
            assert "confirm" in known["yes"]
            token = known["yes"]["value"]
            assert known["page"]["url"] == f"http://127.0.0.1:{at.port.number}/a/{token}"
            assert at.presses(f"/a/{token}").status == 200
            assert at.goes_ahead(120)
            (fact,) = at.facts("ticket.approved")
            assert (fact.by, fact.data["strength"]) == ("ann", "chat")


def test_a_call_that_is_too_long_for_a_channel_has_no_yes_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANCHION_STATE_DIR", str(tmp_path))
    with channel() as team:
        address = tmp_path / "team.url"
        address.write_text(team.url)
        address.chmod(0o600)
        where = f"{{team: {{to: slack, url_file: {address}, kinds: [ticket.opened]}}}}"
        with scene(tmp_path, destinations=where) as at:
            at.asks("x" * 3_000)
            assert list(buttons(team.wait())) == ["no", "page"]


def test_what_an_agent_writes_is_no_markup_in_a_channel() -> None:
    text = "<!channel> *bold* <https://evil.example|click> & " + "long " * 1_000
    message = in_blocks({"text": text, "shown": "```</a>", "link": "https://x.org/a/t"})
    assert message["text"].startswith("&lt;!channel&gt; *bold* &lt;https://evil.example|click&gt;")
    first, second, _ = message["blocks"]
    assert first["text"]["type"] == "plain_text"
    assert len(first["text"]["text"]) == MOST_TEXT
    assert second["elements"][0]["elements"] == [{"type": "text", "text": "```</a>"}]
    assert [one["type"] for one in in_blocks({"text": "x"})["blocks"]] == ["section"]


@pytest.mark.parametrize(
    "url", ["http://example.org/x", "https://u:p@example.org/x", "", "ftp://x"]
)
def test_an_address_that_is_not_confidential_is_sent_nothing(url: str) -> None:
    said = SlackPost(lambda: url, 1.0).send(NoticeMessage("msg_x", '{"data": {"text": "x"}}'))
    assert not said.delivered
    assert "its address cannot be used" in said.said
