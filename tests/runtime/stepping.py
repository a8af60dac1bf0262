"""Flows one need at a time: what is asked for is seen, can be lost, and time passes without anybody
waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from stanchion import Run
from stanchion.kernel.state import Batch
from stanchion.runtime.calling.call import call
from stanchion.runtime.driving.flow import Flow, Invoke, TimePause, TurnWait
from stanchion.testing import FakeClock


class Stepped:
    """Runs flows of one run: `pauses` are the seconds that were waited, on the clock alone."""

    def __init__(self, run: Run, clock: FakeClock) -> None:
        self._run, self._clock = run, clock
        self.pauses: list[float] = []

    def call(self, tool: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a tool as `run.call` does."""
        desk, shield = self._run.desk, cast(Any, self._run.desk.shield)
        return self.drive(call(desk, shield.tool_of(tool), args, kwargs))

    def drive(self, flow: Flow[Any]) -> Any:
        """Run a flow to its end."""
        try:
            need = flow.send(None)
            while True:
                try:
                    given = self.do(need)
                except BaseException as error:  # noqa: BLE001 - the flow decides what every failure means
                    need = flow.throw(error)
                else:
                    need = flow.send(given)
        except StopIteration as done:
            return done.value

    def do(self, need: Any) -> Any:
        """Do what a flow asks for."""
        match need:
            case Batch():
                return self._run.desk.store.carry(need)
            case Invoke():
                return need.fn(*need.args, **need.kwargs)
            case TimePause():
                self.pauses.append(need.seconds)
                self._clock.advance(round(need.seconds * 1000))
                return None
            case TurnWait():
                return need.place.result(0)
            case _:
                raise AssertionError(f"nobody does `{type(need).__name__}` here")
