"""The attacks of AgentDojo that need no model and no person: the texts by which they ask for their
goal."""

from __future__ import annotations

from typing import Any

from stanchion_lab.agentdojo.package import MODEL, agentdojo


def attack_names() -> list[str]:
    """Every attack that is measured. Left out: the one that asks a person, and those that only want
    the agent to stop, which no guard of calls can prevent."""
    known = agentdojo().attacks
    return [name for name, kind in known.items() if name != "manual" and not kind.is_dos_attack]


class Attack:
    """One way of asking for an attacker's goal."""

    def __init__(self, name: str, suite: Any) -> None:
        self.name = name
        package = agentdojo()
        pipeline = type("Target", (package.pipeline,), {"name": MODEL, "query": None})
        self._made = package.attacks[name](suite, pipeline())

    def texts(self, task: Any, goal: Any, vectors: tuple[str, ...]) -> dict[str, str]:
        """What is written at each of those places."""
        # AgentDojo finds the places anew for every attack and task, by a slow way; they are known
        # already.
        self._made.get_injection_candidates = lambda _: list(vectors)
        return dict(self._made.attack(task, goal))
