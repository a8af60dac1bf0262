"""Fresh rows: new members of each class, drawn by a seed.

Rows that somebody has looked at are soon known by heart. What is drawn here nobody has seen:
effects × ways to have them, formats × contexts, intents × phrasings. Nothing of this imports a
guard or a reading, so that no generator knows what is looked for; a test holds that. The same seed
draws the same rows.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any, Final

DRAWN: Final = ("shell", "paths", "secrets", "sql", "injection", "loops")
"""What can be drawn: the measure of that name takes it; each has the module of its name here, with
`draw(random)`."""

Rows = dict[str, list[dict[str, Any]]]
"""Rows by the file in which a measure looks for them; each has at least `kind`, `label` and
`payload`."""


def drawn(what: str, seed: int) -> Rows:
    """The rows that a seed draws for a measure, with their ids. What is drawn twice is there
    once."""
    found: Rows = import_module(f"stanchion_lab.fresh.{what}").draw(Random(f"{what} {seed}"))
    return {
        file: [
            {"id": f"fresh-{seed}-{at}", "source": "fresh", **row}
            for at, row in enumerate(_once(rows))
        ]
        for file, rows in found.items()
    }


def _once(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows without those whose payload was there before: a short text would count as often as it is
    drawn."""
    return list(
        {
            json.dumps(row.get("payload", row.get("payload_b64"))): row for row in reversed(rows)
        }.values()
    )[::-1]


def write(what: str, seed: int, folder: Path) -> None:
    """Write what a seed draws into a folder, as the measure reads it."""
    for file, rows in drawn(what, seed).items():
        text = "".join([json.dumps(row) + "\n" for row in rows])
        (folder / file).write_text(text, encoding="utf-8")
