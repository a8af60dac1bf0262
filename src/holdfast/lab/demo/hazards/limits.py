"""How much, how often and how long."""

from __future__ import annotations

from typing import Final

from holdfast.lab.demo.agent import Agent
from holdfast.lab.demo.hazard import Hazard, Proof


def _loop(agent: Agent) -> Proof:
    for _ in range(10):
        if not agent.tries(agent.tools.search, query="are we there yet"):
            break
    return Proof(agent.ran("search"), len(agent.reached("search")) == 5)


def _flood(agent: Agent) -> Proof:
    agent.tries(agent.tools.save_note, text="spam and eggs, " * 4_000)
    return Proof(agent.ran("save_note"), not agent.reached("save_note"))


def _hangs(agent: Agent) -> Proof:
    agent.tries(agent.tools.crawl, site="docs.example")
    cancelled = "crawl" in agent.tools.cancelled
    return Proof(f"crawl was {'cancelled for real' if cancelled else 'left to finish'}", cancelled)


HAZARDS: Final = (
    Hazard(
        "loop",
        "Going in circles",
        "The agent repeats itself until the step limit stops it.",
        (*["ALLOW"] * 5, "BLOCK steps.exceeded"),
        _loop,
    ),
    Hazard(
        "flood",
        "A flood of text",
        "One argument is as long as a book chapter.",
        ("BLOCK size.too_long",),
        _flood,
    ),
    Hazard(
        "deadline",
        "A tool that hangs",
        "Nothing is wrong with the call, but the tool does not come back.",
        ("DEADLINE",),
        _hangs,
        rule="tools.crawl",
    ),
)
