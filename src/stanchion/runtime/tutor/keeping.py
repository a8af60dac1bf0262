"""Who writes the manifest of an episode that is played in a run, and what it says of a game that came from no file."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.runtime.tutor.bundle_files import Chosen
from stanchion.runtime.tutor.manifests import ManifestWriter
from stanchion.runtime.tutor.recordings import Played
from stanchion.tutor.bundles.bundle import Bundle
from stanchion.tutor.bundles.canonical import digest
from stanchion.tutor.envelope.envelope import TutorEnvelope
from stanchion.tutor.envelope.laws import goal_of, law_of
from stanchion.tutor.envelope.states import States
from stanchion.tutor.law.v1 import TutorV1
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.manifests.manifest import Benchmark, Model


def keeper(
    run: Any, envelope: TutorEnvelope, turns: int, asked: Model, chosen: Chosen | None = None
) -> ManifestWriter | None:
    """Who writes the manifest of an episode; `None` where the settings of the envelope want none. Raises
    `ManifestError`, before anything has run, where it could not be written."""
    config = envelope.config
    if not config.manifest_enabled:
        return None
    tutor, law = envelope.base_tutor, law_of(envelope.base_tutor)
    game = {"name": tutor.game_id, "goal": goal_of(law), "claims": _claims(tutor)}
    begins = digest({"game": game, "state": States(law.graph, law.state).hash()})
    played = Played(law=law_name(tutor), game=game, config=msgspec.to_builtins(config), turns=turns)
    files = Benchmark(benchmark_files_hash=begins, benchmark_ids=(tutor.game_id,))
    by = Chosen(envelope.bundle) if chosen is None else chosen
    return ManifestWriter(played, tuned(asked, envelope.bundle), files, config.manifest_path, by, run)


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
