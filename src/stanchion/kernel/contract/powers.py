"""The powers, by the member that is their sign. Who asks a guard asks by these; the protocols
behind them are only read where somebody writes a guard or checks one, so that importing Stanchion
does not have to make them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stanchion.kernel.contract.power import Power

if TYPE_CHECKING:
    from stanchion.kernel.actions import Action
    from stanchion.kernel.contract.asking import (
        Calls,
        Deep,
        DeepRule,
        Isolated,
        Recalls,
        Routed,
        Shows,
    )
    from stanchion.kernel.contract.content import (
        Fingerprints,
        NamesSecrets,
        Seeks,
        Settles,
        Veils,
    )
    from stanchion.kernel.contract.counting import (
        EndsWithRuns,
        HearsRefusals,
        Leases,
        Measures,
        OnlyMarks,
        SpansTime,
        Spends,
        Vacates,
        Watches,
    )
    from stanchion.kernel.contract.learning import (
        HasBeside,
        HoldsDefinitions,
        KnowsTools,
        Prepares,
        ReadsTables,
        Scoped,
        ToldPlaces,
    )
    from stanchion.kernel.contract.linting import (
        AlwaysSpeaks,
        Degrades,
        HasIdle,
        HasPoints,
        Reaches,
        RisesWith,
    )
    from stanchion.kernel.contract.outward import JudgesHosts, Plants
    from stanchion.kernel.contract.standing import (
        Answers,
        AnswersByStage,
        AnswersOnlyAt,
        Concerns,
        ForSafeMode,
        Needs,
        StandsUsually,
        Switches,
        Tightens,
    )
    from stanchion.kernel.stages import Stage

USUAL: Final[Power[StandsUsually]] = Power("default_stages", "standing.StandsUsually")
ANSWERS: Final[Power[Answers]] = Power("actions", "standing.Answers")
ANSWERS_BY_STAGE: Final[Power[AnswersByStage]] = Power("actions_at", "standing.AnswersByStage")
ANSWERS_AT: Final[Power[AnswersOnlyAt]] = Power("answers_at", "standing.AnswersOnlyAt")
NEEDS: Final[Power[Needs]] = Power("needs", "standing.Needs")
CONCERNS: Final[Power[Concerns]] = Power("concerns", "standing.Concerns")
SWITCHES: Final[Power[Switches]] = Power("switches", "standing.Switches")
TIGHTENS: Final[Power[Tightens]] = Power("tightened", "standing.Tightens")
FOR_SAFE_MODE: Final[Power[ForSafeMode]] = Power("for_safe_mode", "standing.ForSafeMode")

SETTLES: Final[Power[Settles]] = Power("settled", "content.Settles")
VEILS: Final[Power[Veils]] = Power("veils", "content.Veils")
NAMES_SECRETS: Final[Power[NamesSecrets]] = Power("in_name", "content.NamesSecrets")
FINGERPRINTS: Final[Power[Fingerprints]] = Power("fingerprints", "content.Fingerprints")
SEEKS: Final[Power[Seeks]] = Power("seeks", "content.Seeks")

WATCHES: Final[Power[Watches]] = Power("watch", "counting.Watches")
SPANS: Final[Power[SpansTime]] = Power("span", "counting.SpansTime")
ONLY_MARKS: Final[Power[OnlyMarks]] = Power("only_marks", "counting.OnlyMarks")
HEARS_REFUSALS: Final[Power[HearsRefusals]] = Power("refused", "counting.HearsRefusals")
VACATES: Final[Power[Vacates]] = Power("vacate", "counting.Vacates")
ENDS_WITH_RUNS: Final[Power[EndsWithRuns]] = Power("ended", "counting.EndsWithRuns")
LEASES: Final[Power[Leases]] = Power("lease_ms", "counting.Leases")
MEASURES: Final[Power[Measures]] = Power("measured", "counting.Measures")
SPENDS: Final[Power[Spends]] = Power("limits", "counting.Spends")

CALLS: Final[Power[Calls]] = Power("call", "asking.Calls")
ISOLATED: Final[Power[Isolated]] = Power("isolated", "asking.Isolated")
DEEP: Final[Power[Deep]] = Power("deep", "asking.Deep")
ROUTED: Final[Power[Routed]] = Power("routed", "asking.Routed")
DEEP_RULE: Final[Power[DeepRule]] = Power("rule_version", "asking.DeepRule")
RECALLS: Final[Power[Recalls]] = Power("recalls", "asking.Recalls")
SHOWS: Final[Power[Shows]] = Power("shown", "asking.Shows")

READS: Final[Power[ReadsTables]] = Power("reads", "learning.ReadsTables")
SCOPED: Final[Power[Scoped]] = Power("scoped", "learning.Scoped")
TOLD_PLACES: Final[Power[ToldPlaces]] = Power("told", "learning.ToldPlaces")
PREPARES: Final[Power[Prepares]] = Power("prepare", "learning.Prepares")
KNOWS_TOOLS: Final[Power[KnowsTools]] = Power("knowing", "learning.KnowsTools")
HOLDS_DEFINITIONS: Final[Power[HoldsDefinitions]] = Power("with_tools", "learning.HoldsDefinitions")
BESIDE: Final[Power[HasBeside]] = Power("beside", "learning.HasBeside")

JUDGES_HOSTS: Final[Power[JudgesHosts]] = Power("takes_proxy", "outward.JudgesHosts")
PLANTS: Final[Power[Plants]] = Power("plant", "outward.Plants")

IDLE: Final[Power[HasIdle]] = Power("idle", "linting.HasIdle")
POINTS: Final[Power[HasPoints]] = Power("points", "linting.HasPoints")
ALWAYS_SPEAKS: Final[Power[AlwaysSpeaks]] = Power("always_speaks", "linting.AlwaysSpeaks")
REACHES: Final[Power[Reaches]] = Power("reaches", "linting.Reaches")
DEGRADES: Final[Power[Degrades]] = Power("degrades", "linting.Degrades")
RISES_WITH: Final[Power[RisesWith]] = Power("rises_with", "linting.RisesWith")


def answers_at(guard: Any, stage: Stage) -> tuple[Action, ...]:
    """What a guard can answer at a stage, as far as it says it."""
    by_stage = ANSWERS_BY_STAGE.of(guard)
    if by_stage is not None:
        return tuple(by_stage.actions_at(stage))
    always = ANSWERS.of(guard)
    return () if always is None else tuple(always.actions())


def stages_of(guard: Any) -> frozenset[Stage]:
    """Where a guard stands unless a policy says otherwise."""
    usual = USUAL.of(guard)
    stages: frozenset[Stage] = guard.stages if usual is None else usual.default_stages
    return stages
