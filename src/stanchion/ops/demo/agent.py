"""The scripted agent: tries what a hazard tells it, and keeps what came of every step."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NamedTuple

from stanchion.kernel.actions import Action
from stanchion.ops.demo.hazard import Also, HazardStep, Shadowed
from stanchion.ops.demo.tap import Tap
from stanchion.ops.demo.tools import ROUND_USD, DemoTools, answer
from stanchion.runtime.errors import DeadlineExceeded, Refused
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield

MAX_SHOWN: Final = 40
"""How much of an argument is shown."""

DEADLINE: Final = "DEADLINE"
"""The verdict on a tool that went ahead and was cut off."""

FAILED: Final = "FAILED"
"""The verdict on a tool that went ahead and failed."""

AGREED: Final = "goes ahead: a person said yes"
"""What is said of a tool that a guard asked about, and a person said yes to."""


class DemoCall(NamedTuple):
    """A tool that was called: whether it went ahead, whether it really ran, and how it ended if not
    well."""

    tool: str
    went_ahead: bool
    ran: bool
    verdict: str
    why: str


class ScriptedAgent:
    """One agent in one run. Its script calls `tries` and `asks`; `operator` and `user` act beside
    it."""

    def __init__(
        self,
        shield: Shield,
        tap: Tap,
        tools: DemoTools,
        run: Run,
        steps: list[HazardStep],
        who: str = "agent",
    ) -> None:
        self.shield = shield
        self.tap = tap
        self.tools = tools
        self.run = run
        self.steps = steps
        self.who = who
        self.got: Any = None

    def tries(self, tool: Callable[..., Any], **args: Any) -> bool:
        """Call a tool under the shield; says whether it went ahead. `got` is what came back."""
        began = len(self.tap.decisions)
        called = self._call(tool, args)
        return self._judged(f"{tool.__name__}({_shown(args)})", began, called).proceeds

    def asks(self, question: str, **estimate: Any) -> bool:
        """Ask the scripted model something, at an estimated cost perhaps; says whether that went
        ahead."""
        began = len(self.tap.decisions)
        self._ask(answer, question, estimate)
        return self._judged(f"asks the model: {_quoted(question)}", began).proceeds

    def listens(self, model: Callable[..., Any], question: str) -> bool:
        """Ask a model that streams its reply, and read the stream to its end; `got` is what came
        out of it."""
        began = len(self.tap.decisions)
        self.got = []
        with suppress(Refused):
            self.got += self.run.model(model, [{"role": "user", "content": question}])
        return self._judged(f"asks a model that streams: {_quoted(question)}", began).proceeds

    def goes_round(
        self, model: Callable[..., Any], question: str, tool: Callable[..., Any], **args: Any
    ) -> bool:
        """Ask a model what to do and do it, which is always the same; says whether the run goes
        on."""
        began = len(self.tap.decisions)
        if not self._ask(model, question, {"model": model.__name__, "cost_usd": ROUND_USD}):
            return self._judged("asks the model", began).verdict != Action.HALT.name
        called = self._call(tool, args)
        return (
            self._judged(
                f"asks the model, then {tool.__name__}({_shown(args)})", began, called
            ).verdict
            != "HALT"
        )

    def starts(self, tool: Callable[..., Any], **args: Any) -> Callable[[], None]:
        """Begin something that takes its time, as a host does that runs tools itself; gives what
        ends it."""
        began = len(self.tap.decisions)
        name = tool.__name__
        decision = self.run.check(name, args)
        self._judged(f"begins {name}({_shown(args)})", began)

        def ends() -> None:
            self.run.result(name, args, tool(**args), call=decision.id)
            self.acts(self.who, f"has finished {name}({_shown(args)})")

        return ends

    def spawns(self, agent: str) -> ScriptedAgent:
        """Start a child agent on the same task."""
        self.acts(self.who, f"spawns a child agent, `{agent}`")
        return ScriptedAgent(
            self.shield,
            self.tap,
            self.tools,
            self.run.spawn(agent, id=f"{self.run.id}-{agent}"),
            self.steps,
            "child",
        )

    def hears(self, words: str) -> None:
        """Be told something by the user."""
        self.run.prompt(words)
        self.acts("user", f"says: {words}")

    def acts(self, who: str, did: str) -> None:
        """Note what somebody did that nobody judges."""
        self.steps.append(HazardStep(who, did))

    def lets_pass(self, ms: int) -> None:
        """Let time pass: the demo's clock moves whenever somebody looks at it."""
        until = self.shield.clock() + ms
        while self.shield.clock() < until:
            pass

    def reached(self, tool: str) -> list[dict[str, Any]]:
        """The arguments of every call of a tool that got through to it, over all hazards."""
        return [args for name, args in self.tools.reached if name == tool]

    def ran(self, tool: str) -> str:
        """How often a tool really ran, in words, over all hazards."""
        times = len(self.reached(tool))
        return f"{tool} {('never ran', 'ran once')[times] if times < 2 else f'ran {times} times'}"

    def _ask(self, model: Callable[..., Any], question: str, options: dict[str, Any]) -> bool:
        """Ask a model; says whether it was asked. `got` is its reply, or why the run has ended."""
        self.got = None
        began = len(self.tap.decisions)
        with suppress(Refused):
            self.got = self.run.model(model, [{"role": "user", "content": question}], **options)
        return all(judged.decision.proceeds for judged in self.tap.decisions[began:])

    def _call(self, tool: Callable[..., Any], args: dict[str, Any]) -> DemoCall:
        """Call a tool; `got` is what it gave."""
        self.got = None
        before = len(self.tools.reached)
        verdict, why, refused = "", "", False
        try:
            self.got = (
                self._awaited(tool, args)
                if inspect.iscoroutinefunction(tool)
                else self.run.call(tool, **args)
            )
        except Refused:
            refused = True
        except DeadlineExceeded as error:
            verdict, why = DEADLINE, str(error)
        except ConnectionError as error:
            verdict, why = FAILED, str(error)
        return DemoCall(tool.__name__, not refused, len(self.tools.reached) > before, verdict, why)

    def _awaited(self, tool: Callable[..., Any], args: dict[str, Any]) -> Any:
        import asyncio

        async def call() -> Any:
            return await self.run.acall(tool, **args)

        return asyncio.run(call())

    def _judged(self, did: str, began: int, called: DemoCall | None = None) -> HazardStep:
        """The step that was taken, by the severest of its decisions: of two alike by the one that
        says something."""
        decisions = [judged.decision for judged in self.tap.decisions[began:]]
        if called is not None and called.went_ahead:
            # What a person was asked about goes ahead only where that person has agreed.
            decisions = [made for made in decisions if made.action != Action.ESCALATE]
        decision = max(decisions, key=lambda made: (made.action, bool(made.findings)))
        determining = decision.determining
        end = called if called is not None and called.verdict and called.went_ahead else None
        said = {(f.guard, f.code): f.message for made in decisions for f in made.findings}
        if end is None and determining is not None:
            said.pop((determining.guard, determining.code))
        agreed = (
            determining is not None and determining.said == Action.ESCALATE != determining.action
        )
        step = HazardStep(
            self.who,
            did,
            decision.action.name if end is None else end.verdict,
            decision.code,
            "" if determining is None else determining.guard,
            AGREED if agreed else decision.message if end is None else end.why,
            "" if agreed else decision.advice,
            tuple(
                Shadowed(f.guard, f.action.name, f.code, f.message)
                for made in decisions
                for f in made.shadow
            ),
            decision.proceeds if called is None else called.went_ahead,
            called is None or called.ran,
            "" if called is None else called.tool,
            tuple(Also(guard, code, why) for (guard, code), why in said.items()),
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
