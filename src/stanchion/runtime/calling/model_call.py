"""The framework-free model call: guidance in, reply judged, retries bounded, a stop's message as
the answer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import ModelCall, ModelReply
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.patches import PatchError, apply
from stanchion.kernel.stages import Stage
from stanchion.runtime.calling.at_work import Paying, asked_for
from stanchion.runtime.calling.begin import begun as has_begun
from stanchion.runtime.calling.call import tried_again
from stanchion.runtime.calling.model_bill import Bill
from stanchion.runtime.calling.outcome import RETRY, failed, withhold
from stanchion.runtime.calling.stream_end import StreamAccount, Streaming
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.discretion import WITHHELD, hidden
from stanchion.runtime.deciding.judging import assess, judge, lapsed
from stanchion.runtime.deciding.left import cut_off
from stanchion.runtime.deciding.retries import again
from stanchion.runtime.deciding.run_memory import terms_of
from stanchion.runtime.deciding.spend import settled
from stanchion.runtime.deciding.start import Lapsed
from stanchion.runtime.deciding.under_way import CallWay
from stanchion.runtime.deciding.unreadable_content import NOTHING, against, marked, unreadable
from stanchion.runtime.driving.flow import Flow, Invoke
from stanchion.runtime.errors import Refused
from stanchion.runtime.keywords import ModelOptions
from stanchion.runtime.values import Read, Unreadable, arguments, read, restored, taken
from stanchion.runtime.values.binary_text import MAX_CHARS
from stanchion.runtime.values.form_of import is_stream
from stanchion.runtime.values.words import (
    LOGPROBS,
    Path,
    ReplyWords,
    at,
    fields_of,
    patches_for,
    texts_in,
    words_of,
)
from stanchion.tutor.envelope.repair import Checked, NoMore, RankedCandidate, best_of, seed_of

SPELLED: Final = frozenset({LOGPROBS})
SHORTEST: Final = 6
"""Texts of an envelope that are shorter hold nothing that guards look for."""


class ReadReply(NamedTuple):
    """A reply as it was read: its words, what stands against it, and what has to be hidden besides
    its words."""

    seen: Read
    words: ReplyWords
    text: str
    refused: tuple[Finding, ...] = ()
    beside: tuple[Patch, ...] = ()

    def handed(self, patches: Sequence[Patch]) -> Any:
        """The reply as it goes on, with its words patched like that."""
        content = self.seen.content
        spoken = patches_for(self.words.spoken(content), patches)
        if spoken:
            spoken += tuple([Patch(place, None) for place in fields_of(content, SPELLED)])
        try:
            changed = apply(content, (*spoken, *self.beside))
        except PatchError:
            withheld = [Patch(patch.path, WITHHELD) for patch in self.beside]
            words = [Patch(path, WITHHELD) for path, _ in self.words.spoken(content)]
            changed = apply(content, (*words, *withheld))
        return restored(self.seen.handed, content, changed)


def reply_of(desk: Desk, value: Any) -> ReadReply:
    """A model's reply, read once. A text is its own words, halves of characters in it included."""
    if type(value) is str and len(value) <= MAX_CHARS:
        return ReadReply(Read(value, value), words_of(""), value)
    try:
        seen = read(value)
    except Unreadable as error:
        return ReadReply(NOTHING, words_of(""), "", unreadable(error))
    words = words_of(seen.content)
    spoken = words.spoken(seen.content)
    patches, refused = hidden(desk, others(seen.content, {path for path, _ in spoken}))
    unread = against(desk, Stage.MODEL_REPLY, "", seen) if seen.parts else ()
    return ReadReply(seen, words, words.text(seen.content), (*unread, *refused), patches)


def others(content: Any, words: set[Path], shortest: int = SHORTEST) -> list[tuple[Path, str]]:
    """The texts of a reply that are no words of it."""
    if type(content) is str:
        return []
    places = [(path, at(content, path)) for path in texts_in(content) if path not in words]
    return [(path, text) for path, text in places if len(text) >= shortest]


Ended = Literal["text", "raise"]
"""What becomes of a model's call that ends the run: its safe message is the reply, or it raises."""


def converse(
    desk: Desk,
    fn: Callable[..., Any],
    messages: Iterable[Any],
    options: ModelOptions,
    system: Callable[[str], Any] | None = None,
    ended: Ended = "text",
    once: bool = False,
) -> Flow[Any]:
    """Ask a model until its reply may be handed on; gives the reply, or the safe message of what
    ended the run.

    `system` makes a message of guidance, for models that take messages of another type. With
    `ended` as `raise` what ends the run is raised like any other refusal. With `once` it is not
    asked again, whoever wants it to be: for a caller who counts.

    What every attempt may use is reserved before, and settled to what its reply says it used
    afterwards. Whatever cuts it off, what it took is given back, and what came of it written down.
    """
    if ended not in ("text", "raise"):
        raise ValueError(f"`ended` is `{ended}`: write `raise` or `text`")
    way = CallWay()
    try:
        words = _system if system is None else system
        flow = _conversed(desk, fn, list(messages), options, way, words, once)
        return (yield from (flow if desk.shield.coverage is None else asked_for(desk, flow)))
    except RunStopped as stopped:
        if ended == "text":
            return _said(stopped.decision)
        raise desk.refusal(stopped.decision) from None
    except BaseException as error:
        yield from cut_off(desk, way, error)
        raise


def _conversed(
    desk: Desk,
    fn: Callable[..., Any],
    said: list[Any],
    options: ModelOptions,
    way: CallWay,
    system: Callable[[str], Any],
    once: bool,
) -> Flow[Any]:
    """The same, for somebody who sees to what is left; `Stopped` is raised where the run ends."""
    model, params, final, tokens, cost_usd = options
    params, attempt = {} if params is None else dict(params), 0
    while True:
        attempt += 1
        said += [system(words) for words in desk.take_notices()]
        request, refused = _request(desk, said, params)
        event: Any = marked(desk.event(ModelCall, model=model, **request.content), request)
        bill = Bill(desk, event, tokens, cost_usd)
        decision, event = yield from assess(
            desk, event, bill.reserved, refused, reprice=bill.again, way=way
        )
        if (yield from _asks_again(desk, decision, attempt, once)):
            said.append(system(_guidance(decision)))
            continue
        if not decision.proceeds:
            raise _stopped(desk, decision)
        asked = {"messages": event.messages, "params": event.params}
        given = (
            restored(request.handed, request.content, asked) if decision.patches else request.handed
        )
        send, keep = given["messages"], given["params"]
        if event.model != model:
            keep = {**keep, "model": event.model}
        began_ms = desk.shield.clock() if desk.measures else 0
        has_begun(desk, decision, event)
        try:
            with Paying(bill.reserved, Stage.MODEL_CALL in desk.shield.policy.unpaid):
                ask = desk.shield.telemetry.around(decision.id, fn)
                reply = yield Invoke(
                    ask, (send,), keep, desk.time_left_s("", None), desk.allowed.leave(decision)
                )
        except Lapsed:
            raise _stopped(
                desk, (yield from lapsed(desk, decision, event, bill.reserved))
            ) from None
        except Exception as error:
            judged = yield from failed(
                desk, event, decision, error, attempt, bill.reserved, bill.reserved, retries=True
            )
            if not once and (yield from tried_again(desk, judged, error, attempt)):
                continue
            withhold(desk, judged.answer, error)
            raise
        if is_stream(reply):
            streaming = Streaming(
                reply, StreamAccount(desk, event, decision, bill, began_ms), final
            )
            desk.under_way.hand(decision.id)
            return streaming
        came = reply_of(desk, reply)
        used, notes = (
            bill.settle(event, came.seen.content, began_ms)
            if decision.held
            else (bill.reserved, ())
        )
        answered: Any = desk.event(
            ModelReply,
            call=decision.id,
            text=came.text,
            model=event.model,
            final=_is_final(came.words, final),
        )
        answered = marked(answered, came.seen)
        moment = desk.moment(answered, settles=settled(decision, used), refused=came.refused)
        answer = yield from judge(desk, moment, notes)
        if answer.proceeds:
            desk.last = answer.patched(came.text)
            return came.handed(answer.patches)
        if (yield from _asks_again(desk, answer, attempt, once)):
            said.append(system(_guidance(answer)))
            continue
        raise _stopped(desk, answer)


def _asks_again(desk: Desk, decision: Decision, attempt: int, once: bool) -> Flow[bool]:
    """Whether a model is asked again, now that it is time."""
    if once or decision.action != Action.RETRY:
        return False
    return not (yield from again(desk, terms_of(decision, RETRY), attempt))


class RunStopped(Exception):
    """The run ends here."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision)
        self.decision = decision


def _stopped(desk: Desk, decision: Decision) -> Exception:
    """That the run ends; anything milder is for the caller to handle."""
    return RunStopped(decision) if decision.action == Action.HALT else desk.refusal(decision)


def _guidance(decision: Decision) -> str:
    return decision.advice if decision.advice else _said(decision)


def _said(decision: Decision) -> str:
    """The words of whoever refuses a reply, for one who is given them in its place."""
    return "" if decision.determining is None else decision.determining.message


def _system(words: str) -> dict[str, str]:
    return {"role": "system", "content": words}


def _request(
    desk: Desk, messages: list[Any], params: dict[str, Any]
) -> tuple[Read, tuple[Finding, ...]]:
    """A request as it was taken, and what stands against it. Parameters are the host's own: what of
    them cannot be read is no content."""
    try:
        said, options = taken(messages), arguments(params, params)
    except Unreadable as error:
        empty: dict[str, Any] = {"messages": [], "params": {}}
        return Read(empty, {"messages": messages, "params": params}), unreadable(error)
    content = {"messages": said.content, "params": options.content}
    both = Read(content, {"messages": said.handed, "params": options.handed}, said.parts, said.seen)
    return both, against(desk, Stage.MODEL_CALL, "", said) if said.parts else ()


def _is_final(words: ReplyWords, said: bool | None) -> bool:
    return words.final if said is None else said


MOST: Final = 100
"""How often more than once a model can be asked."""


class Repaired(msgspec.Struct, frozen=True):
    """The best reply, what was said of it, which one it was, and how often the model was asked."""

    reply: Any
    checked: Checked
    index: int
    calls: int


def repair(
    desk: Desk,
    generate: Callable[..., Any],
    precheck: Callable[[Any], Checked],
    budget: int,
    messages: Iterable[Any],
    options: ModelOptions,
    seed: int | None,
) -> Flow[Repaired]:
    """Ask until a reply is good enough, `1 + budget` times at most. Raises `Refused` where no reply
    may be handed on.

    A reply that a guard has asked for again counts as one that is worse than all others. Where a
    further call is refused, as by a budget, the best reply so far is taken; where that ends the
    run, it is raised.
    """
    if isinstance(budget, bool) or not isinstance(budget, int) or not 0 <= budget <= MOST:
        raise ValueError(
            f"`budget` is `{budget!r}`: write how often to ask again, a whole number from 0 to "
            f"{MOST}"
        )
    said = list(messages)

    def make(index: int, before: tuple[RankedCandidate[Any], ...]) -> Flow[Any]:
        told = [{"role": "system", "content": one.checked.why} for one in before if one.checked.why]
        params = {} if options.params is None else dict(options.params)
        if seed is not None:
            params["seed"] = seed_of(seed, 0, index)
        asked = [*said, *told], options._replace(params=params)
        try:
            reply = yield from converse(desk, generate, *asked, ended="raise", once=True)
        except Refused as refused:
            if refused.decision.action == Action.RETRY and refused.happened:
                return refused
            if refused.ended or not before:
                raise
            raise NoMore from refused
        if isinstance(reply, Streaming):
            raise TypeError(
                "replies are compared when they are whole: give `run.repair` a function that does "
                "not stream"
            )
        return reply

    def look(reply: Any, _before: tuple[RankedCandidate[Any], ...]) -> Checked:
        if isinstance(reply, Refused):
            advice = reply.decision.advice
            return Checked(sys.maxsize, True, advice if advice else str(reply))
        found = precheck(reply)
        if not isinstance(found, Checked):
            raise TypeError(
                f"`precheck` has given a `{type(found).__name__}`: it gives a `Checked`"
            )
        return found

    chosen = yield from best_of(make, look, budget)
    best = chosen.best
    if isinstance(best.value, Refused):
        raise best.value
    return Repaired(best.value, best.checked, best.index, chosen.attempts)
