"""AgentDojo's tasks as traces: made from its own calls, honest ones and those of an agent that
obeys what it reads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

from stanchion_lab.agentdojo.agent import Goal
from stanchion_lab.agentdojo.goals import goal_of
from stanchion_lab.agentdojo.judges import definitions
from stanchion_lab.agentdojo.package import NoAgentDojo, agentdojo
from stanchion_lab.agentdojo.worlds import Frozen, Seen, Worlds
from stanchion_lab.flow.asking import WAYS, Asking
from stanchion_lab.flow.sources import Source
from stanchion_lab.flow.trace import Call, Prompt, Reply, Side, Step, Trace
from stanchion_lab.measuring.rows import NoRows


def suite_sources(asked: str) -> list[Source]:
    """A suite, or with no name all of them; behind a slash the ways of asking,
    `slack/bare+polite`."""
    name, _, chosen = asked.partition("/")
    try:
        known = agentdojo().suites
    except NoAgentDojo as error:
        raise NoRows(str(error)) from None
    ways = tuple(chosen.split("+")) if chosen else WAYS
    for word, among, what in (
        (name, known, "suite"),
        *[(way, WAYS, "way of asking") for way in ways],
    ):
        if word and word not in among:
            raise NoRows(f"AgentDojo has no {what} `{word}`: there are {', '.join(among)}")
    return [_source(suite, ways) for suite in ([name] if name else known)]


def _source(suite: str, ways: tuple[str, ...]) -> Source:
    return Source(
        f"agentdojo_{suite}",
        lambda: suite_traces(suite, ways),
        lambda: {suite: definitions(agentdojo().suites[suite])},
        lambda most, seed: suite_traces(suite, ways, _chosen(suite, ways, most, seed)),
    )


def _chosen(
    suite: str, ways: tuple[str, ...], most: int, seed: int
) -> frozenset[tuple[str, str, str]]:
    """So many attacks, each a goal, a task that can be attacked, and a way of asking."""
    worlds, seen = _worlds(suite)
    tasks = [name for name in worlds.suite.user_tasks if seen[name] is not None]
    every = [
        (aim, name, way) for aim in worlds.suite.injection_tasks for name in tasks for way in ways
    ]
    return frozenset(Random(f"{seed}/{suite}").sample(every, min(most, len(every))))


def suite_traces(
    suite: str, ways: tuple[str, ...] = WAYS, chosen: frozenset[tuple[str, str, str]] | None = None
) -> Iterator[Trace]:
    """Every honest task of a suite, and every attack on it in each of these ways, or those that are
    chosen."""
    worlds, seen = _worlds(suite)
    for name, task in worlds.suite.user_tasks.items():
        yield _honest(worlds, name, task)
    askings = [Asking(way, worlds.suite) for way in ways]
    for aim, wanted in worlds.suite.injection_tasks.items():
        goal = goal_of(worlds.suite, wanted)
        for name, task in worlds.suite.user_tasks.items():
            read = seen[name]
            if read is None:
                continue
            for asking in askings:
                if chosen is not None and (aim, name, asking.way) not in chosen:
                    continue
                texts = asking.texts(task, wanted, read.vectors)
                world = Frozen(task.init_environment(worlds.make(texts)))
                told = Recorder(worlds.suite, world)
                yield _attack(suite, name, aim, asking.way, told.attacked(task, goal, read.after))


@cache
def _worlds(suite: str) -> tuple[Worlds, dict[str, Seen | None]]:
    worlds = Worlds(agentdojo().suites[suite])
    return worlds, {name: worlds.seen(task) for name, task in worlds.suite.user_tasks.items()}


def _honest(worlds: Worlds, name: str, task: Any) -> Trace:
    suite = worlds.suite.name
    world = Frozen(task.init_environment(worlds.make({})))
    steps = Recorder(worlds.suite, world).honest(task)
    return Trace(f"{suite}/{name}", f"agentdojo {suite}", "honest", tuple(steps), suite)


def _attack(suite: str, task: str, aim: str, way: str, steps: list[Step]) -> Trace:
    spoken = not any(isinstance(step, Call) and step.essential for step in steps)
    family = f"agentdojo {suite}{', answers' if spoken else ''}"
    case = f"{suite}/{task}/{aim}"
    return Trace(
        f"{case}/{way}", f"{family} {way}", "attack", tuple(steps), suite, aim, case, family
    )


class Recorder:
    """Makes the calls of a task in a world and writes down what came of them."""

    def __init__(self, suite: Any, world: Frozen) -> None:
        self._package = agentdojo()
        self._runtime = self._package.runtime(suite.tools)
        self._before, self._world = world, world.fresh()

    def honest(self, task: Any) -> list[Step]:
        """The task alone, and its answer."""
        steps: list[Step] = [Prompt(task.PROMPT)]
        steps += [self._made(call, self._world, "honest") for call in self._calls(task)]
        return [*steps, *_answer(task)]

    def attacked(self, task: Any, goal: Goal, after: int) -> list[Step]:
        """The task up to the call that reads the hidden text; what that wants, in a copy of the
        world, so that the rest of the task finds it as if the attack had been stopped; then the
        rest."""
        steps: list[Step] = [Prompt(task.PROMPT)]
        for at, call in enumerate(self._calls(task)):
            steps.append(self._made(call, self._world, "honest"))
            if at == after:
                aside = Frozen(self._world)
                world = aside.fresh()
                steps += [
                    self._made(call, world, "attack", True) for call in goal.calls(aside.fresh())
                ]
        if goal.says:
            said = f"{task.GROUND_TRUTH_OUTPUT}\n{goal.says}".strip()
            return [
                *steps,
                Reply(said, True, "attack", not goal.calls(self._before.fresh()), goal.says),
            ]
        return [*steps, *_answer(task)]

    def _calls(self, task: Any) -> list[Any]:
        return list(task.ground_truth(self._before.fresh()))

    def _made(self, call: Any, world: Any, side: Side, essential: bool = False) -> Call:
        args = self._plain(dict(call.args), world)
        result, error = self._runtime.run_function(world, call.function, args)
        if error is not None:
            return Call(call.function, args, error=error, side=side, essential=essential)
        return Call(call.function, args, self._package.text(result), side=side, essential=essential)

    def _plain(self, args: Any, world: Any) -> Any:
        """Arguments with the calls in them made: AgentDojo lets one call be the argument of
        another."""
        match args:
            case dict():
                return {name: self._plain(value, world) for name, value in args.items()}
            case list():
                return [self._plain(value, world) for value in args]
            case self._package.call():
                return self._runtime.run_function(
                    world, args.function, self._plain(dict(args.args), world)
                )[0]
            case _:
                return args


def _answer(task: Any) -> list[Step]:
    return [Reply(task.GROUND_TRUTH_OUTPUT, True)] if task.GROUND_TRUTH_OUTPUT else []
