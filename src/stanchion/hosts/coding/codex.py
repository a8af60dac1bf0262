"""Codex: its events, its tools and its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET

from stanchion.hosts.coding.agent import CodingAgent, Heard, HostAnswer, Says, Verdict

SAYS: Final[Mapping[str, Says]] = {
    "SessionStart": "begins",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "call",
    "PermissionRequest": "asks",
    "PostToolUse": "result",
    "SubagentStart": "child",
    "SubagentStop": "child_reply",
    "Stop": "reply",
    "SessionEnd": "ends",
    "PreCompact": "news",
}

TELLS: Final = frozenset(
    {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"}
)
"""Events whose answer can have words for the agent."""


def answer(heard: Heard, verdict: Verdict) -> HostAnswer:
    """The answer to an event. It is refused on standard output, by the status and on standard
    error: whichever of them the host hears."""
    own: dict[str, Any] = {}
    if verdict.outcome == "go" and not (heard.says == "result" and verdict.changed is not UNSET):
        if verdict.changed is not UNSET:
            own = {"permissionDecision": "allow", "updatedInput": verdict.changed}
        if verdict.notices and heard.event in TELLS:
            own["additionalContext"] = "\n".join(verdict.notices)
        return HostAnswer(_json({}, heard, own))
    words = verdict.told
    if verdict.outcome == "go":
        words = _text_of(verdict.changed)
    words = words if words.strip() else "refused"
    match heard.says:
        case "call":
            own = {"permissionDecision": "deny", "permissionDecisionReason": words}
            return HostAnswer(_json({}, heard, own), words, 2)
        case "asks":
            own = {"decision": {"behavior": "deny", "message": words}}
            return HostAnswer(_json({}, heard, own), words, 2)
        case "prompt" | "result":
            return HostAnswer(_json({"decision": "block", "reason": words}, heard, own), words, 2)
        case "reply" | "child_reply" if not heard.again and verdict.outcome != "end":
            return HostAnswer(_json({"decision": "block", "reason": words}, heard, own), words, 2)
        case _ if verdict.outcome == "end":
            return HostAnswer(_json({"continue": False, "stopReason": words}, heard, own))
        case _:
            return HostAnswer(_json({"systemMessage": words}, heard, own))


def _json(said: dict[str, Any], heard: Heard, own: dict[str, Any]) -> str:
    if own:
        said = {**said, "hookSpecificOutput": {"hookEventName": heard.event, **own}}
    return msgspec.json.encode(said).decode()


def _text_of(content: Any) -> str:
    """Content as the agent reads it in the place of a result, which this host cannot change."""
    return content if isinstance(content, str) else msgspec.json.encode(content).decode()


CODEX: Final = CodingAgent(
    "codex",
    SAYS,
    answer,
    renamed={"apply_patch": {"command": "patch", "input": "patch"}},
    shells=frozenset({"Bash"}),
)
