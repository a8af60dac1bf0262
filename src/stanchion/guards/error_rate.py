"""Error rate: watches how the last calls went, and moves the state of a tool, a run, an agent or a
tenant by it."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Literal

import msgspec

from stanchion.guards._marks import Percent
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import Event, Failure
from stanchion.kernel.faults import FaultName, check_counts, tool_failed
from stanchion.kernel.findings import Finding, Signals
from stanchion.kernel.guard import Kind
from stanchion.kernel.option import Lower
from stanchion.kernel.registers import MOST_BITS, outcomes, pushed, streak
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Line, When, key
from stanchion.kernel.states import Runs, Signal, Terms
from stanchion.kernel.words import Words, declare

CODES: Final = declare(
    {
        "errors.failing": Words(
            "{} of the last {} calls of `{}` failed",
            "find out what is wrong before you go on; use something else",
        ),
        "errors.repeated": Words(
            "the last {} calls of `{}` all failed",
            "stop calling it; use something else, or report that it does not work",
        ),
        "errors.worsened": Words(
            "{} of the last {} calls of `{}` failed: if it is in the state of warning already, it "
            "is halted",
            "stop, and report what does not work",
        ),
    }
)

REMEDIES: Final = {
    "errors.repeated": ("fewer than {repeats} failures in a row (`repeats`)",),
    "errors.worsened": ("fewer failures than {halt_at:g} % of the last {calls} calls (`halt_at`)",),
    "": ("fewer failures than {warn_at:g} % of the last {calls} calls (`warn_at`)",),
}

HALT_AFTER: Final = 3
"""The number of the quarantine that halts a tool."""

Watched = Literal["tool", "run", "agent", "tenant"]
Seconds = Annotated[float, msgspec.Meta(gt=0, lt=10**9)]


class ErrorRate(msgspec.Struct, frozen=True):
    """Puts what fails too often into the state of warning, and a tool that then goes on failing
    into quarantine.

    With `halt_at`, whatever is in the state of warning and fails even more often is halted: a tool,
    a run, an agent, or with `per: [tenant]` the shield as a whole.

    It never refuses anything itself: the shield's states do. Failures that say nothing about
    whether a thing works (a wrong argument, a refused payment) count as calls that went well.
    """

    name: ClassVar = "error_rate"
    kind: ClassVar = Kind.METER
    stages: ClassVar = frozenset({Stage.TOOL_RESULT, Stage.ERROR})
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 2
    remedies: ClassVar = REMEDIES

    per: tuple[Watched, ...] = ("tool", "run")
    """What is watched, each separately: tools, runs, agents, the tenant."""
    calls: Annotated[int, msgspec.Meta(ge=2, le=MOST_BITS)] = 20
    """How many of the last calls are remembered."""
    min_calls: Annotated[int, msgspec.Meta(ge=1, le=MOST_BITS)] = 10
    """The guard says nothing until this many calls are known."""
    warn_at: Percent = 50.0
    """The percentage of failed calls from which the tool or run is in the state of warning."""
    halt_at: Lower[Percent | None] = None
    """The percentage of failed calls from which whatever is in the state of warning is halted,
    until an operator resumes it; if absent, the rate alone never halts."""
    repeats: Annotated[int, msgspec.Meta(ge=1, le=MOST_BITS)] = 5
    """This many failures in a row put a tool that is in the state of warning into quarantine."""
    recover_s: Seconds = 60.0
    """A warning ends after this many seconds without too many failures."""
    quarantine_s: Seconds = 300.0
    """How many seconds a quarantine lasts; after that the tool is in the state of warning again."""
    runs: Lower[Runs] = 2
    """How many runs have to meet the failures before the calls of all are refused; until then only
    theirs are. A run and its children count as one."""
    counts: tuple[FaultName, ...] = ("system", "unknown")
    """The kinds of fault that count as failures of the tool."""

    def __post_init__(self) -> None:
        if not self.per or len(set(self.per)) < len(self.per):
            raise ValueError(
                "`per` names what is watched, each once: give some of tool, run, agent, tenant"
            )
        check_counts(self.counts)
        if self.halt_at is not None and self.halt_at < self.warn_at:
            said = f"`halt_at: {self.halt_at:g}` is less than `warn_at: {self.warn_at:g}`"
            raise ValueError(
                f"{said}, and a halt only follows a warning: give more, or warn earlier"
            )
        for name in ("min_calls", "repeats"):
            if getattr(self, name) > self.calls:
                said = f"`{name}: {getattr(self, name)}` is more than `calls: {self.calls}`"
                raise ValueError(
                    f"{said}, which is all that is remembered: give less, or more calls"
                )

    def lines(self, event: Event, /) -> tuple[Line, ...]:
        """A register of outcomes for each thing that is watched."""
        failed = tool_failed(event, self.counts)
        if failed is None:
            return ()
        keys = [key(event.run.tenant, "errors", what, _whose(what, event)) for what in self.per]
        return tuple(
            [Line(one, when=When.JUDGED, bits=self.calls, push=int(failed)) for one in keys]
        )

    def word(
        self, event: Event, action: Action, values: tuple[int, ...], said: tuple[int, ...], /
    ) -> Finding:
        """Its lines have no bands: there is never anything to word."""
        raise AssertionError("a register says nothing")

    def watch(self, event: Event, values: tuple[int, ...], /) -> Finding | None:
        """Signal what fails too often; only a failure can be one too many."""
        if not isinstance(event, Failure) or not tool_failed(event, self.counts):
            return None
        signals: list[tuple[str, tuple[str, ...]]] = []
        found: Finding | None = None
        for what, value in zip(self.per, values, strict=True):
            register = pushed(value, 1, self.calls)
            known, failed = outcomes(register)
            row = streak(register)
            if known < self.min_calls or failed * 100 < self.warn_at * known:
                continue
            name = f"{what}:{_whose(what, event)}" if what != "tenant" else ""
            repeated = what == "tool" and row >= self.repeats
            worse = self.halt_at is not None and failed * 100 >= self.halt_at * known
            # The severest first, so that one failure moves a state by one edge: a halt follows a
            # warning.
            moves = ((Signal.WORSENED, worse), (Signal.REPEATED, repeated), (Signal.FAILING, True))
            signals.append((name, tuple([signal for signal, given in moves if given])))
            if found is None:
                code = "errors.worsened" if worse else "errors.failing"
                found = Finding(Action.ALLOW, code, (failed, known, name if name else "tenant"))
                if repeated and not worse:
                    found = Finding(Action.ALLOW, "errors.repeated", (row, name))
        if found is None:
            return None
        return msgspec.structs.replace(found, terms=Signals(tuple(signals), self.terms()))

    def terms(self) -> Terms:
        """How long the states last that it leads to."""
        recover_ms, quarantine_ms = int(self.recover_s * 1000), int(self.quarantine_s * 1000)
        return Terms(recover_ms, quarantine_ms, HALT_AFTER, self.runs)

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return (Action.ALLOW,)


def _whose(what: Watched, event: Event) -> str:
    """The name of what is watched; a tenant's own has none."""
    run = event.run
    return {"tool": event.tool, "run": run.id, "agent": run.agent, "tenant": ""}[what]
