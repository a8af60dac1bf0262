"""A redacted reply of an SDK keeps its type; guards hear its words, and whether they are final."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from stanchion import Shield, Stage

KEY = "AKIAWW7JOSQESZEK5VDL"
GONE = "[redacted:aws-access-token]"


class Message(BaseModel):
    """A message of a reply."""

    role: str = "assistant"
    content: str | None = None
    tool_calls: list[dict[str, Any]] | None = None


class Choice(BaseModel):
    """One of its choices."""

    index: int = 0
    finish_reason: str = "stop"
    message: Message


class Completion(BaseModel):
    """A reply as SDKs give it."""

    id: str = "chatcmpl-1"
    choices: list[Choice]
    usage: dict[str, int] = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}


class Listens:
    """A guard that keeps what it is shown."""

    id = "listens"
    stages = (Stage.MODEL_REPLY,)

    def __init__(self) -> None:
        self.heard: list[tuple[str, bool]] = []

    def judge(self, event: Any) -> None:
        self.heard.append((event.text, event.final))


def answer(text: str | None, calls: list[dict[str, Any]] | None = None) -> Completion:
    return Completion(choices=[Choice(message=Message(content=text, tool_calls=calls))])


def test_a_redacted_reply_stays_what_it_is() -> None:
    run = Shield.load({"name": "p", "guards": [{"use": "secrets"}]}).run("ann")
    reply = run.model(lambda _messages: answer(f"it is {KEY}"), ["hello"])
    assert type(reply) is Completion
    assert reply.choices[0].message.content == f"it is {GONE}"
    assert reply == answer(f"it is {GONE}")


def test_guards_hear_the_words_and_whether_they_are_final() -> None:
    listens = Listens()
    run = Shield.load({"name": "p"}, guards=[listens]).run("ann")
    run.model(lambda _messages: answer("done"), ["hello"])
    run.model(
        lambda _messages: answer(None, [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]),
        ["hello"],
    )
    assert listens.heard == [("done", True), ("", False)]


def test_a_mapping_gains_no_key() -> None:
    run = Shield.load({"name": "p", "guards": [{"use": "secrets"}]}).run("ann")
    reply = run.model(
        lambda _messages: {"output": [{"content": [{"type": "output_text", "text": KEY}]}]},
        ["hello"],
    )
    assert reply == {"output": [{"content": [{"type": "output_text", "text": GONE}]}]}
