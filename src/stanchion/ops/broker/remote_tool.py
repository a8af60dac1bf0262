"""A tool that is in the client: a flow that calls it has the client run it, and waits for what
comes of it."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from stanchion.kernel.actions import Risk
from stanchion.kernel.declared import EFFECTS, READ, Declared
from stanchion.runtime.calling.reports import BadEvent
from stanchion.runtime.calling.tool import UNSAID, Tool, estimate, word_of
from stanchion.runtime.driving.flow import Flow, Invoke, T, TimePause, TurnWait
from stanchion.runtime.remote.messages import CallRequest, Value
from stanchion.runtime.values import Read, RemoteValue, Seen, Unreadable, read
from stanchion.runtime.values.parts import is_digest


class Gone(BaseException):
    """The client has gone: what came of what it was told to run nobody knows."""


class Client(Protocol):
    """Who runs what a flow wants to have run."""

    def run(self, fn: Remote, args: dict[str, Any], timeout_s: float | None) -> Any:
        """Have it run and give what came of it; raises what it raised, or `Gone`."""

    def gone(self) -> bool:
        """Whether nobody waits for the answer any more."""

    def pass_turn(self) -> None:
        """Nothing is worked out for it until `take_turn`."""

    def take_turn(self) -> None:
        """Something is again: wait until it may be."""


class Remote:
    """A function in the client: the call of a request, or what undoes it."""

    def __init__(self, request: str, args: dict[str, Any], undo: bool = False) -> None:
        self.request, self.args, self.undo = request, args, undo

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("this function is in a client: only that client can run it")


class RemoteTool(Tool):
    """The tool of one request, with its arguments as the client has read them."""

    __slots__ = ("_content", "_given")

    def __init__(self, call: CallRequest) -> None:
        self._given = arguments_of(call.args)
        self._content = content = self._given if type(self._given) is dict else {}
        self.undo = Remote(call.id, content, undo=True) if call.undo else None
        self.name, self.timeout_s, self.once = call.tool, call.timeout_s, call.once
        self.usage, self.spends = call.usage, UNSAID if call.usage is None else estimate(call.usage)
        # That it only reads is for the broker's policy to say, and so is what its result counts as.
        acts = None if call.effect == READ else word_of("effect", call.effect, EFFECTS)
        risk = None if call.risk is None else Risk(call.risk)
        self.declared = Declared(risk, acts, sinks=call.sinks)
        self._take(Remote(call.id, content))

    def values(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """What the client has read."""
        return self._given

    def given(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        values: dict[str, Any],
        handed: dict[str, Any],
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The client keeps its own values; here they are by name."""
        return (), self._content

    def patched(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        was: dict[str, Any],
        now: dict[str, Any],
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments by name, as they go ahead."""
        return (), dict(now)

    def fits(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """The client says so by the error itself: the only `TypeError` it tells is that a call did
        not fit."""
        return False


def value_of(value: Value) -> Any:
    """A client's value for the runtime to read: plain data as it is, anything else as the client
    has read it."""
    if value.unreadable:
        return RemoteValue(Unreadable(value.unreadable))
    if value.plain and not value.unread:
        return value.content
    again = read(value.content)
    if not _is_json(value.content):
        raise BadEvent("what the client has read is not plain data: send only values that JSON has")
    if value.seen not in tuple(Seen):
        raise BadEvent(
            f"seen is `{value.seen}`: give one of {', '.join(str(int(seen)) for seen in Seen)}"
        )
    # The digest of a file stands where the file did, and is no file that is unread.
    rest = [part for part in again.parts if not is_digest(value.content, part.path)]
    unread = tuple(dict.fromkeys((*value.unread, *rest)))
    seen = max([value.seen, *[part.seen for part in rest]])
    return RemoteValue(Read(value.content, value.content, unread, Seen(seen), value.plain))


def _is_json(content: Any) -> bool:
    """Whether content that was read elsewhere has only what JSON has."""
    try:
        return bool(msgspec.json.decode(msgspec.json.encode(content)) == content)
    except TypeError:
        return False


def arguments_of(value: Value) -> dict[str, Any]:
    """A client's arguments for the runtime to take; `BadEvent` where they are none."""
    if not value.unreadable and type(value.content) is not dict:
        raise BadEvent("`tool_call` takes the tool's name and its arguments as a mapping")
    given: dict[str, Any] = value_of(value)
    return given


def attended(flow: Flow[T], client: Client) -> Flow[T]:
    """A flow whose functions in the client are run there, and that ends where nobody waits for it
    any more; a driver runs it as any other."""
    try:
        need = next(flow)
        while True:
            waits = type(need) in (TimePause, TurnWait)
            if type(need) is Invoke and isinstance(need.fn, Remote):
                need = Invoke(client.run, (need.fn, need.kwargs, need.timeout_s), leave=need.leave)
            try:
                if waits:
                    client.pass_turn()
                given = yield need
                if waits and client.gone():
                    raise Gone
                client.take_turn()
            except BaseException as error:  # noqa: BLE001 - the flow decides what every failure means
                need = flow.throw(error)
            else:
                need = flow.send(given)
    except StopIteration as done:
        result: T = done.value
        return result
