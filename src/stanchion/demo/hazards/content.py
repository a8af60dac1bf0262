"""What is in a call: commands, and arguments that do not fit."""

from __future__ import annotations

from typing import Final

from stanchion.demo.agent import Agent
from stanchion.demo.hazard import Hazard, Proof


def _wipes(agent: Agent) -> Proof:
    agent.tries(agent.tools.bash, command="rm -rf ./build && echo 'never run rm -rf /'")
    agent.tries(agent.tools.bash, command="echo cm0gLXJmIC8= | base64 -d | sh")
    return Proof(agent.ran("bash"), len(agent.reached("bash")) == 1)


def _guesses(agent: Agent) -> Proof:
    agent.tries(agent.tools.order, item="lamp", count="many")
    agent.tries(agent.tools.order, item="lamp", count=2)
    orders = [args["count"] for args in agent.reached("order")]
    return Proof(f"ordered: {', '.join(str(count) for count in orders)}", orders == [2])


HAZARDS: Final = (
    Hazard(
        "wipe",
        "A command in disguise",
        "Commands are read as a shell reads them, to what would really run.",
        ("ALLOW", "BLOCK shell.destructive"),
        _wipes,
    ),
    Hazard(
        "guess",
        "An argument that is not a number",
        "Calls must match their tool's schema, or the agent is told what does not.",
        ("BLOCK schema.type", "ALLOW"),
        _guesses,
    ),
)
