"""What fails, what comes too often, and what is too much at once."""

from __future__ import annotations

from typing import Final

from stanchion.demo.agent import Agent
from stanchion.demo.hazard import Hazard, Proof


def _stumble(agent: Agent) -> Proof:
    agent.tries(agent.tools.fetch, page="prices")
    return Proof(
        f'{agent.ran("fetch")}; the agent got "{agent.got}"', len(agent.reached("fetch")) == 2
    )


def _outage(agent: Agent) -> Proof:
    for _ in range(4):
        agent.tries(agent.tools.weather, city="Graz")
    asked = len(agent.reached("weather"))
    agent.acts("operator", "repairs the service; 20 seconds pass")
    agent.tools.up = True
    agent.lets_pass(20_000)
    while (
        agent.tries(agent.tools.weather, city="Graz") and len(agent.reached("weather")) < asked + 2
    ):
        pass
    return Proof(
        f'it was called {asked} times while it was down; in the end it was "{agent.got}"',
        asked == 3,
    )


def _circles(agent: Agent) -> Proof:
    while (
        agent.tries(agent.tools.look_up, word="frobnicate") and len(agent.reached("look_up")) < 10
    ):
        pass
    return Proof(agent.ran("look_up"), len(agent.reached("look_up")) == 2)


def _stubborn(agent: Agent) -> Proof:
    told, ran = 0, len(agent.reached("bash"))
    for command in SPELLED:
        agent.tries(agent.tools.bash, command=command)
        told += len(agent.run.notices())
    asked = [ticket.code for ticket in agent.shield.tickets()].count("loops.refused")
    ran = len(agent.reached("bash")) - ran
    words = (
        f"bash ran {ran} times; the agent was told {told} times, a person "
        f"{'once' if asked == 1 else 'not once'}"
    )
    return Proof(words, (ran, told, asked) == (0, 3, 1))


SPELLED: Final = (
    "rm -rf /",
    "rm -r -f /",
    "rm --recursive --force /",
    "sudo rm -rf //",
    "sh -c 'rm -Rf /'",
)
"""One command, in the words in which an agent tries it again."""


def _crowd(agent: Agent) -> Proof:
    child = agent.spawns("helper")
    ends = agent.starts(agent.tools.export, table="orders")
    child.tries(child.tools.export, table="customers")
    ends()
    child.acts(child.who, "does something else for a moment")
    child.lets_pass(5_000)
    child.tries(child.tools.export, table="customers")
    return Proof(
        "never more than one export at a time",
        [args["table"] for args in agent.reached("export")] == BOTH,
    )


BOTH: Final = ["orders", "customers"]

HAZARDS: Final = (
    Hazard(
        "stumble",
        "A connection that breaks",
        "Reading a page again does no harm, so it is tried again, within bounds.",
        ("RETRY recovery.recoverable",),
        _stumble,
    ),
    Hazard(
        "outage",
        "A service that is down",
        "After three failures it gets no calls; later one call at a time tries it.",
        (
            "FAILED",
            "FAILED health.low",
            "FAILED breaker.opened",
            "BLOCK breaker.open",
            *["ALLOW breaker.probe"] * 2,
        ),
        _outage,
    ),
    Hazard(
        "circles",
        "The same question, the same answer",
        "Asking a third time gives nothing new.",
        ("ALLOW", "ALLOW", "BLOCK loops.repeat"),
        _circles,
    ),
    Hazard(
        "stubborn",
        "The same refusal, again and again",
        "Other words change nothing: the agent is told, then a person, then it ends.",
        (*["BLOCK shell.destructive"] * 4, "HALT loops.refused"),
        _stubborn,
        rule="loops",
    ),
    Hazard(
        "crowd",
        "One at a time",
        "The database can take one export. The second waits in line, for a time.",
        ("ALLOW", "QUEUE queue.waits", "ALLOW"),
        _crowd,
    ),
)
