"""How much, how often and how long."""

from __future__ import annotations

from typing import Final

from stanchion.demo.agent import Agent
from stanchion.demo.hazard import Hazard, Proof


def _loop(agent: Agent) -> Proof:
    for _ in range(10):
        if not agent.tries(agent.tools.search, query="are we there yet"):
            break
    return Proof(agent.ran("search"), len(agent.reached("search")) == 5)


def _bill(agent: Agent) -> Proof:
    replies = [agent.got for _ in range(3) if agent.asks("What is left to do?", tokens=2_000)]
    return Proof(
        f"the model was asked {len(replies)} times", len(replies) == 2 and agent.got is None
    )


def _flood(agent: Agent) -> Proof:
    agent.tries(agent.tools.save_note, text="spam and eggs, " * 4_000)
    return Proof(agent.ran("save_note"), not agent.reached("save_note"))


def _hangs(agent: Agent) -> Proof:
    agent.tries(agent.tools.crawl, site="docs.example")
    cancelled = "crawl" in agent.tools.cancelled
    return Proof(f"crawl was {'cancelled for real' if cancelled else 'left to finish'}", cancelled)


def _dawdles(agent: Agent) -> Proof:
    agent.tries(agent.tools.search, query="a first look")
    agent.acts("user", "waits two minutes for an answer")
    agent.lets_pass(120_000)
    agent.tries(agent.tools.search, query="a last look")
    ran = sum(args["query"] == "a last look" for args in agent.reached("search"))
    return Proof(f"the search after two minutes {'ran' if ran else 'never ran'}", not ran)


HAZARDS: Final = (
    Hazard(
        "loop",
        "Going in circles",
        "The agent repeats itself until the step limit stops it.",
        (*["ALLOW"] * 5, "BLOCK steps.exceeded"),
        _loop,
    ),
    Hazard(
        "bill",
        "A bill that grows",
        "Each request may take 2,000 tokens, and the budget is 5,000.",
        ("ALLOW", "ALLOW", "BLOCK budget.exceeded"),
        _bill,
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
    Hazard(
        "dawdle",
        "Just one more look",
        "The agent has a minute for its work, and comes back later for one more look.",
        ("ALLOW", "BLOCK time.exceeded"),
        _dawdles,
    ),
)
