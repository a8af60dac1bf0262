"""A model on loopback, in the form in which Claude Code asks one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Block = dict[str, Any]


def text(said: str) -> Block:
    """A text that a model says."""
    return {"type": "text", "text": said}


def call(name: str, tool: str, args: dict[str, Any]) -> Block:
    """A call that a model asks for."""
    return {"type": "tool_use", "id": name, "name": tool, "input": args}


@contextmanager
def serving(turn: Callable[[list[Any]], list[Block]]) -> Iterator[str]:
    """The address of a model that says what `turn` makes of the messages it gets. Requests without
    tools are Claude Code's own: they get a short answer."""

    class Asked(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            """Answer a request."""
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            try:
                said = turn(body["messages"]) if body.get("tools") else [text("ok")]
            except Exception as error:  # noqa: BLE001 - a script may have ended
                self._answer(400, "application/json", json.dumps({"error": str(error)}))
                return
            self._answer(200, "text/event-stream", "".join(_streamed(body["model"], said)))

        def _answer(self, status: int, kind: str, said: str) -> None:
            data = said.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Asked)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def _streamed(model: str, blocks: list[Block]) -> Iterator[str]:
    calls = any(block["type"] == "tool_use" for block in blocks)
    usage = {"input_tokens": 100, "output_tokens": 20}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": []}
    yield _event("message_start", message={**message, "stop_reason": None, "usage": usage})
    for at, block in enumerate(blocks):
        if block["type"] == "text":
            begun = {**block, "text": ""}
            piece: Block = {"type": "text_delta", "text": block["text"]}
        else:
            begun = {**block, "input": {}}
            piece = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield _event("content_block_start", index=at, content_block=begun)
        yield _event("content_block_delta", index=at, delta=piece)
        yield _event("content_block_stop", index=at)
    ends = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    yield _event("message_delta", delta=ends, usage=usage)
    yield _event("message_stop")


def _event(kind: str, **said: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **said})}\n\n"
