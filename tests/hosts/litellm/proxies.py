"""LiteLLM's own proxy as a process, with our guardrail in its configuration."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.ports import Port

GUARD = """
from stanchion import Shield
from stanchion.hosts.litellm import guardrail

Guard = guardrail(Shield.load("{policy}", store="memory:", journal="memory:"))
"""
CONFIG = """
model_list:
  - model_name: fake
    litellm_params: {{model: openai/fake, api_base: {url}/v1, api_key: sk-none, max_retries: 0}}
  - model_name: forbidden
    litellm_params: {{model: openai/forbidden, api_base: {url}/v1, api_key: sk-none, max_retries: 0}}
guardrails:
  - guardrail_name: stanchion
    litellm_params: {{guardrail: own_guard.Guard, mode: [pre_call, post_call], default_on: true}}
general_settings: {{master_key: sk-local}}
"""  # noqa: E501
LONGEST_S = 120


class Proxy:
    """A proxy before a provider; use it as a context manager."""

    def __init__(self, folder: Path, provider_url: str, policy: dict[str, Any]) -> None:
        self._folder = folder
        (folder / "policy.json").write_text(json.dumps(policy))
        (folder / "own_guard.py").write_text(GUARD.format(policy=folder / "policy.json"))
        (folder / "config.yaml").write_text(CONFIG.format(url=provider_url))
        self._held = Port()
        self._port = self._held.number
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def said(self) -> str:
        """What the proxy has printed."""
        return (self._folder / "proxy.log").read_text()

    def post(self, path: str, body: dict[str, Any]) -> tuple[int, str]:
        """Send a request; gives the status and the body of the answer."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}{path}",
            json.dumps(body).encode(),
            {"content-type": "application/json", "authorization": "Bearer sk-local"},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def __enter__(self) -> Proxy:
        command = [
            str(Path(sys.executable).parent / "litellm"),
            "--config",
            "config.yaml",
            "--host",
            "127.0.0.1",
        ]
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "HOME") if name in os.environ}
        environment = {
            **kept,
            "PYTHONPATH": os.pathsep.join([one for one in sys.path if one]),
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "LITELLM_TELEMETRY": "False",
            "NO_DOCS": "True",
            "DISABLE_ADMIN_UI": "True",
        }
        with (self._folder / "proxy.log").open("wb") as log:
            self._process = subprocess.Popen(
                [*command, "--port", str(self._port)],
                cwd=self._folder,
                env=environment,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + LONGEST_S
        while time.monotonic() < until:
            if self._process.poll() is not None:
                break
            try:
                urllib.request.urlopen(
                    f"http://127.0.0.1:{self._port}/health/liveliness", timeout=1
                ).close()
                return self
            except OSError:
                time.sleep(0.2)
        self.__exit__(None, None, None)
        raise RuntimeError(self.said)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(30)
        self._held.release()
