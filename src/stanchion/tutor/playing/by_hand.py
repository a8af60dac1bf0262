"""A game that somebody plays move by move, without any envelope, and that leaves a manifest all the
same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from stanchion.tutor.envelope.config import EnvelopeConfig
from stanchion.tutor.law.v2 import Runner
from stanchion.tutor.manifests.manifest import Benchmark, Model
from stanchion.tutor.playing.games import Game
from stanchion.tutor.playing.manifests import ManifestWriter
from stanchion.tutor.playing.recorded import enveloped, script
from stanchion.tutor.playing.recordings import Playback, Played, RecordedRunner, Recorder
from stanchion.tutor.playing.surroundings import game_hash
from stanchion.tutor.rules.typed import TypedRule

PLAYER = "player"
"""Who plays by hand, in the place of a model's name."""


class ByHand:
    """Takes down the commands of a game while it is played, and writes its manifest afterwards.
    Raises `ManifestError` where it can be seen before the game that none can be written."""

    def __init__(
        self, game: Game, rules: Sequence[TypedRule], root: str | Path, path: str | Path
    ) -> None:
        config = EnvelopeConfig(manifest_path=str(path))
        plain: list[Any] = [msgspec.to_builtins(one) for one in rules]
        self._played = Played(
            law="2",
            game=msgspec.to_builtins(game),
            rules=tuple(plain),
            config=msgspec.to_builtins(config),
            turns=game.turns,
        )
        self._tape = Recorder()
        files = game_hash(self._played.game, self._played.rules, root)
        benchmark = Benchmark(benchmark_files_hash=files, benchmark_ids=(game.name,))
        self._writer = ManifestWriter(
            self._played, Model(temperature=0.0, model_id=PLAYER), benchmark, path
        )

    def runner(self, runner: Runner) -> RecordedRunner:
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
