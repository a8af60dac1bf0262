"""Forms of requests: where a body says what it asks a model, and how a body is written that asks
something else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from stanchion.hosts.clients.tools import CallAnswer, ReplyCall, arguments, part, parts, text_of

SYSTEM: Final = "system"
PROMPT: Final = "prompt"
"""A field that takes a text and no messages."""


class RequestForm(msgspec.Struct, frozen=True):
    """One kind of request to a model: its path, the field with its messages, and the field with the
    system's words where these stand apart. `among` says that words of the system may also stand
    among the messages."""

    path: str
    said: str = "messages"
    apart: str = ""
    among: bool = True

    def messages(self, body: Mapping[str, Any]) -> list[Any]:
        """What a body asks, as messages: the system's words come first."""
        given = body.get(self.said)
        head = body.get(self.apart) if self.apart else None
        first = [] if head is None else [{"role": SYSTEM, "content": head}]
        if given is None:
            return first
        return [*first, *given] if _listed(given) else [*first, {"role": "user", "content": given}]

    def params(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """What else a body says, without the name of the model."""
        return {
            name: value
            for name, value in body.items()
            if name not in (self.said, self.apart, "model")
        }

    def asked(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """What a run is told of a request to a model."""
        model = body.get("model")
        named = model if isinstance(model, str) else ""
        return {"messages": self.messages(body), "model": named, "params": self.params(body)}

    def written(
        self, body: Mapping[str, Any], messages: Iterable[Any], params: Mapping[str, Any]
    ) -> dict[str, Any]:
        """A body like that one with other messages and parameters."""
        heads, rest = self._parted(body, list(messages))
        made = {"model": body["model"]} if "model" in body else {}
        made |= params
        if heads:
            made[self.apart] = _joined(heads)
        given = body.get(self.said)
        if given is not None or rest:
            made[self.said] = rest if _listed(given) else self._as_before(given, rest)
        return made

    def _parted(self, body: Mapping[str, Any], messages: list[Any]) -> tuple[list[Any], list[Any]]:
        """The system's words that stand apart, and the messages."""
        if not self.apart:
            return [], messages
        if self.among:
            own = bool(messages) and body.get(self.apart) is not None and _is_system(messages[0])
            return ([messages[0]["content"]], messages[1:]) if own else ([], messages)
        heads = [message["content"] for message in messages if _is_system(message)]
        return heads, [message for message in messages if not _is_system(message)]

    def _as_before(self, given: Any, rest: list[Any]) -> Any:
        """Messages for a field that was a text: a text again where nothing was added, or it takes
        nothing else."""
        texts = [message["content"] for message in rest]
        if given is None or (len(texts) > 1 and self.said != PROMPT):
            return rest
        return texts[0] if len(texts) == 1 else "\n\n".join(texts)


def form_of(forms: Iterable[RequestForm], method: str, url: str) -> RequestForm | None:
    """The form of a request to a model; `None` for any other request."""
    if method.lower() != "post":
        return None
    path = urlsplit(url).path.strip("/")
    return next(
        (form for form in forms if path == form.path or path.endswith(f"/{form.path}")), None
    )


def _listed(given: Any) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)


def _is_system(message: Any) -> bool:
    return isinstance(message, Mapping) and message.get("role") == SYSTEM and "content" in message


def _joined(heads: list[Any]) -> Any:
    """Words of the system as one value: the first as it was given, where it is alone."""
    if len(heads) == 1:
        return heads[0]
    blocks: list[Any] = []
    for head in heads:
        blocks += [{"type": "text", "text": head}] if isinstance(head, str) else list(head)
    return blocks


CHAT: Final = RequestForm("chat/completions")
RESPONSES: Final = RequestForm("responses", said="input", apart="instructions")
COMPLETIONS: Final = RequestForm("completions", said="prompt")

CUSTOM: Final = "custom"
"""The kind of tools that take a text in the place of arguments."""
CALLS: Final = frozenset({"function_call", "custom_tool_call"})
"""The types of a response's items that are calls for its caller to run."""


def calls_of(reply: Any) -> list[ReplyCall]:
    """The tool calls of a chat completion's first choice, or of a response."""
    if part(reply, "choices") is not None:
        first = parts(reply, "choices")[:1]
        return [
            _chat_call(call)
            for choice in first
            for call in parts(part(choice, "message"), "tool_calls")
        ]
    return [_item_call(item) for item in parts(reply, "output") if part(item, "type") in CALLS]


def _chat_call(call: Any) -> ReplyCall:
    if part(call, "type") == CUSTOM:
        own = part(call, CUSTOM)
        return ReplyCall(part(call, "id"), part(own, "name"), {"input": part(own, "input")}, CUSTOM)
    own = part(call, "function")
    return ReplyCall(part(call, "id"), part(own, "name"), arguments(part(own, "arguments")))


def _item_call(item: Any) -> ReplyCall:
    custom = part(item, "type") != "function_call"
    args = {"input": part(item, "input")} if custom else arguments(part(item, "arguments"))
    return ReplyCall(part(item, "call_id"), part(item, "name"), args, CUSTOM if custom else "")


def results_for(reply: Any, results: Iterable[CallAnswer]) -> list[Any]:
    """What came of the calls of a reply, as messages for the next request."""
    if part(reply, "choices") is not None:
        return [
            {"role": "tool", "tool_call_id": done.call.id, "content": text_of(done.content)}
            for done in results
        ]
    return [
        {
            "type": "custom_tool_call_output"
            if done.call.kind == CUSTOM
            else "function_call_output",
            "call_id": done.call.id,
            "output": text_of(done.content),
        }
        for done in results
    ]
