"""A host for tests: its messages are small objects of its own, and every method is tried sync and
async."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

import msgspec

from stanchion.hosts import EVERYTHING, Changed, Host, Refusal


class Message(msgspec.Struct, frozen=True):
    """What the loop of the test gives its model for a call."""

    id: str
    content: Any
    kind: str = "result"
    artifact: Any = None


class Asked(NamedTuple):
    """A call as the loop has it."""

    id: str


def said(kind: str) -> Any:
    """Words that make a message of that kind."""

    def word(refusal: Refusal) -> Message:
        return Message(getattr(refusal.about, "id", ""), str(refusal), kind)

    return word


def put_back(changed: Changed) -> Message:
    """The message with what the agent may see, and without what only the host's code would."""
    made = changed.result if changed.result is not None else Message(changed.about.id, "")
    return msgspec.structs.replace(made, content=changed.content, artifact=None)


LOOP = Host(
    "loop", can=EVERYTHING, refused=said("refused"), retried=said("retry"), ended=said("ended")
)
MESSAGES = Host(
    "messages",
    can=EVERYTHING,
    refused=said("refused"),
    ended=said("ended"),
    shown=lambda message: message.content,
    changed=put_back,
)


def sync_call(hosted: Any, *args: Any, **options: Any) -> Any:
    """A call in this thread."""
    return hosted.call(*args, **options)


def async_call(hosted: Any, tool: Any, args: Any, carry: Any, **options: Any) -> Any:
    """The same on an event loop, carried out by async code."""

    async def acarry(given: dict[str, Any]) -> Any:
        return carry(given)

    return asyncio.run(hosted.acall(tool, args, acarry, **options))


def threaded_call(hosted: Any, *args: Any, **options: Any) -> Any:
    """The same on an event loop, carried out by sync code."""
    return asyncio.run(hosted.acall(*args, **options))


def returned_call(hosted: Any, tool: Any, args: Any, carry: Any, **options: Any) -> Any:
    """The same, carried out by sync code that gives something to await."""

    async def later(given: dict[str, Any]) -> Any:
        return carry(given)

    return asyncio.run(hosted.acall(tool, args, lambda given: later(given), **options))


CALLS = {
    "sync": sync_call,
    "async": async_call,
    "threaded": threaded_call,
    "returned": returned_call,
}


def sync_report(hosted: Any, *args: Any, **fields: Any) -> Any:
    """A report in this thread."""
    return hosted.report(*args, **fields)


def async_report(hosted: Any, *args: Any, **fields: Any) -> Any:
    """The same on an event loop."""
    return asyncio.run(hosted.areport(*args, **fields))


REPORTS = {"sync": sync_report, "async": async_report}
