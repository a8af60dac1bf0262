"""The ladder of lesser requests: what is wrong with it, and what of it nothing acts on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from stanchion.kernel.actions import Action
from stanchion.kernel.contract.powers import having
from stanchion.kernel.guard import Kind
from stanchion.kernel.names import is_glob
from stanchion.kernel.stages import Stage
from stanchion.kernel.table import sensible
from stanchion.policy.compiled import GuardSeat, best
from stanchion.policy.schema import PolicyFile
from stanchion.policy.sections import Degrade

Wrong = tuple[tuple[str, ...], str]
"""A path in a policy, and what is wrong there."""

REQUESTS: Final = frozenset({Stage.MODEL_CALL, Stage.CHARGE})
"""Where a request to a model is degraded: as such, or by what is charged for it."""


def wrong_models(file: PolicyFile) -> Iterator[Wrong]:
    """Models that cannot take another's place."""
    models = file.degrade.models
    for name, instead in models.items():
        said = ""
        if not name or not instead:
            said = "a model without a name is never asked for: give one, or leave the entry out"
        elif is_glob(instead):
            said = f"`{instead}` is a pattern: name the one model that is asked instead"
        elif instead == name:
            said = f"`{name}` replaces itself, which is not a lesser request: name a cheaper model"
        elif (circle := _circle(models, name)) and name == min(set(circle) & set(models)):
            round_ = ", ".join(f"`{model}`" for model in circle)
            said = f"{round_} replace each other, so none is the cheapest: leave one entry out"
        if said:
            yield ("degrade", "models", name), said


def _circle(models: dict[str, str], name: str) -> list[str]:
    """The models by which one comes back to the first; empty where one does not."""
    passed = [name]
    while True:
        following = best(models, passed[-1]) if not is_glob(passed[-1]) else models[passed[-1]]
        if following == name:
            return passed
        if following is None or following in passed:
            return []
        passed.append(following)


def lesser_at(ladder: Degrade) -> frozenset[Stage]:
    """Where a ladder has something lesser: a slower pace for everything that starts, the rest for
    models alone."""
    if ladder.pause_s is not None:
        return frozenset({Stage.TOOL_CALL, *REQUESTS})
    return frozenset() if ladder == Degrade() else frozenset({Stage.MODEL_CALL})


def unanswered(ladder: Degrade, mark: str, stages: frozenset[Stage]) -> str:
    """What is wrong with a degrade mark that stands where there is nothing lesser to ask for; empty
    where there is."""
    beside = REQUESTS if Stage.MODEL_CALL in lesser_at(ladder) else frozenset()
    asked_at = frozenset([stage for stage in stages if sensible(stage, Action.DEGRADE)])
    if not mark or not asked_at or asked_at & (lesser_at(ladder) | beside):
        return ""
    said = f"`{mark}` asks for a lesser request, but the policy defines none"
    only = (
        "`models`, `keep_messages`, `max_tokens` or `pause_s`"
        if Stage.MODEL_CALL in stages
        else "`pause_s`"
    )
    return f"{said} at its stages: say under `degrade` what one is ({only}), or leave the mark out"


def unheard(ladder: Degrade, seats: Iterable[GuardSeat]) -> Iterator[Wrong]:
    """What of a ladder nothing acts on, because no guard answers `degrade` where it would be
    heard."""
    answering = [(seat, stages) for seat in seats if (stages := _degrades_at(seat))]
    if not answering and ladder != Degrade():
        yield (
            ("degrade",),
            (
                "nothing acts on `degrade`: no guard answers `degrade`; give a budget a "
                "`degrade_at`, or leave it out"
            ),
        )
        return
    if any(
        stages & REQUESTS and (seat.tools is None or "" in seat.tools) for seat, stages in answering
    ):
        return
    for option in ("models", "keep_messages", "max_tokens"):
        if getattr(ladder, option) != getattr(Degrade(), option):
            said = (
                f"nothing acts on `degrade.{option}`: no guard answers `degrade` about a "
                f"request to a model"
            )
            yield (
                ("degrade", option),
                f"{said}; let one with `degrade_at` judge `model_call`, or leave it out",
            )


def _degrades_at(seat: GuardSeat) -> frozenset[Stage]:
    """The stages at which a guard can ask for something lesser; of a user's own code only its
    author knows."""
    guard = seat.placed.guard
    only, marked, answering = (
        having(guard, "answers_at"),
        having(guard, "degrades"),
        having(guard, "actions"),
    )
    if marked is not None:
        can = marked.degrades != ""
    else:
        can = answering is None or Action.DEGRADE in answering.actions()
    if not can and guard.kind is not Kind.ASKING:
        return frozenset()
    stages = seat.placed.stages if only is None else seat.placed.stages & only.answers_at
    return frozenset([stage for stage in stages if sensible(stage, Action.DEGRADE)])
