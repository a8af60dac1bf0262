"""What watches an agent: the settings of its host, what is run for it, and what it follows."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from stanchion.guards._protected import FileProtection, Use
from stanchion.guards.files.protected.seat import WORDS, PathSeat, ending, words_in, words_of
from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import listed

_SETTING: Final = FileProtection("a setting of an agent's host", asks=True)
_INSTRUCTS: Final = FileProtection("agents follow what it says", asks=True, tells=True)

_HOSTS: Final = regex(
    r"(?s)(?=.*(?<![a-z])mcp(?![a-z])).+\.(?:json|toml|ya?ml)\Z|claude_desktop_config\.json\Z"
)
"""Files that tell a host which servers an agent has."""


_ALIVE: Final = regex(
    r"opencode\.jsonc?\Z|\.?crush\.json\Z|gemini-extension\.json\Z|.+\.kiro\.hook\Z"
)
"""Other settings of hosts that lie openly in a project."""
SHARED_WITH: Final = {
    (".github", "hooks"): _SETTING, (".github", "copilot"): _SETTING,
    ("documents", "cline"): _SETTING, (".github", "agents"): _INSTRUCTS,
    (".github", "instructions"): _INSTRUCTS, (".github", "chatmodes"): _INSTRUCTS,
    (".github", "skills"): _INSTRUCTS, (".vscode", "settings.json"): _INSTRUCTS,
}  # fmt: skip
"""What agents follow in folders that are not theirs alone."""
TEXTS: Final = listed("md mdc txt")
DOCUMENTS: Final = listed("docs doc website")
"""Folders whose files people read: `docs/agents.md` is about agents."""


def agents(seat: PathSeat, use: Use) -> FileProtection | None:
    """What says to an agent's host what the agent may do, and what is run for it: asked about. What
    an agent reads at every start is told; its notes and its work are files like any other."""
    if use == "read" or not seat.all:
        return None
    name = seat.all[-1]
    if _HOSTS.match(name) is not None or _ALIVE.match(name) is not None:
        return _SETTING
    instructs = None if seat.is_sample or not DOCUMENTS.isdisjoint(seat.all) else _INSTRUCTS
    if name in WORDS["instructions"] or ending(name) == "code-workspace":
        return instructs
    at = max([at for at, part in enumerate(seat.all) if _is_of_agent(part)], default=-1)
    if at < 0:
        shared = [SHARED_WITH.get(pair) for pair in pairwise(seat.all)]
        return next((one for one in shared if one is not None), None)
    inner = words_in(seat.all[at + 1 :]).union(words_of(seat.all[at])[1:])
    recorded = ending(name) == "jsonl" or not WORDS["records of agents"].isdisjoint(inner)
    if seat.sure and seat.is_home and recorded:
        return FileProtection("the record of what an agent did", asks=True)
    if not WORDS["checkouts"].isdisjoint(inner):
        return None
    rules = not WORDS["ruling"].isdisjoint(inner)
    folder = "." not in name and not rules
    if name in WORDS["spoken by a host"]:
        return _SETTING
    if ending(name) in TEXTS or (folder and not WORDS["instructing"].isdisjoint(inner)):
        kept = seat.all[at] in WORDS["instructions"] or not WORDS["instructing"].isdisjoint(inner)
        return instructs if kept else None
    works = not rules and not WORDS["work of agents"].isdisjoint(inner)
    return None if works else _SETTING


def _is_of_agent(part: str) -> bool:
    """Whether a folder or a file has the name of an agent or its host behind a dot."""
    return part[:1] == "." and not WORDS["agents"].isdisjoint(words_of(part)[:1])
