"""Texts as messages quote them."""

from __future__ import annotations


def shorten(text: str, longest: int) -> str:
    """A text on one line, without what a terminal would act on, and not longer than needed."""
    seen = "".join(
        [char if char.isprintable() and char != "`" else "?" for char in text[: longest + 1]]
    )
    return seen if len(seen) <= longest else f"{seen[:longest]}…"
