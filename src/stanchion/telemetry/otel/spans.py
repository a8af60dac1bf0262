"""Spans: a run invokes an agent, each tool call and model call is a span in it, with what was
decided about it.

Arguments, prompts, results and error texts are in no span. A call's span begins where it was
judged, is current while the tool or the model is at work, and ends when its outcome was judged.
"""

from __future__ import annotations

import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from time import time_ns
from typing import Any, Final, NamedTuple

from opentelemetry import context as contexts
from opentelemetry.context import Context
from opentelemetry.metrics import CallbackOptions, Meter, Observation
from opentelemetry.trace import (
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    get_current_span,
    set_span_in_context,
)

from stanchion.kernel.actions import NAMES, Action
from stanchion.kernel.stages import Stage
from stanchion.locks import Lock
from stanchion.telemetry.catalogue import BY_NAME, METRICS, Metric
from stanchion.telemetry.registry import Series
from stanchion.telemetry.sinks import ToldDecision, ToldRun

# The names of attributes: those of OpenTelemetry's conventions for generative AI, and Stanchion's
# own beside them.

OPERATION: Final = "gen_ai.operation.name"
AGENT: Final = "gen_ai.agent.name"
TOOL: Final = "gen_ai.tool.name"
TOOL_CALL: Final = "gen_ai.tool.call.id"
MODEL: Final = "gen_ai.request.model"
ERROR: Final = "error.type"

INVOKE_AGENT: Final = "invoke_agent"
EXECUTE_TOOL: Final = "execute_tool"
CHAT: Final = "chat"

RUN: Final = "stanchion.run.id"
TASK: Final = "stanchion.task"
TENANT: Final = "stanchion.tenant"
PARENT: Final = "stanchion.run.parent.id"
DECISION: Final = "stanchion.decision.id"
ACTION: Final = "stanchion.action"
CODE: Final = "stanchion.code"
CODES: Final = "stanchion.codes"
GUARD: Final = "stanchion.guard"
STAGE: Final = "stanchion.stage"
POLICY: Final = "stanchion.policy.hash"
OUTCOME: Final = "stanchion.outcome.action"
"""What was decided about what a call gave back."""
ENDED: Final = "stanchion.run.end"
UNKNOWN: Final = "stanchion.outcome.unknown"
"""Set on a call of which nobody has said what came of it."""

DECIDED: Final = "stanchion.decision"
"""The name of the event that a decision is on a span."""

OPERATION_BOUNDS: Final = [
    0.01,
    0.02,
    0.04,
    0.08,
    0.16,
    0.32,
    0.64,
    1.28,
    2.56,
    5.12,
    10.24,
    20.48,
    40.96,
    81.92,
]
AGENT_BOUNDS: Final = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6]


# Durations of runs, tool calls and model calls as OpenTelemetry's conventions count them.

WHAT: Final = {
    EXECUTE_TOOL: (
        "gen_ai.execute_tool.duration",
        "The duration of a tool call.",
        OPERATION_BOUNDS,
    ),
    CHAT: (
        "gen_ai.client.operation.duration",
        "The duration of a model call.",
        OPERATION_BOUNDS,
    ),
    INVOKE_AGENT: (
        "gen_ai.invoke_agent.duration",
        "The duration of a run.",
        AGENT_BOUNDS,
    ),
}


class Durations:
    """Counts how long each operation took; the figures are those of its spans."""

    def __init__(self, meter: Meter) -> None:
        self._kept = {
            operation: meter.create_histogram(
                name, "s", meaning, explicit_bucket_boundaries_advisory=bounds
            )
            for operation, (name, meaning, bounds) in WHAT.items()
        }

    def took(self, operation: str, seconds: float, attributes: dict[str, str]) -> None:
        """Count one."""
        without = (
            attributes
            if operation == CHAT
            else {k: v for k, v in attributes.items() if k != OPERATION}
        )
        self._kept[operation].record(seconds, without)


# The figures of a registry as OpenTelemetry metrics: asked for when they are exported, and free
# before.

Ask = Callable[[], Iterable[Series]]


def observe(meter: Meter, ask: Ask) -> None:
    """Make an instrument of every counter and gauge; a histogram is one of its count and one of its
    sum."""
    for metric in METRICS:
        if metric.kind == "histogram":
            name = _name(metric)
            meter.create_observable_counter(
                f"{name}.count", [_asked(ask, metric, _count)], "1", metric.meaning
            )
            meter.create_observable_counter(
                f"{name}.sum", [_asked(ask, metric, _first)], metric.unit, metric.meaning
            )
        elif metric.kind == "counter":
            meter.create_observable_counter(
                _name(metric), [_asked(ask, metric, _first)], "1", metric.meaning
            )
        else:
            meter.create_observable_gauge(
                _name(metric), [_asked(ask, metric, _first)], "1", metric.meaning
            )


def _asked(
    ask: Ask, metric: Metric, value: Callable[[Series], float]
) -> Callable[[CallbackOptions], Iterable[Observation]]:
    def observed(_options: CallbackOptions) -> Iterable[Observation]:
        labels = BY_NAME[metric.name].labels
        return [
            Observation(value(one), dict(zip(labels, one.labels, strict=True)))
            for one in ask()
            if one.metric == metric.name
        ]

    return observed


def _name(metric: Metric) -> str:
    """`stanchion_decisions_total` is `stanchion.decisions` there."""
    return metric.name.removesuffix("_total").replace("_", ".", 1)


def _first(one: Series) -> float:
    return one.values[0]


def _count(one: Series) -> float:
    return sum(one.values[1:])


MOST: Final = 10_000
"""How many spans are open; the oldest is ended when there are more."""

CALLS: Final = {str(Stage.TOOL_CALL): EXECUTE_TOOL, str(Stage.MODEL_CALL): CHAT}
OUTCOMES: Final = frozenset({str(Stage.TOOL_RESULT), str(Stage.MODEL_REPLY), str(Stage.ERROR)})
QUIET: Final = frozenset({str(Stage.MODEL_CHUNK), str(Stage.CHARGE)})
"""Stages of which only what is not allowed is an event: there are too many of them."""

_entered: ContextVar[tuple[tuple[str, Any], ...]] = ContextVar("stanchion_spans", default=())


class OpenSpan(NamedTuple):
    """A span that has not ended: since when, of which operation, and what its duration is counted
    by."""

    span: Span
    began_ns: int
    operation: str
    counted: dict[str, str]
    run: str


class Spans:
    """A sink that makes spans of what a shield does."""

    def __init__(
        self,
        tracer: Tracer,
        durations: Durations | None = None,
        now_ns: Callable[[], int] = time_ns,
    ) -> None:
        self._tracer, self._durations, self._now_ns = tracer, durations, now_ns
        self._runs: OrderedDict[str, OpenSpan] = OrderedDict()
        self._calls: OrderedDict[str, OpenSpan] = OrderedDict()
        self._lock = Lock()

    def run_entered(self, run: ToldRun) -> None:
        """Begin a run's span, and make it current."""
        token = contexts.attach(set_span_in_context(self._run(run).span))
        _entered.set((*_entered.get(), (run.id, token)))

    def _leave(self, run: ToldRun) -> None:
        """Make current what was before its `with`, if that is around here."""
        entered = _entered.get()
        if entered and entered[-1][0] == run.id:
            _entered.set(entered[:-1])
            contexts.detach(entered[-1][1])

    def run_ended(self, run: ToldRun, code: str) -> None:
        """End a run's span, and those of calls of which nobody has said what came of them."""
        self._leave(run)
        with self._lock:
            left = [key for key, one in self._calls.items() if one.run == run.id]
            calls = [self._calls.pop(key) for key in left]
            known = self._runs.pop(run.id, None)
        for one in calls:
            one.span.set_attribute(UNKNOWN, True)
            self._end(one)
        if known is not None:
            known.span.set_attribute(ENDED, code)
            self._end(known)

    def decided(self, told: ToldDecision) -> None:
        """Begin the span of a call, end it with its outcome, or note a decision on the run's."""
        operation = CALLS.get(told.stage)
        if operation is not None:
            self._call(told, operation)
        elif told.stage in OUTCOMES and self._outcome(told):
            return
        elif told.stage not in QUIET or told.action != Action.ALLOW:
            self._parent(told)[1].span.add_event(DECIDED, _of(told))

    def call_left(self, call: str) -> None:
        """End the span of a call whose outcome nobody judges."""
        known = self._take(call)
        if known is not None:
            self._end(known)

    def around(self, call: str, fn: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, with the call's span current while it is at work."""
        known = self._calls.get(call)
        if known is None:
            return fn
        here = known.span
        if inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(
            getattr(fn, "__call__", None)  # noqa: B004
        ):

            @functools.wraps(fn)
            async def awaited(*args: Any, **kwargs: Any) -> Any:
                token = contexts.attach(set_span_in_context(here))
                try:
                    return await fn(*args, **kwargs)
                finally:
                    contexts.detach(token)

            return awaited

        @functools.wraps(fn)
        def called(*args: Any, **kwargs: Any) -> Any:
            token = contexts.attach(set_span_in_context(here))
            try:
                return fn(*args, **kwargs)
            finally:
                contexts.detach(token)

        return called

    def _call(self, told: ToldDecision, operation: str) -> None:
        known = self._take(told.key)
        if known is None:
            known = self._begin_call(told, operation)
        known.span.add_event(DECIDED, _of(told))
        if told.proceeds:
            self._keep(self._calls, told.key, known)
            return
        if told.action >= Action.ESCALATE:
            known.span.set_attribute(ERROR, told.code)
            known.span.set_status(Status(StatusCode.ERROR, told.code))
            known.counted[ERROR] = told.code
        self._end(known)

    def _begin_call(self, told: ToldDecision, operation: str) -> OpenSpan:
        subject = told.tool if operation == EXECUTE_TOOL else told.model
        began_ns = self._now_ns() - told.took_ns
        counted = {OPERATION: operation, AGENT: told.agent}
        counted[TOOL if operation == EXECUTE_TOOL else MODEL] = subject
        counted = {name: value for name, value in counted.items() if value}
        more = {TOOL_CALL: told.id} if operation == EXECUTE_TOOL else {}
        span = self._tracer.start_span(
            f"{operation} {subject}".rstrip(),
            context=self._parent(told)[0],
            kind=SpanKind.INTERNAL if operation == EXECUTE_TOOL else SpanKind.CLIENT,
            attributes={**counted, **more, **_of(told)},
            start_time=began_ns,
        )
        return OpenSpan(span, began_ns, operation, dict(counted), told.run)

    def _outcome(self, told: ToldDecision) -> bool:
        """Note what was decided about an outcome; says whether its call is known. The items of a
        generator are parts of one, and its end is told by itself."""
        known = self._calls.get(told.of)
        if known is None:
            return False
        if told.part and told.action == Action.ALLOW:
            return True
        known.span.add_event(DECIDED, _of(told))
        known.span.set_attribute(OUTCOME, NAMES[told.action])
        failed = (
            told.error
            if told.stage == str(Stage.ERROR)
            else told.code
            if told.action >= Action.ESCALATE
            else ""
        )
        if failed:
            known.span.set_attribute(ERROR, failed)
            known.span.set_status(Status(StatusCode.ERROR, failed))
            known.counted[ERROR] = failed
        if not told.part:
            self.call_left(told.of)
        return True

    def _run(self, run: ToldRun) -> OpenSpan:
        known = self._runs.get(run.id)
        if known is not None:
            return known
        above = self._runs.get(run.parent)
        counted = {AGENT: run.agent} if run.agent else {}
        about = {
            OPERATION: INVOKE_AGENT,
            RUN: run.id,
            TASK: run.task,
            TENANT: run.tenant,
        }
        about[PARENT] = run.parent
        began_ns = self._now_ns()
        span = self._tracer.start_span(
            f"{INVOKE_AGENT} {run.agent}".rstrip(),
            context=None if above is None else _within(above.span),
            attributes={**counted, **{name: value for name, value in about.items() if value}},
            start_time=began_ns,
        )
        made = OpenSpan(span, began_ns, INVOKE_AGENT, counted, run.id)
        self._keep(self._runs, run.id, made)
        return made

    def _parent(self, told: ToldDecision) -> tuple[Context | None, OpenSpan]:
        """Where a call's span belongs, and its run's. That is what is current, if it is part of the
        run."""
        run = self._run(ToldRun(told.run, told.agent, told.task, told.tenant, told.parent))
        return _within(run.span), run

    def _keep(self, kept: OrderedDict[str, OpenSpan], key: str, one: OpenSpan) -> None:
        dropped = None
        with self._lock:
            kept[key] = one
            if len(kept) > MOST:
                dropped = kept.popitem(last=False)[1]
        if dropped is not None:
            dropped.span.set_attribute(UNKNOWN, True)
            self._end(dropped)

    def _take(self, key: str) -> OpenSpan | None:
        with self._lock:
            return self._calls.pop(key, None)

    def _end(self, one: OpenSpan) -> None:
        end_ns = self._now_ns()
        one.span.end(end_ns)
        if self._durations is not None:
            self._durations.took(one.operation, (end_ns - one.began_ns) / 1e9, one.counted)


def _within(span: Span) -> Context | None:
    """The context for a part of a span: the one that is current where it is in the same trace
    already."""
    current, wanted = get_current_span().get_span_context(), span.get_span_context()
    return (
        None
        if current.is_valid and current.trace_id == wanted.trace_id
        else set_span_in_context(span)
    )


def _of(told: ToldDecision) -> dict[str, Any]:
    """A decision as attributes."""
    about = {
        DECISION: told.id,
        RUN: told.run,
        STAGE: told.stage,
        ACTION: NAMES[told.action],
        CODE: told.code,
        GUARD: told.guard,
        POLICY: told.policy,
        ERROR: told.error,
    }
    found: dict[str, Any] = {name: value for name, value in about.items() if value}
    return {**found, CODES: list(told.codes)} if told.codes else found
