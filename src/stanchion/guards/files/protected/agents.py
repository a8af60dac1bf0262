"""What watches an agent: Stanchion's own files, and what other programs run on an agent's behalf."""

from __future__ import annotations

from typing import Final

from stanchion.guards.files.protected.rule import CHANGES, Protected, Shown

RULES: Final = (
    Protected("a policy of Stanchion", ("stanchion.yaml", "stanchion.yml", "**/.stanchion/**"), CHANGES),
    Protected(
        "a record or the state of Stanchion",
        (
            "**/stanchion/trail/**",
            "**/stanchion/state.db*",
            "**/stanchion/epochs/**",
            "**/stanchion/projects/*/**",
            "**/stanchion/shared/**",
            "**/stanchion/audit.key",
            "**/.stanchion/trail/**",
        ),
    ),
    Protected("a hook", ("**/.git/hooks/**", "**/.git/config", "**/.git/info/attributes"), CHANGES),
    Protected(
        "a setting of an agent's host",
        ("**/.claude/settings*.json", "**/.claude/hooks/**", "**/.codex/config.toml", "**/.cursor/mcp.json"),
        CHANGES,
    ),
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
    (".git/hooks/pre-commit", "write"),
    ("app/.git/config", "write"),
    (".claude/settings.local.json", "write"),
)
MISSES: Final[Shown] = (
    ("stanchion.yaml", "read"),
    (".git/config", "read"),
    (".gitignore", "write"),
    ("hooks/pre-commit", "write"),
    ("src/stanchion/trail.py", "write"),
    (".github/workflows/ci.yml", "write"),
    (".claude/commands/review.md", "write"),
)
