"""Refusals: shown to the guards that watch for them, entered in a batch of their own, and joined
behind the rest."""

from __future__ import annotations

from model.directed.scene import Scene, said, same, watcher
from model.drawn.guards import Grumbler, Meter
from stanchion.kernel.actions import Action
from stanchion.kernel.findings import Finding
from stanchion.kernel.gates import standing_key
from stanchion.kernel.guard import Placed
from stanchion.kernel.state import Line, key

KEPT = key("default", "loop", "w")
NO = watcher("no", Action.BLOCK, "scene.no", priority=10)


def _counts(repeats: int = 2, action: Action = Action.WARN, shadow: bool = False) -> Placed:
    return Placed(
        "w", Grumbler("w", repeats, Finding(action, "scene.again")), priority=50, shadow=shadow
    )


def case_a_refusal_before_the_guard_that_watches_is_entered() -> None:
    """In one trip, and behind what was found; the guard itself stays skipped."""
    scene = Scene(NO, _counts())
    scene.judge()
    scene.batches.clear()
    decision = scene.judge()
    same(said(decision), [("no", "scene.no", Action.BLOCK), ("w", "scene.again", Action.WARN)])
    same((decision.action, decision.code, decision.skipped), (Action.BLOCK, "scene.no", ("w",)))
    same([batch.id for batch in scene.batches], [f"{decision.id}.refused"])
    same(scene.total(KEPT), 2)


def case_what_is_said_of_a_refusal_can_end_the_run() -> None:
    """The most severe finding determines the decision, wherever it stands."""
    decision = Scene(NO, _counts(1, Action.HALT)).judge()
    same((decision.action, decision.code), (Action.HALT, "scene.again"))


def case_what_says_less_than_the_refusal_stays_what_it_is() -> None:
    """A host that cannot ask a person refuses instead; here it is refused already."""
    able = tuple(action for action in Action if action != Action.ESCALATE)
    decision = Scene(NO, _counts(1, Action.ESCALATE), can=able).judge()
    same(said(decision)[1], ("w", "scene.again", Action.ESCALATE))


def case_what_says_more_than_the_refusal_is_carried_out_as_the_host_can() -> None:
    """A host that cannot isolate a tool ends the run instead, and what was said stands beside
    it."""
    able = tuple(action for action in Action if action != Action.QUARANTINE)
    decision = Scene(NO, _counts(1, Action.QUARANTINE), can=able).judge()
    same((decision.action, said(decision)[1]), (Action.HALT, ("w", "scene.again", Action.HALT)))
    same(decision.findings[1].said, Action.QUARANTINE)


def case_a_budget_s_refusal_is_about_the_budget() -> None:
    """How much of it is used makes no difference to what is refused."""
    decision = Scene(
        Placed("m", Meter((Line("run/n", ((0, Action.BLOCK),)),)), priority=10), _counts(1)
    ).judge()
    same(decision.findings[1].args, ("m", "drawn.meter", "m"))


def case_a_refusal_is_known_only_when_the_counters_before_it_are() -> None:
    """A guard refuses, and so does a budget before it: the budget's refusal is the one that
    counts."""
    meter = Placed("m", Meter((Line("run/n", ((0, Action.BLOCK),)),)), priority=5)
    decision = Scene(meter, NO, _counts(1)).judge()
    same(said(decision)[0], ("m", "drawn.meter", Action.BLOCK))
    same(decision.findings[1].args, ("m", "drawn.meter", "m"))


def case_a_refusal_of_the_engine_itself_is_not_counted() -> None:
    """That a tool is quarantined says nothing of what the agent does."""
    scene = Scene(_counts(1))
    scene.put(standing_key("default"), {"marks": {"tool:a": {"state": "quarantine"}}})
    same((scene.judge().code, scene.total(KEPT)), ("kernel.quarantined", 0))


def case_what_cannot_be_read_is_counted() -> None:
    """The runtime refuses it in the kernel's name, for what was proposed."""
    unread = Finding(Action.BLOCK, "kernel.bad_event", ("it is no data",), guard="kernel")
    decision = Scene(_counts(1)).judge(late=(unread,))
    same([code for _, code, _ in said(decision)], ["kernel.bad_event", "scene.again"])


def case_what_waits_for_a_person_is_not_refused() -> None:
    """Nothing is entered but the call itself."""
    scene = Scene(watcher("ask", Action.ESCALATE, priority=60), _counts(3))
    same([len(scene.judge().findings) for _ in range(2)], [1, 1])
    same(scene.total(KEPT), 2)


def case_without_the_store_a_refusal_stands_as_it_is() -> None:
    """Nothing is entered, and nobody waits for it."""
    scene = Scene(NO, _counts(1))
    scene.judge()
    decision = scene.judge(lost=True)
    same((decision.code, len(decision.findings), decision.inputs.refused), ("scene.no", 1, ()))


def case_two_processes_have_one_history() -> None:
    """The one that comes second judges on what the first has entered."""
    scene = Scene(NO, _counts())
    other = scene.beside()
    scene.judge()
    same([code for _, code, _ in said(other.judge())], ["scene.no", "scene.again"])
    same((scene.total(KEPT), other.records[KEPT]), (2, (2, [0, 0])))


def case_a_guard_that_watches_in_shadow_changes_nothing() -> None:
    """It has a record of its own, and what it says stands apart."""
    scene = Scene(NO, _counts(1, Action.HALT, shadow=True))
    decision = scene.judge()
    same((decision.action, len(decision.findings)), (Action.BLOCK, 1))
    same([finding.code for finding in decision.shadow], ["scene.again"])
    same((scene.total(KEPT), scene.total("~" + KEPT)), (0, 1))


def case_a_call_that_goes_ahead_costs_no_more_trips() -> None:
    """One batch, as for any guard with a record."""
    scene = Scene(_counts(9))
    same(scene.judge().action, Action.ALLOW)
    same(len(scene.batches), 1)
