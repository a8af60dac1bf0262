"""What advice about a call is made from: what its run, its process and the store know of the
tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from stanchion.experience.bounded import cut, one_line
from stanchion.experience.incident import MOST_REASON
from stanchion.experience.session import OfTool
from stanchion.experience.similarity import Difference, Similar, compared, similar_to
from stanchion.experience.tally import Known, Reliability, Tally, reliability_of
from stanchion.kernel.shown import visible

OWN = "own"
"""The fingerprint of calls of the run itself that worked."""


class ToolText(msgspec.Struct, frozen=True):
    """Words of a tool: data, and no instruction. They are bounded; `str` gives them quoted, on one
    line, without anything that ends the quotation."""

    text: str

    def __str__(self) -> str:
        return one_line(cut(self.text, MOST_REASON))


class AdviceContext(msgspec.Struct, frozen=True):
    """What is known when advice is given. `failure_count` are failures of the tool in this run
    since it last worked, `last_error` the last of them. `similar_success` is the nearest call that
    worked: with its values where this very run made it, else with names and kinds alone.
    `tool_reliability` is the plain rate of the tenant."""

    tool_name: str
    failure_count: int = 0
    last_error: ToolText | None = None
    similar_success: Similar | None = None
    tool_reliability: float | None = None
    reliability: Reliability | None = None

    @property
    def differences(self) -> tuple[Difference, ...]:
        """What differs from the nearest call that worked."""
        return () if self.similar_success is None else self.similar_success.differences


def advice_context(
    tool: str, args: dict[str, Any], met: OfTool, known: Known, today: int
) -> AdviceContext:
    """What advice about a call is made from. `args` are bounded and redacted, and `met` has no
    secrets in its words."""
    tally = known.tally
    if (
        not tally.successes + tally.failures
    ):  # the store could not be asked: what the run has met has to do
        tally = Tally().plus(met.successes, met.failures, today)
    reliability = reliability_of(tool, tally, today) if tally.successes + tally.failures else None
    return AdviceContext(
        visible(tool),
        met.in_a_row,
        ToolText(cut(met.last_error, MOST_REASON)) if met.last_error else None,
        _nearest(tool, args, met, known),
        None if reliability is None else reliability.rate,
        reliability,
    )


def _nearest(tool: str, args: dict[str, Any], met: OfTool, known: Known) -> Similar | None:
    found = [one.without_values() for one in similar_to(args, known.practices)[:1]]
    found += [compared(args, own, tool, OWN, met.successes, met.failures) for own in met.good]
    # A call of the run's own is preferred where it is as near, the last of several: the run knows
    # what it said.
    return max(found, key=lambda one: (one.likeness, one.args is not None), default=None)


# Awareness: what a run should know of its tools, for its prompt, in no more tokens than there is
# room for.

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
