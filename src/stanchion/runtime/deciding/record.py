"""Recording: every decision is written down before it takes effect, and what cannot be recorded
does not happen."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from time import perf_counter_ns
from typing import Any, Final

import msgspec

from stanchion.audit.errors import AuditLost
from stanchion.audit.record import INTENT, KINDS, OUTCOME
from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.chain import Plans
from stanchion.kernel.content import content_of
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import (
    Event,
    Failure,
    ModelReply,
    Moment,
    RunInfo,
    ToolCall,
    ToolResult,
)
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.happened import has_happened
from stanchion.kernel.state import Settle
from stanchion.locks import Reentrant
from stanchion.policy.veil import renamed
from stanchion.runtime.asides import aside
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.discretion import discreet, wanted
from stanchion.runtime.deciding.faults import described
from stanchion.runtime.deciding.under_way import NOT_BEGUN
from stanchion.runtime.deciding.unsettled import Owed, closing, owed
from stanchion.runtime.driving.flow import Flow, Invoke
from stanchion.runtime.standing.occurring import trail_back, trail_lost
from stanchion.runtime.standing.veil import hidden_in, hidden_names, veiled

MOST: Final = 1_000
"""How many records wait; what comes when so many do is told to operators instead."""
TRIES: Final = 3
"""How often a record is offered that the journal stumbles over, where it does not say that it
cannot write at all."""

LATE: Final = "written late: the trail could not be written at the time"
"""What the record of an outcome notes that had to wait."""


class WaitingRecord:
    """A record that waits: how it is written, and what it is called where operators are told of
    it."""

    __slots__ = ("tries", "what", "write")

    def __init__(self, write: Callable[[], object], what: str) -> None:
        self.write, self.what = write, what
        self.tries = 0


class Unwritten:
    """What a process has yet to write down of what has happened. `lost` is told why. Safe between
    threads."""

    def __init__(self, lost: Callable[[Exception], None]) -> None:
        self._lost = lost
        self.waiting: deque[WaitingRecord] = deque()
        """What waits, oldest first. It is asked on every decision, and mostly empty."""
        self._lock = Reentrant()
        self._closed = False

    def keep(self, write: Callable[[], object], what: str, why: Exception) -> None:
        """Keep a record until the journal takes it; what never will be written is told to
        operators."""
        self._lost(why)
        with self._lock:
            if not self._closed and len(self.waiting) < MOST:
                self.waiting.append(WaitingRecord(write, what))
                return
        aside(f"there is no record of {what}", why)

    def flush(self) -> None:
        """Write down what waits, oldest first; `AuditLost` where the journal does not take it."""
        with self._lock:
            while self.waiting:
                first = self.waiting[0]
                try:
                    first.write()
                except AuditLost:
                    raise
                except Exception as error:
                    first.tries += 1
                    if first.tries < TRIES:
                        raise AuditLost(
                            f"a record could not be written: `{type(error).__name__}`"
                        ) from error
                    aside(f"there is no record of {first.what}", error)
                self.waiting.popleft()

    def put(self, write: Callable[[], object], what: str) -> bool:
        """Write a record behind all that wait, or have it wait with them; says whether it is
        written."""
        try:
            if self.waiting:
                self.flush()
            write()
        except Exception as error:  # noqa: BLE001 - whatever a journal raises, it has happened
            self.keep(write, what, error)
            return False
        except BaseException:
            self.keep(write, what, AuditLost("writing it was interrupted"))
            raise
        return True

    def close(self) -> None:
        """Write down what still can be, and tell operators of the rest: nothing is kept any
        more."""
        with self._lock:
            self._closed = True
            try:
                self.flush()
            except AuditLost as lost:
                for one in self.waiting:
                    aside(f"there is no record of {one.what}", lost)
                self.waiting.clear()


WAITS: Final = Risk.HIGH
"""From this risk on an action waits until its record is on the disk."""

MAX_CACHED: Final = 100_000
"""How many records a shield keeps at hand; what is dropped is read again."""


def written(
    desk: Desk,
    plans: Plans,
    moment: Moment,
    decision: Decision,
    begun_ns: int,
    notes: tuple[str, ...] = (),
) -> AuditLost | int | None:
    """Write a decision down. Gives `None` where all is well, the mark of a record that has to be
    waited for, or why it could not be written; `confirmed` deals with both. The record of what has
    happened waits for the journal then.

    Late answers and cached records are left as the next decision may find them.
    """
    shield = desk.shield
    event = moment.events[0]
    kind = KINDS[event.stage]
    try:
        took_ns = perf_counter_ns() - begun_ns
        hide = decision.trace.hides_in_record
        record = decision
        if hide or decision.shadow:
            record = discreet(decision, content_of(event), (*wanted(decision.shadow), *hide))
        shown, pairs = moment, hidden_in(plans, event, decision)
        if pairs:
            shown, record = veiled(moment, record, pairs)
            notes = renamed(notes, pairs)
        if record is not decision:
            # What is written is not what was judged: judged again, it would not leave what this
            # decision left.
            record = msgspec.structs.replace(record, wrote=())
        ends = (
            event.call if kind == OUTCOME and not (type(event) is ToolResult and event.part) else ""
        )
        mark = taken(desk, event.run, (shown, record, took_ns, notes, hide), ends)
    finally:
        if moment.late:
            desk.owed(moment, decision)
    if isinstance(mark, AuditLost):
        return mark
    next(desk.decided[decision.action])
    shield.telemetry.decided(event, decision, took_ns)
    if decision.shadow and kind != INTENT:
        # The agent gets what a guard in shadow mode would have redacted, but no record does.
        desk.veiled = desk.veiled or any(finding.patches for finding in decision.shadow)
    if len(shield.records) > MAX_CACHED:
        shield.records.clear()
    return mark if event.risk >= WAITS and kind == INTENT and decision.proceeds else None


Written = tuple[Moment, Decision, int, tuple[str, ...], tuple[Patch, ...]]
"""What a journal writes down of a decision."""


def taken(desk: Desk, run: RunInfo, what: Written, ends: str) -> AuditLost | int:
    """Have the journal take a record behind those that wait for it: its mark, or why it is not
    written. That of what has happened waits with them, and notes that it had to, also where whoever
    writes it is cut off. `ends` is the call that is not under way any more then."""
    try:
        if desk.shield.unwritten.waiting:
            desk.shield.unwritten.flush()
        mark = _write(desk, run, what)
        if desk.shield.occurrences.open:
            trail_back(desk.shield)
        if ends:
            desk.under_way.over(ends)
        return mark
    except AuditLost as error:
        lost = error
    except Exception as error:  # noqa: BLE001 - whatever a journal raises, nothing is written
        lost = AuditLost(f"writing it failed with `{type(error).__name__}`")
    except BaseException:
        _write_later(desk, run, what, ends, AuditLost("writing it was interrupted"))
        raise
    _write_later(desk, run, what, ends, lost)
    return lost


def _write(desk: Desk, run: RunInfo, what: Written, *late: str) -> int:
    if desk.told is not run:
        desk.announce(run)
    moment, decision, took_ns, notes, hide = what
    mark: int = desk.shield.journal.write(moment, decision, took_ns, (*notes, *late), hide)
    return mark


def _write_later(desk: Desk, run: RunInfo, what: Written, ends: str, why: AuditLost) -> None:
    event = what[0].events[0]
    if has_happened(event):
        desk.shield.unwritten.keep(
            partial(_write, desk, run, what, LATE), f"the outcome of `{event.call}`", why
        )
        desk.under_way.over(ends)


def confirmed(
    desk: Desk, event: Event, decision: Decision, outcome: AuditLost | int
) -> Flow[Decision]:
    """Wait for a record to get to the disk; where it does not, the decision becomes a refusal that
    keeps nothing.

    What has happened is not refused any more: only what came of it is withheld.
    """
    lost = outcome
    if isinstance(lost, int):
        try:
            yield Invoke(desk.shield.journal.sync, (lost,))
        except AuditLost as error:
            lost = error
        except Exception as error:  # noqa: BLE001 - whatever a journal raises, nobody knows that it is safe
            lost = AuditLost(f"writing it to the disk failed with `{type(error).__name__}`")
        else:
            return decision
        if not desk.plans.policy.shadow:
            left(desk, event, decision, f"{NOT_BEGUN}: its record did not reach the disk")
    refused = unrecorded(desk, event, decision, lost)
    if not refused.proceeds and not has_happened(event):
        yield from give_back(desk, event, decision)
    return refused


def give_back(desk: Desk, event: Event, decision: Decision) -> Flow[None]:
    """Give back what an action has taken that does not happen; without the store, when it is there
    again."""
    yield from _tell_store(desk, owed(desk, event, ((decision.id, None),) if decision.held else ()))


def _tell_store(desk: Desk, taken: Owed | None) -> Flow[None]:
    if not (yield from desk.shield.unsettled.tell(taken)):
        desk.tell(
            "the store could not be reached: what the last call reserved stays charged until it is "
            "back"
        )


def barred(desk: Desk, moment: Moment) -> Decision | None:
    """The refusal of a moment that could not be recorded now, found before any state is touched.

    What came of an action is judged all the same: it has happened already. Late answers wait for
    the next event.
    """
    if moment.settles or KINDS[moment.events[0].stage] == OUTCOME:
        return None
    try:
        desk.shield.journal.probe()
        return None
    except AuditLost as error:
        lost = error
    except Exception as error:  # noqa: BLE001 - whatever a journal raises, nothing is written
        lost = AuditLost(f"asking it failed with `{type(error).__name__}`")
    decision = Decision(moment.id, Action.ALLOW, desk.plans.policy.hash)
    refused = unrecorded(desk, moment.events[0], decision, lost)
    if refused.proceeds:
        return None
    desk.owed(moment, refused)
    return refused


def unrecorded(desk: Desk, event: Event, decision: Decision, lost: AuditLost) -> Decision:
    """What becomes of a decision that could not be recorded; a policy that only watches does not
    refuse."""
    shadow = desk.plans.policy.shadow
    happened, closed = has_happened(event), desk.shield.is_closed
    if not closed:
        trail_lost(desk.shield, lost)
    code = "kernel.shield_closed" if closed else "kernel.audit_lost"
    code = "kernel.done_unrecorded" if happened else code
    finding = Finding(Action.BLOCK, code, (str(lost),), guard="kernel", shadow=shadow)
    desk.shield.telemetry.trail_failed()
    if shadow:
        return msgspec.structs.replace(decision, shadow=(*decision.shadow, finding))
    refused = msgspec.structs.replace(
        decision,
        action=max(decision.action, Action.BLOCK),
        findings=(finding, *decision.findings),
        patches=(),
        held=False,
        withheld=event.stage if happened else None,
    )
    desk.shield.telemetry.decided(event, refused, 0)
    return refused


def left(
    desk: Desk, event: Event, decision: Decision, how: str, error: BaseException | None = None
) -> None:
    """Write down what came of an action whose outcome nobody judges: it was interrupted, or gave
    its last item."""
    about: dict[str, Any] = {"call": decision.id, "tool": event.tool}
    if isinstance(event, ToolCall):
        about["args"] = event.args
    outcome: Any
    if error is None:
        outcome = desk.event(ToolResult, **about)
    else:
        outcome = desk.event(
            Failure, **about, **(described(desk.shield.policy, error) | {"text": ""})
        )
    _note(desk, outcome, decision.policy, how, decision.id)


def broke_off(desk: Desk, how: str, error: BaseException | None = None) -> None:
    """Write down that a stream has ended before its end which no call of ours had begun."""
    outcome: Any
    if error is None:
        outcome = desk.event(ModelReply, text="", final=False)
    else:
        outcome = desk.event(Failure, **(described(desk.shield.policy, error) | {"text": ""}))
    _note(desk, outcome, desk.plans.policy.hash, how, "")


def _note(desk: Desk, outcome: Any, policy: str, how: str, ends: str) -> None:
    ended = Decision(outcome.id, Action.ALLOW, policy)
    shown, said = veiled(Moment((outcome,)), ended, hidden_names(desk.plans, outcome))
    mark = taken(desk, outcome.run, (shown, said, 0, (how,), ()), ends)
    desk.shield.telemetry.call_left(ends)
    if isinstance(mark, AuditLost):
        desk.tell(
            "the audit trail cannot be written: the outcome of the last call is recorded as soon "
            "as it can be"
        )


def concluded(
    desk: Desk,
    event: Event,
    decision: Decision,
    settles: tuple[Settle, ...],
    how: str,
    gives_back: bool = True,
) -> Flow[None]:
    """Close what an action has taken whose outcome nobody judges, its places too where it
    `gives_back` them, and write down what came of it. Whoever is cut off meanwhile leaves the one
    to the next trip, and the other to the next record."""
    taken = owed(desk, event, settles) if gives_back else closing(desk, settles)
    desk.shield.unsettled.owe(taken)
    left(desk, event, decision, how)
    yield from _tell_store(desk, taken)
