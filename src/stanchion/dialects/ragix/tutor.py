"""The Tutor of the document as it is constructed there, its advisor, and `TutorEnvelope` with
layers by keywords or together and a manifest of every run. They look at the graph of a game, and
keep nothing of their own."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from stanchion.dialects.errors import DialectError
from stanchion.runtime.sandbox.sandbox import SandboxError
from stanchion.tutor.advice.advisor import Board, CardAdvice, advise, board
from stanchion.tutor.advice.cards import FOR, Card, CardType, card_for
from stanchion.tutor.advice.contradictions import contradiction
from stanchion.tutor.advice.failures import (
    FailureType,
    GameTrace,
    PlayedStep,
    PlayerFailure,
    failure,
)
from stanchion.tutor.advice.intent import IntentCourse, course
from stanchion.tutor.bundles.file import BundleRefused
from stanchion.tutor.bundles.scope import Use
from stanchion.tutor.envelope import envelope
from stanchion.tutor.envelope.config import SEEDS, EnvelopeConfig, EnvelopeError, config_of
from stanchion.tutor.envelope.envelope import TURNS, Episode, PromptModel
from stanchion.tutor.graph import Goal, Observation, Status, Truth
from stanchion.tutor.law import v1
from stanchion.tutor.law.v1 import Executor, TutorV1
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.law.verdicts import CheckResult
from stanchion.tutor.manifests.manifest import ManifestError
from stanchion.tutor.playing.envelopes import bundle_for, played_by
from stanchion.tutor.playing.episodes import play
from stanchion.tutor.playing.games import GameError, load_rules
from stanchion.tutor.playing.published import Writes, author_of, now
from stanchion.tutor.playing.runners import ShellExecutor

ADVICE: Final = "advice"
"""The event by which a card that was given is known."""


class _Looks:
    """What looks at a game."""

    def __init__(self, tutor: TutorV1 | TutorV2) -> None:
        if not isinstance(tutor, TutorV1 | TutorV2):
            raise DialectError(
                f"`{type(self).__name__}` is given a `{type(tutor).__name__}`: give it a `Tutor`"
            )
        self._tutor = tutor

    @property
    def trace(self) -> GameTrace:
        """What happened in the game: under the first law all nodes count as what is known."""
        tutor = self._tutor
        if isinstance(tutor, TutorV2):
            return tutor.trace()
        turns = [0] * (tutor.state.turn + 1)
        for node in tutor.pcg.nodes.values():
            turns[node.turn] += 1
        return GameTrace(_steps(tutor), tuple(accumulate(turns))[1:], turn=tutor.state.turn)


def _steps(tutor: TutorV1 | TutorV2) -> tuple[PlayedStep, ...]:
    seen = tutor.pcg.of(Observation)
    return tuple(
        PlayedStep(one.command, f"{one.stdout}\n{one.stderr}", one.rc != 0) for one in seen
    )


class FailureDetector(_Looks):
    """Finds what goes wrong in a game: `REPETITION`, `CIRCULAR`, `EXPLICIT_ERROR`, `STALL` and
    `EXHAUSTION`."""

    def detect(self) -> PlayerFailure | None:
        """The failure that the game shows now, if any; the most certain first."""
        return failure(self.trace)


class ContradictionDetector(_Looks):
    """Finds a way of playing that contradicts itself."""

    def detect(self) -> str:
        """Its name, as cards know it; empty where there is none."""
        return contradiction(_steps(self._tutor), self._tutor.pcg.count(Truth, Status.VALIDATED))


class MetaCardSelector(_Looks):
    """Chooses the card for what goes wrong. A game has few of them."""

    def select(self, what: PlayerFailure | FailureType | str) -> Card | None:
        """The card for a failure or a contradiction, by its name; `None` if no more are given in
        this game."""
        kind = what.failure_type if isinstance(what, PlayerFailure) else what
        name = kind.value if isinstance(kind, FailureType) else kind
        if not isinstance(name, str) or name not in FOR:
            raise DialectError(f"there is no card for `{name}`: write one of {', '.join(FOR)}")
        return card_for(name, self.issued)

    @property
    def issued(self) -> int:
        """How many cards the player was given."""
        return sum(one.event_type == ADVICE for one in self._tutor.pcg.events)


class StrategicAdvisor(_Looks):
    """Says what to tell the player before a turn. It belongs to the Tutor, and no layer of the
    envelope knows it."""

    @property
    def failure_detector(self) -> FailureDetector:
        """Finds failures."""
        return FailureDetector(self._tutor)

    @property
    def meta_card_selector(self) -> MetaCardSelector:
        """Chooses cards."""
        return MetaCardSelector(self._tutor)

    @property
    def contradiction_detector(self) -> ContradictionDetector:
        """Finds contradictions."""
        return ContradictionDetector(self._tutor)

    @property
    def board(self) -> Board:
        """What is to be done, under way, stuck and done."""
        return board(self._tutor.pcg)

    def advise(
        self, model: str = "", disabled: frozenset[CardType] = frozenset()
    ) -> CardAdvice | None:
        """What to tell the player, where anything is to be said: too much is under way, the way of
        playing contradicts itself, something goes wrong. It is written down in the graph, for a
        game has few cards."""
        tutor = self._tutor
        if not isinstance(model, str):
            raise DialectError(f"`model` is a `{type(model).__name__}`: give the name of the model")
        if isinstance(tutor, TutorV2) and not disabled:
            return tutor.advise(model)
        found = advise(tutor.pcg, self.trace, model, self.meta_card_selector.issued, disabled)
        if found is not None:
            tutor.pcg.log(ADVICE, reason=found.why, data={"card": found.card.card_id})
        return found


class SemanticIntentTracker(_Looks):
    """Follows whether a player comes closer to the goal, whatever layers stand round the game."""

    def track(self) -> IntentCourse:
        """Where the player is going: `converging`, `stable`, `wandering` or `diverging`, and what a
        score counts."""
        if isinstance(self._tutor, TutorV2):
            return self._tutor.course()
        goals = self._tutor.pcg.of(Goal, Status.ACTIVE)
        return course(
            "\n".join(one.text for one in goals), tuple(step.action for step in _steps(self._tutor))
        )


class Tutor(v1.TutorV1):
    """The first law over a folder: what it decides is `stanchion.tutor.TutorV1`'s, and this only
    makes it.

    Commands run in `sandbox_root` behind walls, or by an `executor` of your own with `is_safe` and
    `execute`. Without `rules_path` it has the rules about shell commands. Raises `DialectError`.
    """

    def __init__(
        self,
        game_id: str,
        sandbox_root: str | Path = ".",
        rules_path: str | Path | None = None,
        fat_llm_callback: Writes | None = None,
        *,
        executor: Executor | None = None,
    ) -> None:
        if not isinstance(game_id, str) or not game_id:
            raise DialectError(f"`game_id` is `{game_id!r}`: write the name of the game")
        if fat_llm_callback is not None and not callable(fat_llm_callback):
            raise DialectError(
                "`fat_llm_callback` cannot be called: give a function that answers a prompt"
            )
        for name in ("is_safe", "execute") if executor is not None else ():
            if not callable(getattr(executor, name, None)):
                raise DialectError(
                    f"`executor` has no method `{name}`: give a `ShellExecutor`, or what acts as "
                    f"one"
                )
        if rules_path is not None and not isinstance(rules_path, str | Path):
            raise DialectError(
                f"`rules_path` is a `{type(rules_path).__name__}`: write the path of a file of "
                f"rules"
            )
        try:
            rules = load_rules(rules_path)
        except GameError as error:
            raise DialectError(f"`rules_path`: {error}") from None
        author = None if fat_llm_callback is None else author_of(fat_llm_callback)
        try:
            hands = ShellExecutor(sandbox_root) if executor is None else executor
        except (SandboxError, TypeError) as error:
            raise DialectError(f"`sandbox_root`: {error}") from None
        super().__init__(game_id, hands, rules, author, now)

    def setup_game(self, goal: str, constraints: Iterable[str] = ()) -> None:
        """Begin a game: its goal, what always holds, and what holds in this one."""
        if not isinstance(goal, str):
            raise DialectError(f"`goal` is a `{type(goal).__name__}`: write the goal of the game")
        if isinstance(constraints, str) or not isinstance(constraints, Iterable):
            raise DialectError(
                f"`constraints` is a `{type(constraints).__name__}`: give a list of texts"
            )
        held = list(constraints)
        wrong = [type(one).__name__ for one in held if not isinstance(one, str)]
        if wrong:
            raise DialectError(f"`constraints` has a `{wrong[0]}`: give a list of texts")
        super().setup_game(goal, held)

    def check(self, truth: Truth | str, commit: bool = False) -> CheckResult:
        """What is known of a claim, by its words or as the graph has it."""
        if not isinstance(truth, Truth | str):
            raise DialectError(f"`truth` is a `{type(truth).__name__}`: give the words of a claim")
        if isinstance(truth, str):
            truth = self.pcg.add(Truth, text=truth) if commit else Truth(id="", text=truth)
        return super().check(truth, commit)

    @property
    def strategic_advisor(self) -> StrategicAdvisor:
        """Who looks at this game and says what to tell the player."""
        return StrategicAdvisor(self)


class TutorEnvelope(envelope.TutorEnvelope):
    """A Tutor with optional layers round it. It is `stanchion.tutor`'s own, and writes a manifest
    of every run.

    The layers are given one by one, or together as `config`: an `EnvelopeConfig`, or a dataclass
    with its fields. Without them they are those of the policy of `run`, if that has any.
    `policy_bundle_path` is read here, and checked for the game, the law and the `model` by its
    name. Raises `DialectError`.
    """

    def __init__(
        self,
        base_tutor: TutorV1 | TutorV2,
        config: Any = None,
        *,
        model: str = "",
        run: Any = None,
        **layers: Any,
    ) -> None:
        if not isinstance(base_tutor, TutorV1 | TutorV2):
            raise DialectError(f"`base_tutor` is a `{type(base_tutor).__name__}`: give a `Tutor`")
        if not isinstance(model, str):
            raise DialectError(f"`model` is a `{type(model).__name__}`: give the name of the model")
        if run is not None and not callable(getattr(run, "repair", None)):
            raise DialectError(
                f"`run` is a `{type(run).__name__}`: give a run of a shield, as `shield.run()` "
                f"makes it"
            )
        if config is not None and layers:
            raise DialectError(
                f"`config` is given, and `{next(iter(layers))}` beside it: write one or the other"
            )
        try:
            wanted = _config(config, layers, run)
            use = Use(
                game=base_tutor.game_id,
                model=model,
                law="1" if isinstance(base_tutor, TutorV1) else "2",
            )
            chosen = bundle_for(wanted, use, "stop")
            super().__init__(base_tutor, played_by(wanted, chosen), chosen.bundle)
        except (EnvelopeError, BundleRefused) as error:
            raise DialectError(str(error)) from None
        self._name, self._run, self._picked = model, run, chosen

    def run_episode(
        self,
        model: PromptModel,
        turns: int = TURNS,
        *,
        temperature: float | None = None,
        seed: int | None = None,
    ) -> Episode:
        """Play until the goal is reached or the turns are over, and write the manifest, unless
        `manifest_enabled` is
        off: to `manifest_path`, or to the folder of the state. With a `run` of a shield, its policy
        judges every call of the model. Raises `DialectError`, before anything is played, where it
        cannot be written."""
        if not callable(model):
            raise DialectError(
                "`model` cannot be called: give a function of a prompt, a temperature and a seed"
            )
        if seed is not None and (type(seed) is not int or not 0 <= seed < SEEDS):
            raise DialectError(
                f"`seed` is `{seed!r:.80}`: write a whole number from 0 to {SEEDS - 1}"
            )
        try:
            return play(
                self._run,
                self,
                model,
                turns,
                name=self._name,
                temperature=temperature,
                seed=seed,
                chosen=self._picked,
            )
        except (EnvelopeError, ManifestError) as error:
            raise DialectError(str(error)) from None


def _config(config: Any, layers: Mapping[str, Any], run: Any) -> EnvelopeConfig:
    if isinstance(config, EnvelopeConfig):
        return config
    if config is None:
        said = None if run is None or layers else run.desk.shield.policy.file.envelope
        return config_of(layers if said is None else said)
    if not dataclasses.is_dataclass(config) or isinstance(config, type):
        raise DialectError(f"`config` is a `{type(config).__name__}`: give an `EnvelopeConfig`")
    return config_of({one.name: getattr(config, one.name) for one in dataclasses.fields(config)})
