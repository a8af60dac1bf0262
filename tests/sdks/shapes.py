"""Replies and chunks of SDKs as they are recorded, with one text each where their words are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ENVELOPE: dict[str, Any] = {"id": "chatcmpl-1", "created": 1, "model": "gpt-x"}


def completion(text: str) -> dict[str, Any]:
    choice = {
        "index": 0,
        "finish_reason": "stop",
        "message": {"role": "assistant", "content": text},
    }
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    return {**ENVELOPE, "object": "chat.completion", "choices": [choice], "usage": usage}


def completion_chunk(text: str) -> dict[str, Any]:
    choice = {"index": 0, "finish_reason": None, "delta": {"role": "assistant", "content": text}}
    return {**ENVELOPE, "object": "chat.completion.chunk", "choices": [choice]}


def calling() -> dict[str, Any]:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "pay", "arguments": '{"amount": 5}'},
    }
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    return {**ENVELOPE, "object": "chat.completion", "choices": [choice]}


def response(text: str) -> dict[str, Any]:
    block = {"type": "output_text", "text": text, "annotations": []}
    message = {
        "type": "message",
        "id": "m1",
        "role": "assistant",
        "status": "completed",
        "content": [block],
    }
    about = {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-x",
        "tools": [],
        "tool_choice": "auto",
    }
    return {**about, "parallel_tool_calls": True, "output": [message]}


def response_event(text: str) -> dict[str, Any]:
    place = {
        "item_id": "m1",
        "output_index": 0,
        "content_index": 0,
        "sequence_number": 1,
        "logprobs": [],
    }
    return {"type": "response.output_text.delta", "delta": text, **place}


def message(text: str) -> dict[str, Any]:
    usage = {"input_tokens": 3, "output_tokens": 4}
    about = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "usage": usage,
    }
    return {
        **about,
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "content": [{"type": "text", "text": text}],
    }


def message_event(text: str) -> dict[str, Any]:
    return {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": text},
    }


def chat_message(text: str) -> dict[str, Any]:
    return {"content": text, "type": "ai", "id": "run-1"}


def model_response(text: str) -> dict[str, Any]:
    thought = {"part_kind": "thinking", "content": "", "signature": None}
    parts = [thought, {"part_kind": "text", "content": text, "id": None}]
    return {
        "kind": "response",
        "parts": parts,
        "usage": {"input_tokens": 3, "output_tokens": 4},
        "model_name": "gpt-x",
    }


def model_response_calling() -> dict[str, Any]:
    call = {
        "part_kind": "tool-call",
        "tool_name": "pay",
        "args": '{"amount": 5}',
        "tool_call_id": "c1",
    }
    return {**model_response(""), "parts": [{"part_kind": "thinking", "content": "hm"}, call]}


REPLIES: dict[str, tuple[Callable[[str], dict[str, Any]], tuple[str | int, ...]]] = {
    "chat completion": (completion, ("choices", 0, "message", "content")),
    "response": (response, ("output", 0, "content", 0, "text")),
    "message": (message, ("content", 0, "text")),
    "chat message": (chat_message, ("content",)),
    "model response": (model_response, ("parts", 1, "content")),
}
CHUNKS: dict[str, tuple[Callable[[str], dict[str, Any]], tuple[str | int, ...]]] = {
    "chat completion": (completion_chunk, ("choices", 0, "delta", "content")),
    "response": (response_event, ("delta",)),
    "message": (message_event, ("delta", "text")),
    "chat message": (chat_message, ("content",)),
}
