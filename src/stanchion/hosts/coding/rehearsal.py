"""The real program of a coding agent, run against a model on loopback that has it make one call: in
folders of its own, so nothing that is a user's is read or written, and no word leaves the machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from stanchion.hosts.coding.settings import HostPlaces

WITHIN_S: Final = 90.0
"""How long a host may take for one call. One waits for our hooks for up to 60 s."""
LONGEST: Final = 400
"""How much of its last words is kept."""
DONE: Final = "done"
Json = dict[str, Any]


class LoopbackModel:
    """A model that answers the first request with calls of tools and the next one with a word, and
    keeps what hosts say came of the calls."""

    def __init__(self, *calls: tuple[str, Json]) -> None:
        self._calls = calls
        self.results: list[str] = []
        """What the host gave back for each call, as its model would have read it."""
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                said = self.rfile.read(int(self.headers.get("content-length", 0)))
                path = self.path.partition("?")[0]
                speaks = next((one for end, one in SPEAKERS.items() if path.endswith(end)), None)
                events = [] if speaks is None else speaks(model, json.loads(said))
                lines = [f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events]
                body = "".join(lines).encode() if lines else b'{"data": [], "models": []}'
                self.send_response(200)
                kind = "text/event-stream" if lines else "application/json"
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> LoopbackModel:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def calls(self, body: Json, results: list[str]) -> tuple[tuple[str, Json], ...]:
        """The calls to be made now: none once there are results, or where no tools are offered."""
        self.results += results[len(self.results) :]
        return () if results or not body.get("tools") else self._calls


def _messages(model: LoopbackModel, body: Json) -> list[Json]:
    """The events of Anthropic's Messages."""
    contents = [one["content"] for one in body["messages"] if isinstance(one["content"], list)]
    blocks = [block for content in contents for block in content]
    results = [str(one.get("content")) for one in blocks if one.get("type") == "tool_result"]
    calls = model.calls(body, results)
    parts: list[tuple[Json, Json]] = [
        (
            {"type": "tool_use", "id": f"toolu_{len(results)}_{index}", "name": name, "input": {}},
            {"type": "input_json_delta", "partial_json": json.dumps(given)},
        )
        for index, (name, given) in enumerate(calls)
    ]
    if not parts:
        parts = [({"type": "text", "text": ""}, {"type": "text_delta", "text": DONE})]
    usage = {"input_tokens": 1, "output_tokens": 1}
    name = f"msg_{len(body['messages'])}"
    whole = {"id": name, "type": "message", "role": "assistant", "content": [], "usage": usage}
    message = {**whole, "model": body.get("model"), "stop_reason": None}
    events: list[Json] = [{"type": "message_start", "message": message}]
    for index, (block, delta) in enumerate(parts):
        events += [
            {"type": "content_block_start", "index": index, "content_block": block},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    stop = {"stop_reason": "tool_use" if calls else "end_turn"}
    return [
        *events,
        {"type": "message_delta", "delta": stop, "usage": usage},
        {"type": "message_stop"},
    ]


def _responses(model: LoopbackModel, body: Json) -> list[Json]:
    """The events of OpenAI's Responses."""
    given = body["input"] if isinstance(body.get("input"), list) else []
    results = [str(one["output"]) for one in given if one.get("type") == "function_call_output"]
    calls = enumerate(model.calls(body, results))
    items: list[Json] = [
        {"type": "function_call", "call_id": f"call_{i}", "name": name, "arguments": json.dumps(it)}
        for i, (name, it) in calls
    ]
    if not items:
        text = {"type": "output_text", "text": DONE, "annotations": []}
        items = [{"type": "message", "id": "msg_1", "role": "assistant", "content": [text]}]
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    whole = {"id": "resp_1", "status": "completed", "output": items, "usage": usage}
    return [
        {"type": "response.created", "response": {**whole, "output": []}},
        *[
            {"type": "response.output_item.done", "output_index": index, "item": item}
            for index, item in enumerate(items)
        ],
        {"type": "response.completed", "response": whole},
    ]


SPEAKERS: Final[Mapping[str, Callable[[LoopbackModel, Json], list[Json]]]] = {
    "/messages": _messages,
    "/responses": _responses,
}
"""What is said at the end of each path."""


class HostProgram(Struct, frozen=True):
    """How a host is run for one call: the tool that carries a command out, its words, and what it
    needs of settings and environment to ask the model at a URL."""

    call: Callable[[str], tuple[str, Json]]
    words: tuple[str, ...]
    environ: Callable[[str], Mapping[str, str]]
    prepare: Callable[[HostPlaces, str], None]
    trusting: tuple[str, ...] = ()
    """The words that have it call hooks which nobody has trusted."""


def _prepare_claude(at: HostPlaces, _: str) -> None:
    projects = {str(at.project): {"hasTrustDialogAccepted": True}}
    state = {"hasCompletedOnboarding": True, "projects": projects}
    (at.folder_of("claude") / ".claude.json").write_text(json.dumps(state))


def _prepare_codex(at: HostPlaces, url: str) -> None:
    (at.folder_of("codex") / "config.toml").write_text(f"""\
model = "loopback"
model_provider = "loopback"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.loopback]
name = "loopback"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "LOOPBACK_KEY"
request_max_retries = 0
stream_max_retries = 0
[projects.{json.dumps(str(at.project))}]
trust_level = "trusted"
""")


HOSTS: Final[Mapping[str, HostProgram]] = {
    "claude": HostProgram(
        lambda command: ("Bash", {"command": command, "description": "a trial"}),
        ("-p", "go", "--output-format", "json", "--allowedTools", "Bash"),
        lambda url: {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "loopback",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        },
        _prepare_claude,
    ),
    "codex": HostProgram(
        lambda command: ("exec_command", {"cmd": command}),
        (
            *("exec", "--skip-git-repo-check", "--json"),
            *("-s", "danger-full-access", "go"),
        ),
        lambda _: {"LOOPBACK_KEY": "loopback"},
        _prepare_codex,
        ("--dangerously-bypass-hook-trust",),
    ),
}
REFUSED: Final = "PreToolUse"
"""What stands in the result of a call that a hook refused, in the words of either host."""
FOLDERS: Final = {"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}


class Rehearsed(Struct, frozen=True):
    """What came of one call: what its model would have read, whether the host asked that model at
    all and ended by itself, and the last that it said."""

    results: tuple[str, ...]
    ended: bool
    said: str


def surroundings_in(folder: Path, agent: str, environ: Mapping[str, str]) -> HostPlaces:
    """Places for a host below one folder, made anew, with nothing of the user's environment but
    where programs are."""
    places = {name: folder / name for name in ("project", "home", "config")}
    for place in places.values():
        place.mkdir(parents=True)
    kept = {name: environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in environ}
    own = {**kept, "HOME": str(places["home"]), FOLDERS[agent]: str(places["config"])}
    return HostPlaces(places["project"], places["home"], own)


def rehearse(
    agent: str,
    program: str,
    at: HostPlaces,
    *commands: str,
    more: tuple[str, ...] = (),
    trusting: bool = True,
) -> Rehearsed:
    """Have a host carry commands out in its places, started with more words than usual; gives what
    came of it."""
    host = HOSTS[agent]
    with LoopbackModel(*[host.call(command) for command in commands]) as model:
        host.prepare(at, model.url)
        process = subprocess.Popen(
            [program, *(host.trusting if trusting else ()), *more, *host.words],
            cwd=at.project,
            env={**at.environ, **host.environ(model.url)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=WITHIN_S)
            ended = True
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            said, _ = process.communicate()
            ended = False
        return Rehearsed(tuple(model.results), ended, _last_words(said))


def _last_words(said: str) -> str:
    """The last that a host says of itself, taken out of its JSON where it says that."""
    for line in reversed(said.splitlines()):
        with suppress(ValueError, TypeError, AttributeError):
            told = json.loads(line)
            words = [one for name, one in told.items() if name in ("result", "message", "error")]
            words += [one["message"] for one in words if isinstance(one, dict)]
            text = next((one for one in reversed(words) if isinstance(one, str) and one), "")
            if text:
                said = text.partition("\n\nOriginal prompt:")[0]
                break
    return " ".join(said.split())[-LONGEST:]
