"""Which tools an agent may use."""

from __future__ import annotations

from typing import Final

from stanchion.demo.agent import Agent
from stanchion.demo.hazard import Hazard, Proof
from stanchion.demo.tools import NOTES


def _honest(agent: Agent) -> Proof:
    agent.tries(agent.tools.read_notes, page=1)
    return Proof(f'the agent got what the tool gave: "{agent.got}"', agent.got is NOTES)


def _not_its_own(agent: Agent) -> Proof:
    agent.tries(agent.tools.read_payroll, month="May")
    return Proof(agent.ran("read_payroll"), not agent.reached("read_payroll"))


def _denied(agent: Agent) -> Proof:
    agent.tries(agent.tools.drop_table, name="customers")
    return Proof(agent.ran("drop_table"), not agent.reached("drop_table"))


HAZARDS: Final = (
    Hazard(
        "honest",
        "An honest call",
        "A guard must not be in the way either: safe calls are untouched.",
        ("ALLOW",),
        _honest,
    ),
    Hazard(
        "allowlist",
        "A tool that is not its own",
        "The agent has a list of tools. Payroll is not on it.",
        ("BLOCK tool.not_allowed",),
        _not_its_own,
        rule="agents.scout",
    ),
    Hazard(
        "denylist",
        "A tool that nobody may use",
        "The agent's list has drop_table, but the denylist wins.",
        ("BLOCK tool.denied",),
        _denied,
    ),
)
