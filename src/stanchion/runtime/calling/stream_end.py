"""Streamed replies: what a stream is charged for, and how its end is judged."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Failure, ModelCall, ModelReply
from stanchion.runtime.calling.begin import begun as has_begun
from stanchion.runtime.calling.model_bill import Bill, text_tokens
from stanchion.runtime.calling.outcome import failed, withhold
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.faults import described
from stanchion.runtime.deciding.judging import assess, judge
from stanchion.runtime.deciding.left import abandoned
from stanchion.runtime.deciding.record import broke_off, concluded
from stanchion.runtime.deciding.spend import settled
from stanchion.runtime.deciding.under_way import INTERRUPTED
from stanchion.runtime.driving.flow import Flow


class StreamAccount:
    """What a streamed reply is charged for: the call that asked for it, or one of its own where
    nobody asked."""

    def __init__(
        self,
        desk: Desk,
        event: Any = None,
        decision: Decision | None = None,
        bill: Bill | None = None,
        began_ms: int = 0,
    ) -> None:
        self._desk = desk
        self._event, self._decision, self._bill, self._began_ms = event, decision, bill, began_ms
        self._usage: dict[str, Any] = {}
        self._estimated = False
        self._open = decision is not None

    @property
    def call(self) -> str:
        """The call that the stream answers; empty where there is none."""
        return "" if self._decision is None else self._decision.id

    def begin(self, model: str, tokens: int | None, cost_usd: float | None) -> Flow[None]:
        """Reserve what a stream may use whose request nobody has judged; raises `Refused` where so
        much is not left."""
        desk = self._desk
        self._estimated = tokens is not None
        if self._decision is not None or not desk.measures or desk.streams_for():
            return
        event = desk.event(ModelCall, model=model)
        bill = Bill(desk, event, tokens, cost_usd)
        decision, event = yield from assess(desk, event, bill.reserved, reprice=bill.again)
        if not decision.proceeds:
            raise desk.refusal(decision)
        self._event, self._decision, self._bill, self._open = event, decision, bill, True
        self._began_ms = desk.shield.clock()
        has_begun(desk, decision, event)
        desk.under_way.hand(decision.id)

    def heard(self, content: Any) -> None:
        """Take note of what a piece says was used."""
        for holder in _holders(content):
            for name in ("usage", "usage_metadata"):
                said = holder.get(name)
                if isinstance(said, dict):
                    self._usage |= {key: count for key, count in said.items() if _is_count(count)}

    def whole(self, text: str, final: bool) -> Flow[Decision]:
        """Judge the reply as it was delivered, and settle what it used."""
        desk, decision = self._desk, self._decision
        call = "" if decision is None else decision.id
        model = "" if self._event is None else self._event.model
        event: Any = desk.event(ModelReply, call=call, text=text, final=final, model=model)
        settles: tuple[Any, ...] = ()
        notes: tuple[str, ...] = ()
        if decision is not None and self._bill is not None:
            used, notes = self._bill.settle(
                self._event, {"usage": self._said(text)}, self._began_ms
            )
            settles = settled(decision, used)
        self._open = False
        return (
            yield from judge(desk, desk.moment(event, settles=settles), notes, plans=desk.streamed)
        )

    def _said(self, text: str) -> dict[str, Any]:
        """What the stream said it used; otherwise what its text may have been, and its prompt."""
        if self._usage or self._bill is None or self._estimated:
            return self._usage
        prompt = self._bill.prompt_tokens
        return {"total_tokens": prompt + text_tokens(text.encode("utf-8", "replace"))}

    def broken(self, error: BaseException) -> Flow[None]:
        """A stream broke off: what came of it is judged or written down, and what it reserved
        counts as used."""
        if self._decision is None and isinstance(error, Exception):
            desk = self._desk
            fault: Any = desk.event(Failure, **described(desk.shield.policy, error))
            answer = yield from judge(desk, desk.moment(fault))
            withhold(desk, answer, error)
        elif self._decision is None:
            broke_off(self._desk, INTERRUPTED, error)
        if not self._open or self._decision is None or self._bill is None:
            return
        self._open = False
        if isinstance(error, Exception):
            yield from failed(
                self._desk,
                self._event,
                self._decision,
                error,
                1,
                self._bill.reserved,
                self._bill.reserved,
            )
            return
        abandoned(self._desk, self._decision.id, error)
        if not isinstance(error, GeneratorExit):
            yield from self._desk.shield.unsettled.carry()

    def refused(self) -> Flow[None]:
        """A piece was refused: nothing more comes, and what it reserved is used."""
        how = "it ended where a piece of it was refused"
        if self._decision is None:
            broke_off(self._desk, how)
        elif self._open and self._bill is not None:
            self._open = False
            settles = settled(self._decision, self._bill.reserved)
            yield from concluded(self._desk, self._event, self._decision, settles, how)


class Streaming(msgspec.Struct, frozen=True):
    """A model's reply that is still to come."""

    source: Any
    account: StreamAccount
    final: bool | None = None


def _is_count(count: Any) -> bool:
    """Whether something can say how much was used: a number that is not negative, or several by
    name."""
    return isinstance(count, dict) or (type(count) in (int, float) and count >= 0)


def _holders(content: Any) -> list[dict[str, Any]]:
    """Where a piece may say what was used: in itself, in its message, in the response that it ends
    with."""
    if not isinstance(content, dict):
        return []
    return [
        content,
        *[content[name] for name in ("message", "response") if isinstance(content.get(name), dict)],
    ]
