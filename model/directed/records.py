"""Records: judged from a cache that may be old, written in their order, believed only as far as
they were written."""

from __future__ import annotations

from model.directed.scene import Scene, same, watcher
from model.drawn.guards import Breaker, Looper, Meter
from stanchion.kernel.actions import Action
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Placed
from stanchion.kernel.state import Batch, Line, Reply, When, key

LOOP = key("default", "loop", "l")


def _loop(
    writes: When = When.JUDGED,
    action: Action = Action.BLOCK,
    repeats: int = 3,
    shadow: bool = False,
) -> Placed:
    return Placed(
        "l", Looper("l", repeats, Finding(action, "scene.loop"), writes), priority=50, shadow=shadow
    )


def case_a_loop_of_refused_calls_is_seen() -> None:
    """Its record is written when judged; the budget behind it is not spent."""
    scene = Scene(_loop(), Placed("m", Meter((Line("run/n", ((0, Action.BLOCK),)),))))
    same([scene.judge().code for _ in range(3)], ["drawn.meter", "drawn.meter", "scene.loop"])


def case_a_record_of_a_refused_call_is_not_believed() -> None:
    """A budget refuses, so the record that waits for the decision is not written; the cache must
    not think so."""
    scene = Scene(
        _loop(When.PROCEED, repeats=1, action=Action.WARN),
        Placed("m", Meter((Line("run/n", ((0, Action.BLOCK),)),))),
    )
    scene.judge()
    same((scene.total(LOOP), LOOP in scene.records and scene.records[LOOP][0] > 0), (0, False))


def case_a_record_that_was_withheld_is_not_believed() -> None:
    """One guard writes, another in shadow refuses itself and writes nothing: only the first is in
    the cache."""
    refuses = Looper("l", 1, Finding(Action.BLOCK, "scene.loop"), When.PROCEED)
    writes = Looper("k", 9, Finding(Action.BLOCK, "scene.loop"))
    scene = Scene(Placed("l", refuses, shadow=True), Placed("k", writes))
    same(scene.judge().action, Action.ALLOW)
    same((scene.total("~" + LOOP), scene.records.get("~" + LOOP)), (0, None))
    same(scene.records[key("default", "loop", "k")], (1, [0]))


def case_an_old_cache_costs_a_trip_and_nothing_else() -> None:
    """Another process opened the breaker."""
    breaker = Placed("b", Breaker("b", 1, 9_000, Finding(Action.BLOCK, "scene.open"), When.JUDGED))
    scene = Scene(breaker)
    other = scene.beside()
    scene.judge()
    other.judge(other.call(mark=1))
    decision = scene.judge()
    same((decision.code, decision.inputs.stale), ("scene.open", 1))


def case_a_cache_shared_by_decisions_does_not_go_back() -> None:
    """A reply that arrives after a later one leaves the later record in the cache."""
    scene = Scene(_loop(repeats=9))
    first = _Held(scene)
    scene.judge(scene.call(1))
    scene.judge(scene.call(2))
    same(scene.records[LOOP], (3, [0, 1, 2]))
    first.finish()
    same(scene.records[LOOP], (3, [0, 1, 2]))


class _Held:
    """A decision whose reply is on its way."""

    def __init__(self, scene: Scene) -> None:
        from stanchion.kernel.engine import decide
        from stanchion.kernel.events import Moment

        self._deciding = decide(scene.plans, Moment((scene.call(),)), scene.records)
        batch = next(self._deciding)
        assert isinstance(batch, Batch)
        self._reply: Reply = scene.store.carry(batch)

    def finish(self) -> None:
        """Let the reply arrive."""
        try:
            self._deciding.send(self._reply)
        except StopIteration:
            return
        raise AssertionError("the decision asks again")


def case_a_ruling_holds_for_its_span_of_store_time() -> None:
    """Judged open by the host's clock; the store's clock says that it is over, so it is judged
    again."""
    scene = Scene(
        Placed("b", Breaker("b", 1, 500, Finding(Action.BLOCK, "scene.open"), When.JUDGED))
    )
    scene.judge(scene.call(mark=1))
    call = scene.call()
    scene.clock.advance(500)
    decision = scene.judge(call)
    same((decision.action, decision.inputs.stale), (Action.ALLOW, 1))


def case_a_guard_in_shadow_keeps_its_own_record() -> None:
    """Under its own name; what it would refuse it does not write."""
    scene = Scene(_loop(When.PROCEED, repeats=2, shadow=True))
    decisions = [scene.judge() for _ in range(3)]
    same([decision.action for decision in decisions], [Action.ALLOW] * 3)
    same([len(decision.shadow) for decision in decisions], [0, 1, 1])
    same((scene.total(LOOP), scene.total("~" + LOOP)), (0, 1))


def case_a_record_behind_a_known_stop_is_not_read() -> None:
    """Neither judged nor expected."""
    scene = Scene(watcher("p", Action.BLOCK, priority=10), _loop())
    scene.judge()
    same([name for name, _, _ in scene.batches[0].expects if name == LOOP], [])
