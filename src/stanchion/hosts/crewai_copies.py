"""Copies of CrewAI's crews and agents: each kickoff has one of its own, with what is in it."""

from __future__ import annotations

from copy import copy
from typing import Any, Final
from uuid import UUID, uuid4

from pydantic import BaseModel

MODELS: Final = ("llm", "function_calling_llm", "manager_llm", "planning_llm", "chat_llm")
PARTS: Final = ("agents", "tasks", "manager_agent", "agent", "context", "tools", "crew", *MODELS)
GUARDRAILS: Final = ("_guardrail", "_guardrails")
STATE: Final = ("tools_handler", "_token_process")
"""Where crews, agents and tasks have each other, their models and tools, and what they count."""


def copied(one: Any, known: dict[int, Any]) -> Any:
    """A crew, or a part of one, with parts and a state of its own."""
    if id(one) in known:
        return known[id(one)]
    if isinstance(one, list):
        return [copied(part, known) for part in one]
    if not isinstance(one, BaseModel) and not hasattr(one, "llm"):
        return one
    made = known[id(one)] = copy(one)
    for held in (made.__dict__, getattr(made, "__pydantic_private__", None) or {}):
        for name, value in held.items():
            if name in PARTS or name in GUARDRAILS:
                held[name] = copied(value, known)
            elif isinstance(value, list | dict | set) or name in STATE:
                held[name] = copy(value)
            elif name == "id" and isinstance(value, UUID):
                held[name] = uuid4()
    return made
