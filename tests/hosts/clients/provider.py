"""A provider of models on this machine: it plays turns in the form that each API has, and keeps
what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple

USED = {"prompt": 20, "cached": 8, "output": 5}
"""What a reply says it used unless somebody says otherwise: 20 tokens went in, 8 of them from a
cache, 5 came out."""


class Call(NamedTuple):
    """A tool call of a turn."""

    tool: str
    args: dict[str, Any]


class Say(tuple[str, ...]):
    """A text of a turn, in the pieces in which it is streamed."""


class Asked(NamedTuple):
    """A request that came."""

    method: str
    path: str
    body: Any
    headers: dict[str, str]


class Server(ThreadingHTTPServer):
    """Takes many callers at once."""

    request_queue_size = 512


class Provider:
    """Answers each request with the next turn; with a status in its place it fails so, and the last
    is repeated. A `script` makes the turn from the request."""

    def __init__(
        self,
        *turns: list[Any] | int,
        script: Callable[[dict[str, Any]], list[Any]] | None = None,
        used: dict[str, int] = USED,
    ) -> None:
        self.asked: list[Asked] = []
        self.plain: Any = {"object": "list", "data": []}
        """What other requests than those to a model are answered with; bytes are sent as they
        are."""
        self.used = used
        self._turns = list(turns)
        self._script = script
        self._server = Server(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def next(self, body: dict[str, Any]) -> list[Any] | int:
        """The turn that is played now."""
        if self._script is not None:
            return self._script(body)
        return self._turns.pop(0) if len(self._turns) > 1 else self._turns[0]

    def __enter__(self) -> Provider:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(provider: Provider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_given: Any) -> None:
            pass

        def _answer(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", "0")))
            try:
                body = json.loads(raw)
            except ValueError:
                body = raw
            provider.asked.append(Asked(self.command, self.path, body, dict(self.headers)))
            path = self.path.partition("?")[0]
            wire = next((wire for end, wire in WIRES.items() if path.endswith(end)), None)
            if wire is None or self.command != "POST" or not isinstance(body, dict):
                self._send(200, provider.plain)
                return
            turn = provider.next(body)
            if isinstance(turn, int):
                self._send(turn, {"error": {"message": "busy", "type": "overloaded"}})
            elif body.get("stream"):
                self._stream(wire(turn, body.get("model"), provider.used).events())
            else:
                self._send(200, wire(turn, body.get("model"), provider.used).whole())

        do_GET = do_POST = do_DELETE = do_PUT = do_PATCH = _answer  # noqa: N815 - the server's own names

        def _send(self, status: int, data: Any) -> None:
            sent = data if isinstance(data, bytes) else json.dumps(data).encode()
            self.send_response(status)
            kind = "application/octet-stream" if isinstance(data, bytes) else "application/json"
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(sent)))
            self.send_header("retry-after-ms", "1")
            self.end_headers()
            self.wfile.write(sent)

        def _stream(self, events: Iterator[Any]) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            for event in events:
                name = (
                    f"event: {event['type']}\n"
                    if isinstance(event, dict) and "type" in event
                    else ""
                )
                said = event if isinstance(event, str) else json.dumps(event)
                self.wfile.write(f"{name}data: {said}\n\n".encode())
                self.wfile.flush()
            self.close_connection = True

    return Handler


class Chat:
    """Chat completions."""

    def __init__(self, turn: list[Any], model: Any, used: dict[str, int] = USED) -> None:
        self.texts = [part for part in turn if isinstance(part, Say)]
        self.calls = [part for part in turn if isinstance(part, Call)]
        self.ends = "tool_calls" if self.calls else "stop"
        self.about = {"id": "chatcmpl-1", "created": 1, "model": model}
        self.usage = {
            "prompt_tokens": used["prompt"],
            "completion_tokens": used["output"],
            "total_tokens": used["prompt"] + used["output"],
            "prompt_tokens_details": {"cached_tokens": used["cached"]},
        }

    def whole(self) -> dict[str, Any]:
        text = "".join(["".join(part) for part in self.texts])
        message = {"role": "assistant", "content": text if self.texts else None}
        if self.calls:
            message["tool_calls"] = [self._call(place) for place in range(len(self.calls))]  # type: ignore[assignment]
        choice = {"index": 0, "message": message, "finish_reason": self.ends, "logprobs": None}
        return {**self.about, "object": "chat.completion", "choices": [choice], "usage": self.usage}

    def events(self) -> Iterator[Any]:
        yield self._chunk({"role": "assistant", "content": ""})
        for text in self.texts:
            for piece in text:
                yield self._chunk({"content": piece})
        for place in range(len(self.calls)):
            call = self._call(place)
            said = call["function"]["arguments"]
            call["function"]["arguments"] = ""
            yield self._chunk({"tool_calls": [{"index": place, **call}]})
            for half in (said[: len(said) // 2], said[len(said) // 2 :]):
                yield self._chunk(
                    {"tool_calls": [{"index": place, "function": {"arguments": half}}]}
                )
        yield self._chunk({}, self.ends)
        yield {**self.about, "object": "chat.completion.chunk", "choices": [], "usage": self.usage}
        yield "[DONE]"

    def _call(self, place: int) -> dict[str, Any]:
        tool, args = self.calls[place]
        return {
            "id": f"call_{place}",
            "type": "function",
            "function": {"name": tool, "arguments": json.dumps(args)},
        }

    def _chunk(self, delta: dict[str, Any], ends: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": ends, "logprobs": None}
        return {**self.about, "object": "chat.completion.chunk", "choices": [choice]}


class Responses:
    """The responses API."""

    def __init__(self, turn: list[Any], model: Any, used: dict[str, int] = USED) -> None:
        self.items = [self._item(place, part) for place, part in enumerate(turn)]
        self.turn = turn
        self.count = 0
        self.usage = {
            "input_tokens": used["prompt"],
            "input_tokens_details": {"cached_tokens": used["cached"]},
            "output_tokens": used["output"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": used["prompt"] + used["output"],
        }
        self.about = {"id": "resp_1", "object": "response", "created_at": 1, "model": model, "tools": [],  # noqa: E501
                      "tool_choice": "auto", "parallel_tool_calls": True}  # fmt: skip

    def whole(self) -> dict[str, Any]:
        return {**self.about, "status": "completed", "output": self.items, "usage": self.usage}

    def events(self) -> Iterator[Any]:
        yield self._event(
            "response.created", response={**self.about, "status": "in_progress", "output": []}
        )
        for place, (part, item) in enumerate(zip(self.turn, self.items, strict=True)):
            at = {"output_index": place, "item_id": item["id"]}
            if isinstance(part, Call):
                yield self._event(
                    "response.output_item.added", output_index=place, item={**item, "arguments": ""}
                )
                said = item["arguments"]
                for half in (said[: len(said) // 2], said[len(said) // 2 :]):
                    yield self._event("response.function_call_arguments.delta", delta=half, **at)
                yield self._event(
                    "response.function_call_arguments.done", arguments=said, name=part.tool, **at
                )
            else:
                at["content_index"] = 0
                empty = {"type": "output_text", "text": "", "annotations": []}
                yield self._event(
                    "response.output_item.added", output_index=place, item={**item, "content": []}
                )
                yield self._event("response.content_part.added", part=empty, **at)
                for piece in part:
                    yield self._event("response.output_text.delta", delta=piece, logprobs=[], **at)
                yield self._event(
                    "response.output_text.done", text="".join(part), logprobs=[], **at
                )
                yield self._event("response.content_part.done", part=item["content"][0], **at)
            yield self._event("response.output_item.done", output_index=place, item=item)
        yield self._event("response.completed", response=self.whole())

    def _item(self, place: int, part: Any) -> dict[str, Any]:
        if isinstance(part, Call):
            said = json.dumps(part.args)
            return {"type": "function_call", "id": f"fc_{place}", "call_id": f"call_{place}", "name": part.tool,  # noqa: E501
                    "arguments": said, "status": "completed"}  # fmt: skip
        content = [{"type": "output_text", "text": "".join(part), "annotations": []}]
        return {
            "type": "message",
            "id": f"msg_{place}",
            "role": "assistant",
            "status": "completed",
            "content": content,
        }

    def _event(self, kind: str, **fields: Any) -> dict[str, Any]:
        self.count += 1
        return {"type": kind, "sequence_number": self.count, **fields}


class Messages:
    """Anthropic's messages."""

    def __init__(self, turn: list[Any], model: Any, used: dict[str, int] = USED) -> None:
        self.turn = turn
        self.ends = "tool_use" if any(isinstance(part, Call) for part in turn) else "end_turn"
        self.usage = {
            "input_tokens": used["prompt"] - used["cached"],
            "output_tokens": used["output"],
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": used["cached"],
        }
        self.about = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": model,
            "stop_sequence": None,
        }

    def whole(self) -> dict[str, Any]:
        content = [self._block(place, part) for place, part in enumerate(self.turn)]
        return {**self.about, "content": content, "stop_reason": self.ends, "usage": self.usage}

    def events(self) -> Iterator[Any]:
        begins = {
            **self.about,
            "content": [],
            "stop_reason": None,
            "usage": {**self.usage, "output_tokens": 1},
        }
        yield {"type": "message_start", "message": begins}
        yield {"type": "ping"}
        for place, part in enumerate(self.turn):
            block = self._block(place, part)
            empty = (
                {**block, "input": {}} if isinstance(part, Call) else {"type": "text", "text": ""}
            )
            yield {"type": "content_block_start", "index": place, "content_block": empty}
            for delta in self._deltas(part):
                yield {"type": "content_block_delta", "index": place, "delta": delta}
            yield {"type": "content_block_stop", "index": place}
        ends = {"stop_reason": self.ends, "stop_sequence": None}
        yield {
            "type": "message_delta",
            "delta": ends,
            "usage": {"output_tokens": self.usage["output_tokens"]},
        }
        yield {"type": "message_stop"}

    def _deltas(self, part: Any) -> Iterator[dict[str, Any]]:
        if isinstance(part, Call):
            said = json.dumps(part.args)
            for half in (said[: len(said) // 2], said[len(said) // 2 :]):
                yield {"type": "input_json_delta", "partial_json": half}
        else:
            for piece in part:
                yield {"type": "text_delta", "text": piece}

    def _block(self, place: int, part: Any) -> dict[str, Any]:
        if isinstance(part, Call):
            return {
                "type": "tool_use",
                "id": f"toolu_{place}",
                "name": part.tool,
                "input": part.args,
            }
        return {"type": "text", "text": "".join(part)}


WIRES: dict[str, Any] = {"/chat/completions": Chat, "/responses": Responses, "/messages": Messages}
