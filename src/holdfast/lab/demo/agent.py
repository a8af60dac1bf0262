"""The scripted agent: tries what a hazard tells it, and keeps what came of every step."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from holdfast.audit.journal import Fact, Finish, Start
from holdfast.audit.reading import Found, Reader
from holdfast.audit.trail import Trail
from holdfast.kernel.decision import Decision
from holdfast.kernel.events import Moment
from holdfast.kernel.findings import Patch
from holdfast.kernel.stages import Stage
from holdfast.lab.demo.hazard import Shadowed, Step
from holdfast.lab.demo.tools import Tools, answer
from holdfast.runtime.errors import DeadlineExceeded, Refused
from holdfast.runtime.run import Run
from holdfast.runtime.shield import Shield

MAX_SHOWN: Final = 40
"""How much of an argument is shown."""

START_MS: Final = 1_767_225_600_000
"""When the demo's clocks begin, so that every run of it gives the same records."""

DEADLINE: Final = "DEADLINE"
"""The verdict on a tool that went ahead and was cut off."""


class Tap:
    """A trail that also keeps the decisions themselves, so that what is shown is what was decided."""

    def __init__(self, folder: Path) -> None:
        at = itertools.count(START_MS, 7)
        self.trail = Trail(folder, clock=lambda: next(at), names=lambda: f"{1:016x}", process=lambda: 1)
        self.decisions: list[tuple[Stage, Decision]] = []

    @property
    def trouble(self) -> str:
        """Why records could not be written lately."""
        return self.trail.trouble

    def write(
        self,
        moment: Moment,
        decision: Decision,
        took_ns: int,
        notes: tuple[str, ...] = (),
        hide: tuple[Patch, ...] = (),
    ) -> int:
        """Write one decision down, and keep it at hand."""
        mark = self.trail.write(moment, decision, took_ns, notes, hide)
        self.decisions.append((moment.events[0].stage, decision))
        return mark

    def begin(self, start: Start) -> None:
        """Write down that a run begins."""
        self.trail.begin(start)

    def end(self, finish: Finish) -> None:
        """Write down that a run has ended."""
        self.trail.end(finish)

    def tell(self, fact: Fact) -> None:
        """Write a fact down."""
        self.trail.tell(fact)

    def probe(self) -> None:
        """Find out whether records can be written."""
        self.trail.probe()

    def sync(self, mark: int) -> None:
        """Wait for the disk."""
        self.trail.sync(mark)

    def records(self) -> Iterator[Found]:
        """What stands in the trail's files now, oldest first."""
        return Reader(self.trail.folder).forwards()

    def close(self) -> None:
        """End the trail."""
        self.trail.close()


class Agent:
    """One agent in one run. Its script calls `tries` and `asks`; `operator` and `user` act beside it."""

    def __init__(self, shield: Shield, tap: Tap, tools: Tools, run: Run, steps: list[Step], who: str = "agent") -> None:
        self.shield = shield
        self.tap = tap
        self.tools = tools
        self.run = run
        self.steps = steps
        self.who = who
        self.got: Any = None

    def tries(self, tool: Callable[..., Any], **args: Any) -> bool:
        """Call a tool under the shield; says whether it went ahead. `got` is what came back."""
        name = tool.__name__
        ran = len(self.tools.reached)
        began = len(self.tap.decisions)
        late = ""
        self.got = None
        try:
            self.got = self._awaited(tool, args) if inspect.iscoroutinefunction(tool) else self.run.call(tool, **args)
        except Refused:
            pass
        except DeadlineExceeded as error:
            late = str(error)
        step = self._judged(f"{name}({_shown(args)})", began, name, len(self.tools.reached) > ran, late)
        return step.proceeds

    def asks(self, question: str, **estimate: Any) -> bool:
        """Ask the scripted model something, at an estimated cost perhaps; says whether that went ahead."""
        began = len(self.tap.decisions)
        self.got = None
        with suppress(Refused):
            self.got = self.run.model(answer, [{"role": "user", "content": question}], **estimate)
        return self._judged(f"asks the model: {_quoted(question)}", began).proceeds

    def spawns(self, agent: str) -> Agent:
        """Start a child agent on the same task."""
        self.acts(self.who, f"spawns a child agent, `{agent}`")
        return Agent(
            self.shield, self.tap, self.tools, self.run.spawn(agent, id=f"{self.run.id}-{agent}"), self.steps, "child"
        )

    def acts(self, who: str, did: str) -> None:
        """Note what somebody did that nobody judges."""
        self.steps.append(Step(who, did))

    def reached(self, tool: str) -> list[dict[str, Any]]:
        """The arguments of every call of a tool that got through to it, over all hazards."""
        return [args for name, args in self.tools.reached if name == tool]

    def ran(self, tool: str) -> str:
        """How often a tool really ran, in words, over all hazards."""
        times = len(self.reached(tool))
        return f"{tool} {('never ran', 'ran once')[times] if times < 2 else f'ran {times} times'}"

    def _awaited(self, tool: Callable[..., Any], args: dict[str, Any]) -> Any:
        import asyncio

        async def call() -> Any:
            return await self.run.acall(tool, **args)

        return asyncio.run(call())

    def _judged(self, did: str, began: int, tool: str = "", ran: bool = True, late: str = "") -> Step:
        decisions = [decision for _, decision in self.tap.decisions[began:]]
        decision = max(decisions, key=lambda made: made.action)
        determining = decision.determining
        step = Step(
            self.who,
            did,
            DEADLINE if late and decision.proceeds else decision.action.name,
            decision.code,
            "" if determining is None else determining.guard,
            late if late and decision.proceeds else decision.message,
            decision.advice,
            tuple(Shadowed(f.guard, f.action.name, f.code, f.message) for made in decisions for f in made.shadow),
            decision.proceeds,
            ran,
            tool,
        )
        self.steps.append(step)
        return step


def _shown(args: dict[str, Any]) -> str:
    return ", ".join(f"{name}={_quoted(value)}" for name, value in args.items())


def _quoted(value: Any) -> str:
    if not isinstance(value, str):
        return str(value)
    if len(value) <= MAX_SHOWN:
        return f'"{value}"'
    return f'"{value[:12]}..." ({len(value):,} characters)'
