"""Warnings: the third of one guard in a task escalates, in that very decision."""

from __future__ import annotations

from model.directed.scene import RUN, Scene, said, same, watcher
from model.drawn.guards import Meter, Watcher
from stanchion.kernel.actions import Action
from stanchion.kernel.events import HandoffDone, ModelChunk, Moment
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Placed
from stanchion.kernel.state import Line, key

WITHOUT_ESCALATE = tuple(action for action in Action if action != Action.ESCALATE)


def _tally(guard: str) -> str:
    return key("default", "warn", "task", "t1", guard)


def _late(guard: str, action: Action = Action.WARN, shadow: bool = False) -> Finding:
    return Finding(action, "kernel.late_answer", (guard, "late"), guard=guard, shadow=shadow)


def case_the_third_warning_spends_nothing() -> None:
    """It escalates, so what waits for the decision is not taken."""
    scene = Scene(Placed("m", Meter((Line("task/n", ((0, Action.WARN),)),))))
    same(
        [scene.judge().action for _ in range(4)],
        [Action.WARN, Action.WARN, Action.ESCALATE, Action.ESCALATE],
    )
    same((scene.total(key("default", "task", "t1", "n")), scene.total(_tally("m"))), (2, 4))


def case_a_warning_that_only_tells_does_not_count() -> None:
    """However often it is said, nobody is asked; another guard's warnings beside it count."""
    scene = Scene(watcher("t", Action.WARN, effects=("tell",)), watcher("w", Action.WARN))
    same([scene.judge().action for _ in range(3)], [Action.WARN, Action.WARN, Action.ESCALATE])
    same([scene.total(_tally(guard)) for guard in ("t", "w")], [0, 3])


def case_a_mark_warns_until_the_limit() -> None:
    """A warning below a severer band counts towards nothing, unless marks are counted."""
    for count_marks, third in ((False, Action.WARN), (True, Action.ESCALATE)):
        meter = Placed("m", Meter((Line("task/n", ((0, Action.WARN), (4, Action.BLOCK))),)))
        scene = Scene(meter, count_marks=count_marks)
        same([scene.judge().action for _ in range(3)], [Action.WARN, Action.WARN, third])
        same(scene.total(_tally("m")), 3 if count_marks else 0)
    scene = Scene(Placed("m", Meter((Line("task/n", ((0, Action.WARN), (4, Action.BLOCK))),))))
    same([scene.judge().action for _ in range(5)], [Action.WARN] * 4 + [Action.BLOCK])


def case_a_guard_that_only_marks_warns_on() -> None:
    """What it tells is told every time, and asks nobody, unless marks are counted."""
    for count_marks, third in ((False, Action.WARN), (True, Action.ESCALATE)):
        told = watcher("w", Action.WARN)
        quiet = Placed("w", Watcher(told.guard.rules, only_marks=True))
        scene = Scene(quiet, count_marks=count_marks)
        same([scene.judge().action for _ in range(3)], [Action.WARN, Action.WARN, third])


def case_a_degraded_action_warns_once() -> None:
    """Judged twice, by a guard that is known and one that counts: each warns once; a late answer is
    new."""
    scene = Scene(
        watcher("w", Action.WARN), Placed("m", Meter((Line("task/n", ((0, Action.WARN),)),)))
    )
    degraded = watcher("d", Action.DEGRADE, priority=200)
    scene.modes[""] += (degraded,)
    same(scene.judge().action, Action.DEGRADE)
    lesser = Moment((scene.call(),), late=(_late("x"),), attempt=2, again=True)
    same(scene.judge_moment(lesser, {}).action, Action.DEGRADE)
    same([scene.total(_tally(guard)) for guard in ("w", "m", "x")], [1, 1, 1])
    same(scene.total(key("default", "task", "t1", "n")), 1)


def case_a_warning_behind_a_stop_does_not_count() -> None:
    """The store refuses at a meter; the warning behind it was never reached."""
    meter = Placed("m", Meter((Line("run/n", ((0, Action.BLOCK),)),)), priority=10)
    scene = Scene(meter, watcher("w", Action.WARN))
    decision = scene.judge()
    same(
        (said(decision), decision.skipped, scene.total(_tally("w"))),
        ([("m", "drawn.meter", Action.BLOCK)], ("w",), 0),
    )


def case_a_warning_before_a_known_stop_counts() -> None:
    """The call is refused, the warning was given all the same."""
    scene = Scene(watcher("w", Action.WARN, priority=10), watcher("b", Action.BLOCK))
    scene.judge()
    same(scene.total(_tally("w")), 1)


def case_where_nobody_can_be_asked_the_third_warning_stops() -> None:
    """A host that cannot escalate refuses; what stands behind the warning is skipped."""
    scene = Scene(
        watcher("w", Action.WARN),
        Placed("z", Meter((Line("run/n"),)), priority=200),
        can=WITHOUT_ESCALATE,
    )
    decisions = [scene.judge() for _ in range(3)]
    same((decisions[2].action, decisions[2].skipped), (Action.BLOCK, ("z",)))
    same(scene.total(key("default", "run", "r1", "n")), 2)


def case_each_late_warning_counts_for_its_own_guard() -> None:
    """Two late answers in one event: the one that warns for the third time is named."""
    scene = Scene()
    for _ in range(2):
        scene.judge(late=(_late("x"),))
    decision = scene.judge(late=(_late("x"), _late("y")))
    thirds = [finding for finding in decision.findings if finding.code == "kernel.third_warning"]
    same([(finding.guard, finding.args) for finding in thirds], [("x", ("x", 3))])
    same((scene.total(_tally("x")), scene.total(_tally("y"))), (3, 1))


def case_late_warnings_in_shadow_count_apart() -> None:
    """They change nothing of the decision and nothing of the real tally."""
    scene = Scene()
    decisions = [scene.judge(late=(_late("x", shadow=True),)) for _ in range(4)]
    for decision in decisions:
        same(
            (decision.action, decision.inputs.reply is not None and decision.inputs.reply.go),
            (Action.ALLOW, True),
        )
    same(
        [finding.code for finding in decisions[-1].shadow],
        ["kernel.late_answer", "kernel.third_warning"],
    )
    same((scene.total(_tally("x")), scene.total("~" + _tally("x"))), (0, 4))


def case_a_late_answer_becomes_what_its_event_can_bear() -> None:
    """Nobody can be asked about a chunk: an escalation that enters there stops the stream."""
    scene = Scene(watcher("w", Action.WARN))
    chunk = ModelChunk(id="c", at=scene.clock(), run=RUN, call="0", text="x")
    decision = scene.judge(chunk, late=(_late("x", Action.ESCALATE),))
    same(
        (decision.action, decision.skipped, decision.findings[0].said),
        (Action.BLOCK, ("w",), Action.ESCALATE),
    )


def case_warnings_about_chunks_are_not_counted() -> None:
    """A chunk carries no state, and a handoff that is done cannot wait."""
    scene = Scene(watcher("w", Action.WARN))
    for number in range(4):
        chunk = ModelChunk(id=f"c{number}", at=scene.clock(), run=RUN, call="0", text="x")
        same(scene.judge(chunk).action, Action.WARN)
        done = HandoffDone(
            id=f"h{number}", at=scene.clock(), run=RUN, call="0", to="bob", payload={"text": "x"}
        )
        same(scene.judge(done).action, Action.WARN)
    same(scene.total(_tally("w")), 0)
