"""Limits: how much of a text is read, so that no text costs more than its length.

The parser takes steps back: it may read the brackets of `DATE(…)` twice, and those inside them
twice each time. What it would do at the most is added up beforehand, token by token, and a text for
which that is too much is not parsed. Depth is bounded because a compiled parser does not notice the
end of its stack.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stanchion.kernel.regex import regex
from stanchion.kernel.sizes import LIMITS, Limits
from stanchion.readings.sql.comments import Unread

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlglot import Token, TokenType

STEPS_A_TOKEN: Final = 6
STEPS_A_STATEMENT: Final = 96
"""How many steps allow for one more of them."""
MAX_REPEATS: Final = 32
AGAIN: Final = 4
"""How often the brackets of something that may be a type are read, at the most."""

_ROUGHLY: Final = regex(r"\w+|[^\w\s]")

GUESSED: Final = frozenset({"CONVERT", "TRY_CONVERT"})
"""Functions in whose brackets a type may stand first."""


def readings_of(text: str, limits: Limits) -> int:
    """In how many dialects a text may be read before one of them can read it: in as many as take no
    more than the longest text in one."""
    return max(1, limits.query_steps // (STEPS_A_TOKEN * max(1, len(_ROUGHLY.findall(text)))))


def work_of(tokens: Sequence[Token], types: Collection[TokenType], limits: Limits = LIMITS) -> int:
    """How many steps parsing these tokens takes at the most, in units of its own; refuses what is
    too much."""
    from sqlglot import TokenType as T

    ends = sum([token.token_type is T.SEMICOLON for token in tokens])
    most = limits.query_steps
    if max(len(tokens) * STEPS_A_TOKEN, ends * STEPS_A_STATEMENT) > most:
        raise Unread("it is too long to be read")
    paren, bracket, brace, less, var = T.L_PAREN, T.L_BRACKET, T.L_BRACE, T.LT, T.VAR
    closing = (T.R_PAREN, T.R_BRACKET, T.R_BRACE)
    weight, work, indexed, typed, repeats = 1, 0, 0, 0, 0
    weights: list[int] = []
    before: TokenType | None = None
    word = ""
    for token in tokens:
        kind = token.token_type
        work += weight * (1 + len(weights) // 4)
        repeats = repeats + 1 if kind is before else 0
        if kind in (paren, bracket, brace):
            weights.append(weight)
            if before in types or word in GUESSED:
                weight *= AGAIN
            if kind is bracket:
                indexed += 1
                work += 2 * indexed
        elif kind in closing:
            weight = weights.pop() if weights else 1
        elif kind is less and before in types:
            typed += 1
            work += AGAIN * typed
        if (
            work > most
            or len(weights) > limits.query_depth
            or typed > MAX_REPEATS
            or repeats > MAX_REPEATS
        ):
            raise Unread("it is too complicated to be read")
        before, word = kind, token.text.upper() if kind is var else ""
    return work
