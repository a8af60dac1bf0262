"""Awareness: what a run should know of its tools, for its prompt, in no more tokens than there is room for."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def fitting(advice: Iterable[str], tokens: int, count: Callable[[str], int]) -> str:
    """As many pieces of advice as fit, in their order. A piece is whole or left out: half of one could end in the
    middle of a quotation."""
    kept: list[str] = []
    for piece in advice:
        if piece and count("\n".join([*kept, piece])) <= tokens:
            kept.append(piece)
    return "\n".join(kept)
