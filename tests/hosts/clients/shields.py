"""Shields for the tests of clients, and what they have counted."""

from __future__ import annotations

from typing import Any

from stanchion import Shield

KEY = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
GONE = "[redacted:github-pat]"
HELLO: list[Any] = [{"role": "user", "content": "hello"}]
LEAKS = ["It is ", KEY[:20], KEY[20:], ", keep it safe."]
"""A text with a secret, in pieces none of which has it."""
MEMORY: dict[str, Any] = {"store": "memory:", "journal": "memory:"}
SAFE = f"It is {GONE}, keep it safe."


def redacting(*guards: dict[str, Any], **more: Any) -> Shield:
    """A shield that keeps secrets to itself."""
    return Shield.load(
        {"name": "redacts", "guards": [{"use": "secrets"}, *guards], **more}, **MEMORY
    )


def refusing(*guards: dict[str, Any]) -> Shield:
    """A shield that refuses whatever has a secret."""
    return Shield.load(
        {"name": "refuses", "guards": [{"use": "secrets", "action": "block"}, *guards]}, **MEMORY
    )


def budgeted(**limits: Any) -> Shield:
    """A shield that counts."""
    budget = {"use": "budget", "per": "task", **limits}
    return Shield.load({"name": "counts", "guards": [budget]}, **MEMORY)


def counted(shield: Shield, measure: str) -> int:
    """What the budgets of a shield have counted of a measure."""
    return sum([one.number for one in shield.store.look() if f":{measure}:" in one.key])


def stages(shield: Shield) -> list[str]:
    """The stages of what a shield has decided."""
    return [str(one.read().stage) for one in shield.journal.kept()]
