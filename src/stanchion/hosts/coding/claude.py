"""Claude Code: its events, its tools and its words."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.hosts.coding.agent import CodingAgent, HostAnswer

NEVER_BLOCKED: Final = frozenset({"Stop", "SubagentStop", "SessionStart", "SessionEnd"})
"""Events where a `block` would make the agent go on, or is not heard."""


def refuse(event: str, words: str) -> HostAnswer:
    """The refusal of an event, by standard output alone: a status of 2 would hide what it says."""
    said: dict[str, Any]
    match event:
        case "PreToolUse" | "":
            said = {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": words,
                }
            }
        case "PermissionRequest":
            denied = {"behavior": "deny", "message": words}
            said = {"hookSpecificOutput": {"hookEventName": event, "decision": denied}}
        case _ if event in NEVER_BLOCKED:
            said = {"systemMessage": words}
        case _:
            said = {"decision": "block", "reason": words}
    return HostAnswer(msgspec.json.encode(said).decode())


CLAUDE: Final = CodingAgent("claude", refuse)
