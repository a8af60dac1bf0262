"""A payment's life, cut at any of its steps: what a flow asks for is enumerated, and cut before or
after it is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from stanchion import Action, Refused, Run, Shield, Stage
from stanchion.kernel.findings import Patch
from stanchion.kernel.state import Batch, StoreLost
from stanchion.runtime.calling.call import call
from stanchion.runtime.driving.flow import Flow, Invoke, TimePause, TurnWait
from stanchion.runtime.operating.settle_effects import EffectError
from tests.operators import ANN
from tests.runtime.guards import says

HOUR_MS: Final = 3_600_000
POLICY: dict[str, Any] = {
    "name": "payments",
    "tools": {"pay": {"risk": "high", "annotations": ["once"], "harmless": ["ConnectionError"]}},
    "guards": [
        {"use": "step_limit", "max_steps": 1_000},
        {"use": "budget", "duration_s": 1_000_000},
        {"use": "recovery", "backoff_base_s": 0},
    ],
}
CAP: Final = says(Action.REDACT, Stage.TOOL_CALL, id="cap", patches=(Patch(("amount",), 5),))

Pay = Callable[[int], Any]


class Killed(BaseException):
    """The process is gone."""


class Cut(NamedTuple):
    """Where a life is cut: at which step, before or after it was carried out, and how.

    `killed`: nothing happens any more. `interrupted`: the flow is told, and may tidy up. `lost`:
    the store does not answer this once.
    """

    step: int
    after: bool
    how: str


class Life:
    """Drives one call, and cuts it; `steps` is how many there were."""

    def __init__(self, run: Run, cut: Cut | None, die: Callable[[], None] | None = None) -> None:
        self._store, self._cut, self._die = run.desk.store, cut, die
        self._desk = run.desk
        self.steps = 0

    def pay(self, pay: Pay, amount: int, named: str) -> Any:
        """Call the payment tool; raises `Killed` where it is cut short for good."""
        shield: Any = self._desk.shield
        flow = call(self._desk, shield.tool_of(pay), (amount,), {}, named)
        error: BaseException | None = None
        given: Any = None
        try:
            while True:
                need = flow.send(given) if error is None else flow.throw(error)
                given, error = None, None
                cut = self._cut if self._cut is not None and self._cut.step == self.steps else None
                self.steps += 1
                if cut is not None and not cut.after:
                    error = self._cut_off(flow, cut, need)
                    if error is not None:
                        continue
                try:
                    given = self._do(need)
                except BaseException as raised:  # noqa: BLE001 - the flow decides what every failure means
                    error = raised
                if cut is not None and cut.after:
                    error = self._cut_off(flow, cut, need) or error
        except StopIteration as done:
            return done.value

    def _cut_off(self, flow: Flow[Any], cut: Cut, need: Any) -> BaseException | None:
        if cut.how == "killed":
            if self._die is not None:
                self._die()
            end(flow)
            raise Killed
        if cut.how == "interrupted":
            return KeyboardInterrupt()
        return StoreLost("it is out of reach") if isinstance(need, Batch) else None

    def _do(self, need: Any) -> Any:
        match need:
            case Batch():
                return self._store.carry(need)
            case Invoke():
                return need.fn(*need.args, **need.kwargs)
            case TimePause():
                return None
            case TurnWait():
                return need.place.result(0)
            case _:
                raise AssertionError(f"nobody does `{type(need).__name__}` here")


def end(flow: Flow[Any]) -> None:
    """Let go of a flow without carrying out anything more of it."""
    try:
        for _ in range(100):
            flow.throw(Killed())
    except (Killed, StopIteration):
        return
    raise AssertionError("a flow that is killed goes on and on")


def brought_to_an_end(
    process: Callable[[], Shield], pay: Pay, named: str, paid: Callable[[], int], later: Any
) -> str:
    """Resume a payment until something final comes of it: `paid`, or the code of the refusal that
    stands for good.

    Where nobody knows what came of it, a person looks (`paid`) and says so.
    """
    for _ in range(4):
        run = process().run("clerk", "bills", id="r")
        try:
            Life(run, None).pay(pay, 10, named)
        except Refused as refused:
            code = refused.decision.code
            determining = refused.decision.determining
            assert determining is not None
            if code == "ledger.in_progress":
                later()
            elif code == "ledger.outcome_unknown":
                run.settle_effect(str(determining.args[2]), happened=paid() > 0, by=ANN)
            else:
                return code
        except (TimeoutError, EffectError) as error:
            return type(error).__name__
        else:
            return "paid"
    raise AssertionError("nothing final ever comes of it")
