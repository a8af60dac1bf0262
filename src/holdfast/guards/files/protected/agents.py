"""What watches an agent: Holdfast's own files, and what other programs run on an agent's behalf."""

from __future__ import annotations

from typing import Final

from holdfast.guards.files.protected.rule import CHANGES, Protected, Shown

RULES: Final = (
    Protected("a policy of Holdfast", ("holdfast.yaml", "holdfast.yml", "**/.holdfast/**"), CHANGES),
    Protected(
        "a record or the state of Holdfast",
        ("**/holdfast/trail/**", "**/holdfast/state.db*", "**/holdfast/audit.key", "**/.holdfast/trail/**"),
    ),
    Protected("a hook", ("**/.git/hooks/**", "**/.git/config", "**/.git/info/attributes"), CHANGES),
    Protected(
        "a setting of an agent's host",
        ("**/.claude/settings*.json", "**/.claude/hooks/**", "**/.codex/config.toml", "**/.cursor/mcp.json"),
        CHANGES,
    ),
)

HITS: Final[Shown] = (
    ("holdfast.yaml", "write"),
    (".holdfast/policy.yaml", "delete"),
    ("~/.local/state/holdfast/trail/5f1d/00000001.jsonl", "write"),
    ("~/.local/state/holdfast/state.db-wal", "delete"),
    ("/srv/holdfast/state.db", "read"),
    (".git/hooks/pre-commit", "write"),
    ("app/.git/config", "write"),
    (".claude/settings.local.json", "write"),
)
MISSES: Final[Shown] = (
    ("holdfast.yaml", "read"),
    (".git/config", "read"),
    (".gitignore", "write"),
    ("hooks/pre-commit", "write"),
    ("src/holdfast/trail.py", "write"),
    (".github/workflows/ci.yml", "write"),
    (".claude/commands/review.md", "write"),
)
