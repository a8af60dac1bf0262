"""Playing a game with a model so that it can be played again: through the envelope, behind walls,
with a manifest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from stanchion import typed
from stanchion.runtime.sandbox.limits import Limits
from stanchion.runtime.sandbox.sandbox import Sandbox
from stanchion.tutor.bundles.file import Bundle
from stanchion.tutor.bundles.scope import Use
from stanchion.tutor.envelope.config import EnvelopeConfig
from stanchion.tutor.envelope.envelope import Episode, PromptModel, TutorEnvelope
from stanchion.tutor.envelope.repair import NoMore
from stanchion.tutor.law.v2 import CommandRunner
from stanchion.tutor.manifests.manifest import Benchmark, Model
from stanchion.tutor.playing.bundle_files import ChosenBundle, Refused
from stanchion.tutor.playing.envelopes import bundle_for, played_by
from stanchion.tutor.playing.episodes import drive, tuned
from stanchion.tutor.playing.games import Game, load_game, rules_of
from stanchion.tutor.playing.manifests import LAWS, ManifestWriter, game_hash
from stanchion.tutor.playing.recordings import (
    GameLine,
    Playback,
    RecordedExecutor,
    RecordedRunner,
    Recorder,
    line_of,
    referee,
)
from stanchion.tutor.playing.runners import hands_of
from stanchion.tutor.rules.typed import TypedRule


class PlayedGame(msgspec.Struct, frozen=True):
    """A game that was played, by which bundle, and the manifest that it left, if the settings ask
    for one."""

    episode: Episode
    chosen: ChosenBundle
    manifest: dict[str, Any] | None = None
    path: Path | None = None


def play_recorded(
    file: str | Path,
    model: PromptModel,
    config: EnvelopeConfig,
    asked: Model,
    *,
    law: str = "2",
    root: str | Path | None = None,
    turns: int | None = None,
    refused: Refused = "stop",
    run: Any = None,
    user: int | None = None,
) -> PlayedGame:
    """Play the game of a file. `asked` says who the model is and how it is asked; `refused` what
    becomes of the run where its bundle is refused; `run` is the run of a shield: it judges and
    charges the calls of the model and the commands, and its trail knows the manifest.

    Raises `GameError`, `SandboxError`, `BundleRefused`, `EnvelopeError` and `ManifestError`: but
    for the last, nothing has run. Raises `Refused` where the run ends: the manifest then says so,
    and what was played until then is the last of its `partial`. What the model or a command raises
    is raised as well, after the manifest is written.
    """
    if law not in LAWS:
        raise ValueError(f"`{law}` is no law: there are {', '.join(LAWS)}")
    game = load_game(file)
    folder = Path(file).parent if root is None else Path(root)
    chosen = bundle_for(config, Use(game=game.name, model=asked.model_id or "", law=law), refused)
    played = line_of(
        game,
        rules_of(game, file),
        law,
        played_by(config, chosen),
        game.turns if turns is None else min(turns, game.turns),
        chosen.bundle,
    )
    asked = tuned(asked, chosen.bundle)
    files = Benchmark(
        benchmark_files_hash=game_hash(played.game, played.rules, folder),
        benchmark_ids=(game.name,),
    )
    tape = Recorder()
    with ExitStack() as stack:
        sandbox = stack.enter_context(Sandbox(folder, Limits(), user=user))
        writer = (
            ManifestWriter(played, asked, files, config.manifest_path, chosen, run)
            if config.manifest_enabled
            else None
        )
        hands: Any = hands_of(law, sandbox, game.programs, run)
        taped = RecordedExecutor if law == "1" else RecordedRunner
        driven = drive(
            run,
            enveloped(played, taped(hands, tape)),
            model,
            played.turns,
            name=asked.model_id or "",
            temperature=heat_of(played, asked),
            seed=asked.seed,
        )
    tape.episode(driven.episode)
    made = None if writer is None else writer.finish(driven.episode, tape)
    return PlayedGame(driven.whole(), chosen, made, None if writer is None else writer.path)


def script(replies: Iterable[str]) -> PromptModel:
    """A model that gives replies one after the other, until there are no more."""
    left = iter(replies)

    def said(_prompt: str, _temperature: float, _seed: int | None) -> str:
        for reply in left:
            return reply
        raise NoMore("there are no more replies")

    return said


def enveloped(played: GameLine, hands: Any) -> TutorEnvelope:
    """The envelope of what was played, or is to be, at the beginning of the game; `hands` run its
    commands."""
    config = typed.convert(played.config, EnvelopeConfig)
    bundle = None if played.bundle is None else typed.convert(played.bundle, Bundle)
    return TutorEnvelope(referee(played, hands), config, bundle)


def heat_of(played: GameLine, asked: Model) -> float | None:
    """The temperature to give an episode: a bundle has its own, and then none is given."""
    return None if played.bundle is not None else asked.temperature


PLAYER = "player"
"""Who plays by hand, in the place of a model's name."""


class ByHand:
    """Takes down the commands of a game while it is played, and writes its manifest afterwards.
    Raises `ManifestError` where it can be seen before the game that none can be written."""

    def __init__(
        self, game: Game, rules: Sequence[TypedRule], root: str | Path, path: str | Path
    ) -> None:
        config = EnvelopeConfig(manifest_path=str(path))
        self._played = line_of(game, rules, "2", config, game.turns)
        self._tape = Recorder()
        files = game_hash(self._played.game, self._played.rules, root)
        benchmark = Benchmark(benchmark_files_hash=files, benchmark_ids=(game.name,))
        self._writer = ManifestWriter(
            self._played, Model(temperature=0.0, model_id=PLAYER), benchmark, path
        )

    def runner(self, runner: CommandRunner) -> RecordedRunner:
        """What runs the commands, and takes down what they show."""
        return RecordedRunner(runner, self._tape)

    def finish(self, replies: Sequence[str]) -> dict[str, Any]:
        """Write what the game leaves, and give the manifest. The trace is that of the same replies,
        played through an envelope that changes nothing, with commands that show what they showed:
        nothing runs."""
        envelope = enveloped(self._played, Playback(self._tape.lines))
        episode = envelope.run_episode(script(replies), self._played.turns)
        self._tape.episode(episode)
        return self._writer.finish(episode, self._tape)
