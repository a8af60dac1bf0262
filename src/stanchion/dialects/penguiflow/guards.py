"""Rules of one's own as guards: they judge by their `evaluate`, and everything else is
Stanchion's."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from stanchion.dialects.errors import DialectError
from stanchion.dialects.penguiflow.events import (
    ContextSnapshotBuilder,
    ContextSnapshotV1,
    GuardrailContext,
    GuardrailEvent,
)
from stanchion.dialects.penguiflow.findings import corrective, finding_of
from stanchion.dialects.penguiflow.redactions import BESIDE, RESULT, Path
from stanchion.dialects.penguiflow.rules import (
    DefaultRiskRouter,
    RuleOverrides,
    RuleRegistry,
    answer_of,
)
from stanchion.dialects.penguiflow.words import GuardrailAction, GuardrailDecision, RetrySpec
from stanchion.kernel.actions import Action
from stanchion.kernel.content import content_of
from stanchion.kernel.context import Context
from stanchion.kernel.events import (
    Event,
    Failure,
    ModelCall,
    ModelChunk,
    ModelReply,
    ToolCall,
    ToolResult,
)
from stanchion.kernel.findings import FINAL, GUIDE, Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.stages import Stage
from stanchion.policy.formats.penguiflow.rules import DEADLINE_MS, STAGES

EVENT_OF: Final = {Stage(stage): event for event, stages in STAGES.items() for stage in stages}
"""Which event each stage is to a rule."""
FIRST: Final = 100
"""The place of the first rule in the chain; the others follow in the order of their
registration."""

WORD: Final = 200
"""How many characters of a word are held back until it ends."""
PIECES: Final = "-pieces"
"""How the guard is called that judges the pieces of a reply for a rule, behind the rule's id."""


class PlannerReport(NamedTuple):
    """An event as a planner reported it, and whose it is, where the planner says that."""

    event: GuardrailEvent
    ctx: GuardrailContext | None
    faults: dict[str, str]
    """Why rules could not be heard, by their ids."""


HEARD: ContextVar[PlannerReport | None] = ContextVar("stanchion_penguiflow_event", default=None)
"""What is being judged, for the rules that judge it."""


def heard_of(ctx: GuardrailContext | GuardrailEvent, event: GuardrailEvent | None) -> PlannerReport:
    """An event as it was given to a gateway, with its context or without."""
    if event is None and type(ctx) is GuardrailEvent:
        return PlannerReport(ctx, None, {})
    if not isinstance(ctx, GuardrailContext) or not isinstance(event, GuardrailEvent):
        raise DialectError(
            "`evaluate` takes a GuardrailEvent, or a GuardrailContext and a GuardrailEvent"
        )
    if ctx.run_id != event.run_id:
        raise DialectError(
            f"the event has the run_id `{event.run_id}`, its context `{ctx.run_id}`: give the same"
        )
    return PlannerReport(event, ctx, {})


class RuleTerms(Protocol):
    """What rules are judged on, as a gateway has it now."""

    @property
    def registry(self) -> RuleRegistry: ...

    @property
    def context_builder(self) -> Any: ...

    @property
    def config(self) -> Any: ...

    @property
    def risk_router(self) -> DefaultRiskRouter: ...

    def surroundings(self, event: Event) -> Context:
        """What the event's run has come to."""

    def strikes(self, event: Event) -> int:
        """How many strikes the event's run was given."""

    def tell(self, fault: str) -> None:
        """Tell operators what is wrong with a rule."""


class OwnRule:
    """A rule at its place, whose code is asked within its time."""

    ends_chain = False
    """Effects of all rules are united, so that a STOP skips none."""

    def __init__(self, rule: Any, terms: RuleTerms, number: int) -> None:
        self.rule, self._terms = rule, terms
        self.id: str = rule.rule_id
        self.priority = FIRST + number
        self.deep = not terms.registry.is_fast(self.id)
        events = list(rule.supports_event_types)
        asked = [
            stage
            for event in STAGES
            if event in events
            for stage in STAGES[event]
            if stage != "model_chunk"
        ]
        self.stages = tuple(dict.fromkeys(asked))
        self.judge = self._ajudge if inspect.iscoroutinefunction(rule.evaluate) else self._judge

    @property
    def _told(self) -> RuleOverrides:
        return self._terms.registry.told.get(self.id, RuleOverrides())

    @property
    def deadline_ms(self) -> int:
        """How long its code has: a FAST rule what the gateway gives it, a DEEP one a second, or as
        long as a call waits."""
        if not self.deep:
            limit: float = self._terms.config.sync_timeout_ms
            return round(limit)
        router = self._terms.risk_router
        return max(DEADLINE_MS, round(router.high_risk_wait_ms), round(router.medium_risk_wait_ms))

    @property
    def fail_open(self) -> bool:
        """Whether an event goes ahead where its code fails, unless the tool is critical."""
        config = self._terms.config
        return bool(config.async_fail_open if self.deep else config.sync_fail_open)

    @property
    def mode(self) -> str:
        """Whether it only watches."""
        return self._told.mode

    def asked(
        self, event: Event, context: Context
    ) -> tuple[GuardrailEvent, ContextSnapshotV1] | None:
        """What the rule is asked; nothing where it is switched off."""
        terms = self._terms
        if not terms.registry.is_enabled(self.rule) or (
            self.deep and not terms.config.async_enabled
        ):
            return None
        heard = HEARD.get()
        ctx = None if heard is None or heard.event.run_id != event.run.id else heard.ctx
        told = told_of(event, context, heard)
        builder = terms.context_builder
        if type(builder) is ContextSnapshotBuilder:
            return told, builder.seen(
                context, {} if ctx is None else ctx.tool_context, terms.strikes(event)
            )
        return told, builder.build(told, GuardrailContext(event.run.id) if ctx is None else ctx)

    def failed(self, error: DialectError) -> None:
        """Have it known what is wrong with an answer, or with a specification that the rule's own
        code made."""
        heard = HEARD.get()
        if heard is not None:
            heard.faults[self.id] = str(error)
        self._terms.tell(f"the rule `{self.id}` failed: {error}")

    def _judge(self, event: Event, context: Context) -> Finding | None:
        asked = self.asked(event, context)
        if asked is None:
            return None
        with self.judging():
            return self.found(event, asked[0], self.rule.evaluate(*asked))

    async def _ajudge(self, event: Event, context: Context) -> Finding | None:
        asked = self.asked(event, context)
        if asked is None:
            return None
        with self.judging():
            return self.found(event, asked[0], await self.rule.evaluate(*asked))

    @contextmanager
    def judging(self) -> Iterator[None]:
        """Round a question to the rule."""
        try:
            yield
        except DialectError as error:
            self.failed(error)
            raise

    def found(self, event: Event, told: GuardrailEvent, answer: Any) -> Finding | None:
        """What the rule has found."""
        decision = answer_of(self.id, answer)
        if decision is None or _carried_out(decision, event):
            return None
        found = finding_of(decision, content_of(event), told.text_content, place_of(event))
        more = self._told.effects
        if found is not None and found.action == Action.RETRY and _guides(event):
            more = (*more, GUIDE)
        if found is not None and found.action == Action.HALT:
            more = (*more, FINAL)
        if found is None or not more:
            return found
        return msgspec.structs.replace(found, effects=tuple(dict.fromkeys([*found.effects, *more])))


class InlineRule:
    """A FAST rule at the pieces of a reply: it judges each inline, because nobody waits there."""

    kind = Kind.PURE
    ends_chain = False
    stages = frozenset({Stage.MODEL_CHUNK})
    CONTEXT = 0

    def __init__(self, one: OwnRule, terms: RuleTerms) -> None:
        self._one, self._terms = one, terms
        self.id = f"{one.id}{PIECES}"
        self.priority = one.priority

    @property
    def fail_open(self) -> bool:
        """As the rule itself."""
        return self._one.fail_open

    @property
    def mode(self) -> str:
        """As the rule itself."""
        return self._one.mode

    def judge(self, reading: Any, /) -> Finding | None:
        """Ask the rule, which has to answer at once."""
        event = reading.event
        one = self._one
        asked = one.asked(event, self._terms.surroundings(event))
        if asked is None:
            return None
        with one.judging():
            return one.found(event, asked[0], at_once(one.id, one.rule.evaluate(*asked)))

    def settled(self, text: str, /) -> int:
        """A word is judged when it has ended, however it was cut; what goes on for too long is no
        word."""
        ended = next((at for at in range(len(text), 0, -1) if text[at - 1].isspace()), 0)
        return ended if len(text) - ended <= WORD else len(text)

    def actions(self) -> tuple[Action, ...]:
        """What a rule can want is what it says when it is asked."""
        return ()


def guards_of(terms: RuleTerms) -> list[Any]:
    """The guards of all rules of one's own."""
    made: list[Any] = []
    for number, rule in enumerate(terms.registry.own.values()):
        one = OwnRule(rule, terms, number)
        if one.stages:
            made.append(one)
        if not one.deep and "llm_stream_chunk" in rule.supports_event_types:
            made.append(InlineRule(one, terms))
    return made


def at_once(rule_id: str, answer: Any) -> Any:
    """The answer of a function, or of a coroutine that awaits nothing."""
    if not inspect.iscoroutine(answer):
        return answer
    try:
        answer.send(None)
    except StopIteration as end:
        return end.value
    answer.close()
    raise DialectError(
        f"the rule `{rule_id}` awaits something at `llm_stream_chunk`: only a DEEP rule can"
    )


def told_of(event: Any, context: Context, heard: PlannerReport | None) -> GuardrailEvent:
    """An event as a rule is told of it: as it is judged, with the payload of the planner's own
    where there is one."""
    name = EVENT_OF[event.stage]
    scope = context.task_scope.task
    known: dict[str, Any] = {"task_scope": scope} if scope else {}
    if context.last_assistant:
        known["last_assistant"] = context.last_assistant
    known["conversation_history"] = [
        {"role": one.role, "text": one.text} for one in context.conversation_history
    ]
    at, text = event.at / 1_000, text_of(event)
    if heard is not None and heard.event.event_type == name and heard.event.run_id == event.run.id:
        known |= apart(heard.event.payload)
        at = heard.event.timestamp
        if isinstance(event, ToolResult):
            text = _beside(event.result, heard.event, text)
    else:
        known |= _payload(event)
    args = apart(getattr(event, "args", None))
    return GuardrailEvent(
        name, event.run.id, text, event.tool if event.tool else None, args, known, at
    )


def _beside(result: Any, told: GuardrailEvent, otherwise: str | None) -> str | None:
    """The text that a planner gave beside a result, if it is judged with it or says the same as
    what is judged."""
    if not told.text_content or RESULT not in told.payload:
        return otherwise
    both, given = {RESULT, BESIDE}, told.payload[RESULT]
    if (
        isinstance(result, dict)
        and result.keys() == both
        and not (isinstance(given, dict) and given.keys() == both)
    ):
        return str(result[BESIDE])
    try:
        return told.text_content if msgspec.json.decode(told.text_content) == result else otherwise
    except (msgspec.DecodeError, RecursionError):
        return otherwise


def _payload(event: Event) -> dict[str, Any]:
    """What a planner would say in its payload of an event that a run judges by itself."""
    match event:
        case ModelCall():
            return {
                "messages": apart(event.messages),
                **({"model": event.model} if event.model else {}),
            }
        case ModelChunk():
            return {"channel": event.channel, "index": event.index}
        case ModelReply():
            return {"final": event.final}
        case ToolResult():
            return {"result": apart(event.result)}
        case Failure():
            return {"error": event.error}
        case _:
            return {}


def _carried_out(decision: GuardrailDecision, event: Event) -> bool:
    """Whether a request has the message already that a RETRY wants in it."""
    if decision.action is not GuardrailAction.RETRY or not isinstance(event, ModelCall):
        return False
    retry = RetrySpec() if decision.retry is None else decision.retry
    message = {"role": "system", "content": corrective(retry)}
    return retry.max_attempts > 0 and message in event.messages


def _guides(event: Event) -> bool:
    """Whether the message of a RETRY has yet to reach the model: a request or a reply is asked for
    again with it at once."""
    return event.stage not in (Stage.MODEL_CALL, Stage.MODEL_REPLY)


def apart(value: Any) -> Any:
    """A rule's own copy of data: what it changes there, no other rule sees."""
    match value:
        case dict():
            return {name: apart(one) for name, one in value.items()}
        case list() | tuple():
            return (
                type(value)([apart(one) for one in value])
                if type(value) in (list, tuple)
                else value
            )
        case set() | bytearray():
            return value.copy()
        case _:
            return value


def text_of(event: Any) -> str | None:
    """The text of an event: its words, what a tool gave, or what the user said last; a tool call
    has none."""
    if isinstance(event, ToolCall):
        return None
    if isinstance(event, ModelCall):
        place = place_of(event)
        return None if not place else str(event.messages[place[1]]["content"])  # type: ignore[index]  # it is a number
    content = content_of(event)
    return content if isinstance(content, str) else msgspec.json.encode(content).decode()


def place_of(event: Any) -> Path | None:
    """Where the content of an event has its text; `None` where it has none."""
    if isinstance(event, ToolCall):
        return None
    if not isinstance(event, ModelCall):
        return ()
    return user_place(event.messages)


def user_place(messages: list[Any]) -> Path | None:
    """Where a request has the last words of the user."""
    for number in range(len(messages) - 1, -1, -1):
        one = messages[number]
        if (
            isinstance(one, dict)
            and one.get("role") == "user"
            and isinstance(one.get("content"), str)
        ):
            return ("messages", number, "content")
    return None
