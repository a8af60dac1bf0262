"""The framework-free model call: guidance in, reply judged, retries bounded, a stop's message as the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import ModelCall, ModelReply
from stanchion.runtime.calling import tried_again
from stanchion.runtime.cleaning import clean
from stanchion.runtime.data import project, text_of
from stanchion.runtime.desk import Desk
from stanchion.runtime.drivers import Flow
from stanchion.runtime.effects import Invoke
from stanchion.runtime.flows import RETRY, assess, failed, judge, withhold
from stanchion.runtime.pricing import Bill
from stanchion.runtime.reaching_out import paying
from stanchion.runtime.recording import left
from stanchion.runtime.retrying import again
from stanchion.runtime.spending import close_hold, settled
from stanchion.runtime.terms import terms_of
from stanchion.runtime.usage import field


def converse(
    desk: Desk,
    fn: Callable[..., Any],
    messages: Iterable[Any],
    model: str = "",
    params: Mapping[str, Any] | None = None,
    final: bool = False,
    tokens: int | None = None,
    cost_usd: float | None = None,
) -> Flow[Any]:
    """Ask a model until its reply may be handed on; gives the reply, or the safe message of what ended the run.

    What every attempt may use is reserved before, and settled to what its reply says it used afterwards.
    """
    said = list(messages)
    options = {} if params is None else dict(params)
    attempt = 0
    while True:
        attempt += 1
        said += [_system(words) for words in desk.take_notices()]
        event: Any = desk.event(ModelCall, model=model, messages=project(said), params=project(options))
        bill = Bill(desk, event, tokens, cost_usd)
        decision, event = yield from assess(desk, event, bill.reserved, reprice=bill.again)
        if decision.action == Action.RETRY and not (yield from again(desk, terms_of(decision, RETRY), attempt)):
            said.append(_guidance(decision))
            continue
        if not decision.proceeds:
            return _stopped(desk, decision)
        send, keep = (event.messages, event.params) if decision.patches else (said, options)
        if event.model != model:
            keep = {**keep, "model": event.model}
        began_ms = desk.shield.clock() if desk.measures else 0
        try:
            reply = yield from paying(bill.reserved, Invoke(fn, (send,), keep, desk.time_left_s("", None)))
        except Exception as error:
            failure = yield from failed(
                desk, event, decision, error, attempt, bill.reserved, bill.reserved, retries=True
            )
            if (yield from tried_again(desk, failure, error, attempt)):
                continue
            withhold(desk, failure, error)
            raise
        except BaseException as error:
            left(desk, event, decision, "it was interrupted: what came of it is not known", error)
            yield from close_hold(desk, decision, bill.reserved)
            raise
        text = text_in(reply)
        used, notes = bill.settle(event, reply, began_ms) if decision.held else (bill.reserved, ())
        answered: Any = desk.event(ModelReply, call=decision.id, text=text, model=event.model, final=final)
        answer = yield from judge(desk, desk.moment(answered, settles=settled(decision, used)), notes)
        if answer.proceeds:
            desk.last = answer.patched(text)
            handed = with_text(reply, desk.last) if answer.patches else reply
            return clean(desk, handed) if type(handed) is dict else handed
        if answer.action == Action.RETRY and not (yield from again(desk, terms_of(answer, RETRY), attempt)):
            said.append(_guidance(answer))
            continue
        return _stopped(desk, answer)


def _stopped(desk: Desk, decision: Decision) -> str:
    """The safe message where the run ends; anything milder is for the caller to handle."""
    if decision.action == Action.HALT:
        return decision.message
    raise desk.refusal(decision)


def _guidance(decision: Decision) -> dict[str, str]:
    return _system(decision.advice if decision.advice else decision.message)


def _system(words: str) -> dict[str, str]:
    return {"role": "system", "content": words}


def text_in(reply: Any) -> str:
    """The text of a reply: a text, or a mapping or an object with `text` or `content`."""
    if isinstance(reply, str):
        return reply
    return text_of(next((found for name in ("text", "content") if (found := field(reply, name)) is not None), reply))


def with_text(reply: Any, text: str) -> Any:
    """A reply with another text: the same mapping with its text replaced, or the text alone."""
    if isinstance(reply, Mapping):
        name = "text" if "text" in reply else "content"
        return {**reply, name: text}
    return text
