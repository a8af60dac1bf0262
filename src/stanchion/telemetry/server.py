"""A small HTTP server for figures, where there is no other to mount them in."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from stanchion.telemetry.exposition import PLAIN, Collect, ScrapeAnswer, answer

PATHS: Final = frozenset({"/metrics", "/metrics/"})
PATIENCE_S: Final = 10.0
"""How long a client may take over its request."""


def server(collect: Collect, host: str, port: int) -> ThreadingHTTPServer:
    """A server that answers on `/metrics`; `OSError` where the port is taken. `serve_forever` runs
    it."""

    class Asked(BaseHTTPRequestHandler):
        timeout = PATIENCE_S
        protocol_version = "HTTP/1.1"
        server_version, sys_version = "stanchion", ""

        def do_GET(self) -> None:
            self._send(self._answered())

        do_HEAD = do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 - the names that the library calls

        def _answered(self) -> ScrapeAnswer:
            if self.path.partition("?")[0] not in PATHS:
                return ScrapeAnswer(
                    404, "Not Found", [("Content-Type", PLAIN), ("Content-Length", "0")], b""
                )
            return answer(collect, self.command, self.headers.get("Accept", ""))

        def _send(self, made: ScrapeAnswer) -> None:
            self.send_response(made.status, made.reason)
            for name, value in made.headers:
                self.send_header(name, value)
            self.send_header("Connection", "close")
            self.close_connection = True
            self.end_headers()
            self.wfile.write(made.body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing of each scrape."""

    made = ThreadingHTTPServer((host, port), Asked)
    made.daemon_threads = True
    return made
