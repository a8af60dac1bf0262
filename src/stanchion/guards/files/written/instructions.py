"""Instructions for agents: files that every later agent reads and follows."""

from __future__ import annotations

import re
from typing import Final

from stanchion.kernel.regex import regex

_FOR_AGENTS: Final = regex(
    r"(?:\A|/)(?:agents?|claude|gemini|codex|copilot|cursor|windsurf|cline|roo|aider|skill|"
    r"conventions|warp|llms)(?:[-_.]\w+)*"
    r"\.(?:md|mdc|txt)\Z|(?:\A|/)\.(?:\w+rules|goosehints)\Z|(?:\A|/)\.(?:cursor|claude|codex|"
    r"gemini|windsurf|roo|kiro|cline|clinerules"
    r"|continue|junie|amazonq|augment|github/(?:instructions|prompts|agents|chatmodes))/.*\.(?:md|"
    r"mdc|txt)\Z"
)
_CONCEALS: Final = regex(
    r"\b(?:do not|don['\u2019]?t|never|without|avoid|no need to)\s+(?:ever\s+)?(?:"
    r"(?:mention|report|reveal|disclos|tell|log|show|say|explain)(?:e|ing)?\s+"
    r"(?:it|this|that|these|them|about (?:it|this|that))\b"
    r"|(?:mention|reveal|disclos|report|show)(?:e|ing)?\s+[^.\n]{0,30}\bto\s+(?:the\s+)?(?:user|"
    r"human|person|people|developer|reviewer|owner|anyone|anybody)"
    r"|(?:tell|inform|notify|alert|warn)(?:ing)?\s+(?:the\s+)?(?:user|human|person|people|"
    r"developer|reviewer|owner|anyone|anybody)s?"
    r"(?:\s+(?:about|of|that)\b|\s*[.,;)\n]|\s*\Z))"
    r"|\bcontinue silently\b|\bsilently (?:run|send|upload|post|add|install|include|copy|fetch|"
    r"download|execute)"
    r"|\bkeep (?:this|it|that) (?:secret|hidden|quiet|between us)|\bhide (?:this|it|that) from\b",
    re.IGNORECASE,
)
"""Words that ask an agent to keep from people what it does."""
_DOES: Final = regex(r"https?://|`[^`\n]{6,}`|```|(?:curl|wget|npm|pip|git|ssh|scp)\s")
_SPAN: Final = regex(r"```\w*\n(.*?)```|`([^`\n]{6,})`", re.DOTALL)
MOST: Final = 50


def is_for_agents(path: str) -> bool:
    """Whether later agents follow what is in a file; the path is in small letters, with slashes."""
    return _FOR_AGENTS.search(path) is not None


def conceals(text: str) -> bool:
    """Whether a text asks an agent to do something and to keep it from people."""
    return _CONCEALS.search(text) is not None and _DOES.search(text) is not None


def commands(text: str) -> str:
    """The commands that a text of instructions tells to run, one below the other."""
    spans = [found[1] or found[2] for found in list(_SPAN.finditer(text))[:MOST]]
    return "\n".join(spans)
