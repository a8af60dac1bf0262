"""What a policy says of bypasses: the tools that may stop harm are named one by one, and destroy
nothing."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import PolicyError
from stanchion.testing import shield_for


def policy(**bypass: Any) -> dict[str, Any]:
    """A policy with tools of which some destroy."""
    tools = {"wipe": {"effect": "irreversible"}, "gone_*": {"effect": "irreversible"}}
    return {
        "name": "p",
        "tools": tools,
        "guards": [{"use": "tool_denylist", "tools": ["pay"]}],
        "bypass": bypass,
    }


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"safety_responses": ["stop_*"]}, "`stop_*` is no tool's exact name"),
        ({"safety_responses": [""]}, "`` is no tool's exact name"),
        ({"safety_responses": ["stop", "wipe"]}, "the effect of `wipe` is `irreversible`"),
        ({"safety_responses": ["gone_now"]}, "the effect of `gone_now` is `irreversible`"),
        ({"timeout_s": 0}, "`0` is out of bounds"),
        ({"emergency_s": -1}, "`-1` is out of bounds"),
        ({"review": 5}, "`review`"),
    ],
)
def test_a_wrong_section_does_not_load(said: dict[str, Any], fault: str) -> None:
    with pytest.raises(PolicyError) as error:
        shield_for(policy(**said))
    assert fault in str(error.value)


def test_the_defaults_are_those_of_the_specification() -> None:
    terms = shield_for(policy(safety_responses=["stop"])).policy.file.bypass
    assert (terms.timeout_s, terms.emergency_s, terms.review_s) == (15 * 60, 60, 24 * 3600)
