"""The real classes of SDKs: a reply that is redacted stays one, and so do the chunks of a
stream."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import Refused, Shield, Stage
from tests.sdks.shapes import CHUNKS, REPLIES, calling

KEY = "AKIAWW7JOSQESZEK5VDL"
GONE = "[redacted:aws-access-token]"
REDACTS = {"name": "redacts", "guards": [{"use": "secrets"}]}
REFUSES = {"name": "refuses", "guards": [{"use": "secrets", "action": "block"}]}

CLASSES: dict[str, tuple[str, str, str]] = {
    "ChatCompletion": ("openai.types.chat", "ChatCompletion", "chat completion"),
    "Response": ("openai.types.responses", "Response", "response"),
    "Message": ("anthropic.types", "Message", "message"),
    "AIMessage": ("langchain_core.messages", "AIMessage", "chat message"),
    "ModelResponse": ("litellm", "ModelResponse", "chat completion"),
}
PIECES: dict[str, tuple[str, str, str]] = {
    "ChatCompletionChunk": ("openai.types.chat", "ChatCompletionChunk", "chat completion"),
    "ResponseTextDeltaEvent": ("openai.types.responses", "ResponseTextDeltaEvent", "response"),
    "RawContentBlockDeltaEvent": ("anthropic.types", "RawContentBlockDeltaEvent", "message"),
    "AIMessageChunk": ("langchain_core.messages", "AIMessageChunk", "chat message"),
}


def made(module: str, name: str, shape: dict[str, Any]) -> Any:
    """An object of a real class; skipped where its SDK is not installed, which `make test-sdks`
    does not allow."""
    kind = getattr(pytest.importorskip(module), name)
    if module == "langchain_core.messages":
        return kind(content=shape["content"], id=shape["id"])
    return kind(**shape) if module == "litellm" else kind.model_validate(shape)


@pytest.mark.parametrize(("module", "name", "shape"), CLASSES.values(), ids=CLASSES)
def test_a_reply_stays_what_it_is(module: str, name: str, shape: str) -> None:
    make, _ = REPLIES[shape]
    clean, leaky = made(module, name, make("all is well")), made(module, name, make(f"it is {KEY}"))
    run = Shield.load(REDACTS).run("ann")
    assert run.model(lambda _messages: clean, ["hello"]) is clean
    reply = run.model(lambda _messages: leaky, ["hello"])
    assert type(reply) is type(leaky)
    assert reply.model_dump() == made(module, name, make(f"it is {GONE}")).model_dump()
    with pytest.raises(Refused):
        Shield.load(REFUSES).run("ann").model(lambda _messages: leaky, ["hello"])


@pytest.mark.parametrize(("module", "name", "shape"), PIECES.values(), ids=PIECES)
def test_a_stream_stays_what_it_is(module: str, name: str, shape: str) -> None:
    make, place = CHUNKS[shape]
    pieces = [
        made(module, name, make(text)) for text in ("it is AKIAWW7J", "OSQESZEK5VDL, ", "keep it")
    ]
    out = list(Shield.load(REDACTS).run("ann").model(lambda _messages: iter(pieces), ["hello"]))
    assert {type(piece) for piece in out} == {type(pieces[0])}
    said = []
    for piece in out:
        value: Any = piece
        for step in place:
            value = value[step] if isinstance(step, int) else getattr(value, step)
        said.append(value)
    assert "".join(said) == f"it is {GONE}, keep it"


def test_a_real_reply_that_calls_a_tool_is_not_final() -> None:
    chat = pytest.importorskip("openai.types.chat")
    seen: list[bool] = []

    class Listens:
        id = "listens"
        stages = (Stage.MODEL_REPLY,)

        def judge(self, event: Any) -> None:
            seen.append(event.final)

    run = Shield.load({"name": "p"}, guards=[Listens()]).run("ann")
    run.model(lambda _messages: chat.ChatCompletion.model_validate(calling()), ["hello"])
    assert seen == [False]


def test_messages_of_an_sdk_go_to_the_model_as_they_are() -> None:
    messages = pytest.importorskip("langchain_core.messages")
    asked: list[Any] = []

    def model(given: list[Any]) -> str:
        asked.append(given)
        return "fine"

    run = Shield.load(REDACTS).run("ann")
    run.model(
        model, [messages.HumanMessage(f"my key is {KEY}"), messages.SystemMessage("be brief")]
    )
    assert [type(one) for one in asked[0]] == [messages.HumanMessage, messages.SystemMessage]
    assert [one.content for one in asked[0]] == [f"my key is {GONE}", "be brief"]
