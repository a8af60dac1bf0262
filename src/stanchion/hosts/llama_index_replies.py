"""Replies of LlamaIndex's models as they are judged, and with what was changed in them."""

from __future__ import annotations

from typing import Any, Final


def told(reply: Any) -> dict[str, Any]:
    """A reply as it is judged: block by block, with what it used in a word that every vendor
    has."""
    said: dict[str, Any] = {"usage": usage(reply)}
    if hasattr(reply, "text"):
        return said | {"content": [{"type": "text", "text": reply.text}]}
    message = reply.message
    return said | {
        "content": [_block(block) for block in message.blocks],
        "additional_kwargs": dict(message.additional_kwargs),
    }


FIELDS: Final = {
    "text": ("text", "text"),
    "thinking": ("thinking", "content"),
    "tool_call": ("arguments", "tool_kwargs"),
}
"""By the type of a block where its words are, as they are judged and in the block itself."""


def _block(block: Any) -> dict[str, Any]:
    judged, own = FIELDS.get(block.block_type, ("", ""))
    return {"type": block.block_type} | ({judged: getattr(block, own)} if own else {})


def put_back(replies: list[Any], said: dict[str, Any]) -> Any:
    """The reply with what was changed. Then nothing stays that says it once more as the provider
    has said it."""
    reply = replies[-1]
    if said == told(reply):
        return reply
    clean = {"raw": {"usage": said["usage"]}, "delta": None, "logprobs": None}
    if hasattr(reply, "text"):
        return reply.model_copy(update=clean | {"text": said["content"][0]["text"]})
    blocks = [
        _with(block, one) for block, one in zip(reply.message.blocks, said["content"], strict=True)
    ]
    kept = {"blocks": blocks, "additional_kwargs": said["additional_kwargs"]}
    return reply.model_copy(update=clean | {"message": reply.message.model_copy(update=kept)})


def _with(block: Any, said: dict[str, Any]) -> Any:
    judged, own = FIELDS.get(said["type"], ("", ""))
    return block.model_copy(update={own: said[judged]}) if own else block


def usage(reply: Any) -> Any:
    """What a reply used: the provider's own word, or the counts that integrations put beside it."""
    raw = reply.raw
    said = raw.get("usage") if isinstance(raw, dict) else getattr(raw, "usage", None)
    if said is not None:
        return said
    beside = reply.additional_kwargs
    return {name: beside[name] for name in beside if name.endswith("_tokens")}
