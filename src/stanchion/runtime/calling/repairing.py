"""Repair: a model is asked a few times, its replies are compared, and the best is handed on. Every
call is judged and charged like any other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from stanchion.kernel.actions import Action
from stanchion.runtime.calling.model_call import converse
from stanchion.runtime.calling.stream_end import Streaming
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.errors import Refused
from stanchion.tutor.envelope.repair import Checked, NoMore, RankedCandidate, best_of, seed_of

MOST: Final = 100
"""How often more than once a model can be asked."""


class Repaired(msgspec.Struct, frozen=True):
    """The best reply, what was said of it, which one it was, and how often the model was asked."""

    reply: Any
    checked: Checked
    index: int
    calls: int


def repair(
    desk: Desk,
    generate: Callable[..., Any],
    precheck: Callable[[Any], Checked],
    budget: int,
    messages: Iterable[Any],
    model: str,
    params: Mapping[str, Any] | None,
    seed: int | None,
    final: bool | None,
    tokens: int | None,
    cost_usd: float | None,
) -> Flow[Repaired]:
    """Ask until a reply is good enough, `1 + budget` times at most. Raises `Refused` where no reply
    may be handed on.

    A reply that a guard has asked for again counts as one that is worse than all others. Where a
    further call is refused, as by a budget, the best reply so far is taken; where that ends the
    run, it is raised.
    """
    if isinstance(budget, bool) or not isinstance(budget, int) or not 0 <= budget <= MOST:
        raise ValueError(
            f"`budget` is `{budget!r}`: write how often to ask again, a whole number from 0 to "
            f"{MOST}"
        )
    said = list(messages)

    def make(index: int, before: tuple[RankedCandidate[Any], ...]) -> Flow[Any]:
        told = [{"role": "system", "content": one.checked.why} for one in before if one.checked.why]
        options = {} if params is None else dict(params)
        if seed is not None:
            options["seed"] = seed_of(seed, 0, index)
        try:
            asked = converse(
                desk,
                generate,
                [*said, *told],
                model,
                options,
                final,
                tokens,
                cost_usd,
                ended="raise",
                once=True,
            )
            reply = yield from asked
        except Refused as refused:
            if refused.decision.action == Action.RETRY and refused.happened:
                return refused
            if refused.ended or not before:
                raise
            raise NoMore from refused
        if isinstance(reply, Streaming):
            raise TypeError(
                "replies are compared when they are whole: give `run.repair` a function that does "
                "not stream"
            )
        return reply

    def look(reply: Any, _before: tuple[RankedCandidate[Any], ...]) -> Checked:
        if isinstance(reply, Refused):
            advice = reply.decision.advice
            return Checked(sys.maxsize, True, advice if advice else str(reply))
        found = precheck(reply)
        if not isinstance(found, Checked):
            raise TypeError(
                f"`precheck` has given a `{type(found).__name__}`: it gives a `Checked`"
            )
        return found

    chosen = yield from best_of(make, look, budget)
    best = chosen.best
    if isinstance(best.value, Refused):
        raise best.value
    return Repaired(best.value, best.checked, best.index, chosen.attempts)
