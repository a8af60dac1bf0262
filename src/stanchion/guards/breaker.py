"""Breaker: a tool that keeps failing is left alone for a time, then tried by one call after the
other."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Final

import msgspec

from stanchion import typed
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import Failure, ModelCall, ModelReply, RunInfo, ToolCall, ToolResult
from stanchion.kernel.faults import FaultName, check_counts, tool_failed
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind, Ruling
from stanchion.kernel.option import (
    AtLeastOne,
    Higher,
    Lower,
    More,
    On,
)
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import When, key
from stanchion.kernel.states import Runs, join_runs
from stanchion.kernel.words import Words, declare
from stanchion.readings import Reading

_OF_TOOLS: Final = declare(
    {
        "breaker.open": Words(
            "tool `{}` keeps failing, so calls are refused for {}, until {}",
            "use another tool, or go on with something else and call it after that time",
        ),
        "breaker.probing": Words(
            "tool `{}` has failed, and another call is testing whether it works again",
            "wait a moment and call it again, or use another tool",
        ),
        "breaker.probe": Words(
            "this call tests whether tool `{}` works again; {} of {} such calls have succeeded so "
            "far"
        ),
        "breaker.opened": Words(
            "tool `{}` keeps failing: calls are refused for {}",
            "use another tool, or report that this one does not work",
        ),
        "breaker.closed": Words("tool `{}` works again: {} calls in a row have succeeded"),
    }
)

MODELS: Final = "(models)"
"""What all models together are called: a failure says of which tool it is, and of no model."""

CODES: Final = {
    **_OF_TOOLS,
    **declare(
        {
            code.replace(".", ".model_"): Words(
                words.message.replace("tool `{}`", "asking `{}`"),
                words.advice.replace("use another tool, or ", "").partition(", or use")[0],
            )
            for code, words in _OF_TOOLS.items()
        }
    ),
}

SLACK_MS: Final = 1_000
"""How far behind the store's clock a time may be that is written down; beyond that the store's own
is asked for."""

PROBE_MS: Final = 60_000
"""How long to wait for a probe's outcome before another call may be the probe."""

Seconds = Annotated[float, msgspec.Meta(ge=0.001, le=432_000)]
"""Up to five days: what nobody writes for a week is forgotten."""


class ToolCircuit(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of a tool. It is closed where `until` is 0, open before that time, half-open
    from then on.

    `probe` is the call that tries it, until its outcome comes or `expires` is past. `only` are the
    runs that have met its failures, which alone it is open for; none of them is named where it is
    for all.
    """

    failures: int = 0
    until: int = 0
    cooldown_ms: int = 0
    successes: int = 0
    probe: str = ""
    expires: int = 0
    only: tuple[str, ...] = ()

    def concerns(self, run: RunInfo) -> bool:
        """Whether it is open, and for that run."""
        return bool(self.until) and (not self.only or run.root in self.only)

    def state(self, now: int) -> str:
        """`closed`, `open` or `half_open` at a time."""
        if not self.until:
            return "closed"
        return "open" if now < self.until else "half_open"


CLOSED: Final = ToolCircuit()

Outcome = ToolResult | ModelReply | Failure
Watched = ToolCall | ModelCall | Outcome
OF_MODELS: Final = frozenset({Stage.MODEL_CALL, Stage.MODEL_REPLY})


class Breaker(msgspec.Struct, frozen=True):
    """Refuses calls of a tool after `failure_threshold` failures in a row, for a time that doubles
    with every relapse: those of the runs that have met the failures, and of all once so many `runs`
    have.

    Then one call at a time goes ahead as a probe, and only if no other guard refuses it. After
    `successes` of them the tool is as before. Failures count by their fault: a wrong argument says
    nothing about the tool.
    """

    name: ClassVar = "breaker"
    kind: ClassVar = Kind.RECORD
    writes: ClassVar = {
        Stage.TOOL_CALL: When.PROCEED,
        Stage.MODEL_CALL: When.PROCEED,
        Stage.TOOL_RESULT: When.JUDGED,
        Stage.MODEL_REPLY: When.JUDGED,
        Stage.ERROR: When.JUDGED,
    }
    stages: ClassVar = frozenset(writes)
    answers_at: ClassVar = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL})
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 2
    lease_ms: ClassVar = PROBE_MS

    failure_threshold: Lower[AtLeastOne] = 5
    """This many failures in a row open the breaker, and calls of the tool are refused."""
    cooldown_s: Higher[Seconds] = 60.0
    """How many seconds the breaker stays open; the time doubles with every relapse."""
    max_cooldown_s: Higher[Seconds] = 3600.0
    """The longest time that the breaker stays open, in seconds."""
    successes: Higher[AtLeastOne] = 3
    """This many successful probes in a row close the breaker, and all calls go ahead again."""
    counts: More[tuple[FaultName, ...]] = ("system", "unknown")
    """The kinds of fault that count as failures of the tool."""
    runs: Lower[Runs] = 2
    """How many runs have to meet the failures before the calls of all are refused; until then only
    theirs are. A run and its children count as one."""
    counter: str | None = None
    """Breakers with the same counter share their state; if absent, each entry has its own."""
    models: On[bool] = False
    """Whether requests to models are watched, too, all models together as one tool."""

    def __post_init__(self) -> None:
        if self.max_cooldown_s < self.cooldown_s:
            said = (
                f"`max_cooldown_s: {self.max_cooldown_s:g}` is less than `cooldown_s: "
                f"{self.cooldown_s:g}`"
            )
            raise ValueError(f"{said}: give more, or a shorter cooldown")
        check_counts(self.counts)

    @property
    def default_stages(self) -> frozenset[Stage]:
        """Where tools are called, and models if they are watched."""
        return self.stages if self.models else self.stages - OF_MODELS

    def key(self, event: Watched, /) -> str:
        """What is known of the tool, or of models."""
        counter = "" if self.counter is None else self.counter
        return circuit_key(event.run, self._watched(event), counter)

    def _watched(self, event: Watched) -> str:
        """What an event is about: its tool, or models where it has none and they are watched."""
        called = event.tool or not self.models or isinstance(event, ToolCall | ToolResult)
        return event.tool if called else MODELS

    def judge(self, reading: Reading[Watched], value: Any, now: int, /) -> Ruling | None:
        """Rule on a call, or take an outcome in; the store says whether its clock agrees."""
        event = reading.event
        if (value is None or value == {}) and not isinstance(event, Failure):
            return None  # the usual case: it works, and is called
        circuit = circuit_of(value)
        concerned = circuit.concerns(event.run)
        if isinstance(event, ToolCall | ModelCall):
            return self._admit(event, circuit, now) if concerned else None
        failed = self._failed(event)
        if failed is None:
            return None
        if concerned:
            tried = event.call and event.call == circuit.probe
            return self._tried(event, failed, circuit, now) if tried else None
        if not failed:
            # What works for one run works: it is open for no other any more.
            works = not isinstance(event, Failure) and circuit != CLOSED
            return Ruling(put=_plain(CLOSED)) if works else None
        only = self._met(circuit, event)
        if circuit.until or circuit.failures + 1 >= self.failure_threshold:
            return self._opened(self._watched(event), self.cooldown_s, now, only)
        return Ruling(put=_plain(ToolCircuit(circuit.failures + 1, only=only)))

    def _failed(self, event: Outcome) -> bool | None:
        """Whether an outcome says that what it is about does not work; `None` if that is not
        watched, or was counted before."""
        if not self._watched(event):
            return None
        return False if isinstance(event, ModelReply) else tool_failed(event, self.counts)

    def _met(self, circuit: ToolCircuit, event: Outcome) -> tuple[str, ...]:
        """The runs that have met the failures, with that of this one."""
        return join_runs(None if circuit == CLOSED else circuit.only, event.run.root, self.runs)

    def _admit(self, event: ToolCall | ModelCall, circuit: ToolCircuit, now: int) -> Ruling:
        until, action, about = circuit.until, Action.BLOCK, self._watched(event)
        if now < until:
            args = (about, _span(circuit.cooldown_ms), _moment(until))
            return Ruling(_find(action, "open", args, about), until=until)
        if now < circuit.expires:
            return Ruling(_find(action, "probing", (about,)), None, until, circuit.expires)
        taken = msgspec.structs.replace(circuit, probe=event.id, expires=now + PROBE_MS)
        found = _find(Action.ALLOW, "probe", (about, circuit.successes, self.successes))
        return Ruling(found, _plain(taken), max(until, circuit.expires, now), now + SLACK_MS)

    def _tried(self, event: Outcome, failed: bool, circuit: ToolCircuit, now: int) -> Ruling:
        """The outcome of a probe; a failure that does not count only makes room for the next."""
        about = self._watched(event)
        if failed:
            longer = min(2 * circuit.cooldown_ms / 1_000, self.max_cooldown_s)
            return self._opened(about, longer, now, self._met(circuit, event))
        went_well = circuit.successes + (not isinstance(event, Failure))
        if went_well >= self.successes:
            return Ruling(_find(Action.ALLOW, "closed", (about, went_well)), _plain(CLOSED))
        kept = ToolCircuit(0, circuit.until, circuit.cooldown_ms, went_well, only=circuit.only)
        return Ruling(put=_plain(kept))

    def vacate(self, value: Any, calls: frozenset[str], /) -> Any:
        """The circuit with room for the next probe, where one of those calls was it: it has told
        nothing."""
        circuit = circuit_of(value)
        if circuit.probe not in calls:
            return None
        return _plain(msgspec.structs.replace(circuit, probe="", expires=0))

    def _opened(self, tool: str, cooldown_s: float, now: int, only: tuple[str, ...]) -> Ruling:
        cooldown_ms = round(cooldown_s * 1_000)
        put = _plain(ToolCircuit(0, now + cooldown_ms, cooldown_ms, only=only))
        return Ruling(
            _find(Action.ALLOW, "opened", (tool, _span(cooldown_ms))),
            put,
            now,
            now + SLACK_MS,
        )

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return (Action.BLOCK,)


def _find(action: Action, what: str, args: tuple[Any, ...], about: str = "") -> Finding:
    """What is found of a tool, or in their own words of models."""
    return Finding(
        action, f"breaker.{'model_' if args[0] == MODELS else ''}{what}", args, about=about
    )


def circuit_key(run: RunInfo, tool: str, counter: str) -> str:
    """The key of what is known of a tool, for all agents of a tenant."""
    return key(run.tenant, "breaker", tool, counter)


def circuit_of(value: Any) -> ToolCircuit:
    """A record as it was written."""
    return CLOSED if value is None else typed.convert(value, ToolCircuit)


def _plain(circuit: ToolCircuit) -> Any:
    return msgspec.to_builtins(circuit)


def _span(ms: int) -> str:
    seconds = ms / 1_000
    return f"{seconds:,.10g} second{'' if seconds == 1 else 's'}"


def _moment(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1_000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
