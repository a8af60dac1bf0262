"""What each guardrail said, for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from stanchion.kernel.chain_result import VERDICTS
from stanchion.ops.views.verdicts import SKIPPED, VerdictView

RESULTS: Final = (*reversed(VERDICTS), SKIPPED)
"""From the severest on."""


def verdict_words(verdicts: Iterable[VerdictView]) -> str:
    """Guardrails by what they said, one line for each verdict, in the order of the chain."""
    said: dict[str, list[str]] = {}
    for one in verdicts:
        said.setdefault(one.result, []).append(one.guardrail_id)
    return "\n".join(
        [f"{result:<8}  {', '.join(said[result])}" for result in RESULTS if result in said]
    )
