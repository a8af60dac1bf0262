"""Claude Code: its events, its tools and its words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET

from stanchion.hosts.coding.agent import (
    EVENTS,
    STATUS,
    CodingAgent,
    Heard,
    HookVerdict,
    HostAnswer,
    in_json,
    refused,
)

CONTENT: Final[Mapping[str, tuple[str, ...]]] = {
    "Bash": ("stdout", "stderr"),
    "Read": ("file.content",),
    "WebFetch": ("result",),
    "Grep": ("content",),
}
"""Where the results of tools have their content, whose form must stay as it is: a result of another
form the host does not put in the place of the first."""


def answer(heard: Heard, verdict: HookVerdict) -> HostAnswer:
    """The answer to an event, on standard output alone: a status of 2 would hide what it says. It
    never allows a call, which would skip the host's own questions."""
    said: dict[str, Any] = {"continue": verdict.outcome != "end"}
    own: dict[str, Any] = {}
    if verdict.outcome == "end":
        said["stopReason"] = verdict.words
    if verdict.outcome == "go":
        if verdict.changed is not UNSET:
            if heard.says == "call":
                own["updatedInput"] = verdict.changed
            else:
                own["updatedToolOutput"] = as_said(verdict.changed)
    elif heard.says == "result" and (held := _held(heard, verdict)) is UNSET:
        said = {"continue": False, "stopReason": verdict.words}
    else:
        more, own = refused(heard, verdict.told, verdict.outcome == "ask")
        said |= more
        if heard.says == "result":
            own["updatedToolOutput"] = held
    return HostAnswer(in_json(heard, said, own, verdict.notices))


def as_said(result: Any) -> Any:
    """A result in the form that the host has, without what it does not say itself."""
    if not isinstance(result, dict):
        return result
    return {name: one for name, one in result.items() if name != STATUS}


def _held(heard: Heard, verdict: HookVerdict) -> Any:
    return withheld(heard.tool, as_said(heard.fields.get("result")), verdict.words)


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
    EVENTS,
    answer,
    asking_modes=frozenset({"default", "acceptEdits", "plan"}),
    relays=True,
    later_prompts=frozenset({"CronCreate", "ScheduleWakeup", "SendMessage", "Workflow"}),
    shells=frozenset({"Bash", "PowerShell"}),
    stdin="socket",
    programs=("claude",),
    marks=("CLAUDECODE", "CLAUDE_PID"),
)  # fmt: skip
