"""The model of a decision: one moment at a time, guard by guard, line by line, on full history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from model.count import Count
from model.history import History
from model.known import Found, Sitting
from model.refusals import entered
from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.chain import EVERY_ACTION, Policy
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.guard import Kind
from stanchion.kernel.happened import has_happened
from stanchion.kernel.lookups import Answer
from stanchion.kernel.state import UNREACHED

Records = Mapping[str, tuple[int, Any]]
CLOSED = ("kernel.halted", "kernel.quarantined", "kernel.paused")
"""What gates say that may end by itself; without the store nobody knows that it has."""


class Expected(NamedTuple):
    """What a decision must be, and what its batch must have said; `went` is `None` where none was
    needed."""

    action: Action
    policy: str
    findings: tuple[Finding, ...]
    skipped: tuple[str, ...]
    shadow: tuple[Finding, ...]
    patches: tuple[Patch, ...]
    effects: tuple[str, ...]
    held: bool
    mode: str
    went: bool | None
    settled: tuple[str, ...]
    passed: tuple[str, ...]


class Remembered:
    """What one process remembers of a store's records."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def record(self, key: str) -> tuple[int, Any]:
        """A record's version and value, as remembered."""
        return self._records.get(key, (0, None))

    def number(self, key: str) -> int:
        """A counter's total, as remembered."""
        return self._records.get(key, (0, None))[0]


def expect(
    policy: Policy,
    moment: Moment,
    history: History,
    answers: Mapping[str, Answer],
    can: tuple[Action, ...] = EVERY_ACTION,
    remembered: Records | None = None,
) -> Expected:
    """What a decision must be where nobody comes between it and the entry of its refusal."""
    judged = expect_judged(policy, moment, history, answers, can, remembered)
    return entered(policy, moment, history, judged, can)


def expect_judged(
    policy: Policy,
    moment: Moment,
    history: History,
    answers: Mapping[str, Answer],
    can: tuple[Action, ...] = EVERY_ACTION,
    remembered: Records | None = None,
) -> Expected:
    """Judge a moment now, write into history what it writes, and say what the decision must be
    before a refusal is entered.

    `remembered` is given where the run's knowledge of the gates is young enough to decide on
    without the store; it is used if the moment then has nothing to send.
    """
    if remembered is not None:
        sitting = Sitting(policy, moment, Remembered(remembered), moment.events[0].at, answers, can)
        if not _sends(sitting):
            return _resolve(sitting, sitting.found, None, ())
    sitting = Sitting(policy, moment, history, history.now, answers, can)
    if remembered is not None and not _sends(sitting):
        return _resolve(sitting, sitting.found, None, ())
    count = Count(sitting, history)
    settled = tuple(history.settle(hold, actual) for hold, actual in moment.settles)
    count.walk()
    count.write()
    return _resolve(sitting, count.found, count.go, settled, count.held)


def expect_lost(
    policy: Policy,
    moment: Moment,
    answers: Mapping[str, Answer],
    can: tuple[Action, ...],
    remembered: Records,
    must_send: bool,
    confirmed: int,
    told: int,
) -> Expected:
    """The decision where the store cannot be reached: on what the process remembers, closed unless
    all may open.

    `confirmed` is when the run last heard of the gates, -1 for never, and `told` what the store's
    clock said. What was closed then is closed, and after a minute nothing opens.
    """
    sitting = Sitting(policy, moment, Remembered(remembered), moment.events[0].at, answers, can)
    if not must_send and not _sends(sitting):
        return entered(policy, moment, None, _resolve(sitting, sitting.found, None, ()), can)
    # What has happened cannot be refused any more: only its outcome is.
    code = "kernel.done_unsettled" if has_happened(moment.events[0]) else "kernel.store_lost"
    known = sitting.found if sitting.cut < 0 else []
    if not known and confirmed >= 0:
        then = Sitting(policy, moment, Remembered(remembered), told, answers, can).found
        known = [(pos, finding) for pos, finding in then if finding.code in CLOSED]
    if known:
        lost = Finding(Action.BLOCK, code, (UNREACHED,), guard="kernel", shadow=policy.shadow)
        return _resolve(sitting, [*known, (-1, lost)], None, (), lost=True)
    needing = [
        sitting.chain[pos][0]
        for pos in range(min(sitting.cut + 1, len(sitting.chain)))
        if _needs_store(sitting, pos)
    ]
    opens = (
        needing
        and all(placed.fail_open for placed in needing)
        and sitting.first.risk != Risk.CRITICAL
    )
    opens = opens and confirmed >= 0 and 0 <= sitting.first.at - confirmed <= 60_000
    action = Action.ALLOW if opens else Action.BLOCK
    lost = Finding(action, code, (UNREACHED,), guard="kernel", shadow=policy.shadow)
    if opens or policy.shadow:
        return _resolve(sitting, [(-1, lost), *sitting.found], None, (), lost=True)
    return _resolve(sitting, [(-1, lost)], None, (), lost=True)


def _sends(sitting: Sitting) -> bool:
    """Whether a moment has anything to ask of the store besides whether the gates still stand."""
    count = Count(sitting, History())
    count.walk()
    return bool(count.said or sitting.recorded or sitting.gated or sitting.moment.settles)


def _needs_store(sitting: Sitting, pos: int) -> bool:
    """Whether a guard that is enforced has anything to look up or to count; one that cannot say
    what has not."""
    placed, event = sitting.chain[pos]
    try:
        if placed.kind == Kind.METER:
            sitting.own_lines(pos)
        elif placed.kind == Kind.RECORD:
            placed.guard.key(event)
        else:
            return False
    except Exception:  # noqa: BLE001 - a guard may raise anything
        return False
    return not placed.shadow


def _resolve(
    sitting: Sitting,
    found: Found,
    went: bool | None,
    settled: tuple[str, ...],
    held: bool = False,
    lost: bool = False,
) -> Expected:
    cut = min(
        [pos for pos, finding in found if sitting.ends(pos, finding)], default=len(sitting.chain)
    )
    reached = [finding for pos, finding in found if pos <= cut]
    real = [finding for finding in reached if not finding.shadow]
    action = max([finding.action for finding in real], default=Action.ALLOW)
    effects: list[str] = []
    for finding in real:
        effects += [effect for effect in finding.effects if effect not in effects]
    patches = tuple(patch for finding in real for patch in finding.patches)
    return Expected(
        action=action,
        policy=sitting.policy.hash,
        findings=tuple(real),
        skipped=tuple(placed.id for placed, _ in sitting.chain[cut + 1 :]),
        shadow=tuple(finding for finding in reached if finding.shadow),
        patches=patches if action <= Action.DEGRADE else (),
        effects=tuple(effects),
        held=held,
        mode=sitting.mode,
        went=went,
        settled=settled,
        passed=_passed(sitting, reached, cut, lost),
    )


def _passed(sitting: Sitting, reached: list[Finding], cut: int, lost: bool) -> tuple[str, ...]:
    """Guards that were asked, said nothing, and want that known; without the store those that count
    were not asked."""
    passed: list[str] = []
    for placed, _ in sitting.chain[: cut + 1]:
        spoke = any(finding.guard == placed.id for finding in reached)
        unasked = lost and placed.kind in (Kind.METER, Kind.RECORD)
        if placed.log_pass and not spoke and not unasked and placed.id not in passed:
            passed.append(placed.id)
    return tuple(passed)
