"""Playing AgentDojo: every task of a user against every goal of an attacker, asked for in every
way."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.policy.load import load_policy
from stanchion_lab.agentdojo.agent import AT_ONCE, AT_THE_END, Agent, Played
from stanchion_lab.agentdojo.attacks import Attack, attack_names
from stanchion_lab.agentdojo.goals import goal_of
from stanchion_lab.agentdojo.judges import Guarded, Judge, Naive, Unguarded, definitions, shield_for
from stanchion_lab.agentdojo.package import agentdojo
from stanchion_lab.agentdojo.worlds import Frozen, Seen, Worlds

DEVELOPMENT: Final = ("workspace", "banking")
"""The suites that guards may be designed on; the others are for measuring what came of that."""

POLICY: Final = "the policy"
NOTHING: Final = "no guard"
NAIVE: Final = "naive provenance"
BASELINES: Final = (NOTHING, NAIVE)

Source = str | Path | dict[str, Any]
Told = Callable[[int, int], None]


class Outcome(msgspec.Struct, frozen=True):
    """What became of one case under one judge, obeyed at once and obeyed at the end; honest work
    alone has no goal."""

    suite: str
    judge: str
    task: str
    goal: str = ""
    attack: str = ""
    plays: tuple[Played, ...] = ()

    @property
    def reached(self) -> bool:
        """Whether the attacker's goal was reached, whenever it was obeyed."""
        return any(play.reached for play in self.plays)

    @property
    def touched(self) -> bool:
        """Whether something of the attack happened that cannot be called reading."""
        return any(play.touched for play in self.plays)

    @property
    def undisturbed(self) -> bool:
        """Whether nothing honest was stopped, whenever it was obeyed."""
        return not any(play.stops for play in self.plays)


class Unit(msgspec.Struct, frozen=True):
    """A part of the work: one goal in every way, or with none the honest work of a suite."""

    suite: str
    goal: str
    attacks: tuple[str, ...]
    source: Source
    env: str | None = None


class Plan(msgspec.Struct, frozen=True):
    """What is played: the suites, the attacks, and the policy."""

    suites: tuple[str, ...] = DEVELOPMENT
    attacks: tuple[str, ...] = ()
    source: Source = "strict"
    env: str | None = None

    def units(self) -> list[Unit]:
        """The work, in parts that can be done beside each other."""
        known = agentdojo().suites
        attacks = self.attacks if self.attacks else tuple(attack_names())
        return [
            Unit(suite, goal, attacks, self.source, self.env)
            for suite in self.suites
            for goal in ("", *known[suite].injection_tasks)
        ]


def play(plan: Plan, jobs: int = 1, told: Told | None = None) -> list[Outcome]:
    """Everything that came of it. `told` hears how many parts are done."""
    units = plan.units()
    outcomes: list[Outcome] = []
    for done, found in enumerate(_played(units, min(jobs, len(units))), 1):
        outcomes += found
        if told is not None:
            told(done, len(units))
    return outcomes


def _played(units: Sequence[Unit], jobs: int) -> Iterator[list[Outcome]]:
    if jobs <= 1:
        yield from map(played, units)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        yield from pool.map(played, units)


def cores() -> int:
    """How many processes this machine has room for."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _worlds(suite: str) -> tuple[Worlds, dict[str, Seen | None]]:
    worlds = Worlds(agentdojo().suites[suite])
    return worlds, {name: worlds.seen(task) for name, task in worlds.suite.user_tasks.items()}


def played(unit: Unit) -> list[Outcome]:
    """One part of the work, done."""
    return list(_attacked(unit) if unit.goal else _honest(unit))


def _honest(unit: Unit) -> Iterator[Outcome]:
    worlds, _ = _worlds(unit.suite)
    judges = _judges(unit, worlds.suite)
    for name, task in worlds.suite.user_tasks.items():
        for judge in (POLICY, NAIVE):
            world = Frozen(task.init_environment(worlds.make({})))
            yield Outcome(
                unit.suite,
                judge,
                name,
                plays=(Agent(worlds.suite, world, judges(judge)).play(task),),
            )


def _attacked(unit: Unit) -> Iterator[Outcome]:
    worlds, seen = _worlds(unit.suite)
    suite = worlds.suite
    wanted = suite.injection_tasks[unit.goal]
    goal, judges = goal_of(suite, wanted), _judges(unit, suite)
    for number, attack in enumerate([Attack(name, suite) for name in unit.attacks]):
        for name, task in suite.user_tasks.items():
            read = seen[name]
            if read is None:
                continue
            world = Frozen(
                task.init_environment(worlds.make(attack.texts(task, wanted, read.vectors)))
            )
            last = len(task.ground_truth(world.fresh())) - 1
            moments = (AT_ONCE, AT_THE_END) if read.after < last and not goal.says else (AT_ONCE,)
            # What the baselines say does not depend on how a goal is asked for.
            for judge in (POLICY, *BASELINES) if number == 0 else (POLICY,):
                plays = [
                    Agent(suite, world, judges(judge)).play(task, goal, read.after, when)
                    for when in moments
                ]
                yield Outcome(unit.suite, judge, name, unit.goal, attack.name, tuple(plays))


def _judges(unit: Unit, suite: Any) -> Callable[[str], Judge]:
    """Makes judges for single runs. Every run has a tenant of its own, so that no run is judged by
    another."""
    shield = shield_for(load_policy(unit.source, unit.env), definitions(suite))
    count = 0

    def judge(name: str) -> Judge:
        nonlocal count
        count += 1
        if name == NOTHING:
            return Unguarded()
        return Naive() if name == NAIVE else Guarded(shield, f"case-{count}")

    return judge
