"""What of the envelope is on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final, Literal

import msgspec

from stanchion.readings.claims.claim import CheckVerdict
from stanchion.tutor.law.verdicts import MoveVerdict

SCHEMA: Final = ("off", "strict", "lenient")
REPAIR: Final = ("off", "bestofn")
POLICY: Final = ("off", "bundle")
TRIGGERS: Final = frozenset(
    {*(one.name for one in CheckVerdict), MoveVerdict.ILLEGAL.name, MoveVerdict.BLOCKED.name}
)
MOST: Final = 100
"""How many retries a turn can be given."""
SEEDS: Final = 1 << 63
SWITCHES: Final[Mapping[str, tuple[str, str]]] = {
    "repair_enabled": ("layer2_repair", "bestofn"),
    "policy_enabled": ("layer3_policy", "bundle"),
}
"""Other names of the switches of layers 2 and 3: the field that is meant, and what `True` says."""


class EnvelopeError(ValueError):
    """A setting of the envelope that cannot be; the message names its field."""

    def __init__(self, message: str) -> None:
        super().__init__(message)


class EnvelopeConfig(msgspec.Struct, frozen=True):
    """The settings of a `TutorEnvelope`; as they stand, every layer is off. Raises
    `EnvelopeError`."""

    layer1_schema: Literal["off", "strict", "lenient"] = "off"

    layer2_repair: Literal["off", "bestofn"] = "off"
    repair_max_attempts: int = 0
    """How often the model is asked again in a turn, at most."""
    repair_trigger_verdicts: tuple[str, ...] = ("ILL_TYPED", "UNDECIDABLE")
    """Names of verdicts on a claim or a move that have the model asked again."""
    repair_temperature: float = 0.0
    repair_seed: int | None = None

    layer3_policy: Literal["off", "bundle"] = "off"
    policy_bundle_path: str | None = None

    manifest_enabled: bool = True
    manifest_path: str | None = None

    deterministic_mode: bool = True
    """Whether a temperature other than 0.0 is refused, wherever it comes from."""

    @property
    def repair_enabled(self) -> bool:
        """Whether the model may be asked again."""
        return self.layer2_repair != "off"

    @property
    def policy_enabled(self) -> bool:
        """Whether a bundle is used."""
        return self.layer3_policy != "off"

    def __post_init__(self) -> None:
        for field, known in (
            ("layer1_schema", SCHEMA),
            ("layer2_repair", REPAIR),
            ("layer3_policy", POLICY),
        ):
            _one_of(field, getattr(self, field), known)
        _whole("repair_max_attempts", self.repair_max_attempts, 0, MOST)
        _triggers(self.repair_trigger_verdicts)
        check_temperature("repair_temperature", self.repair_temperature, self.deterministic_mode)
        if self.repair_seed is not None:
            _whole("repair_seed", self.repair_seed, 0, SEEDS - 1)
        for field in ("policy_bundle_path", "manifest_path"):
            value = getattr(self, field)
            if value is not None and (not isinstance(value, str) or not value):
                raise EnvelopeError(f"`{field}` is `{value!r}`: write a path, or leave it away")
        for field in ("manifest_enabled", "deterministic_mode"):
            if not isinstance(getattr(self, field), bool):
                raise EnvelopeError(
                    f"`{field}` is `{getattr(self, field)!r}`: write `True` or `False`"
                )


def check_temperature(field: str, value: Any, deterministic: bool) -> None:
    """Refuse a temperature that is none, or that makes what should be repeatable depend on
    chance."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not math.isfinite(value)
        or value < 0
    ):
        raise EnvelopeError(f"`{field}` is `{value!r}`: write a finite number that is not negative")
    if deterministic and value != 0:
        raise EnvelopeError(
            f"`{field}` is `{value}`: in `deterministic_mode` it is 0.0; switch that off for "
            f"another"
        )


def _one_of(field: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise EnvelopeError(
            f"`{field}` is `{value!r}`: write {', '.join(f'`{one}`' for one in known)}"
        )


def _whole(field: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise EnvelopeError(
            f"`{field}` is `{value!r}`: write a whole number from {least} to {most}"
        )


def _triggers(value: Any) -> None:
    if not isinstance(value, tuple | list) or not all(isinstance(one, str) for one in value):
        raise EnvelopeError(f"`repair_trigger_verdicts` is `{value!r}`: write a tuple of names")
    for one in value:
        if one not in TRIGGERS:
            known = ", ".join(f"`{name}`" for name in sorted(TRIGGERS))
            raise EnvelopeError(
                f"`repair_trigger_verdicts` has `{one}`, which is no verdict: write {known}"
            )


def config_of(given: Mapping[str, Any]) -> EnvelopeConfig:
    """The settings of these names, which may be switches, too. Raises `EnvelopeError`."""
    known = EnvelopeConfig.__struct_fields__
    made: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in given.items()
        if name in known
    }
    for name in given:
        if name in SWITCHES:
            made |= _switched(name, given)
        elif name not in known:
            near = get_close_matches(name, (*known, *SWITCHES), 1)
            raise EnvelopeError(
                f"`{name}` is no setting of the envelope: write "
                + (f"`{near[0]}`" if near else f"one of {', '.join(known)}")
            )
    return EnvelopeConfig(**made)


def _switched(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The layer that a switch turns on or off; a layer that is named beside it has to agree."""
    field, on = SWITCHES[name]
    if not isinstance(given[name], bool):
        raise EnvelopeError(f"`{name}` is `{given[name]!r}`: write `True` or `False`")
    meant = on if given[name] else "off"
    if given.get(field, meant) != meant:
        raise EnvelopeError(
            f"`{name}` is `{given[name]}`, and `{field}` is `{given[field]}`: write one of them"
        )
    return {field: meant}
