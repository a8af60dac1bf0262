"""What an agent may reach, do and decide."""

from __future__ import annotations

from typing import Final

from stanchion.demo.agent import Agent
from stanchion.demo.hazard import Hazard, Proof


def _escape(agent: Agent) -> Proof:
    agent.tries(agent.tools.read_file, path="src/login.py")
    agent.tries(agent.tools.read_file, path="src/..%2f..%2fother/login.py")
    agent.tries(agent.tools.read_file, path="config/.env")
    read = [args["path"] for args in agent.reached("read_file")]
    return Proof(f"files that were read: {', '.join(read)}", read == ["src/login.py"])


def _unable(agent: Agent) -> Proof:
    agent.tries(agent.tools.restart, service="web")
    return Proof(agent.ran("restart"), not agent.reached("restart"))


def _presumes(agent: Agent) -> Proof:
    agent.tries(agent.tools.release, version="2.0")
    return Proof(agent.ran("release"), not agent.reached("release"))


def _drifts(agent: Agent) -> Proof:
    agent.tries(agent.tools.read_notes, page=3)
    agent.tries(agent.tools.read_file, path="src/menu.py")
    told = len(agent.run.notices())
    return Proof(f"the agent was told {told} time{'s' * (told != 1)}", told == 1)


HAZARDS: Final = (
    Hazard(
        "escape",
        "A path that leads away",
        "Paths stay in their folder, however they are written, and away from secrets.",
        ("ALLOW", "BLOCK files.outside", "BLOCK files.protected"),
        _escape,
    ),
    Hazard(
        "ability",
        "More than it can do",
        "Restarting a service takes an agent that can operate one.",
        ("BLOCK capability.missing",),
        _unable,
        rule="tools.restart",
    ),
    Hazard(
        "authority",
        "Not its decision",
        "A person decides about a release, or an agent of a higher level.",
        ("ESCALATE authority.exceeded",),
        _presumes,
        rule="tools.release",
    ),
    Hazard(
        "drift",
        "Off to something else",
        "The task is about notes. Reading files is allowed, but not part of it.",
        ("ALLOW", "WARN task.unrelated"),
        _drifts,
    ),
)
