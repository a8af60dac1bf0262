"""Headless Chromium, driven over a pipe by its own protocol; scripts of the page are off."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

PROGRAM: Final = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), "")
"""Where Chromium is; empty where it is not."""


class Browser:
    """One page of a browser, at a width."""

    def __init__(self, program: subprocess.Popen[bytes], to: int, back: int) -> None:
        self._program, self._to, self._back = program, to, back
        self._rest, self._number, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = self.does("Target.createTarget", url="about:blank")["targetId"]
        attached = self.does("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self.does("Page.enable")
        self.does("DOM.enable")
        self.does("Emulation.setScriptExecutionDisabled", value=True)

    def does(self, method: str, **params: Any) -> Any:
        """Have the browser do something; gives what it says."""
        self._number += 1
        said = {"id": self._number, "method": method, "params": params}
        more = {"sessionId": self._session} if self._session else {}
        os.write(self._to, json.dumps({**said, **more}).encode() + b"\0")
        while True:
            came = self._next()
            if came.get("id") == self._number:
                assert "error" not in came, came
                return came["result"]
            self.events.append(came)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._back, 1 << 16)
            assert part, "the browser has ended"
            self._rest += part
        said, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(said)
        return found

    def wide(self, width: int, height: int = 844) -> None:
        """Be as wide as a phone or a desk."""
        self.does(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def goes(self, url: str) -> None:
        """Open a page, to its end."""
        self.events.clear()
        self.does("Page.navigate", url=url)
        self.loads()

    def loads(self) -> None:
        """Wait until a page has loaded."""
        while not any(one.get("method") == "Page.loadEventFired" for one in self.events):
            self.events.append(self._next())

    def _node(self, selector: str) -> int:
        root = self.does("DOM.getDocument")["root"]["nodeId"]
        found = self.does("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        assert found, f"there is no {selector}"
        number: int = found
        return number

    def presses(self, selector: str) -> None:
        """Press the middle of an element, as a finger does."""
        node = self._node(selector)
        self.does("DOM.scrollIntoViewIfNeeded", nodeId=node)
        quad = self.does("DOM.getBoxModel", nodeId=node)["model"]["content"]
        x, y = sum(quad[0::2]) / 4, sum(quad[1::2]) / 4
        self.events.clear()
        for kind in ("mousePressed", "mouseReleased"):
            self.does("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def text(self, selector: str = "body") -> str:
        """The HTML of an element."""
        found: str = self.does("DOM.getOuterHTML", nodeId=self._node(selector))["outerHTML"]
        return found

    def size(self) -> tuple[int, int]:
        """How wide and high the page is."""
        size = self.does("Page.getLayoutMetrics")["cssContentSize"]
        return int(size["width"]), int(size["height"])

    def shoots(self, path: Path) -> None:
        """Take a picture of the whole page."""
        data = self.does("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        path.write_bytes(base64.b64decode(data))


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser that is gone at the end."""
    its_in, to = os.pipe()
    back, its_out = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:

        def fds() -> None:
            os.dup2(its_in, 20)
            os.dup2(its_out, 21)
            os.dup2(20, 3)
            os.dup2(21, 4)

        program = subprocess.Popen(
            [
                PROGRAM,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--remote-debugging-pipe",
                f"--user-data-dir={profile}",
            ],
            preexec_fn=fds,  # the protocol is spoken on descriptors 3 and 4
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(its_in)
        os.close(its_out)
        try:
            yield Browser(program, to, back)
        finally:
            program.kill()
            program.wait()
            os.close(to)
            os.close(back)
