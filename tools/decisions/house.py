"""Code of a user, for the `python` guard: refuses what the house does not want, and hides what it
does not show."""

from __future__ import annotations

from typing import Any

from stanchion import Action, Finding, Patch


def judge(event: Any) -> str | Finding | None:
    """Refuse calls that are forced; hide the words of a note."""
    if event.args.get("force") is True:
        return "do not force it"
    if isinstance(event.args.get("note"), str):
        return Finding(Action.REDACT, "house.note", patches=(Patch(("note",), "[a note]"),))
    return None
