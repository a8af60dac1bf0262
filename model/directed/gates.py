"""What stands before every chain: the shield's state, what is isolated, the end of a run."""

from __future__ import annotations

from typing import Any

import msgspec

from model.directed.scene import RUN, Scene, same, watcher
from model.drawn.guards import Meter, Rule, Watcher
from stanchion.kernel.actions import Action
from stanchion.kernel.findings import Finding
from stanchion.kernel.gates import ending_key, standing_key
from stanchion.kernel.guard import Placed
from stanchion.kernel.state import Line, key

SHIELD = standing_key("default")


def case_a_halt_is_seen_by_the_next_batch() -> None:
    """A process that knows nothing of it yet makes one trip more, and counts nothing."""
    scene = Scene(Placed("m", Meter((Line("run/n"),))))
    same(scene.judge().action, Action.ALLOW)
    scene.put(SHIELD, {"own": {"state": "halt", "why": "drill"}})
    decision = scene.judge()
    same((decision.action, decision.code, decision.skipped), (Action.HALT, "kernel.halted", ("m",)))
    same((decision.inputs.stale, scene.total(key("default", "run", "r1", "n"))), (1, 1))


def case_a_cancelled_ancestor_ends_its_children() -> None:
    """The gate of every ancestor stands before a run."""
    scene = Scene()
    child = scene.call()
    run = RUN.__class__("r2", parents=("r1", "r0"))
    scene.plans = scene.plans.__class__(scene, run)
    scene.put(ending_key("default", "r0"), {"code": "kernel.cancelled", "why": "drill"})
    decision = scene.judge(child)
    same((decision.action, decision.code), (Action.HALT, "kernel.cancelled"))


def case_a_halted_run_stops_its_children() -> None:
    """What is said of a run is said of all that descend from it."""
    scene = Scene()
    child = scene.call()
    run = RUN.__class__("r2", parents=("r1", "r0"))
    scene.plans = scene.plans.__class__(scene, run)
    scene.put(SHIELD, {"marks": {"run:r0": {"state": "halt", "why": "drill"}}})
    event = child.__class__(id="c", at=child.at, run=run, call="0", tool="a", args={"text": ""})
    same(scene.judge(event).code, "kernel.halted")


class Mandated(Watcher, frozen=True):
    """Says what it says of runs that are held to something."""

    def judge(self, reading: Any, /) -> Any:
        return super().judge(reading) if reading.event.run.mandate.layers else None


def case_what_another_process_lets_a_run_do_is_seen_by_the_next_batch() -> None:
    """The record of every run above one narrows it, for good and for its children; it stops
    nothing."""
    rule = Rule(-1, says=Finding(Action.WARN, "scene.held"))
    scene = Scene(Placed("m", Meter((Line("run/n"),))), Placed("h", Mandated((rule,))))
    child = RUN.__class__("r2", parents=("r1", "r0"))
    same(scene.judge().findings, ())
    scene.plans = scene.plans.__class__(scene, child)
    scene.put(ending_key("default", "r0"), {"may": {"layers": [["read"]]}})
    scene.put(SHIELD, {"own": {"state": "warning"}})
    for stale in (1, 0):
        event = msgspec.structs.replace(scene.call(), run=child)
        made = scene.judge(event)
        same((made.code, made.inputs.stale), ("scene.held", stale))
        same(scene.plans.run.mandate.layers, (("read",),))
    scene.put(ending_key("default", "r0"), {"code": "kernel.ended", "why": "", "may": {}})
    same(scene.judge(msgspec.structs.replace(scene.call(), run=child)).code, "kernel.ended")


def case_with_nothing_to_send_knowledge_may_be_young() -> None:
    """No trip while what is known of the gates is at most a second old; then one, which sees the
    halt."""
    scene = Scene(watcher("p", Action.DEGRADE))
    scene.judge()
    scene.put(SHIELD, {"own": {"state": "halt"}})
    scene.clock.advance(1_000)
    same((scene.judge().action, len(scene.batches)), (Action.DEGRADE, 1))
    scene.clock.advance(1)
    same((scene.judge().action, len(scene.batches)), (Action.HALT, 3))


def case_a_clock_that_is_set_back_makes_nothing_young() -> None:
    """What was confirmed in the host's future is asked for again."""
    scene = Scene(watcher("p", Action.DEGRADE))
    scene.judge()
    scene.put(SHIELD, {"own": {"state": "halt"}})
    scene.clock.advance(-1)
    same((scene.judge().action, len(scene.batches)), (Action.HALT, 3))


def case_a_known_gate_is_confirmed_every_time() -> None:
    """Whoever knows of a gate asks whether it still stands: an end of safe mode is seen at once."""
    scene = Scene(watcher("p", Action.ALLOW))
    scene.modes["safe"] = (watcher("s", Action.BLOCK, "scene.safe"),)
    scene.put(SHIELD, {"own": {"state": "safe"}})
    same(scene.judge().code, "scene.safe")
    scene.put(SHIELD, {"own": {"state": "warning"}})
    same(scene.judge().action, Action.ALLOW)


def case_an_isolation_ends_by_the_clock_of_the_store() -> None:
    """The host's clock is wrong by a minute; the batch says for which span of store time it was
    judged."""
    scene = Scene()
    scene.put(SHIELD, {"marks": {"tool:a": {"state": "quarantine", "until": scene.clock() + 500}}})
    fast = scene.call().__class__(
        id="f", at=scene.clock() + 60_000, run=RUN, call="0", tool="a", args={"text": ""}
    )
    decision = scene.judge(fast)
    same((decision.action, decision.code), (Action.BLOCK, "kernel.quarantined"))
    same(scene.judge(scene.call(tool="b")).action, Action.ALLOW)
    scene.clock.advance(500)
    slow = fast.__class__(
        id="s", at=scene.clock() - 60_000, run=RUN, call="0", tool="a", args={"text": ""}
    )
    same(scene.judge(slow).action, Action.ALLOW)
    same([reply.stale for reply in scene.replies[-2:]], [True, False])


def case_a_halt_is_never_forgotten() -> None:
    """However long nobody touches it."""
    scene = Scene()
    scene.put(SHIELD, {"own": {"state": "halt"}})
    scene.clock.advance(400 * 86_400_000)
    same(scene.judge().action, Action.HALT)
