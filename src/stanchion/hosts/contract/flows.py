"""What happens round a host's events, written once as flows that both drivers run."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, Final

import msgspec

from stanchion.hosts.contract.carrying import Carry, HostedTool, Undertaking, by_name
from stanchion.hosts.contract.elements import ActedOn, with_elements
from stanchion.hosts.contract.frameworks import UNPROVEN, prove
from stanchion.hosts.contract.terms import HostTerms, Refusal, Told
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Finding
from stanchion.kernel.happened import OUTCOMES
from stanchion.kernel.stages import Stage
from stanchion.locks import Lock
from stanchion.runtime.asides import aside
from stanchion.runtime.calling.at_work import working
from stanchion.runtime.calling.report_methods import judging, stage_named
from stanchion.runtime.calling.reports import BadEvent
from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.deciding.faults import redacted, text_of
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.errors import Refused
from stanchion.runtime.keywords import ModelOptions
from stanchion.runtime.run import Run
from stanchion.runtime.values import Seen, Unreadable, read


def items_in_words(
    host: HostTerms, items: Iterator[Any], stage: Stage, tool: str, about: Any
) -> Iterator[Any]:
    """The items, and what the host says where they end early."""
    try:
        yield from items
    except Refused as refused:
        yield host.say(Refusal(refused, stage, tool, about))


async def aitems_in_words(
    host: HostTerms, items: AsyncIterator[Any], stage: Stage, tool: str, about: Any
) -> AsyncGenerator[Any, None]:
    """The same for items that are awaited."""
    try:
        try:
            async for item in items:
                yield item
        finally:
            await items.aclose()  # type: ignore[attr-defined] # what judges items is a generator
    except Refused as refused:
        yield host.say(Refusal(refused, stage, tool, about))


MOST: Final = 10_000
"""How many calls a run on a host remembers; the oldest is forgotten first."""


class JudgedKey(msgspec.Struct, frozen=True):
    """A call that was judged: what it is, and what its host was told."""

    what: bytes | None
    told: Told


class HostKeys:
    """The calls of a run by the names that its host gives them. Safe between threads."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, JudgedKey] = OrderedDict()
        self._lock = Lock()

    def told(self, key: str, what: bytes | None) -> Told | None:
        """What was said about this very call; `None` where it has to be judged: it is new, or
        waited for a person."""
        known = self._known.get(key) if what is not None else None
        if known is None or known.what != what or known.told.decision.action == Action.ESCALATE:
            return None
        return known.told

    def enter(self, key: str, what: bytes | None, told: Told) -> None:
        """Remember what was said about a call."""
        with self._lock:
            if key not in self._known and len(self._known) >= MOST:
                self._known.popitem(last=False)
            self._known[key] = JudgedKey(what, told)

    def over(self, key: str) -> Decision | None:
        """Forget a call whose outcome is reported; gives its decision, where it went ahead."""
        with self._lock:
            known = self._known.pop(key, None)
        return known.told.decision if known is not None and known.told.proceeds else None


def what_of(stage: Stage, fields: dict[str, Any]) -> bytes | None:
    """What a call is: equal for equal calls alone. `None` where its content does not tell it from
    others."""
    try:
        seen = read(fields)
    except Unreadable:
        return None
    if seen.seen is Seen.NOTHING:
        return None
    return blake2b(
        repr((stage.value, seen.content)).encode("utf-8", "backslashreplace"), digest_size=32
    ).digest()


class HostWork:
    """A run, the host it works on, and what that host calls its own calls."""

    def __init__(self, host: HostTerms, run: Any) -> None:
        host.fits(run.can)
        if UNPROVEN:
            prove(host.name, run)
        self.host = host
        self.run = run
        self.keys = HostKeys()
        self._desk = run.desk


STARTS: Final = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL, Stage.HANDOFF})
"""Stages at which something begins whose outcome is reported later."""

CHARGED: Final = b"charge"
"""What a charge is, whatever it comes to: a provider's reply is charged once, however often a host
reports it."""

UNJUDGED: Final = "kernel.done_unjudged"

CONTENT: Final = {
    **dict.fromkeys((Stage.PROMPT, Stage.MODEL_CHUNK, Stage.MODEL_REPLY), "text"),
    **dict.fromkeys((Stage.HANDOFF, Stage.HANDOFF_DONE), "payload"),
    Stage.TOOL_CALL: "args",
    Stage.TOOL_RESULT: "result",
}
"""The field of an event that is its content, where it is one."""

SEVERAL: Final[dict[Stage, dict[str, Any]]] = {
    Stage.MODEL_CALL: {"model": "", "messages": (), "params": {}},
    Stage.EGRESS: {"url": "", "headers": {}, "payload": None},
}
"""The fields that are together the content of an event, and what they are where nobody says."""


def around(
    hosted: HostWork,
    tool: Tool | str,
    args: Any,
    carry: Carry,
    about: Any,
    on: Sequence[ActedOn] = (),
) -> Flow[Any]:
    """A tool call from its judgement to what the host gets for it."""
    doing = Undertaking()
    made = HostedTool(hosted.host, tool, carry, doing)
    try:
        given = by_name(args)
        given = with_elements(given, on) if on else given
    except BadEvent as error:
        refused = _refused(hosted, _unjudged(Stage.TOOL_CALL, str(error)))
        return hosted.host.say(Refusal(refused, Stage.TOOL_CALL, made.name, about))
    try:
        with working(made.name):
            came = yield from hosted.run.called(made, (), given)
        return made.handed(came, about)
    except Refused as refused:
        stage = Stage.TOOL_RESULT if refused.happened else Stage.TOOL_CALL
        return hosted.host.say(Refusal(refused, stage, made.name, about))
    except Exception as error:  # noqa: BLE001 - whatever fails on our side is a refusal in the host's words
        stage = Stage.TOOL_RESULT if doing.begun else Stage.TOOL_CALL
        return hosted.host.say(
            Refusal(_failed(hosted, doing, error, stage), stage, made.name, about)
        )


def handed(hosted: HostWork, came: Any, about: Any, awaited: bool) -> Any:
    """A call's result, or its items as they come; async code gets them to await, whoever makes
    them."""
    from stanchion.runtime.calling import items

    if type(came) is not items.Coming:
        return came
    made = (
        items.aconsumed(hosted.run.desk, came)
        if awaited
        else items.handed(hosted.run.desk, came, False)
    )
    pass_on: Any = aitems_in_words if hasattr(made, "__anext__") else items_in_words
    return pass_on(hosted.host, made, Stage.TOOL_RESULT, came.call.tool.name, about)


def asked(
    hosted: HostWork,
    ask: Callable[..., Any],
    messages: Iterable[Any],
    about: Any,
    options: ModelOptions,
) -> Flow[Any]:
    """A request to a model from its judgement to what the host gets for it."""
    from stanchion.runtime.calling.model_call import converse

    doing = Undertaking()
    try:
        flow = converse(
            hosted.run.desk,
            doing.of(ask),
            messages,
            options,
            system=hosted.host.guided,
            ended="raise",
        )
        return (yield from flow)
    except Refused as refused:
        stage = Stage.MODEL_REPLY if refused.happened else Stage.MODEL_CALL
        return hosted.host.say(Refusal(refused, stage, "", about))
    except Exception as error:  # noqa: BLE001 - the same
        stage = Stage.MODEL_REPLY if doing.begun else Stage.MODEL_CALL
        return hosted.host.say(Refusal(_failed(hosted, doing, error, stage), stage, "", about))


def replied(hosted: HostWork, came: Any, about: Any, awaited: bool) -> Any:
    """A model's reply, or its chunks as they come."""
    from stanchion.runtime.calling.stream_end import Streaming
    from stanchion.runtime.streams.stream import delivered

    if type(came) is not Streaming:
        return came
    made = delivered(hosted.run.desk, came, awaited)
    pass_on: Any = aitems_in_words if hasattr(made, "__anext__") else items_in_words
    return pass_on(hosted.host, made, Stage.MODEL_CHUNK, "", about)


def reported(
    hosted: HostWork, stage: Stage | str, key: str, about: Any, fields: dict[str, Any]
) -> Flow[Told]:
    """An event that a host has met, judged: whatever goes wrong with that, it does not go ahead."""
    at = stage_named(stage)
    what = what_of(at, fields) if key and at in STARTS else None
    if key and at is Stage.CHARGE:
        key, what = f"charge:{key}", CHARGED
    known = hosted.keys.told(key, what)
    if known is not None:
        return known if known.proceeds else _told(hosted, at, about, fields, known.decision)
    try:
        decision = yield from _judged(hosted, at, key, fields)
    except Refused as refused:
        decision = refused.decision
    except BadEvent as error:
        if (
            at in OUTCOMES
        ):  # the agent reads that it was done, and no word of what is wrong with the report
            aside(f"an event of the stage `{at}` could not be judged", error)
        decision = _unjudged(at, str(error))
    except Exception as error:  # noqa: BLE001 - some hosts go ahead where a guard raises
        decision = _broken(at, error)
    if what is not None and not decision.proceeds:
        hosted.keys.enter(
            key, what, Told(decision, False)
        )  # before the host's words, which may raise
    told = _told(hosted, at, about, fields, decision)
    if what is not None and told.proceeds:
        hosted.keys.enter(key, what, told)
    return told


def _judged(hosted: HostWork, stage: Stage, key: str, fields: dict[str, Any]) -> Flow[Decision]:
    given = dict(fields)
    began = hosted.keys.over(key) if key and stage in OUTCOMES and "call" not in given else None
    if began is not None:
        given["call"] = began.id
    return judging(hosted.run, stage, given)


def _told(
    hosted: HostWork, stage: Stage, about: Any, fields: dict[str, Any], decision: Decision
) -> Told:
    """What the host is told. A failure has happened, and so it goes on to the agent, unless the run
    ends with it or nobody could judge it."""
    is_failure = (
        stage is Stage.ERROR and decision.action != Action.HALT and decision.code != UNJUDGED
    )
    if decision.proceeds or is_failure:
        again = is_failure and decision.action == Action.RETRY
        return Told(decision, True, _content(stage, fields, decision), again=again)
    refusal = Refusal(_refused(hosted, decision), stage, str(fields.get("tool", "")), about)
    return Told(decision, False, answer=hosted.host.say(refusal))


def _content(stage: Stage, fields: dict[str, Any], decision: Decision) -> Any:
    """What of an event goes on where it does, as it was decided."""
    if stage is Stage.ERROR:
        error = fields.get("error")
        said = fields.get("text", text_of(error) if isinstance(error, BaseException) else "")
        return redacted(decision, str(said))
    if stage in SEVERAL:
        return decision.patched(
            {name: fields.get(name, otherwise) for name, otherwise in SEVERAL[stage].items()}
        )
    return decision.patched(fields.get(CONTENT.get(stage, "")))


def _refused(hosted: HostWork, decision: Decision) -> Refused:
    return hosted.run.desk.refusal(decision) if isinstance(hosted.run, Run) else Refused(decision)


def _failed(hosted: HostWork, doing: Undertaking, error: Exception, stage: Stage) -> Refused:
    """The refusal of what failed on our side; what is the host's own is raised."""
    if not doing.is_ours(error):
        raise error
    return _refused(hosted, _broken(stage, error))


def _broken(stage: Stage, error: Exception) -> Decision:
    aside(f"an event of the stage `{stage}` could not be judged", error)
    return _unjudged(stage, f"judging it failed with `{type(error).__name__}`")


def _unjudged(stage: Stage, why: str) -> Decision:
    """The refusal of something that nobody has judged."""
    code, withheld = (UNJUDGED, stage) if stage in OUTCOMES else ("kernel.bad_event", None)
    return Decision(
        "",
        Action.BLOCK,
        "",
        (Finding(Action.BLOCK, code, (why,), guard="kernel"),),
        withheld=withheld,
    )
