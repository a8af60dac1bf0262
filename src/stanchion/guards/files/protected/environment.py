"""Files of settings that hold secrets."""

from __future__ import annotations

from typing import Final

from stanchion.guards.files.protected.rule import Protected, Shown

RULES: Final = (
    Protected(
        "settings with secrets",
        (".env", ".env.*", ".envrc", "secrets.yaml", "secrets.yml", "secrets.toml", "secrets.json", ".secrets"),
        fine=(".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults", ".env.schema", ".env.d.ts"),
    ),
)

HITS: Final[Shown] = (
    (".env", "read"),
    ("/srv/app/.env", "write"),
    (".env.local", "read"),
    (".ENV", "read"),
    (".env.production", "delete"),
    ("config/.envrc", "read"),
    ("deploy/secrets.yaml", "read"),
)
MISSES: Final[Shown] = (
    (".env.example", "read"),
    (".env.sample", "write"),
    (".env.template", "write"),
    ("src/env.py", "read"),
    ("environment.yml", "write"),
    ("autoscaler.env", "read"),
    ("docs/secrets.md", "write"),
    (".environment", "read"),
)
