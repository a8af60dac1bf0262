"""Repairing: a run's way to ask a model a few times and to take the best reply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.twins import twins
from stanchion.runtime.driving.flow import Flow

if TYPE_CHECKING:
    from stanchion.runtime.calling.repairing import Repaired
    from stanchion.tutor.envelope.repair import Checked


class Repairing:
    """The methods of a run by which replies are compared before one is used."""

    _desk: Desk

    def _repair(
        self,
        /,
        generate: Callable[..., Any],
        precheck: Callable[[Any], Checked],
        budget: int,
        *,
        messages: Iterable[Any] = (),
        model: str = "",
        params: Mapping[str, Any] | None = None,
        seed: int | None = None,
        final: bool | None = None,
        tokens: int | None = None,
        cost_usd: float | None = None,
    ) -> Flow[Repaired]:
        """Ask a model, as `model` does, until `precheck` has nothing against its reply, `1 + budget` times at most;
        gives the best reply.

        `precheck` looks at a reply and says how good it is, and whether to ask again and why; it must not use the
        reply. The reasons are added as system messages. Every call is judged and charged like any other, and nobody
        else has the model asked again. With a `seed` each call is given one of its own. Raises `Refused` where no
        reply may be handed on.
        """
        from stanchion.runtime.calling.repairing import repair

        return repair(self._desk, generate, precheck, budget, messages, model, params, seed, final, tokens, cost_usd)

    repair, arepair = twins(_repair)
