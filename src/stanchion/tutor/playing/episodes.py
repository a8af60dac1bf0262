"""Playing an episode in a run: every call of the model is judged, charged and recorded like any
other, and what the episode leaves is written down."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import msgspec

from stanchion.runtime.errors import Refused
from stanchion.tutor.bundles.canonical import digest
from stanchion.tutor.bundles.file import Bundle
from stanchion.tutor.envelope.envelope import (
    TURNS,
    Came,
    Episode,
    Halted,
    ModelQuestion,
    NoMoreReplies,
    Playing,
    PromptModel,
    TutorEnvelope,
    WithheldReply,
    is_tunable,
    play_by,
    raised_by,
)
from stanchion.tutor.envelope.laws import goal_of, law_of
from stanchion.tutor.envelope.repair import Checked, NoMore
from stanchion.tutor.envelope.trace import States
from stanchion.tutor.graph import Constraint
from stanchion.tutor.law.v1 import CUSTOM, TutorV1
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.manifests.manifest import Benchmark, Model
from stanchion.tutor.playing.bundle_files import ChosenBundle
from stanchion.tutor.playing.games import load_rules
from stanchion.tutor.playing.manifests import ManifestWriter
from stanchion.tutor.playing.recordings import (
    GameLine,
    Playback,
    RecordedExecutor,
    RecordedRunner,
    Recorder,
    referee,
)


class EpisodeKeeper:
    """Takes down what commands show while an episode is played, and writes what the episode leaves;
    without a writer neither."""

    def __init__(
        self, tutor: TutorV1 | TutorV2, writer: ManifestWriter | None = None, taped: bool = False
    ) -> None:
        self._tutor, self._writer = tutor, writer
        self._tape = Recorder() if taped else None

    @contextmanager
    def taping(self) -> Iterator[None]:
        """Has the referee run its commands so that they are taken down."""
        if self._tape is None:
            yield
            return
        tutor: Any = self._tutor
        name = "executor" if isinstance(tutor, TutorV1) else "runner"
        own, taped = getattr(tutor, name), {"executor": RecordedExecutor, "runner": RecordedRunner}
        setattr(tutor, name, taped[name](own, self._tape))
        try:
            yield
        finally:
            setattr(tutor, name, own)

    def finish(self, episode: Episode) -> None:
        """Write what the episode leaves."""
        if self._tape is not None:
            self._tape.episode(episode)
        if self._writer is not None:
            self._writer.finish(episode, self._tape)


def keeper(
    run: Any, envelope: TutorEnvelope, turns: int, asked: Model, chosen: ChosenBundle | None = None
) -> EpisodeKeeper:
    """Who keeps what an episode leaves. A game is recorded if it can be begun again from what is
    known of it: one that was under way already, or under the first law has other rules or an author
    of rules, cannot. Raises `ManifestError`, before anything has run, where nothing could be
    written."""
    config, tutor = envelope.config, envelope.base_tutor
    if not config.manifest_enabled:
        return EpisodeKeeper(tutor)
    law = law_of(tutor)
    game = {"name": tutor.game_id, "goal": goal_of(law), "claims": _claims(tutor)}
    state = States(law.graph, law.state).hash()
    played = _played(envelope, game, turns)
    files = Benchmark(
        benchmark_files_hash=digest({"game": game, "state": state}), benchmark_ids=(tutor.game_id,)
    )
    by = ChosenBundle(envelope.bundle) if chosen is None else chosen
    writer = ManifestWriter(
        played, tuned(asked, envelope.bundle), files, config.manifest_path, by, run
    )
    return EpisodeKeeper(tutor, writer, taped=_begins_so(played, tutor, state))


def _played(envelope: TutorEnvelope, game: dict[str, Any], turns: int) -> GameLine:
    tutor = envelope.base_tutor
    played = GameLine(
        law=law_name(tutor),
        game=game,
        config=msgspec.to_builtins(envelope.config),
        bundle=None if envelope.bundle is None else msgspec.to_builtins(envelope.bundle),
        turns=turns,
    )
    if isinstance(tutor, TutorV1):
        own = tuple(one.text for one in tutor.pcg.of(Constraint) if one.kind == CUSTOM)
        return msgspec.structs.replace(played, constraints=own)
    rules = tuple(msgspec.to_builtins(one) for one in tutor.rules)
    return msgspec.structs.replace(
        played, game={**game, "writes": tutor.writes}, rules=rules, wip=tutor.wip
    )


def _begins_so(played: GameLine, tutor: TutorV1 | TutorV2, state: str) -> bool:
    """Whether the game that would be begun by what is known of one is that game as it stands."""
    if isinstance(tutor, TutorV1) and (
        tutor.author is not None or tutor.rules.rules(tutor.game_id) != load_rules().rules()
    ):
        return False
    fresh = law_of(referee(played, Playback(())))
    return States(fresh.graph, fresh.state).hash() == state


def law_name(tutor: TutorV1 | TutorV2) -> str:
    """Which law a referee judges by."""
    return "1" if isinstance(tutor, TutorV1) else "2"


def tuned(asked: Model, bundle: Bundle | None) -> Model:
    """How the model is asked; where there is a bundle, as that has it."""
    if bundle is None:
        return asked
    params = bundle.model_params
    return msgspec.structs.replace(
        asked, temperature=params.temperature, top_p=params.top_p, max_tokens=params.max_tokens
    )


def _claims(tutor: TutorV1 | TutorV2) -> list[Any]:
    return [] if isinstance(tutor, TutorV1) else [msgspec.to_builtins(one) for one in tutor.goal]


GOOD: Final = Checked()
APART: Final = "\n\n"


class Driven(NamedTuple):
    """An episode that was played, and what was raised in it, where something was."""

    episode: Episode
    raised: Exception | None = None

    def whole(self) -> Episode:
        """The episode; raises what was raised in it. Where the run was ended, that has the episode
        as what was produced until there."""
        if isinstance(self.raised, Refused):
            self.raised.partial = (*self.raised.partial, self.episode)
        if self.raised is not None:
            raise self.raised
        return self.episode


def play(
    run: Any,
    envelope: TutorEnvelope,
    model: PromptModel,
    turns: int = TURNS,
    *,
    name: str = "",
    temperature: float | None = None,
    seed: int | None = None,
    chosen: ChosenBundle | None = None,
) -> Episode:
    """Play as `envelope.run_episode` does, the model asked through a run, if there is one; `name`
    is its name, for prices and the trail.

    Nobody but the envelope has the model asked again. A reply that a guard refuses is no move;
    where a call is refused, as by a budget, the episode ends. Unless the envelope has
    `manifest_enabled` off, a manifest, the trace and a recording are written; `chosen` says in it
    where the bundle is from. Raises `ManifestError` where that cannot be, `Refused` where the run
    ends, and what the model or a command raises: what was played until then is written first, and
    is the last of what `Refused` has as `partial`.
    """
    kept = keeper(run, envelope, turns, _asked_as(name, temperature, seed), chosen)
    with kept.taping():
        driven = drive(run, envelope, model, turns, name=name, temperature=temperature, seed=seed)
    kept.finish(driven.episode)
    return driven.whole()


async def aplay(
    run: Any,
    envelope: TutorEnvelope,
    model: Callable[..., Any],
    turns: int = TURNS,
    *,
    name: str = "",
    temperature: float | None = None,
    seed: int | None = None,
    chosen: ChosenBundle | None = None,
) -> Episode:
    """`play` for async code; the model may be async. Moves are made in a thread, for commands take
    their time, and so are the files written."""
    asked = _asked_as(name, temperature, seed)
    kept = await asyncio.to_thread(keeper, run, envelope, turns, asked, chosen)
    with kept.taping():
        driven = await _adrive(
            run, envelope, model, turns, name=name, temperature=temperature, seed=seed
        )
    await asyncio.to_thread(kept.finish, driven.episode)
    return driven.whole()


def drive(
    run: Any,
    envelope: TutorEnvelope,
    model: PromptModel,
    turns: int,
    *,
    name: str = "",
    temperature: float | None = None,
    seed: int | None = None,
) -> Driven:
    """`play` for a caller who writes the manifest, or none: what is raised is given, and not
    raised. Without a run the model is asked as it is."""
    if run is None:
        return Driven(*envelope.play_out(model, turns, temperature=temperature, seed=seed))
    playing, ask = _begun(envelope, model, turns, temperature, seed)
    raised: list[Exception] = []

    def answer(asked: ModelQuestion) -> Came:
        try:
            came: Came = run.repair(ask, _taken, 0, **_how(asked, name)).reply
        except Exception as error:  # noqa: BLE001 - what was played until then is kept, and it is raised afterwards
            came, after = _instead(error)
            raised.extend([] if after is None else [after])
        return came

    episode = play_by(playing, answer)
    return Driven(episode, raised[0] if raised else episode.raised)


async def _adrive(
    run: Any,
    envelope: TutorEnvelope,
    model: Callable[..., Any],
    turns: int,
    *,
    name: str,
    temperature: float | None,
    seed: int | None,
) -> Driven:
    playing, ask = _begun(envelope, model, turns, temperature, seed)
    raised: Exception | None = None
    asked, episode = _sent(playing, None)
    while asked is not None:
        try:
            came: Came = (await run.arepair(ask, _taken, 0, **_how(asked, name))).reply
        except Exception as error:  # noqa: BLE001 - what was played until then is kept, and it is raised afterwards
            came, raised = _instead(error)
        asked, episode = await asyncio.to_thread(_sent, playing, came)
    assert episode is not None  # as above
    return Driven(episode, episode.raised if raised is None else raised)


def _asked_as(name: str, temperature: float | None, seed: int | None) -> Model:
    heat = 0.0 if temperature is None else temperature
    return Model(temperature=heat, model_id=name if name else None, seed=seed)


def _begun(
    envelope: TutorEnvelope, model: Any, turns: int, temperature: float | None, seed: int | None
) -> tuple[Playing, Callable[..., Any]]:
    bundle = envelope.bundle
    tuned = model.tuned(bundle.model_params) if bundle is not None and is_tunable(model) else model

    def ask(messages: list[Any], temperature: float, seed: int | None) -> Any:
        return tuned(APART.join(str(one["content"]) for one in messages), temperature, seed)

    return envelope.episode(turns, temperature=temperature, seed=seed), ask


def _sent(playing: Playing, came: Came | None) -> tuple[ModelQuestion | None, Episode | None]:
    """What is to be asked next, or the episode where it has ended."""
    try:
        return (next(playing) if came is None else playing.send(came)), None
    except StopIteration as ended:
        return None, ended.value


def _how(asked: ModelQuestion, name: str) -> dict[str, Any]:
    return {
        "messages": [{"role": "user", "content": asked.prompt}],
        "model": name,
        "params": {"temperature": asked.temperature, "seed": asked.seed},
        "final": False,
    }


def _taken(_reply: Any) -> Checked:
    """Replies are compared by the envelope."""
    return GOOD


def _instead(error: Exception) -> tuple[Came, Exception | None]:
    """What an episode is told in place of a reply, and what is raised once it has ended."""
    if isinstance(error, NoMore):
        return NoMoreReplies(str(error)), None
    if not isinstance(error, Refused):
        return raised_by("the model", error), error
    if error.ended:
        return Halted(str(error), error.happened), error
    advice = error.decision.advice
    return (
        WithheldReply(advice if advice else str(error))
        if error.happened
        else NoMoreReplies(str(error))
    ), None
