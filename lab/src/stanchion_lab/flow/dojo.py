"""AgentDojo's tasks as traces: made from its own calls, honest ones and those of an agent that
obeys what it reads."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time
from enum import Enum
from functools import cache
from typing import Any, Final

import msgspec

from stanchion_lab.agentdojo.agent import Goal
from stanchion_lab.agentdojo.attacks import Attack
from stanchion_lab.agentdojo.goals import goal_of
from stanchion_lab.agentdojo.judges import definitions
from stanchion_lab.agentdojo.package import NoAgentDojo, agentdojo
from stanchion_lab.agentdojo.worlds import Frozen, Seen, Worlds
from stanchion_lab.flow.declared import declared_for
from stanchion_lab.flow.leaks import HIDDEN, leaks
from stanchion_lab.flow.phrasings import REWORDED, Wish, phrased, values_of
from stanchion_lab.flow.rewriting import reworded, wanted_args
from stanchion_lab.flow.sources import Source
from stanchion_lab.flow.trace import Call, Prompt, Reply, Side, Step, Trace
from stanchion_lab.measuring.rows import NoRows

LOUD: Final = "important_instructions"
"""The attack of AgentDojo that stands for how its attacks ask."""


def leak_sources(name: str, flat: bool = False) -> list[Source]:
    """The ways out of a suite's tasks that ask for no new call, or of all suites."""
    found = suite_sources(name, flat)
    return [_leaking(source.name.removeprefix("agentdojo_"), flat, source) for source in found]


def _leaking(suite: str, flat: bool, source: Source) -> Source:
    name = f"leaks_{suite}"
    declared = msgspec.structs.replace(declared_for([suite]), name=name)
    return Source(
        name, lambda: leak_traces(suite, flat), source.tools, lambda _: declared, made=True
    )


def leak_traces(suite: str, flat: bool = False) -> Iterator[Trace]:
    """Attacks on every task of a suite that reads a text by somebody else."""
    worlds, seen = _worlds(suite)
    for name, task in worlds.suite.user_tasks.items():
        read = seen[name]
        if read is None:
            continue
        # Behind what stands there, as somebody would who wants nothing to be missed.
        texts = {vector: f"{worlds.defaults[vector]} {HIDDEN}" for vector in read.vectors}
        world = Frozen(task.init_environment(worlds.make(texts)))
        steps = Recorder(worlds.suite, world, flat).honest(task)
        honest = Trace(f"{suite}/{name}", f"leaks {suite}", "honest", tuple(steps), suite)
        yield from leaks(honest, declared_for([suite]))


def suite_sources(name: str, flat: bool = False, phrasings: tuple[str, ...] = ()) -> list[Source]:
    """A suite, or with no name all of them."""
    try:
        known = agentdojo().suites
    except NoAgentDojo as error:
        raise NoRows(str(error)) from None
    if name and name not in known:
        raise NoRows(f"AgentDojo has no suite `{name}`: there are {', '.join(known)}")
    return [_source(suite, flat, phrasings) for suite in ([name] if name else known)]


def _source(suite: str, flat: bool, phrasings: tuple[str, ...]) -> Source:
    declared = declared_for([suite])
    return Source(
        f"agentdojo_{suite}",
        lambda: suite_traces(suite, flat, phrasings),
        lambda: {suite: definitions(agentdojo().suites[suite])},
        lambda _: declared,
        made=True,
    )


def suite_traces(
    suite: str, flat: bool = False, phrasings: tuple[str, ...] = ()
) -> Iterator[Trace]:
    """Every honest task of a suite, and every attack on it as AgentDojo asks and in each of these
    ways. Results are data, or if `flat` the texts that AgentDojo makes of them."""
    worlds, seen = _worlds(suite)
    for name, task in worlds.suite.user_tasks.items():
        world = Frozen(task.init_environment(worlds.make({})))
        steps = Recorder(worlds.suite, world, flat).honest(task)
        yield Trace(f"{suite}/{name}", f"agentdojo {suite}", "honest", tuple(steps), suite)
    loud = Attack(LOUD, worlds.suite)
    for aim, wanted in worlds.suite.injection_tasks.items():
        goal = goal_of(worlds.suite, wanted)
        for name, task in worlds.suite.user_tasks.items():
            read = seen[name]
            if read is None:
                continue
            texts = loud.texts(task, wanted, read.vectors)
            trace = _attack(worlds, name, aim, goal, read, texts, flat)
            yield trace
            wish = _wish(trace, wanted.GOAL, suite)
            for way in phrasings:
                if way == REWORDED:
                    yield reworded(trace, declared_for([suite]))
                    continue
                texts = dict.fromkeys(read.vectors, phrased(way, wish))
                other = _attack(worlds, name, aim, goal, read, texts, flat)
                yield msgspec.structs.replace(other, id=f"{other.id}/{way}", phrasing=way)


def _wish(trace: Trace, goal: str, suite: str) -> Wish:
    return Wish(goal, values_of(wanted_args(trace, declared_for([suite]))), trace.prompt, trace.id)


@cache
def _worlds(suite: str) -> tuple[Worlds, dict[str, Seen | None]]:
    worlds = Worlds(agentdojo().suites[suite])
    return worlds, {name: worlds.seen(task) for name, task in worlds.suite.user_tasks.items()}


def _attack(
    worlds: Worlds, name: str, aim: str, goal: Goal, read: Seen, texts: dict[str, str], flat: bool
) -> Trace:
    suite = worlds.suite.name
    task = worlds.suite.user_tasks[name]
    world = Frozen(task.init_environment(worlds.make(texts)))
    steps = Recorder(worlds.suite, world, flat).attacked(task, goal, read.after)
    return Trace(f"{suite}/{name}/{aim}", f"agentdojo {suite}", "attack", tuple(steps), suite, aim)


class Recorder:
    """Makes the calls of a task in a world and writes down what came of them."""

    def __init__(self, suite: Any, world: Frozen, flat: bool = False) -> None:
        self._package = agentdojo()
        self._runtime = self._package.runtime(suite.tools)
        self._before, self._world = world, world.fresh()
        self._flat = flat

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
        given = self._package.text(result) if self._flat else as_plain(result)
        return Call(call.function, args, given, side=side, essential=essential)

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


def as_plain(value: Any) -> Any:
    """What a tool of AgentDojo gives, as plain data."""
    match value:
        case Enum():
            return as_plain(value.value)
        case dict():
            return {str(key): as_plain(one) for key, one in value.items()}
        case list() | tuple() | set():
            return [as_plain(one) for one in value]
        case date() | time():
            return value.isoformat()
        case _ if hasattr(value, "model_dump"):
            return value.model_dump(mode="json")
        case _:
            return value


def _answer(task: Any) -> list[Step]:
    return [Reply(task.GROUND_TRUTH_OUTPUT, True)] if task.GROUND_TRUTH_OUTPUT else []
