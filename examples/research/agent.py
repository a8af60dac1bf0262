"""A research agent whose requests are judged where they leave. The web is a small server on this
machine."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

try:
    import httpx
except ModuleNotFoundError:
    sys.exit(
        "this example needs the extra `httpx`: pip install 'stanchion-guard[httpx]', or '.[httpx]' "
        "in a checkout"
    )

from stanchion import Refused, Run, Shield, current_run

HERE = Path(__file__).parent

PAGES = {
    (
        "papers.example",
        "/survey",
    ): "Guards at run time: a survey. The data is at /data, a mirror at /mirror.",
    ("papers.example", "/data"): "rows: 1200",
    ("wiki.example", "/guards"): "See also http://tracker.example/?id=42 for the full text.",
}
MOVED = {("papers.example", "/mirror"): "http://tracker.example/survey"}


class Web(BaseHTTPRequestHandler):
    """All hosts of the example's web."""

    protocol_version = "HTTP/1.1"
    seen: list[str] = []  # noqa: RUF012  one web for all requests

    def do_GET(self) -> None:
        """Give a page, or say where it has moved."""
        host = self.headers["Host"].partition(":")[0]
        self._seen(host, "")
        if (host, self.path) in MOVED:
            self.send_response(302)
            self.send_header("Location", MOVED[host, self.path])
            self._send("")
        else:
            self.send_response(200 if (host, self.path) in PAGES else 404)
            self._send(PAGES.get((host, self.path), "no such page"))

    def do_POST(self) -> None:
        """Take what is published."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self._seen(self.headers["Host"].partition(":")[0], body)
        self.send_response(201)
        self._send("published")

    def _seen(self, host: str, body: str) -> None:
        Web.seen.append(f"{self.command} {host}{self.path} {body}".rstrip())

    def _send(self, text: str) -> None:
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the example prints what arrives."""


@contextmanager
def web() -> Iterator[int]:
    """The web, for as long as it is needed; gives its port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Web) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def client() -> httpx.Client:
    """A client that belongs to the run at work: every request is judged, and goes where it was
    judged to go."""
    run = current_run()
    assert run is not None
    return httpx.Client(transport=run.httpx_transport(), follow_redirects=True)


def fetch(url: str) -> str:
    """Read a page."""
    with client() as http:
        return http.get(url).text


def publish(url: str, notes: str) -> str:
    """Publish notes."""
    with client() as http:
        return http.post(url, json={"notes": notes}).text


def steps(port: int) -> list[tuple[Callable[..., str], dict[str, str]]]:
    """What the agent does, in order."""
    papers, wiki = f"http://papers.example:{port}", f"http://wiki.example:{port}"
    return [
        (fetch, {"url": f"{papers}/survey"}),
        (fetch, {"url": f"{wiki}/guards"}),
        (fetch, {"url": "http://tracker.example/?id=42"}),
        (fetch, {"url": f"{papers}/mirror"}),
        (fetch, {"url": "http://169.254.169.254/latest/meta-data/"}),
        (fetch, {"url": f"http://0x7f000001:{port}/admin"}),
        (publish, {"url": f"{wiki}/notes", "notes": "1200 rows; upload key AKIAWW7JOSQESZEK5VDL"}),
        (fetch, {"url": f"{papers}/data"}),
        (fetch, {"url": f"{papers}/survey"}),
        (fetch, {"url": f"{papers}/data"}),
    ]


def take(run: Run, port: int) -> None:
    """Take the steps, and show what becomes of each."""
    for tool, args in steps(port):
        print(f"{tool.__name__} {' '.join(args.values())}".replace(f":{port}", ""))
        try:
            print("   ", run.call(tool, **args))
        except Refused as refused:
            print(
                f"    {refused.decision.action.name} {refused.decision.code}: "
                f"{refused.decision.message}"
            )


def main() -> int:
    """Let the agent read, show what reached the web, and verify what was recorded."""
    with tempfile.TemporaryDirectory(prefix="research-") as made, web() as port:
        place = Path(made)
        shield = Shield.load(
            HERE / "policy.yaml",
            store=str(place / "state.db"),
            journal=str(place / "trail"),
            resolver=lambda host, port: [
                "127.0.0.1"
            ],  # every name of this web; leave it out for the real one
        )
        with shield, shield.run(agent="librarian", task="survey") as run:
            take(run, port)
        print("\nwhat reached the web:", *Web.seen, sep="\n  ")
        return verified(place / "trail")


def verified(trail: Path) -> int:
    """Have the trail checked by the command that checks any trail, and print its last line; gives
    its exit status."""
    command = [
        sys.executable,
        "-m",
        "stanchion",
        "audit",
        "verify",
        str(trail),
        "--store",
        str(trail.with_name("state.db")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print("the trail is", (done.stdout or done.stderr).splitlines()[-1])
    return done.returncode


if __name__ == "__main__":
    raise SystemExit(main())
