"""What watches an agent: Stanchion's own files, and what other programs run on an agent's behalf."""

from __future__ import annotations

from typing import Final

from stanchion.guards.files.protected.rule import CHANGES, Protected, Shown

RULES: Final = (
    Protected(
        "a policy or a setting of Stanchion",
        (
            "stanchion.yaml",
            "stanchion.yml",
            "**/.stanchion/**",
            "**/.config/stanchion/**",
            "**/.cache/stanchion/**",
            "/etc/stanchion/**",
            "**/site-packages/stanchion/**",
            "**/dist-packages/stanchion/**",
            "**/Library/Caches/stanchion/**",
        ),
        CHANGES,
    ),
    Protected(
        "a record, a key or the state of Stanchion",
        (
            "**/stanchion/trail/**",
            "**/stanchion/state.db*",
            "**/stanchion/audit.key",
            "**/.stanchion/trail/**",
            "**/.local/state/stanchion/**",
            "**/.config/stanchion/keys/**",
            "**/.stanchion/keys/**",
            "**/.stanchion/sealed/**",
            "**/stanchion/epochs/**",
            "**/stanchion/projects/*/**",
            "**/stanchion/shared/**",
            "**/Library/Application Support/stanchion/**",
            "**/AppData/Local/stanchion/**",
            "/var/lib/stanchion/**",
            "/etc/stanchion/keys/**",
        ),
    ),
    Protected(
        "what Python runs before any program",
        (
            "**/site-packages/*.pth",
            "**/dist-packages/*.pth",
            "**/site-packages/sitecustomize.py",
            "**/site-packages/usercustomize.py",
            "**/dist-packages/sitecustomize.py",
            "**/dist-packages/usercustomize.py",
        ),
        CHANGES,
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
    ("~/.config/stanchion/keys/ann.pem", "read"),
    ("/home/ann/.local/state/stanchion/projects/shop-5f1d/state.db-wal", "read"),
    ("~/.local/state/stanchion/sealed/patterns/0af3", "write"),
    ("~/.cache/stanchion/patterns/0af3", "write"),
    ("~/.config/stanchion/trusted.json", "write"),
    ("/var/lib/stanchion/epochs/1", "delete"),
    (".venv/lib/python3.11/site-packages/stanchion/__init__.py", "write"),
    (".venv/lib/python3.11/site-packages/zz.pth", "write"),
    ("~/.local/lib/python3.11/site-packages/usercustomize.py", "write"),
    (".git/hooks/pre-commit", "write"),
    ("app/.git/config", "write"),
    (".claude/settings.local.json", "write"),
)
MISSES: Final[Shown] = (
    ("stanchion.yaml", "read"),
    (".git/config", "read"),
    (".venv/lib/python3.11/site-packages/zz.pth", "read"),
    ("weights/model.pth", "write"),
    (".gitignore", "write"),
    ("hooks/pre-commit", "write"),
    ("src/stanchion/trail.py", "write"),
    ("stanchion/README.md", "write"),
    (".venv/lib/python3.11/site-packages/stanchion/__init__.py", "read"),
    ("src/stanchion/keys/__init__.py", "read"),
    ("~/.config/git/config", "read"),
    (".github/workflows/ci.yml", "write"),
    (".claude/commands/review.md", "write"),
)
