"""Playing a game with a model so that it can be played again: through the envelope, behind walls,
with a manifest."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from stanchion import typed
from stanchion.runtime.sandbox.limits import Limits
from stanchion.runtime.sandbox.sandbox import Sandbox
from stanchion.tutor.bundles.bundle import Bundle
from stanchion.tutor.bundles.scope import Use
from stanchion.tutor.envelope.config import EnvelopeConfig
from stanchion.tutor.envelope.envelope import Episode, Model, TutorEnvelope
from stanchion.tutor.envelope.repair import NoMore
from stanchion.tutor.manifests.manifest import Benchmark, Model as ModelPart
from stanchion.tutor.playing.bundle_files import Chosen, Refused
from stanchion.tutor.playing.envelopes import bundle_for, played_by
from stanchion.tutor.playing.episodes import Driven, drive
from stanchion.tutor.playing.games import Game, load_game, rules_of
from stanchion.tutor.playing.keeping import tuned
from stanchion.tutor.playing.manifests import LAWS, ManifestWriter
from stanchion.tutor.playing.recordings import Played, RecordedExecutor, RecordedRunner, Recorder
from stanchion.tutor.playing.referees import referee
from stanchion.tutor.playing.runners import Confining, ShellExecutor
from stanchion.tutor.playing.surroundings import game_hash
from stanchion.tutor.rules.typed import TypedRule


class Left(msgspec.Struct, frozen=True):
    """A game that was played, by which bundle, and the manifest that it left, if the settings ask
    for one."""

    episode: Episode
    chosen: Chosen
    manifest: dict[str, Any] | None = None
    path: Path | None = None


def play_recorded(
    file: str | Path,
    model: Model,
    config: EnvelopeConfig,
    asked: ModelPart,
    *,
    law: str = "2",
    root: str | Path | None = None,
    turns: int | None = None,
    refused: Refused = "stop",
    run: Any = None,
    user: int | None = None,
) -> Left:
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
    played = _played(
        game,
        rules_of(game, file),
        law,
        config,
        chosen,
        game.turns if turns is None else min(turns, game.turns),
    )
    asked = tuned(asked, chosen.bundle)
    files = Benchmark(
        benchmark_files_hash=game_hash(played.game, played.rules, folder),
        benchmark_ids=(game.name,),
    )
    tape = Recorder()
    with ExitStack() as stack:
        sandbox = stack.enter_context(Sandbox(folder, Limits(), user=user))
        writer = _writer(played, asked, files, config, chosen, run)
        envelope = enveloped(played, _hands(law, sandbox, game, run, tape))
        driven = _driven(run, envelope, model, played, asked)
    tape.episode(driven.episode)
    made = None if writer is None else writer.finish(driven.episode, tape)
    return Left(driven.whole(), chosen, made, None if writer is None else writer.path)


def script(replies: Iterable[str]) -> Model:
    """A model that gives replies one after the other, until there are no more."""
    left = iter(replies)

    def said(_prompt: str, _temperature: float, _seed: int | None) -> str:
        for reply in left:
            return reply
        raise NoMore("there are no more replies")

    return said


def _driven(
    run: Any, envelope: TutorEnvelope, model: Model, played: Played, asked: ModelPart
) -> Driven:
    heat = heat_of(played, asked)
    return drive(
        run,
        envelope,
        model,
        played.turns,
        name=asked.model_id or "",
        temperature=heat,
        seed=asked.seed,
    )


def _played(
    game: Game,
    rules: tuple[TypedRule, ...],
    law: str,
    config: EnvelopeConfig,
    chosen: Chosen,
    turns: int,
) -> Played:
    return Played(
        law=law,
        game=msgspec.to_builtins(game),
        rules=tuple(msgspec.to_builtins(rules)),
        config=msgspec.to_builtins(played_by(config, chosen)),
        bundle=None if chosen.bundle is None else msgspec.to_builtins(chosen.bundle),
        turns=turns,
    )


def _writer(
    played: Played,
    asked: ModelPart,
    files: Benchmark,
    config: EnvelopeConfig,
    chosen: Chosen,
    run: Any,
) -> ManifestWriter | None:
    if not config.manifest_enabled:
        return None
    return ManifestWriter(played, asked, files, config.manifest_path, chosen, run)


def _hands(law: str, sandbox: Sandbox, game: Game, run: Any, tape: Recorder) -> Any:
    """What runs the commands, and takes down what they show."""
    if law == "1":
        return RecordedExecutor(ShellExecutor(sandbox=sandbox, run=run), tape)
    return RecordedRunner(Confining(sandbox, game.programs, run), tape)


def enveloped(played: Played, hands: Any) -> TutorEnvelope:
    """The envelope of what was played, or is to be, at the beginning of the game; `hands` run its
    commands."""
    config = typed.convert(played.config, EnvelopeConfig)
    bundle = None if played.bundle is None else typed.convert(played.bundle, Bundle)
    return TutorEnvelope(referee(played, hands), config, bundle)


def heat_of(played: Played, asked: ModelPart) -> float | None:
    """The temperature to give an episode: a bundle has its own, and then none is given."""
    return None if played.bundle is not None else asked.temperature
