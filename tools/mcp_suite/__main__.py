"""Play the public conformance suite and the reference servers with the proxy and without it: `make
test-mcp`."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tools.mcp_suite import reference
from tools.mcp_suite.everything import differences

ROOT: Final = Path(__file__).resolve().parents[2]
BARE: Final = "name: bare\nunread: allow\n"
UP_S: Final = 60


def main(node: Path) -> int:
    """Play everything; `node` is where the programs of npm are. Gives the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "bare.yaml"
        policy.write_text(BARE)
        proxy = [sys.executable, "-m", "stanchion", "mcp", "--policy", str(policy)]
        # Node comes as a package of Python, beside the interpreter.
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        os.environ["STANCHION_STATE_DIR"] = str(Path(folder) / "state")
        lost = _conformance(node, proxy) + _everything(node, proxy) + reference.lost(node)
    for line in lost:
        print(f"lost: {line}")
    print(
        "nothing is lost behind the proxy"
        if not lost
        else f"{len(lost)} things are lost behind the proxy"
    )
    return 1 if lost else 0


def _conformance(node: Path, proxy: Sequence[str]) -> list[str]:
    """What passes without the proxy and not with it."""
    fixture = [sys.executable, "-m", "tools.mcp_suite.fixture"]
    port, before, beside = _port(), _port(), _port()
    with _serving([*fixture, str(port)], port):
        plain = _passed(node, port)
        if not plain:
            raise SystemExit(
                "the conformance suite does not run: see that Node 22 or later is installed"
            )
        print(f"conformance without the proxy: {len(plain)} checks pass")
        with _serving(
            [*proxy, "--listen", f"127.0.0.1:{before}", "--url", f"http://127.0.0.1:{port}/mcp"],
            before,
        ):
            over_http = _passed(node, before)
        with _serving([*proxy, "--listen", f"127.0.0.1:{beside}", "--", *fixture], beside):
            over_streams = _passed(node, beside)
    print(f"behind it over HTTP: {len(over_http)}; with a process behind it: {len(over_streams)}")
    ways = {"HTTP": over_http, "a process": over_streams}
    return [
        f"conformance, {way}: {check}"
        for way, came in ways.items()
        for check in sorted(plain - came)
    ]


def _passed(node: Path, port: int) -> set[str]:
    """The checks that pass at an address, each with its scenario."""
    with tempfile.TemporaryDirectory() as results:
        words = [
            str(node / "conformance"),
            "server",
            "--url",
            f"http://127.0.0.1:{port}/mcp",
            "--suite",
            "all",
        ]
        subprocess.run([*words, "-o", results], check=False, capture_output=True, timeout=500)
        passed: set[str] = set()
        for file in Path(results).rglob("checks.json"):
            for check in json.loads(file.read_text()):
                if check.get("status") == "SUCCESS":
                    passed.add(f"{_scenario(file)}/{check['id']}")
    return passed


def _scenario(file: Path) -> str:
    """The name of a scenario, by its folder, which ends with the time."""
    return re.sub(r"-\d{4}-\d\d-\d\dT.*", "", file.parent.name)


def _everything(node: Path, proxy: Sequence[str]) -> list[str]:
    server = [str(node / "mcp-server-everything"), "stdio"]
    seen, lost = differences(server, [*proxy, "--", *server])
    print(f"server-everything: {seen} things compared")
    return [f"server-everything: {each}" for each in lost]


def _port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


@contextmanager
def _serving(words: Sequence[str], port: int) -> Iterator[None]:
    """A program that serves at a port, until the block ends."""
    process = subprocess.Popen(words, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + UP_S
        while not _answers(port):
            if process.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"{words[:4]} does not serve")
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(20)


def _answers(port: int) -> bool:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/none", timeout=1)
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
