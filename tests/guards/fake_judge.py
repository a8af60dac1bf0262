"""A loopback endpoint that speaks as OpenAI-compatible ones do, and says what a test wants it
to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class FakeJudge:
    """Answers every question with `says`: a verdict, or bytes as they are. It keeps what it was
    asked. With `parts` it sends these one by one, then waits until the other side hangs up, and
    says so with `hung_up`."""

    def __init__(self) -> None:
        self.says: Any = {"verdict": "allow", "reason": "fine"}
        self.status = 200
        self.usage = {"prompt_tokens": 900, "completion_tokens": 100, "total_tokens": 1_000}
        self.headers: dict[str, str] = {}
        self.parts: Iterator[bytes] | None = None
        self.hung_up = threading.Event()
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        judge = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                judge.asked.append((self.path, dict(self.headers), body))
                if judge.parts is not None:
                    self.send_in_parts(judge.parts)
                    return
                sent = judge.says if isinstance(judge.says, bytes) else judge.reply()
                self.send_response(judge.status)
                self.send_header("Content-Length", str(len(sent)))
                for name, value in judge.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(sent)

            def send_in_parts(self, parts: Iterator[bytes]) -> None:
                self.send_response(200)
                self.end_headers()
                try:
                    for part in parts:
                        self.wfile.write(part)
                    self.connection.recv(1)
                except OSError:
                    pass
                judge.hung_up.set()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def reply(self) -> bytes:
        """What it sends."""
        content = self.says if isinstance(self.says, str) else json.dumps(self.says)
        return json.dumps(
            {"choices": [{"message": {"content": content}}], "usage": self.usage}
        ).encode()

    def close(self) -> None:
        """Stop."""
        self._server.shutdown()
        self._server.server_close()
