"""The framework-free model call: guidance in, reply judged, retries bounded, a stop's message as the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import ModelCall, ModelReply
from stanchion.kernel.findings import Finding
from stanchion.kernel.stages import Stage
from stanchion.runtime.calling import tried_again
from stanchion.runtime.desk import Desk
from stanchion.runtime.drivers import Flow
from stanchion.runtime.effects import Invoke
from stanchion.runtime.flows import RETRY, assess, failed, judge, withhold
from stanchion.runtime.pricing import Bill
from stanchion.runtime.reaching_out import Paying
from stanchion.runtime.replies import reply_of
from stanchion.runtime.retrying import again
from stanchion.runtime.spending import settled
from stanchion.runtime.starting import Lapsed, lapsed
from stanchion.runtime.streamed import Account, Streaming, is_stream
from stanchion.runtime.terms import terms_of
from stanchion.runtime.under_way import Way, begun as has_begun, cut_off
from stanchion.runtime.unread import against, marked, unreadable
from stanchion.runtime.values import Read, Unreadable, arguments, restored, taken
from stanchion.runtime.values.words import Words


def converse(
    desk: Desk,
    fn: Callable[..., Any],
    messages: Iterable[Any],
    model: str = "",
    params: Mapping[str, Any] | None = None,
    final: bool | None = None,
    tokens: int | None = None,
    cost_usd: float | None = None,
) -> Flow[Any]:
    """Ask a model until its reply may be handed on; gives the reply, or the safe message of what ended the run.

    What every attempt may use is reserved before, and settled to what its reply says it used afterwards. Whatever cuts
    it off, what it took is given back, and what came of it written down.
    """
    way = Way()
    try:
        options = {} if params is None else dict(params)
        return (yield from _conversed(desk, fn, list(messages), model, options, final, tokens, cost_usd, way))
    except BaseException as error:
        yield from cut_off(desk, way, error)
        raise


def _conversed(
    desk: Desk,
    fn: Callable[..., Any],
    said: list[Any],
    model: str,
    options: dict[str, Any],
    final: bool | None,
    tokens: int | None,
    cost_usd: float | None,
    way: Way,
) -> Flow[Any]:
    """The same, for somebody who sees to what is left."""
    attempt = 0
    while True:
        attempt += 1
        said += [_system(words) for words in desk.take_notices()]
        request, refused = _request(desk, said, options)
        event: Any = marked(desk.event(ModelCall, model=model, **request.content), request)
        bill = Bill(desk, event, tokens, cost_usd)
        decision, event = yield from assess(desk, event, bill.reserved, refused, reprice=bill.again, way=way)
        if decision.action == Action.RETRY and not (yield from again(desk, terms_of(decision, RETRY), attempt)):
            said.append(_guidance(decision))
            continue
        if not decision.proceeds:
            return _stopped(desk, decision)
        asked = {"messages": event.messages, "params": event.params}
        given = restored(request.handed, request.content, asked) if decision.patches else request.handed
        send, keep = given["messages"], given["params"]
        if event.model != model:
            keep = {**keep, "model": event.model}
        began_ms = desk.shield.clock() if desk.measures else 0
        has_begun(desk, decision, event)
        try:
            with Paying(bill.reserved):
                reply = yield Invoke(fn, (send,), keep, desk.time_left_s("", None), desk.allowed.leave(decision))
        except Lapsed:
            return _stopped(desk, (yield from lapsed(desk, decision, event, bill.reserved)))
        except Exception as error:
            failure = yield from failed(
                desk, event, decision, error, attempt, bill.reserved, bill.reserved, retries=True
            )
            if (yield from tried_again(desk, failure, error, attempt)):
                continue
            withhold(desk, failure, error)
            raise
        if is_stream(reply):
            streaming = Streaming(reply, Account(desk, event, decision, bill, began_ms), final)
            desk.under_way.hand(decision.id)
            return streaming
        came = reply_of(desk, reply)
        used, notes = bill.settle(event, came.seen.content, began_ms) if decision.held else (bill.reserved, ())
        answered: Any = desk.event(
            ModelReply, call=decision.id, text=came.text, model=event.model, final=_is_final(came.words, final)
        )
        answered = marked(answered, came.seen)
        moment = desk.moment(answered, settles=settled(decision, used), refused=came.refused)
        answer = yield from judge(desk, moment, notes)
        if answer.proceeds:
            desk.last = answer.patched(came.text)
            return came.handed(answer.patches)
        if answer.action == Action.RETRY and not (yield from again(desk, terms_of(answer, RETRY), attempt)):
            said.append(_guidance(answer))
            continue
        return _stopped(desk, answer)


def _stopped(desk: Desk, decision: Decision) -> str:
    """The safe message where the run ends; anything milder is for the caller to handle."""
    if decision.action == Action.HALT:
        return _said(decision)
    raise desk.refusal(decision)


def _guidance(decision: Decision) -> dict[str, str]:
    return _system(decision.advice if decision.advice else _said(decision))


def _said(decision: Decision) -> str:
    """The words of whoever refuses a reply, for one who is given them in its place."""
    return "" if decision.determining is None else decision.determining.message


def _system(words: str) -> dict[str, str]:
    return {"role": "system", "content": words}


def _request(desk: Desk, messages: list[Any], params: dict[str, Any]) -> tuple[Read, tuple[Finding, ...]]:
    """A request as it was taken, and what stands against it. Parameters are the host's own: what of them cannot be
    read is no content."""
    try:
        said, options = taken(messages), arguments(params, params)
    except Unreadable as error:
        empty: dict[str, Any] = {"messages": [], "params": {}}
        return Read(empty, {"messages": messages, "params": params}), unreadable(error)
    content = {"messages": said.content, "params": options.content}
    both = Read(content, {"messages": said.handed, "params": options.handed}, said.unread, said.seen)
    return both, against(desk, Stage.MODEL_CALL, "", both) if both.unread else ()


def _is_final(words: Words, said: bool | None) -> bool:
    return words.final if said is None else said
