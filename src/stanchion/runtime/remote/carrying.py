"""A call through a broker: judged there, run here, its outcome judged there again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from stanchion.kernel.stages import Stage
from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.deciding.undos import MAX_UNDO
from stanchion.runtime.driving.flow import Flow, Invoke
from stanchion.runtime.errors import Refused, ToolFailed
from stanchion.runtime.remote.broker_link import BadFrame, Conversation
from stanchion.runtime.remote.errors import (
    MOST_TEXT,
    BrokerLost,
    NotThroughBroker,
    misfit,
    told,
    unjudged,
)
from stanchion.runtime.remote.messages import (
    CallOutcome,
    CallRequest,
    Done,
    Fault,
    Go,
    Raised,
    Refusal,
    Value,
    Withheld,
)
from stanchion.runtime.values import Read, Unreadable, arguments, read, restored
from stanchion.runtime.values.form_of import is_stream
from stanchion.runtime.values.parts import digested


def sent(reading: Callable[[], Read]) -> tuple[Value, Read]:
    """A value as it is told to a broker, and as it was read."""
    try:
        seen = reading()
    except Unreadable as error:
        return Value(unreadable=str(error)), Read(None, None)
    return Value(seen.content, seen.parts, int(seen.seen), seen.plain), seen


def shared(content: Any, changed: Any) -> Any:
    """Changed content that shares with the first what is still the same, so that untouched parts
    stay the objects they are."""
    if type(content) is not type(changed):
        return changed
    if type(content) is dict:
        parts = {
            name: shared(content[name], part) if name in content else part
            for name, part in changed.items()
        }
        same = len(parts) == len(content) and all(
            parts[name] is content.get(name) for name in parts
        )
        return content if same and list(parts) == list(content) else parts
    if type(content) is list:
        if len(content) != len(changed):
            return changed
        items = list(map(shared, content, changed))
        return (
            content
            if all(one is other for one, other in zip(items, content, strict=True))
            else items
        )
    return content if content == changed else changed


class RequestedUndos:
    """How the calls of a run are undone, by their requests; the broker says when. The oldest is
    forgotten first."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, Invoke] = OrderedDict()

    def remember(self, request: str, undo: Invoke) -> None:
        """Keep what undoes a call."""
        self._known[request] = undo
        if len(self._known) > MAX_UNDO:
            self._known.popitem(last=False)

    def run(self, request: str) -> Flow[CallOutcome]:
        """Undo a call; gives what came of it."""
        undo = self._known.pop(request, None)
        if undo is None:
            return CallOutcome(fault=Fault("LookupError", text="no way to undo it is known here"))
        try:
            yield undo
        except Exception as error:  # noqa: BLE001 - whatever an undo raises, the broker is told
            return CallOutcome(fault=told(error))
        return CallOutcome()


class CarriedCall:
    """One call: its arguments as they were taken, and what came of it here."""

    def __init__(
        self, undos: RequestedUndos, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        values = tool.values(args, kwargs)
        self._undos, self._tool = undos, tool
        self.sent, self._took = sent(lambda: arguments(values, tool.own(values)))
        self._given = (args, kwargs)
        if not self.sent.unreadable:
            self._given = tool.given(args, kwargs, values, self._took.handed)
        self._seen: Read | None = None
        self._error: Exception | None = None

    def call(self, talk: Conversation, request: CallRequest) -> Flow[Any]:
        """Ask for it, run it when told to, and give what the broker lets the agent have."""
        reply = yield from talk.ask(request)
        while isinstance(reply, Go):
            outcome = (
                (yield from self._undos.run(reply.request))
                if reply.undo
                else (yield from self._run(reply))
            )
            reply = yield from self._told(talk, outcome)
        if isinstance(reply, Done):
            if self._seen is None or self._error is not None:
                return reply.value
            if reply.unchanged:
                return self._seen.handed
            return restored(
                self._seen.handed, self._seen.content, shared(self._seen.content, reply.value)
            )
        if isinstance(reply, Raised) and self._error is not None:
            for note in reply.notes:
                self._error.add_note(note)
            raise self._error
        if isinstance(reply, Withheld):
            raise ToolFailed(reply.text) from None
        if isinstance(reply, Refusal):
            behind = self._error if reply.behind else None
            raise misfit(reply) from behind
        raise misfit(reply)

    def _run(self, go: Go) -> Flow[CallOutcome]:
        tool, (args, kwargs) = self._tool, self._given
        if go.args is not None:
            was = self._took.content
            args, kwargs = tool.patched(args, kwargs, was, shared(was, go.args))
        self._error = self._seen = None
        try:
            value = yield Invoke(tool.fn, args, kwargs, go.timeout_s)
            if is_stream(value):
                raise NotThroughBroker(
                    f"`{tool.name}` gives its items one by one, which a broker cannot judge: "
                    f"return a list"
                )
        except Exception as error:  # noqa: BLE001 - the broker decides what every failure means
            self._error = error
            return CallOutcome(
                fault=told(error, isinstance(error, TypeError) and not tool.fits(args, kwargs))
            )
        if tool.undo is not None:
            self._undos.remember(go.request, Invoke(tool.undo, args, kwargs))
        content, self._seen = sent(lambda: digested(read(value)))
        return CallOutcome(content)

    def _told(self, talk: Conversation, outcome: CallOutcome) -> Flow[Any]:
        """Tell what came of it; where nobody can be told, what came of it is nobody's to have."""
        try:
            try:
                return (yield from talk.say(outcome))
            except BadFrame as error:
                if outcome.fault is None:
                    self._error = ToolFailed(
                        f"`{self._tool.name}` has run, and its result is too large: {error}"
                    )
                    return (yield from talk.say(CallOutcome(fault=told(self._error))))
                # Longer than anybody reads: an error that cannot be judged is withheld.
                unread = Fault(outcome.fault.name, outcome.fault.bases, " " * MOST_TEXT)
                return (yield from talk.say(CallOutcome(fault=unread)))
        except BrokerLost as lost:
            why = f"`{self._tool.name}` has run, and its outcome could not be judged: {lost}"
        raise Refused(unjudged(why, Stage.TOOL_RESULT)) from None
