"""Patches: applied whenever the action goes ahead, judged again once, refused where they do not
fit."""

from __future__ import annotations

from model.compare import compare
from model.decide import expect
from model.directed.scene import RUN, Scene, said, same, watcher
from model.drawn.guards import GONE, SECRET, Looper, Meter
from model.history import History
from stanchion.kernel.actions import Action
from stanchion.kernel.events import HandoffDone, ModelCall, Moment
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Placed
from stanchion.kernel.state import Line, key

REDACTS = watcher("r", Action.REDACT, "scene.redact", SECRET, "span", priority=10)
TEXT = f"a {SECRET} here"


def case_patches_apply_under_every_outcome_that_proceeds() -> None:
    """Whatever wins, the patch of the redaction is carried out; under a refusal there is none."""
    for action in Action:
        scene = Scene(REDACTS, watcher("o", action) if action != Action.REDACT else REDACTS)
        decision = scene.judge(scene.call(text=TEXT))
        same(bool(decision.patches), action <= Action.DEGRADE)
        same(decision.action, max(action, Action.REDACT))


def case_a_guard_in_shadow_patches_nothing() -> None:
    """Its patch is neither applied nor judged."""
    scene = Scene(watcher("r", Action.REDACT, "scene.redact", SECRET, "lost", shadow=True))
    decision = scene.judge(scene.call(text=TEXT))
    same((decision.action, decision.patches, len(decision.shadow)), (Action.ALLOW, (), 1))


def case_what_a_patch_puts_in_is_judged() -> None:
    """A guard that refuses the words of the redaction refuses the redacted call, at its own
    place."""
    scene = Scene(
        REDACTS,
        watcher("w", Action.BLOCK, "scene.gone", GONE),
        watcher("z", Action.WARN, priority=200),
    )
    decision = scene.judge(scene.call(text=TEXT))
    same((decision.action, decision.code, decision.skipped), (Action.BLOCK, "scene.gone", ("z",)))


def case_what_a_patch_makes_worse_is_refused_under_the_same_code() -> None:
    """A guard that only warned of the call refuses it as patched; its code is the same."""
    worse = watcher("w", Action.BLOCK, "scene.same", GONE)
    milder = watcher("w", Action.WARN, "scene.same")
    guard = worse.guard.__class__((*worse.guard.rules, *milder.guard.rules))
    scene = Scene(REDACTS, Placed("w", guard))
    decision = scene.judge(scene.call(text=TEXT))
    same(said(decision)[1:], [("w", "scene.same", Action.WARN), ("w", "scene.same", Action.BLOCK)])


def case_a_patch_that_must_be_made_again_is_refused() -> None:
    """The redaction leaves what it is there to take out."""
    scene = Scene(watcher("r", Action.REDACT, "scene.redact", SECRET, "stays"))
    decision = scene.judge(scene.call(text=TEXT))
    same(
        (decision.action, decision.code, decision.patches),
        (Action.BLOCK, "kernel.patch_failed", ()),
    )


def case_a_redaction_without_a_patch_is_refused() -> None:
    """It says that something must not go on as it is, and nothing takes that out."""
    scene = Scene(watcher("r", Action.REDACT, priority=10), watcher("o", Action.WARN))
    decision = scene.judge(scene.call(text=TEXT))
    same((decision.action, decision.code), (Action.BLOCK, "kernel.patch_failed"))
    same(decision.skipped, ("o",))
    scene = Scene(watcher("r", Action.REDACT, shadow=True))
    same(scene.judge(scene.call(text=TEXT)).action, Action.ALLOW)


def case_a_patch_that_does_not_fit_is_refused() -> None:
    """No such place, a span outside the text, content that is none: the call is refused, nothing is
    raised."""
    for edit in ("lost", "wide", "odd"):
        scene = Scene(
            watcher("r", Action.REDACT, "scene.redact", "", edit, priority=10),
            watcher("o", Action.WARN),
        )
        request = ModelCall(
            id="e", at=scene.clock(), run=RUN, call="0", model="m", messages=[{"text": TEXT}]
        )
        decision = scene.judge(request)
        same((edit, decision.action, decision.code), (edit, Action.BLOCK, "kernel.patch_failed"))
        same(decision.skipped, ("o",))


def case_what_halts_the_patched_call_halts_it_with_a_patch_too() -> None:
    """A guard that would change what it stops has its say: the refusal of its patch is the milder
    of the two."""
    ends = watcher("r", Action.HALT, "scene.end", GONE, "whole").guard
    scene = Scene(Placed("r", ends.__class__((*ends.rules, *REDACTS.guard.rules))))
    decision = scene.judge(scene.call(text=TEXT))
    same(said(decision), [("r", "scene.redact", Action.REDACT), ("r", "scene.end", Action.HALT)])
    same((decision.action, decision.patches), (Action.HALT, ()))


def case_a_patch_that_leaves_some_skips_only_where_it_is_refused() -> None:
    """One of two secrets is left: a call is refused, and nothing behind is judged. Of a handoff
    that was made it is only a warning, and everybody behind is heard on the patched content. The
    model says the same."""
    left = ("r", "scene.redact"), ("r", "kernel.patch_failed")
    scene = Scene(REDACTS, watcher("w", Action.WARN, "scene.gone", GONE), max_age_ms=-1)
    call = scene.call(text=f"{SECRET} and {SECRET}")
    done = HandoffDone(id="d", at=scene.clock(), run=RUN, call="0", to="bob", payload=call.args)
    for event, action, behind in (
        (call, Action.BLOCK, ()),
        (done, Action.WARN, (("w", "scene.gone"),)),
    ):
        decision = scene.judge(event)
        same([(guard, code) for guard, code, _ in said(decision)], [*left, *behind])
        same((decision.action, decision.skipped), (action, () if behind else ("w",)))
        compare(decision, expect(scene, Moment((event,)), History(), {}), event.stage)


def case_a_refused_patch_writes_no_record_behind_it() -> None:
    """The record guard behind the stop was judged before the stop was known; it writes nothing and
    is not believed."""
    loop = Placed("l", Looper("l", 9, Finding(Action.BLOCK, "scene.loop")), priority=200)
    scene = Scene(REDACTS, watcher("w", Action.BLOCK, "scene.gone", GONE), loop)
    scene.judge(scene.call(text=TEXT))
    name = key("default", "loop", "l")
    same((scene.total(name), scene.records.get(name)), (0, None))
    scene.judge(scene.call())
    same((scene.total(name), scene.records.get(name)), (1, (1, [0])))


def case_a_meter_may_patch_too() -> None:
    """What a meter's words change is among the patches."""
    meter = Placed("m", Meter((Line("run/n", ((0, Action.DEGRADE),)),), edit="span"), priority=200)
    scene = Scene(REDACTS, meter)
    same(len(scene.judge(scene.call(text=TEXT)).patches), 2)
