"""Definitions of tools that are honest, and that are poisoned, as data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.sources import data_of


def listed(which: str) -> list[dict[str, Any]]:
    """The rows of one set, each as an MCP definition with the tools that stand `beside` it."""
    rows = data_of(Path(__file__).with_name(f"{which}.yaml").read_text("utf-8"))
    return [{"beside": row.get("beside", []), "definition": _defined(row)} for row in rows]


def sentences() -> list[str]:
    """Sentences of honest definitions that come close to an order or a demand."""
    found: list[str] = data_of(Path(__file__).with_name("plain.yaml").read_text("utf-8"))
    return found


def _defined(row: dict[str, Any]) -> dict[str, Any]:
    properties = {
        name: said if isinstance(said, dict) else {"type": "string", "description": said}
        for name, said in row.get("args", {}).items()
    }
    schema = {"type": "object", "properties": properties}
    return {"name": row["name"], "description": row["about"], "inputSchema": schema}
