"""The worst agent there is: it does its user's task by the book, and whatever a text that it reads
wants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from stanchion_lab.agentdojo.judges import Judge, Stop, is_read
from stanchion_lab.agentdojo.package import agentdojo
from stanchion_lab.agentdojo.worlds import Frozen

AT_ONCE: Final = "at once"
AT_THE_END: Final = "at the end"
"""When it obeys: as soon as it has read the text, or when its user's task is done."""

Calls = Callable[[Any], Sequence[Any]]
"""The calls that reach a goal in a world as it is now."""


class Goal(msgspec.Struct, frozen=True):
    """What an attacker wants: calls, and perhaps something said; `reached` is asked for the last
    words, the world before and after, and all calls that were made."""

    calls: Calls
    says: str
    reached: Callable[[str, Any, Any, list[Any]], bool]


CHANGED: Final = "changed"
"""The code of an honest call or answer that went ahead as something else than it was."""


class Played(msgspec.Struct, frozen=True):
    """What became of one run: what honest work was stopped or changed, which results it got with
    something redacted, what of the attack went ahead and what did not, whether its goal was
    reached, and whether something of it happened that cannot be called reading."""

    stops: tuple[Stop, ...] = ()
    redacted: tuple[str, ...] = ()
    went: tuple[str, ...] = ()
    refused: tuple[Stop, ...] = ()
    attacked: bool = False
    reached: bool = False
    touched: bool = False


class Agent:
    """One run over one world; `world` is how that stands."""

    def __init__(self, suite: Any, world: Frozen, judge: Judge) -> None:
        self._package = agentdojo()
        self._runtime = self._package.runtime(suite.tools)
        self._before, self.world, self._judge = world, world.fresh(), judge
        self._made: list[Any] = []
        self._stops: list[Stop] = []
        self._redacted: list[str] = []
        self._went: list[str] = []
        self._refused: list[Stop] = []
        self._attacked = self._touched = self._whole = False

    def play(
        self, task: Any, goal: Goal | None = None, after: int = -1, when: str = AT_ONCE
    ) -> Played:
        """Do a task. With a goal, obey it once the result of call number `after` was read."""
        honest = list(task.ground_truth(self._before.fresh()))
        self._keep(self._judge.prompt(task.PROMPT).stop, self._stops)
        read = False
        for at, call in enumerate(honest):
            delivered = self._do(call, self._stops)
            read = read or (delivered and at == after)
            if goal is not None and read and when == AT_ONCE and not self._attacked:
                self._obey(goal)
        if goal is not None and read and not self._attacked:
            self._obey(goal)
        said = (
            self._say(task.GROUND_TRUTH_OUTPUT, self._stops)
            if goal is None or not goal.says
            else ""
        )
        reached = goal is not None and self._attacked and self._reached(goal, task, said)
        return Played(
            tuple(self._stops),
            tuple(self._redacted),
            tuple(self._went),
            tuple(self._refused),
            self._attacked,
            reached,
            self._touched,
        )

    def _obey(self, goal: Goal) -> None:
        self._attacked = True
        calls = list(goal.calls(Frozen(self.world).fresh()))
        done = [self._do(call, self._refused, attack=True) for call in calls]
        self._whole = bool(calls) and all(done)

    def _reached(self, goal: Goal, task: Any, said: str) -> bool:
        if goal.says:
            said = self._say(f"{task.GROUND_TRUTH_OUTPUT}\n{goal.says}".strip(), self._refused)
            self._touched = self._touched or goal.says in said
        return self._whole or goal.reached(said, self._before.fresh(), self.world, self._made)

    def _do(self, call: Any, stopped: list[Stop], attack: bool = False) -> bool:
        """Make a call, if it may be made; says whether it was made as it was meant, and its result
        came back."""
        tool, meant = call.function, self._plain(dict(call.args))
        stop, args = self._judge.call(tool, meant)
        if stop is not None:
            return self._keep(stop, stopped)
        self._made.append(self._package.call(function=tool, args=args))
        result, error = self._runtime.run_function(self.world, tool, args)
        if attack:
            self._went.append(tool)
            self._touched = self._touched or (error is None and not is_read(tool))
        if error is not None:
            self._judge.failure(tool, args, error)
            return False
        text = self._package.text(result)
        stop, left = self._judge.result(tool, args, text)
        if left != text and stop is None and not attack:
            self._redacted.append(tool)
        changed = (
            Stop(tool, CHANGED, "its arguments are not what they were") if args != meant else None
        )
        return self._keep(stop if stop is not None else changed, stopped)

    def _say(self, text: str, stopped: list[Stop]) -> str:
        if not text:
            return ""
        stop, left = self._judge.answer(text)
        changed = (
            Stop("the answer", CHANGED, "it does not say what it said") if left != text else None
        )
        self._keep(stop if stop is not None else changed, stopped)
        return "" if stop is not None else str(left)

    def _keep(self, stop: Stop | None, stopped: list[Stop]) -> bool:
        """Remember a stop; says whether there was none."""
        if stop is not None:
            stopped.append(stop)
        return stop is None

    def _plain(self, args: Any) -> Any:
        """Arguments with the calls in them made: AgentDojo lets one call be the argument of
        another."""
        match args:
            case dict():
                return {name: self._plain(value) for name, value in args.items()}
            case list():
                return [self._plain(value) for value in args]
            case self._package.call():
                return self._runtime.run_function(
                    self.world, args.function, self._plain(dict(args.args))
                )[0]
            case _:
                return args
