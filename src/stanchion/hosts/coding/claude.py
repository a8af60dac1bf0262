"""Claude Code: its events, its tools and its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET

from stanchion.hosts.coding.agent import STATUS, CodingAgent, Heard, HookVerdict, HostAnswer, Says

SAYS: Final[Mapping[str, Says]] = {
    "SessionStart": "begins",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "call",
    "PermissionRequest": "asks",
    "PostToolUse": "result",
    "PostToolUseFailure": "failure",
    "SubagentStart": "child",
    "SubagentStop": "child_reply",
    "Stop": "reply",
    "SessionEnd": "ends",
    "PreCompact": "news",
    "ConfigChange": "news",
}

CONTENT: Final[Mapping[str, tuple[str, ...]]] = {
    "Bash": ("stdout", "stderr"),
    "Read": ("file.content",),
    "WebFetch": ("result",),
    "Grep": ("content",),
}
"""Where the results of tools have their content, whose form must stay as it is: a result of another
form the host does not put in the place of the first."""

TELLS: Final = frozenset(
    {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
     "SubagentStart"}
)  # fmt: skip
"""Events whose answer can have words for the agent."""


def answer(heard: Heard, verdict: HookVerdict) -> HostAnswer:
    """The answer to an event, on standard output alone: a status of 2 would hide what it says. It
    never allows a call, which would skip the host's own questions."""
    said: dict[str, Any] = {"continue": verdict.outcome != "end"}
    own: dict[str, Any] = {}
    if verdict.outcome == "end":
        said["stopReason"] = verdict.words
    if verdict.outcome != "go":
        said |= _refused(heard, verdict, own)
    elif verdict.changed is not UNSET:
        own |= _changed(heard, verdict.changed)
    if verdict.notices and heard.event in TELLS:
        own["additionalContext"] = "\n".join(verdict.notices)
    if own:
        said["hookSpecificOutput"] = {"hookEventName": heard.event, **own}
    return HostAnswer(msgspec.json.encode(said).decode())


def _refused(heard: Heard, verdict: HookVerdict, own: dict[str, Any]) -> dict[str, Any]:
    """The refusal of an event; what belongs to this event alone goes into `own`."""
    words = verdict.words
    match heard.says:
        case "call":
            own["permissionDecision"] = "ask" if verdict.outcome == "ask" else "deny"
            own["permissionDecisionReason"] = verdict.told
            return {}
        case "asks":
            own["decision"] = {"behavior": "deny", "message": words}
            return {}
        case "prompt":
            return {"decision": "block", "reason": verdict.told}
        case "result":
            held = withheld(heard.tool, as_said(heard.fields.get("result")), words)
            if held is UNSET:
                return {"continue": False, "stopReason": words}
            own["updatedToolOutput"] = held
            return {"decision": "block", "reason": words}
        case "failure":
            own["additionalContext"] = words
            return {}
        case "reply" | "child_reply" if not heard.again:
            return {"decision": "block", "reason": words}
        case _:
            return {"systemMessage": words}


def _changed(heard: Heard, content: Any) -> dict[str, Any]:
    return (
        {"updatedInput": content}
        if heard.says == "call"
        else {"updatedToolOutput": as_said(content)}
    )


def as_said(result: Any) -> Any:
    """A result in the form that the host has, without what it does not say itself."""
    if not isinstance(result, dict):
        return result
    return {name: one for name, one in result.items() if name != STATUS}


def withheld(tool: str, result: Any, words: str) -> Any:
    """A result of the same form that has the words in the place of its content; `UNSET` where
    nobody knows where that is: then the turn has to end, or the agent reads it."""
    match result:
        case str():
            return words
        case [{"type": str()}, *_]:
            return [{"type": "text", "text": words}]
        case {"content": [{"type": str()}, *_]}:
            return {"content": [{"type": "text", "text": words}]}
        case _:
            pass
    held: Any = UNSET
    for at in CONTENT.get(tool, ()):
        put = _put(result if held is UNSET else held, at.split("."), words)
        if put is not None:
            held, words = put, ""
    return held


def _put(value: Any, way: list[str], words: str) -> Any:
    """A copy with the words at the end of the way; `None` where no text is there."""
    if not way:
        return words if isinstance(value, str) else None
    inner = _put(value.get(way[0]), way[1:], words) if isinstance(value, dict) else None
    return None if inner is None else {**value, way[0]: inner}


CLAUDE: Final = CodingAgent(
    "claude",
    SAYS,
    answer,
    asking_modes=frozenset({"default", "acceptEdits", "plan"}),
    relays=True,
    later_prompts=frozenset({"CronCreate", "ScheduleWakeup", "SendMessage", "Workflow"}),
    shells=frozenset({"Bash", "PowerShell"}),
    stdin="socket",
    programs=("claude",),
    marks=("CLAUDECODE", "CLAUDE_PID"),
)  # fmt: skip
