"""Honest sessions that share one shield: no call of one is refused because of what another met,
whatever order they come in and however their hosts report what failed."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from stanchion.policy.load import load_policy
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion_lab.measuring.nowhere import nowhere
from stanchion_lab.measuring.rows import VARIABLE, rows
from stanchion_lab.measuring.traces import Call, Failed, Gave, Step, play, session_of
from stanchion_lab.measuring.urls import PUBLIC

FOLDER: Final = Path(os.environ.get(VARIABLE, "corpora"))
FILE: Final = "honest_sessions.jsonl"
WATCHES: Final[dict[str, Any]] = {
    "name": "watches",
    "guards": [{"use": "breaker"}, {"use": "error_rate"}, {"use": "health"}],
}
"""What of the pack `default` remembers across runs how tools work, as it is there."""

pytestmark = pytest.mark.skipif(
    not (FOLDER / FILE).is_file(), reason=f"no corpora: set {VARIABLE} to a folder"
)

Session = tuple[str, tuple[Step, ...]]
Place = tuple[str, int]
"""A session, and a step in it."""
Report = Callable[[Call, Failed], Call]


def as_result(call: Call, failure: Failed) -> Call:
    return Call(call.tool, call.args, Gave(failure.text))


def as_error(call: Call, failure: Failed) -> Call:
    return Call(call.tool, call.args, failure)


def as_bare_error(call: Call, failure: Failed) -> Call:
    """Many hosts say that a command failed, and not with what."""
    return Call(call.tool, call.args, Failed("exit_1"))


REPORTS: Final[tuple[Report, ...]] = (as_result, as_error, as_bare_error)
ORDERS: Final = (*[f"drawn {number}" for number in range(20)], "failing first", "sixteen at a time")


@cache
def recorded() -> tuple[Session, ...]:
    """The sessions of the file, in its order."""
    return tuple([(row.id, tuple(session_of(row))) for row in rows(FOLDER, FILE)])


def fails(session: Session) -> bool:
    return any(isinstance(step, Call) and isinstance(step.outcome, Failed) for step in session[1])


def told(session: Session, report: Report) -> Session:
    """A session whose host reports failed calls in that way."""
    steps = [
        report(step, step.outcome)
        if isinstance(step, Call) and isinstance(step.outcome, Failed)
        else step
        for step in session[1]
    ]
    return session[0], tuple(steps)


def arranged(order: str, sessions: list[Session]) -> tuple[list[Session], int]:
    """The sessions in an order, and how many of them are under way at a time."""
    kind, _, number = order.partition(" ")
    if kind == "drawn":
        random.Random(int(number)).shuffle(sessions)
    else:
        sessions.sort(key=lambda one: (not fails(one), len(one[1])))
    return sessions, 16 if kind == "sixteen" else 1


def steps_of(run: Run, session: Session) -> Iterator[Place | None]:
    """Play a session step by step; gives the place of a call that is refused."""
    for at, step in enumerate(session[1]):
        refused = [one for one in play(run, [step]) if one.call and not one.decision.proceeds]
        yield (session[0], at) if refused else None


def refused(policy: Any, sessions: list[Session], at_once: int, alone: bool = False) -> set[Place]:
    """The calls that are refused where all sessions share a shield; `alone` in a tenant each."""
    with nowhere():
        shield = Shield(
            load_policy(policy), safe_mode=False, resolver=lambda _host, _port: [PUBLIC]
        )
        shield.occurrences.mute()
        waiting = sessions[::-1]
        found: set[Place] = set()
        live: list[Iterator[Place | None]] = []
        while waiting or live:
            while waiting and len(live) < at_once:
                one = waiting.pop()
                run = shield.run("worker", one[0], tenant=one[0] if alone else "default")
                live.append(steps_of(run, one))
            for playing in list(live):
                try:
                    place = next(playing)
                except StopIteration:
                    live.remove(playing)
                else:
                    found |= set() if place is None else {place}
        return found


@cache
def refused_alone(policy: str, report: Report) -> frozenset[Place]:
    return frozenset(refused(policy, [told(one, report) for one in recorded()], 1, alone=True))


@pytest.mark.parametrize("order", ORDERS[-2:])
def test_commands_that_fail_in_short_sessions_stop_nobody(order: str) -> None:
    sessions, at_once = arranged(order, [one for one in recorded() if fails(one)])
    for report in REPORTS:
        assert not refused(WATCHES, [told(one, report) for one in sessions[:24]], at_once)


@pytest.mark.parametrize("order", ORDERS)
def test_what_watches_tools_refuses_no_call(order: str) -> None:
    sessions, at_once = arranged(order, [one for one in recorded() if fails(one)])
    for report in REPORTS:
        assert not refused(WATCHES, [told(one, report) for one in sessions], at_once)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.__name__)
def test_no_call_is_refused_because_of_another_session(report: Report, order: str) -> None:
    sessions = [told(one, report) for one in recorded()]
    assert refused("default", *arranged(order, sessions)) <= refused_alone("default", report)
