"""Hooks as policies of the tables and tests name them."""

from __future__ import annotations

import asyncio
from typing import Any


def no_drop(call: Any) -> str | None:
    """Refuse a query that drops a table."""
    return (
        "no table is dropped here" if "DROP TABLE" in call.args.get("query", "").upper() else None
    )


async def waits(call: Any) -> str | None:
    """The same, after having let others work."""
    await asyncio.sleep(0)
    return no_drop(call)


def crashes(call: Any) -> None:
    """Fail with a text that is a secret."""
    raise RuntimeError(call.args.get("query"))


def nonsense(call: Any) -> Any:
    """Answer what no hook may answer."""
    return call.args.get("answer")
