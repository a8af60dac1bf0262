"""Retrying: how long to wait before an action is tried again, and the one allowance that all layers
take it from."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Final
from weakref import ref

from stanchion.kernel.actions import Action
from stanchion.kernel.counter_scopes import scope_key
from stanchion.kernel.findings import Retry
from stanchion.kernel.state import Batch, Line, Reply, StoreLost
from stanchion.locks import Lock
from stanchion.runtime.asides import aside
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.flow import Flow, TimePause

RETRIES: Final = "retry"
"""What the counter of a run's retries is called in its key."""


class RetryAllowance:
    """What the outermost call under way, and every call inside it, have tried again so far."""

    __slots__ = ("__weakref__", "_lock", "over", "used")

    def __init__(self) -> None:
        self._lock = Lock()
        self.used = 0
        self.over = False

    def take(self, most: int) -> bool:
        """Take one retry of `most`, whichever layer asks; false where so many were made already."""
        with self._lock:
            if self.used >= most:
                return False
            self.used += 1
            return True


_outermost: ContextVar[ref[RetryAllowance] | None] = ContextVar("stanchion_retries", default=None)
"""The call has it, and nobody else: where one is cut off as it ends, it ends with it."""


def _current() -> RetryAllowance | None:
    known = _outermost.get()
    return None if known is None else known()


def opened(mine: RetryAllowance) -> None:
    """Begin an allowance, unless the caller is inside a call that has one: that call's is used
    then."""
    outer = _current()
    if outer is None or outer.over:
        _outermost.set(ref(mine))


def closed(mine: RetryAllowance) -> None:
    """End an allowance, if it was begun; work that a call left behind has its own from now on."""
    if _current() is mine:
        mine.over = True
        _outermost.set(None)


def backoff_ms(terms: Retry, attempt: int, chance: Callable[[], float]) -> int:
    """How long to wait after an attempt, the first being 1; `chance` gives numbers from 0 to 1."""
    longest = terms.max_ms
    waited = terms.base_ms * terms.factor ** min(attempt - 1, 64)
    spread = 1 + terms.jitter * (2 * chance() - 1) if terms.jitter else 1.0
    return int(min(waited * spread, longest))


def again(desk: Desk, terms: Retry, attempt: int) -> Flow[str]:
    """Take a retry and let time pass until it is due; says why there is none, and nothing where
    there is. The first try is no retry: with `max_attempts` of 1 a step is tried twice.

    The run's retries are counted in the store, so that children and other processes take from the
    same.
    """
    if attempt > terms.max_attempts:
        return f"all {terms.max_attempts} retries are used"
    wait_ms = backoff_ms(terms, attempt, desk.shield.chance)
    ends = desk.deadline_at_ms
    if ends is not None and desk.shield.clock() + wait_ms >= ends:
        return "the run's deadline is before the next attempt"
    allowance = _current()
    if allowance is not None and not allowance.take(terms.max_attempts):
        return "all retries of the outermost call are used"
    line = Line(scope_key(desk.info, "run", RETRIES), ((terms.per_run, Action.BLOCK),))
    try:
        reply: Reply = yield Batch(desk.new_id(), desk.info.tenant, lines=(line,))
    except StoreLost as lost:
        aside("retries cannot be counted", lost)
        return "retries cannot be counted, because the state store cannot be used"
    if not reply.go:
        return f"all {terms.per_run} retries of the run are used"
    if wait_ms:
        yield TimePause(wait_ms / 1000)
    return ""
