"""Reference servers behind the proxy: what arrives, what is withheld, what is stopped or asked
about. What the real servers answered is kept, and `make test` plays it."""

from __future__ import annotations

import base64
import http.server
import json
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import anyio
import yaml
from mcp import Client, StdioServerParameters

from tools.mcp_suite.fixture import PIXEL

ROOT: Final = Path(__file__).resolve().parents[2]
GOLDEN: Final = ROOT / "tests" / "golden" / "mcp"
PAGE: Final = Path(__file__).with_name("page.html")
HERE: Final = "http://127.0.0.1:8009"
"""Where the page is in what is kept."""
FILES: Final = "/files"
"""Where the files are in what is kept."""
CHROMIUM: Final = "/usr/bin/chromium"
EXECUTABLE: Final = ("--executable-path", CHROMIUM)
CHANGING: Final = re.compile(r"\d{4}-\d\d-\d\dT[\d-]+Z")


class ReferenceCall(NamedTuple):
    """One call, and what must be said of it: texts that come, texts that do not, and how many
    images. Whether it `runs` is whether the server is asked."""

    tool: str
    args: dict[str, Any]
    says: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    images: int = 0
    runs: bool = True


class ReferenceScene(NamedTuple):
    """A server, the policy before it, and what is called."""

    server: tuple[str, ...]
    policy: dict[str, Any]
    steps: tuple[ReferenceCall, ...]


def _click(target: str, says: str, runs: bool = False) -> ReferenceCall:
    # What the agent says of an element is not believed.
    args = {"target": target, "element": "the heading of the page"}
    return ReferenceCall("browser_click", args, (says,), runs=runs)


SCENES: Final[dict[str, ReferenceScene]] = {
    "playwright": ReferenceScene(
        ("playwright-mcp", "--headless", "--no-sandbox", "--isolated", *EXECUTABLE),
        {
            "tools": {
                "browser_take_screenshot": {"media": "allow"},
                "browser_click": {"effect": "outward"},
            },
            "guards": [{"id": "egress", "internal_hosts": ["127.0.0.1"]}],
        },
        (
            ReferenceCall("browser_navigate", {"url": f"{HERE}/page.html"}, ("Page Title: Shop",)),
            ReferenceCall("browser_snapshot", {}, ("Buy now", "Warning: ", "tries to command you")),
            ReferenceCall("browser_take_screenshot", {"scale": "css"}, ("Screenshot",), images=1),
            _click("e5", "`127.0.0.2` is not on the public network"),
            _click("e9", "`127.0.0.2` is not on the public network"),
            _click("e12", "a person has been asked"),
            _click("e99", "`the element` comes from nowhere"),
            _click("e4", "name: 'Terms'", runs=True),
            _click("e12", "`the element` comes from nowhere"),
        ),
    ),
    "everything": ReferenceScene(
        ("mcp-server-everything", "stdio"),
        {},
        (
            ReferenceCall("echo", {"message": "hello"}, ("hello",)),
            ReferenceCall("get-tiny-image", {}, ("image", "was withheld", "`media: allow`")),
        ),
    ),
    "everything-with-images": ReferenceScene(
        ("mcp-server-everything", "stdio"),
        {"tools": {"get-tiny-image": {"media": "allow"}}},
        (ReferenceCall("get-tiny-image", {}, ("image",), ("withheld",), images=1),),
    ),
    "filesystem": ReferenceScene(
        ("mcp-server-filesystem", FILES),
        {"tools": {"read_media_file": {"media": "allow"}}},
        (
            ReferenceCall("read_text_file", {"path": f"{FILES}/notes.txt"}, ("nothing new",)),
            ReferenceCall("read_media_file", {"path": f"{FILES}/pixel.png"}, images=1),
            ReferenceCall(
                "read_text_file", {"path": f"{FILES}/keys.txt"}, ("[redacted:",), ("ghp_",)
            ),
            ReferenceCall(
                "write_file",
                {"path": "/etc/cron.d/x", "content": "x"},
                ("may not be written",),
                runs=False,
            ),
        ),
    ),
}


def told(step: ReferenceCall, result: Any) -> list[str]:
    """What is wrong with what came of a step."""
    text = "\n".join([block.text for block in result.content if block.type == "text"])
    images = sum(block.type == "image" for block in result.content)
    wrong = [f"lacks `{one}`: {text[:300]}" for one in step.says if one not in text]
    wrong += [f"has `{one}`" for one in step.lacks if one in str(result)]
    return wrong + (
        [f"{images} images instead of {step.images}: {text[:300]}"] if images != step.images else []
    )


def lost(node: Path) -> list[str]:
    """Play every scene with its real server, and keep what that answered; gives what is wrong."""
    if not Path(CHROMIUM).exists():
        raise SystemExit(f"there is no `{CHROMIUM}`: install Debian's package `chromium`")
    return [line for name in SCENES for line in anyio.run(_played, name, node.resolve())]


async def _played(name: str, node: Path) -> list[str]:
    scene, wrong = SCENES[name], []
    with tempfile.TemporaryDirectory() as folder, _serving() as port:
        place = Path(folder)
        (place / "notes.txt").write_text("nothing new\n")
        (place / "keys.txt").write_text("ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n")
        (place / "pixel.png").write_bytes(base64.b64decode(PIXEL))
        there = {HERE: f"http://127.0.0.1:{port}", FILES: folder}
        policy = place / "policy.yaml"
        policy.write_text(yaml.safe_dump({"name": name, "extends": "mcp", **scene.policy}))
        tap = [sys.executable, "-m", "tools.mcp_suite.tap", str(place / "tap.jsonl")]
        server = [str(node / scene.server[0]), *_put(list(scene.server[1:]), there)]
        words = ["-m", "stanchion", "mcp", "--policy", str(policy), "--", *tap, *server]
        environment = {
            **os.environ,
            "STANCHION_STATE_DIR": f"{folder}/state",
            "PYTHONPATH": str(ROOT),
            "PLAYWRIGHT_MCP_OUTPUT_DIR": f"{folder}/out",
        }
        params = StdioServerParameters(
            command=sys.executable, args=words, env=environment, cwd=folder
        )
        async with Client(params, mode="legacy", cache=None) as client:
            for step in scene.steps:
                result = await client.call_tool(step.tool, _put(step.args, there))
                wrong += [f"{name}, {step.tool} {step.args}: {one}" for one in told(step, result)]
        kept = (place / "tap.jsonl").read_text(encoding="utf-8")
        back = {value: key for key, value in there.items()}
        kept = CHANGING.sub("2026-01-01T00-00-00-000Z", _put(kept, back))
        GOLDEN.mkdir(exist_ok=True)
        (GOLDEN / f"{name}.jsonl").write_text(kept, encoding="utf-8")
        print(f"{name}: {len(scene.steps)} calls, {len(wrong)} not as they should be")
    return wrong


def _put(value: Any, there: dict[str, str]) -> Any:
    """A value with other places in it."""
    text = value if isinstance(value, str) else json.dumps(value)
    for one, other in there.items():
        text = text.replace(one, other)
    return text if isinstance(value, str) else json.loads(text)


@contextmanager
def _serving() -> Iterator[int]:
    """The hostile page, at a port of this machine."""

    class Pages(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = PAGE.read_bytes() if self.path == "/page.html" else b"<title>Other</title>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield int(server.server_address[1])
    finally:
        server.shutdown()
