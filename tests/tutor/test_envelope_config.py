"""The settings of the envelope: as they are published, and what is refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from stanchion.tutor.envelope.config import EnvelopeConfig, EnvelopeError

PUBLISHED = {
    "layer1_schema": "off",
    "layer2_repair": "off",
    "repair_max_attempts": 0,
    "repair_trigger_verdicts": ("ILL_TYPED", "UNDECIDABLE"),
    "repair_temperature": 0.0,
    "repair_seed": None,
    "layer3_policy": "off",
    "policy_bundle_path": None,
    "manifest_enabled": True,
    "manifest_path": None,
    "deterministic_mode": True,
}


def test_fields_defaults_and_order_are_as_published() -> None:
    assert list(msgspec.structs.asdict(EnvelopeConfig()).items()) == list(PUBLISHED.items())


def test_what_is_on_is_derived_and_cannot_be_set() -> None:
    off, on = EnvelopeConfig(), EnvelopeConfig(layer2_repair="bestofn", layer3_policy="bundle")
    assert (off.repair_enabled, off.policy_enabled) == (False, False)
    assert (on.repair_enabled, on.policy_enabled) == (True, True)
    with pytest.raises(AttributeError):
        on.repair_enabled = False  # type: ignore[misc]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("layer1_schema", "loose"),
        ("layer1_schema", None),
        ("layer1_schema", ["off"]),
        ("layer2_repair", True),
        ("layer3_policy", "on"),
        ("repair_max_attempts", -1),
        ("repair_max_attempts", True),
        ("repair_max_attempts", 1.0),
        ("repair_max_attempts", 10**9),
        ("repair_trigger_verdicts", "ILL_TYPED"),
        ("repair_trigger_verdicts", ("ill-typed",)),
        ("repair_trigger_verdicts", (1,)),
        ("repair_trigger_verdicts", ("LEGAL",)),
        ("repair_temperature", 0.3),
        ("repair_temperature", -0.0 - 1),
        ("repair_temperature", float("nan")),
        ("repair_temperature", "0"),
        ("repair_temperature", False),
        ("repair_seed", "1"),
        ("repair_seed", -1),
        ("policy_bundle_path", ""),
        ("policy_bundle_path", 3),
        ("manifest_path", b"x"),
        ("manifest_enabled", 1),
        ("deterministic_mode", None),
    ],
)
def test_a_bad_value_is_refused_by_the_name_of_its_field(field: str, value: Any) -> None:
    with pytest.raises(EnvelopeError, match=f"`{field}`"):
        EnvelopeConfig(**{field: value})


def test_without_deterministic_mode_there_are_other_temperatures() -> None:
    assert (
        EnvelopeConfig(repair_temperature=0.7, deterministic_mode=False).repair_temperature == 0.7
    )
    with pytest.raises(EnvelopeError):
        EnvelopeConfig(repair_temperature=float("inf"), deterministic_mode=False)
