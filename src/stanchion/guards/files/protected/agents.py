"""What watches an agent: Stanchion's own files, and what other programs run on an agent's
behalf."""

from __future__ import annotations

from typing import Final

from stanchion.guards._own import POLICY, STATE
from stanchion.guards._protected import Held, Shown, Use
from stanchion.guards.files.protected.names import ending, words_of
from stanchion.guards.files.protected.seat import Seat
from stanchion.readings.word_lists import listed

RULES: Final = (POLICY, STATE)

AGENTS: Final = listed(
    """
    claude codex cursor gemini continue windsurf roo roocode cline aider openhands kiro zed junie
    goose opencode amazonq copilot augment trae qodo tabnine cody codeium crush amp
    """
)
"""Agents and their hosts, by the folder or file that has their name behind a dot."""
RULING: Final = listed(
    """
    settings config configuration hooks hook permissions mcp servers conf allow trust policy
    policies
    """
)
"""Words of what says to a host what its agent may do and what it runs."""
RECORDS: Final = listed(
    "transcript transcripts session sessions history rollout rollouts conversation conversations "
    "log logs"
)
"""Words of what tells afterwards what an agent did."""
HELD: Final = Held("a setting of an agent's host", asks=True)
RECORD: Final = Held("the record of what an agent did", asks=True)


def held(seat: Seat, use: Use) -> Held | None:
    """What says to an agent's host what the agent may do; its notes and commands are work like any
    other."""
    if use == "read" or not seat.all:
        return None
    name = seat.all[-1]
    if (
        "mcp" in words_of(name) and ending(name) in ("json", "toml", "yaml", "yml")
    ) or name == "claude_desktop_config.json":
        return HELD
    at = next(
        (
            at
            for at, part in enumerate(seat.all)
            if part[:1] == "." and not AGENTS.isdisjoint(words_of(part)[:1])
        ),
        -1,
    )
    if at < 0:
        return None
    words = {word for part in seat.all[at:] for word in words_of(part)}
    if seat.sure and seat.is_home and (ending(name) == "jsonl" or not RECORDS.isdisjoint(words)):
        return RECORD
    return (
        HELD if not RULING.isdisjoint(words) and ending(name) not in ("md", "mdc", "txt") else None
    )


HITS: Final[Shown] = (
    ("stanchion.yaml", "write"),
    (".stanchion/policy.yaml", "delete"),
    ("~/.local/state/stanchion/trail/5f1d/00000001.jsonl", "write"),
    ("~/.local/state/stanchion/state.db-wal", "delete"),
    ("/srv/stanchion/state.db", "read"),
    ("~/.local/state/stanchion/projects/shop-1f0c9a2b/state.db", "write"),
    ("~/.local/state/stanchion/projects/shop-1f0c9a2b/trail/5f1d/00000001.jsonl", "delete"),
    ("~/.local/state/stanchion/shared/epochs/1f0c9a2b1f0c9a2b.json", "write"),
    ("~/.config/stanchion/keys/ann.pem", "read"),
    ("/home/ann/.local/state/stanchion/projects/shop-5f1d/state.db-wal", "read"),
    ("~/.local/state/stanchion/sealed/patterns/0af3", "write"),
    ("~/.cache/stanchion/patterns/0af3", "write"),
    ("~/.config/stanchion/trusted.json", "write"),
    ("/var/lib/stanchion/epochs/1", "delete"),
    (".venv/lib/python3.11/site-packages/stanchion/__init__.py", "write"),
    (".claude/settings.local.json", "write"),
    (".gemini/settings.json", "write"),
    ("~/.codex/config.toml", "write"),
    (".claude/hooks/guard.sh", "delete"),
    (".vscode/mcp.json", "write"),
    (".kiro/settings/permissions.yaml", "write"),
    (".aider.conf.yml", "write"),
    ("~/.claude/projects/-home-ada-shop/5f1d.jsonl", "write"),
    ("/home/ada/.codex/sessions/2026/01/02/rollout-5f1d.jsonl", "delete"),
    ("~/.gemini/history/shop", "delete"),
    ("~/.config/goose/sessions/20260102_1.jsonl", "write"),
    ("/Users/ada/.continue/logs/core.log", "write"),
)
MISSES: Final[Shown] = (
    ("stanchion.yaml", "read"),
    ("src/stanchion/trail.py", "write"),
    ("stanchion/README.md", "write"),
    (".venv/lib/python3.11/site-packages/stanchion/__init__.py", "read"),
    ("src/stanchion/keys/__init__.py", "read"),
    ("~/.config/git/config", "read"),
    (".github/workflows/ci.yml", "write"),
    (".claude/commands/review.md", "write"),
    (".cursor/rules/react.mdc", "write"),
    (".claude/settings.json", "read"),
    ("src/cursor/settings.json", "write"),
    (".github/copilot-instructions.md", "write"),
    ("~/.claude/projects/-home-ada-shop/memory/notes.md", "write"),
    ("~/.claude/projects/-home-ada-shop/5f1d.jsonl", "read"),
    (".claude/logs/run.log", "delete"),
)
