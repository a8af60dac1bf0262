"""Trips to the world: how often, in which order, and what is heard of them."""

from __future__ import annotations

import msgspec

from model.directed.scene import RUN, Scene, broken, said, same, watcher
from model.drawn.guards import Asker, Looper, Meter, Rule
from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import Charge, Moment, ToolResult
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Placed
from stanchion.kernel.lookups import Answered
from stanchion.kernel.state import Batch, Line, Reply, key


class _Restless(Scene):
    """A scene whose store changes before every batch."""

    def carry(self, batch: Batch) -> Reply:
        self.put(key("default", "loop", "l"), [])
        return self.store.carry(batch)


def case_a_moment_is_judged_eight_times_at_most() -> None:
    """Then it is refused; nothing of it was written, and its lookups were made once."""
    guards = (
        Placed("a", Asker(())),
        Placed("l", Looper("l", 9, Finding(Action.BLOCK, "scene.loop"))),
        Placed("m", Meter((Line("run/n"),))),
    )
    scene = _Restless(*guards)
    decision = scene.judge(answers={"a": Answered(0)})
    same(
        (decision.action, decision.code, decision.skipped),
        (Action.BLOCK, "kernel.contention", ("a", "l", "m")),
    )
    same((len(scene.batches), scene.asked), (8, ["a"]))
    same(scene.total(key("default", "run", "r1", "n")), 0)


def case_what_was_done_is_judged_eight_times_at_most_too() -> None:
    """It cannot be refused any more: its result is withheld, and the refusal says that it is not
    settled."""
    scene = _Restless(Placed("l", Looper("l", 9, Finding(Action.BLOCK, "scene.loop"))))
    result = ToolResult(id="d", at=scene.clock(), run=RUN, call="0", tool="a", result={"text": ""})
    decision = scene.judge(result)
    same(
        (decision.action, decision.code, len(scene.batches)),
        (Action.BLOCK, "kernel.done_unsettled", 8),
    )


def case_a_moment_judged_again_under_its_id_is_booked_once() -> None:
    """Its reply was lost on the way; the second judgement gets the first answer."""
    scene = Scene(Placed("m", Meter((Line("run/n", hold_ms=500),))))
    call = scene.call()
    first = scene.judge(call)
    scene.clock.advance(10)
    same(scene.judge(call).inputs.reply, first.inputs.reply)
    same(scene.total(key("default", "run", "r1", "n")), 1)


def case_ties_are_broken_by_category_then_id() -> None:
    """Priority first, whatever the order in which the policy lists them."""
    names = [
        ("d", 10, Category.QUALITY),
        ("b", 20, Category.SAFETY),
        ("c", 20, Category.SAFETY),
        ("a", 20, Category.BUDGET),
    ]
    guards = [
        watcher(name, Action.WARN, priority=n, category=category)
        for name, n, category in reversed(names)
    ]
    same([guard for guard, _, _ in said(Scene(*guards).judge())], ["d", "b", "c", "a"])


def case_a_stop_is_sequential_whatever_was_judged_first() -> None:
    """A meter refuses before a pure HALT: the HALT is skipped. The other way round the meter is not
    even asked."""
    meter = Placed("m", Meter((Line("run/n", ((0, Action.BLOCK),)),)), priority=10)
    decision = Scene(meter, watcher("h", Action.HALT)).judge()
    same((decision.action, decision.skipped), (Action.BLOCK, ("h",)))
    scene = Scene(watcher("h", Action.HALT, priority=5), meter)
    decision = scene.judge()
    same((decision.action, decision.skipped, scene.batches[0].lines), (Action.HALT, ("m",), ()))


def case_lookups_behind_a_stop_are_not_made() -> None:
    """Nothing is asked for a call that is refused already."""
    scene = Scene(watcher("p", Action.BLOCK, priority=10), Placed("a", Asker(())))
    scene.judge()
    same(scene.asked, [])


def case_lookups_before_a_stop_are_made_together() -> None:
    """An answer that stops skips what stands behind it, other answers included."""
    stops = Rule(-1, says=Finding(Action.BLOCK, "scene.answer"))
    scene = Scene(
        Placed("a", Asker((stops,))),
        Placed("b", Asker((stops,))),
        watcher("z", Action.HALT, priority=200),
    )
    decision = scene.judge(answers={"a": Answered(0), "b": Answered(0)})
    same((scene.asked, said(decision)), (["a", "b"], [("a", "scene.answer", Action.BLOCK)]))
    same(decision.skipped, ("b", "z"))


def case_a_guard_is_asked_about_each_event_of_a_moment() -> None:
    """One guard on a call and on its charge: two questions, two answers, and each is judged for its
    own event."""
    stops = Rule(1, says=Finding(Action.BLOCK, "scene.answer"))
    scene = Scene(Placed("a", Asker((stops,))))
    call = scene.call()
    charge = Charge(id="c", at=call.at, run=call.run, call=call.call, tool=call.tool)
    for bad, answers in enumerate(((1, 0), (0, 1))):
        moment = Moment((msgspec.structs.replace(call, id=f"m{bad}"), charge))
        decision = scene.judge_moment(
            moment, {"a": Answered(answers[0]), "a#1": Answered(answers[1])}
        )
        same((decision.action, len(decision.skipped)), (Action.BLOCK, 1 - bad))


def case_effects_are_joined_once_each_in_order() -> None:
    """Of every finding that was reached, refusals included; a guard in shadow has none."""
    scene = Scene(
        watcher("a", Action.WARN, effects=("page", "log")),
        watcher("b", Action.BLOCK, effects=("log", "mail")),
        watcher("c", Action.WARN, effects=("ring",), priority=200),
        watcher("0", Action.HALT, effects=("shadow",), shadow=True, priority=10),
    )
    same(scene.judge().effects, ("page", "log", "mail"))


def case_the_most_severe_finding_wins_the_first_of_its_kind() -> None:
    """Not the last, not the sum."""
    guards = [
        watcher(name, action, f"scene.{name}")
        for name, action in (
            ("a", Action.WARN),
            ("b", Action.ESCALATE),
            ("c", Action.ESCALATE),
            ("d", Action.DEGRADE),
        )
    ]
    decision = Scene(*guards).judge()
    same((decision.action, decision.code, len(decision.findings)), (Action.ESCALATE, "scene.b", 4))


def case_shadow_changes_nothing_at_all() -> None:
    """A shadow HALT, a shadow budget and a shadow failure: the call goes ahead as if they were not
    there."""
    lines = (Line("run/n", ((0, Action.HALT),)), Line("run/k"))
    guards = (
        watcher("h", Action.HALT, shadow=True),
        Placed("m", Meter(lines), shadow=True),
        broken("x", shadow=True),
    )
    scene = Scene(*guards, Placed("real", Meter((Line("run/n"),)), priority=200))
    decision = scene.judge()
    same(
        (decision.action, decision.findings, decision.skipped, decision.held),
        (Action.ALLOW, (), (), False),
    )
    same([finding.guard for finding in decision.shadow], ["h", "m", "x"])
    same([scene.total(key("default", "run", "r1", name)) for name in ("n", "k")], [1, 0])
    same(scene.total("~" + key("default", "run", "r1", "k")), 0)


def case_settles_ride_on_a_refused_moment() -> None:
    """What a call really cost is booked, whatever is decided about its result."""
    meter = Placed("m", Meter((Line("run/n", hold_ms=5_000),)))
    scene = Scene(meter)
    call = scene.call()
    same(scene.judge(call).held, True)
    scene.modes[""] = (watcher("b", Action.BLOCK, priority=1), meter)
    scene.plans = scene.plans.__class__(scene, call.run)
    decision = scene.judge_moment(Moment((scene.call(),), settles=((call.id, None),)), {})
    reply = decision.inputs.reply
    same((decision.action, reply is not None and reply.settled), (Action.BLOCK, ("settled",)))
    same(scene.total(key("default", "run", "r1", "n")), 0)
