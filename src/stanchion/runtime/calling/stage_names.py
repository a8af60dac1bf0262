"""Names of stages, as hosts write them."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.stages import Stage
from stanchion.runtime.calling.reports import BadEvent

LONGEST_WORD: Final = 64
"""How much of a word is shown that names no stage."""


def stage_named(word: object) -> Stage:
    """The stage of that name; `BadEvent` where there is none, with the one that was meant."""
    if type(word) is Stage:
        return word
    name = word if type(word) is str else ""
    try:
        return Stage(name)
    except ValueError:
        from stanchion.policy.nearest import hint

        raise BadEvent(f"there is no stage `{name[:LONGEST_WORD]}`: {hint(name, Stage)}") from None
