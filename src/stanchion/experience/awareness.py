"""Awareness: what a run should know of its tools, for its prompt, in no more tokens than there is
room for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec

from stanchion.experience.advice_context import AdviceContext, ToolText
from stanchion.experience.bounded import cut

SHORTER: Final = (160, 80, 40)
"""How many characters of an error are told where there is no room for more."""


def fitting(advice: Iterable[Iterable[str]], tokens: int, count: Callable[[str], int]) -> str:
    """As many pieces of advice as fit, in their order. Each comes in wordings, the longest first;
    of these one is whole or all are left out: half of one could end in the middle of a
    quotation."""
    kept: list[str] = []
    for wordings in advice:
        for piece in wordings:
            if piece and count("\n".join([*kept, piece])) <= tokens:
                kept.append(piece)
                break
    return "\n".join(kept)


def ever_shorter(context: AdviceContext) -> Iterator[AdviceContext]:
    """What is known, then less and less of it: a shorter error, no error, no call that worked."""
    yield context
    said = context.last_error
    if said is not None:
        for most in SHORTER:
            if len(said.text) > most:
                yield msgspec.structs.replace(context, last_error=ToolText(cut(said.text, most)))
        context = msgspec.structs.replace(context, last_error=None)
        yield context
    if context.similar_success is not None:
        yield msgspec.structs.replace(context, similar_success=None)
