"""Making an envelope by its settings: the bundle that they name is read, and has to be for this
game, model and law."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from stanchion.tutor.bundles.scope import Use
from stanchion.tutor.envelope.config import EnvelopeConfig, EnvelopeError
from stanchion.tutor.envelope.envelope import TutorEnvelope
from stanchion.tutor.law.v1 import TutorV1
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.playing.bundle_files import ChosenBundle, Refused, choose_bundle
from stanchion.tutor.playing.episodes import law_name


class Enveloped(NamedTuple):
    """An envelope, and the bundle that it plays by, or why it plays by none: `play` takes both."""

    envelope: TutorEnvelope
    chosen: ChosenBundle


def make_envelope(
    base_tutor: TutorV1 | TutorV2,
    config: EnvelopeConfig,
    model: str = "",
    refused: Refused = "stop",
) -> Enveloped:
    """The envelope of some settings round a referee; `model` is the name of the model that will
    play.

    With layer 3 on, the bundle of `policy_bundle_path` is read. One that is refused, as for another
    game, model or law, raises `BundleRefused`; where `refused` is `baseline`, the envelope goes on
    without one, and `chosen` says why. Raises `EnvelopeError` for settings that do not fit.
    """
    use = Use(game=base_tutor.game_id, model=model, law=law_name(base_tutor))
    chosen = bundle_for(config, use, refused)
    return Enveloped(TutorEnvelope(base_tutor, played_by(config, chosen), chosen.bundle), chosen)


def bundle_for(config: EnvelopeConfig, use: Use, refused: Refused) -> ChosenBundle:
    """The bundle that some settings name, for one use; none where layer 3 is off."""
    if not config.policy_enabled:
        return ChosenBundle()
    if config.policy_bundle_path is None:
        raise EnvelopeError(
            "`layer3_policy` is `bundle`, and `policy_bundle_path` names none: name its file"
        )
    wanted = msgspec.structs.replace(use, deterministic=config.deterministic_mode)
    return choose_bundle(config.policy_bundle_path, wanted, refused)


def played_by(config: EnvelopeConfig, chosen: ChosenBundle) -> EnvelopeConfig:
    """The settings that hold once a bundle was chosen: without one, layer 3 is off."""
    return (
        config
        if chosen.bundle is not None
        else msgspec.structs.replace(config, layer3_policy="off")
    )
