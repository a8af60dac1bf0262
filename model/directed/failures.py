"""What breaks fails closed, unless it may fail open and little can go wrong."""

from __future__ import annotations

from model.compare import compare
from model.decide import expect_lost
from model.directed.scene import Scene, broken, said, same, watcher
from model.drawn.guards import Asker, Looper, Meter, Rule, Watcher
from stanchion.kernel.actions import Action, Risk
from stanchion.kernel.chain import EVERY_ACTION
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Finding
from stanchion.kernel.gates import ending_key, standing_key
from stanchion.kernel.guard import Placed
from stanchion.kernel.lookups import Answered, Expired, Failed, Over
from stanchion.kernel.state import UNREACHED, Line


def case_a_guard_that_raises_refuses() -> None:
    """One that raises, one that gives nonsense, one that cannot even be planned: each is a
    refusal."""
    for placed in (
        broken("g"),
        Placed("g", Watcher((Rule(-1, nonsense=True),))),
        Placed("g", Meter((Line("run/n"),), fails_at="a")),
        Placed("g", object()),
    ):
        decision = Scene(placed, watcher("behind", Action.HALT, priority=200)).judge()
        same(
            (decision.action, decision.code, decision.skipped),
            (Action.BLOCK, "kernel.guard_error", ("behind",)),
        )
        same(len(decision.errors), 1)


def case_failing_open_is_never_for_critical_tools() -> None:
    """A guard that may fail open does so up to high risk, and says that it did."""
    for risk in Risk:
        scene = Scene(broken("g", fail_open=True))
        decision = scene.judge(scene.call(risk=risk))
        same(decision.action, Action.BLOCK if risk == Risk.CRITICAL else Action.ALLOW)
        same(said(decision)[0][:2], ("g", "kernel.guard_error"))


def case_a_failure_does_not_hide_what_other_guards_say() -> None:
    """A guard that fails open is noted; those before and behind it are heard."""
    guards = (watcher("a", Action.WARN), broken("b", fail_open=True), watcher("c", Action.ESCALATE))
    same([guard for guard, _, _ in said(Scene(*guards).judge())], ["a", "b", "c"])


ROUTES = {
    Risk.LOW: (Action.ALLOW, "kernel.lookup_late"),
    Risk.MEDIUM: (Action.ALLOW, "kernel.lookup_late"),
    Risk.HIGH: (Action.ESCALATE, "kernel.lookup_undecided"),
    Risk.CRITICAL: (Action.BLOCK, "kernel.lookup_expired"),
}
"""What becomes of a call for which a deep guard is late, by its risk."""


def case_an_answer_that_does_not_come_refuses() -> None:
    """Expired and failed lookups refuse; a deep guard that is late lets low and medium risk go, and
    asks about high."""
    for deep in (False, True):
        for risk in Risk:
            scene = Scene(Placed("g", Asker((), deep)))
            decision = scene.judge(scene.call(risk=risk), answers={"g": Expired(50)})
            route = ROUTES[risk] if deep else (Action.BLOCK, "kernel.lookup_expired")
            same((decision.action, decision.findings[0].code), route)
            failed = scene.judge(scene.call(risk=risk), answers={"g": Failed("OSError")})
            same((failed.action, failed.findings[0].args), (Action.BLOCK, ("g", "OSError")))


def case_what_is_asked_in_a_run_that_has_ended_is_refused_for_that() -> None:
    """No guard was late: whatever the risk, and whether it is deep or may fail open, nothing of the
    run goes ahead."""
    ended, deadline = (
        Over(Action.HALT, "kernel.ended", ("enough",)),
        Over(Action.BLOCK, "kernel.deadline"),
    )
    for over in (ended, deadline):
        for deep in (False, True):
            for risk in Risk:
                guards = (watcher("a", Action.WARN), Placed("g", Asker((), deep), fail_open=True))
                scene = Scene(*guards, watcher("z", Action.BLOCK, priority=200))
                decision = scene.judge(scene.call(risk=risk), answers={"g": over})
                same((decision.action, said(decision)[0][:2]), (over.action, ("kernel", over.code)))
                same([finding.args for finding in decision.findings], [over.args])


def case_a_judgement_of_an_answer_that_raises_refuses() -> None:
    """The answer came, the guard failed on it."""
    scene = Scene(Placed("g", Asker((Rule(-1, raises=True),))))
    same(scene.judge(answers={"g": Answered(0)}).code, "kernel.guard_error")


def case_without_the_store_everything_is_refused() -> None:
    """Nothing can be counted, not even that the shield still stands."""
    for guards in ((), (watcher("p", Action.WARN),), (Placed("m", Meter((Line("run/n"),))),)):
        decision = Scene(*guards).judge(lost=True)
        same((decision.action, decision.code), (Action.BLOCK, "kernel.store_lost"))
        same(
            (decision.skipped, decision.inputs.lost),
            (tuple(placed.id for placed in guards), UNREACHED),
        )


def case_without_the_store_guards_that_may_fail_open_do() -> None:
    """All that need it must be allowed to, and the tool must not be critical; a guard in shadow is
    not asked. The gates must have been confirmed within a minute, and a clock that was set back
    says nothing of that."""
    lines = (Line("run/n"),)
    opens = Placed("a", Meter(lines), fail_open=True)
    shut = Placed("b", Meter((Line("run/k"),)))
    shadow = Placed("c", Looper("c", 1, Finding(Action.HALT, "scene.loop")), shadow=True)
    for guards, risk, action in (
        ((opens,), Risk.HIGH, Action.ALLOW),
        ((opens,), Risk.CRITICAL, Action.BLOCK),
        ((opens, shut), Risk.LOW, Action.BLOCK),
        ((opens, shadow), Risk.LOW, Action.ALLOW),
        ((shadow,), Risk.LOW, Action.BLOCK),
    ):
        scene = Scene(*guards)
        same(scene.judge(scene.call(risk=risk), lost=True).action, Action.BLOCK)
        scene.judge()
        decision = scene.judge(scene.call(risk=risk), lost=True)
        same((decision.action, decision.findings[0].code), (action, "kernel.store_lost"))
        scene.clock.advance(60_000)
        same(scene.judge(scene.call(risk=risk), lost=True).action, action)
        scene.clock.advance(1)
        same(scene.judge(scene.call(risk=risk), lost=True).action, Action.BLOCK)
        scene.clock.advance(-60_002)
        same(scene.judge(scene.call(risk=risk), lost=True).action, Action.BLOCK)


def case_without_the_store_a_known_gate_stays_closed() -> None:
    """A halt is a halt, and an isolation lasts for as long as nobody can ask whether it is over."""
    opens = Placed("m", Meter((Line("run/n"),)), fail_open=True)
    for mark, code in (
        ({"state": "halt"}, "kernel.halted"),
        ({"state": "quarantine", "until": 10}, "kernel.quarantined"),
    ):
        scene = Scene(opens)
        until = {"until": scene.clock() + 10} if "until" in mark else {}
        scene.put(standing_key("default"), {"marks": {"tool:a": {**mark, **until}}})
        same(scene.judge().code, code)
        scene.clock.advance(30)
        decision = scene.judge(lost=True)
        same(
            (decision.code, [f.code for f in decision.findings]),
            (code, [code, "kernel.store_lost"]),
        )
        same(scene.judge(scene.call(tool="b"), lost=True).action, Action.ALLOW)


def case_without_the_store_a_pause_lasts() -> None:
    """By the host's clock it is over, and nobody can ask the store. The model says the same."""
    scene = Scene(Placed("m", Meter((Line("run/n"),)), fail_open=True))
    pause = {"ticket": "t1", "scope": "run", "until": scene.clock() + 10}
    scene.put(ending_key("default", "r1"), pause)
    same(scene.judge().code, "kernel.paused")
    scene.clock.advance(30)
    call, confirmed, told = scene.call(), scene.plans.confirmed, scene.plans.told
    decision = scene.judge(call, lost=True)
    same([finding.code for finding in decision.findings], ["kernel.paused", "kernel.store_lost"])
    known = dict(scene.records)
    should = expect_lost(scene, Moment((call,)), {}, EVERY_ACTION, known, True, confirmed, told)
    compare(decision, should, "a pause")


def case_a_policy_in_shadow_refuses_nothing_without_the_store() -> None:
    """What it would have done is in the shadow findings."""
    decision = Scene(watcher("p", Action.HALT, shadow=True), shadow=True).judge(lost=True)
    same(
        (decision.action, [f.code for f in decision.shadow]),
        (Action.ALLOW, ["kernel.store_lost", "scene.says"]),
    )


def case_words_cannot_change_what_was_counted() -> None:
    """A meter that words nothing, or something milder, or raises: the store's finding stands."""
    line = Line("run/n", ((0, Action.BLOCK),))
    for guard in (Meter((line,), wordless=0), Meter((line,), milder=0)):
        decision = Scene(Placed("m", guard)).judge()
        same((decision.action, len(decision.findings)), (Action.BLOCK, 1))
        same((decision.inputs.reply is not None and decision.inputs.reply.go), False)
