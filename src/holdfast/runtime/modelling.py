"""The framework-free model call: guidance in, reply judged, retries bounded, a stop's message as the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from holdfast.kernel.actions import Action
from holdfast.kernel.decision import Decision
from holdfast.kernel.events import ModelCall, ModelReply
from holdfast.kernel.units import JUST_ONE, Amounts, amounts
from holdfast.runtime.data import project, text_of
from holdfast.runtime.desk import Desk
from holdfast.runtime.drivers import Flow
from holdfast.runtime.effects import Invoke
from holdfast.runtime.flows import RETRY, assess, close_hold, judge, settlement, terms_of
from holdfast.runtime.recording import left


def converse(
    desk: Desk,
    fn: Callable[..., Any],
    messages: Iterable[Any],
    model: str = "",
    params: Mapping[str, Any] | None = None,
    final: bool = False,
    tokens: int = 0,
    cost_usd: float = 0.0,
) -> Flow[Any]:
    """Ask a model until its reply may be handed on; gives the reply, or the safe message of what ended the run."""
    said = list(messages)
    options = {} if params is None else dict(params)
    estimate = JUST_ONE if not tokens and not cost_usd else amounts(tokens, cost_usd)
    attempt = 0
    while True:
        attempt += 1
        said += [_system(words) for words in desk.take_notices()]
        event: Any = desk.event(ModelCall, model=model, messages=project(said), params=project(options))
        decision, event = yield from assess(desk, event, estimate)
        if decision.action == Action.RETRY and attempt < terms_of(decision, RETRY).max_attempts:
            said.append(_guidance(decision))
            continue
        if not decision.proceeds:
            return _stopped(desk, decision)
        send, keep = (event.messages, event.params) if decision.patches else (said, options)
        try:
            reply = yield Invoke(fn, (send,), keep, desk.time_left_s("", None))
        except BaseException as error:
            left(desk, event, decision, "it failed or was interrupted: what came of it is not known", error)
            yield from close_hold(desk, decision)
            raise
        text, used = read_reply(reply, estimate)
        answered: Any = desk.event(ModelReply, call=decision.id, text=text, model=event.model, final=final)
        answer = yield from judge(desk, desk.moment(answered, settles=settlement(decision, used)))
        if answer.proceeds:
            desk.last = answer.patched(text)
            return with_text(reply, desk.last) if answer.patches else reply
        if answer.action == Action.RETRY and attempt < terms_of(answer, RETRY).max_attempts:
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


def read_reply(reply: Any, estimate: Amounts) -> tuple[str, Amounts]:
    """The text of a reply (a text, a mapping or an object with `text` or `content`) and what it used."""
    text: Any = reply
    usage: Any = None
    if not isinstance(reply, str):
        text = next((found for name in ("text", "content") if (found := _field(reply, name)) is not None), reply)
        usage = _field(reply, "usage")
    used = [_field(usage, name) for name in ("input_tokens", "output_tokens", "total_tokens")] if usage else []
    counts = [count for count in used if isinstance(count, int) and not isinstance(count, bool) and count >= 0]
    tokens = used[2] if len(used) == 3 and used[2] in counts else sum(counts)
    return text_of(text), (amounts(tokens, estimate[2] / 1_000_000) if counts else estimate)


def with_text(reply: Any, text: str) -> Any:
    """A reply with another text: the same mapping with its text replaced, or the text alone."""
    if isinstance(reply, Mapping):
        name = "text" if "text" in reply else "content"
        return {**reply, name: text}
    return text


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
