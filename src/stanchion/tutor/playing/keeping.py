"""Who writes the manifest and the recording of an episode that is played in a run, and what they
say of a game that came from no file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from stanchion.tutor.bundles.bundle import Bundle
from stanchion.tutor.bundles.canonical import digest
from stanchion.tutor.envelope.envelope import Episode, TutorEnvelope
from stanchion.tutor.envelope.laws import goal_of, law_of
from stanchion.tutor.envelope.states import States
from stanchion.tutor.graph.nodes import Constraint
from stanchion.tutor.law.v1 import CUSTOM, TutorV1
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.manifests.manifest import Benchmark, Model
from stanchion.tutor.playing.bundle_files import Chosen
from stanchion.tutor.playing.games import load_rules
from stanchion.tutor.playing.manifests import ManifestWriter
from stanchion.tutor.playing.recordings import (
    Playback,
    Played,
    RecordedExecutor,
    RecordedRunner,
    Recorder,
)
from stanchion.tutor.playing.referees import referee


class Kept:
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
        tutor, tape = self._tutor, self._tape
        if tape is None:
            yield
        elif isinstance(tutor, TutorV1):
            executor, tutor.executor = tutor.executor, RecordedExecutor(tutor.executor, tape)
            try:
                yield
            finally:
                tutor.executor = executor
        else:
            runner, tutor.runner = tutor.runner, RecordedRunner(tutor.runner, tape)
            try:
                yield
            finally:
                tutor.runner = runner

    def finish(self, episode: Episode) -> None:
        """Write what the episode leaves."""
        if self._tape is not None:
            self._tape.episode(episode)
        if self._writer is not None:
            self._writer.finish(episode, self._tape)


def keeper(
    run: Any, envelope: TutorEnvelope, turns: int, asked: Model, chosen: Chosen | None = None
) -> Kept:
    """Who keeps what an episode leaves. A game is recorded if it can be begun again from what is
    known of it: one that was under way already, or under the first law has other rules or an author
    of rules, cannot. Raises `ManifestError`, before anything has run, where nothing could be
    written."""
    config, tutor = envelope.config, envelope.base_tutor
    if not config.manifest_enabled:
        return Kept(tutor)
    law = law_of(tutor)
    game = {"name": tutor.game_id, "goal": goal_of(law), "claims": _claims(tutor)}
    state = States(law.graph, law.state).hash()
    played = _played(envelope, game, turns)
    files = Benchmark(
        benchmark_files_hash=digest({"game": game, "state": state}), benchmark_ids=(tutor.game_id,)
    )
    by = Chosen(envelope.bundle) if chosen is None else chosen
    writer = ManifestWriter(
        played, tuned(asked, envelope.bundle), files, config.manifest_path, by, run
    )
    return Kept(tutor, writer, taped=_begins_so(played, tutor, state))


def _played(envelope: TutorEnvelope, game: dict[str, Any], turns: int) -> Played:
    tutor = envelope.base_tutor
    played = Played(
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


def _begins_so(played: Played, tutor: TutorV1 | TutorV2, state: str) -> bool:
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
