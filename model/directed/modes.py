"""Autonomy modes: exactly at the bounds, and as long as they hold."""

from __future__ import annotations

from fractions import Fraction

from model.directed.scene import RUN, Scene, same, watcher
from model.drawn.guards import Meter
from stanchion.kernel.actions import Action
from stanchion.kernel.autonomy import Share, autonomy
from stanchion.kernel.chain import Plans
from stanchion.kernel.events import ToolResult
from stanchion.kernel.guard import Placed
from stanchion.kernel.state import Line, key


def case_the_mode_is_exact_at_every_bound() -> None:
    """More than half left, a fifth at least, less than a fifth, nothing: for every total of small
    limits."""
    for limit in range(1, 31):
        for total in range(limit + 3):
            left = Fraction(limit - total, limit)
            mode = "exhausted"
            if left > 0:
                mode = (
                    ""
                    if left > Fraction(1, 2)
                    else "strict"
                    if left >= Fraction(1, 5)
                    else "lockdown"
                )
            found = autonomy((Share("k", limit),), {"k": (total, None)})
            same((limit, total, found.mode), (limit, total, mode))
            ((_, low, high),) = found.expects
            for near, there in ((low, True), (high - 1, True), (low - 1, False), (high, False)):
                again = autonomy((Share("k", limit),), {"k": (near, None)}).mode == mode
                if 0 <= near <= 10**6:
                    same((limit, near, again), (limit, near, there))


def case_a_mode_changes_in_the_very_decision_that_finds_it() -> None:
    """What was spent is learnt from the batch: the decision is made again in the stricter mode, and
    counts once."""
    meter = Placed("m", Meter((Line("run/n"),)))
    scene = Scene(meter)
    scene.modes["lockdown"] = (watcher("w", Action.WARN), meter)
    scene.budgets = (Share(key("default", "run", "r1", "n"), 10),)
    scene.plans = Plans(scene, RUN, max_age_ms=1_000)
    made = [scene.judge() for _ in range(11)]
    modes = [decision.inputs.mode for decision in made]
    same(modes, [""] * 5 + ["strict"] * 4 + ["lockdown"] * 2)
    same([decision.inputs.stale for decision in made], [0] * 5 + [1, 0, 0, 0, 1, 0])
    same([decision.action for decision in made[8:]], [Action.ALLOW, Action.BLOCK, Action.BLOCK])
    same(scene.total(key("default", "run", "r1", "n")), 9)


def case_with_nothing_left_nothing_begins_and_what_runs_may_end() -> None:
    """A start is refused and confirmed with the store every time; a result is judged."""
    meter = Placed("m", Meter((Line("run/n"),)))
    scene = Scene(meter)
    scene.budgets = (Share(key("default", "run", "r1", "n"), 1),)
    scene.plans = Plans(scene, RUN, max_age_ms=1_000)
    same(scene.judge().action, Action.ALLOW)
    refused = scene.judge()
    same(
        (refused.action, refused.code, refused.skipped), (Action.BLOCK, "kernel.exhausted", ("m",))
    )
    trips = len(scene.batches)
    same((scene.judge().code, len(scene.batches)), ("kernel.exhausted", trips + 1))
    result = ToolResult(id="end", at=scene.clock(), run=RUN, tool="t", result={})
    same(scene.judge(result).action, Action.ALLOW)
