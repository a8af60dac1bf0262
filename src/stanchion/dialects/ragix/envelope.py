"""`TutorEnvelope` as the document constructs it: layers by keywords or together, and a manifest of
every run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

from stanchion.dialects.errors import DialectError
from stanchion.tutor.bundles.file import BundleRefused
from stanchion.tutor.bundles.scope import Use
from stanchion.tutor.envelope import envelope
from stanchion.tutor.envelope.config import SEEDS, EnvelopeConfig, EnvelopeError
from stanchion.tutor.envelope.envelope import TURNS, Episode, PromptModel
from stanchion.tutor.law.v1 import TutorV1
from stanchion.tutor.law.v2 import TutorV2
from stanchion.tutor.playing.envelopes import bundle_for, played_by
from stanchion.tutor.playing.episodes import play

SWITCHES: Final[Mapping[str, tuple[str, str]]] = {
    "repair_enabled": ("layer2_repair", "bestofn"),
    "policy_enabled": ("layer3_policy", "bundle"),
}
"""What the document's tables call the switches of layers 2 and 3: the field that is meant, and what
`True` says."""


class TutorEnvelope(envelope.TutorEnvelope):
    """A Tutor with optional layers round it. It is `stanchion.tutor`'s own, and writes a manifest
    of every run.

    The layers are given one by one, or together as `config`: an `EnvelopeConfig`, or a dataclass
    with its fields. `policy_bundle_path` is read here, and checked for the game, the law and the
    `model` by its name. Raises `DialectError`.
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
            wanted = _config(config, layers)
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
        judges every call of the model. Raises `ManifestError`, before anything is played, where it
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
        except EnvelopeError as error:
            raise DialectError(str(error)) from None


def _config(config: Any, layers: Mapping[str, Any]) -> EnvelopeConfig:
    if isinstance(config, EnvelopeConfig):
        return config
    if config is not None and (not dataclasses.is_dataclass(config) or isinstance(config, type)):
        raise DialectError(f"`config` is a `{type(config).__name__}`: give an `EnvelopeConfig`")
    given = (
        {one.name: getattr(config, one.name) for one in dataclasses.fields(config)}
        if config is not None
        else layers
    )
    known = EnvelopeConfig.__struct_fields__
    made = {name: value for name, value in given.items() if name in known}
    for name in given:
        if name in SWITCHES:
            made |= _switched(name, given)
        elif name not in known:
            near = get_close_matches(name, (*known, *SWITCHES), 1)
            raise DialectError(
                f"`{name}` is no setting of the envelope: write "
                + (f"`{near[0]}`" if near else f"one of {', '.join(known)}")
            )
    return EnvelopeConfig(**made)


def _switched(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The layer that a switch turns on or off; a layer that is named beside it has to agree."""
    field, on = SWITCHES[name]
    if not isinstance(given[name], bool):
        raise DialectError(f"`{name}` is `{given[name]!r}`: write `True` or `False`")
    meant = on if given[name] else "off"
    if given.get(field, meant) != meant:
        raise DialectError(
            f"`{name}` is `{given[name]}`, and `{field}` is `{given[field]}`: write one of them"
        )
    return {field: meant}
