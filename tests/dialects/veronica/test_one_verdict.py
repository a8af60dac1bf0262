"""A configuration in a file gives one verdict, whether the dialect loads it or a shield; all hooks
of a boundary are asked, and the most severe answer counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from stanchion import PolicyError, Shield
from stanchion.dialects import veronica
from stanchion.dialects.veronica import (
    Decision,
    ShieldConfig,
    ShieldPipeline,
    ToolCallContext,
    VeronicaIntegration,
)
from stanchion.dialects.veronica.words import spoken
from stanchion.policy.formats import VERONICA
from stanchion.policy.formats.veronica import ShieldFile
from stanchion.testing import FakeClock

FEATURES: dict[str, dict[str, Any]] = {
    "budget": {"enabled": True, "max_cost_usd": 1.0, "max_calls": 3},
    "circuit_breaker": {"enabled": True, "failure_threshold": 2},
    "egress": {"enabled": True, "allowed_hosts": ["api.example.com"]},
    "secret_guard": {"enabled": True, "patterns": ["sesame-[0-9]{4}"]},
    "error_rate": {"enabled": True, "window_calls": 4, "min_calls": 2, "repeated_failures": 2},
}


def stated(config: ShieldConfig) -> list[dict[str, Any]]:
    """The guards that an integration of a configuration has."""
    made = VeronicaIntegration(shield=config)
    assert made._shield_pipeline is not None
    return sorted(made._shield_pipeline.policy["guards"], key=lambda one: str(one["id"]))


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_file_is_the_policy_that_the_dialect_makes_of_it(form: str, tmp_path: Path) -> None:
    file = tmp_path / f"shield.{form}"
    file.write_text(json.dumps(FEATURES) if form == "json" else yaml.safe_dump(FEATURES))
    config = ShieldConfig.from_json(file) if form == "json" else ShieldConfig.from_yaml(file)
    shield = Shield.load(file, store="memory:", journal="memory:")
    own = {seat.placed.id: seat.placed.guard for seat in shield.policy.seats}
    theirs = Shield.load({"name": "v", "guards": stated(config)}, store="memory:")
    assert own == {seat.placed.id: seat.placed.guard for seat in theirs.policy.seats}
    assert ShieldConfig.from_dict(config.to_dict()) == config


def test_the_same_calls_get_the_same_answer(tmp_path: Path) -> None:
    file = tmp_path / "shield.yaml"
    file.write_text(yaml.safe_dump({**FEATURES, "safe_mode": {"enabled": True}}))
    run = Shield.load(file, store="memory:", journal="memory:", clock=FakeClock()).run("a")
    config = ShieldConfig.from_yaml(file)
    pipeline = VeronicaIntegration(shield=config, clock=FakeClock())._shield_pipeline
    assert pipeline is not None
    for tool in ("bash", None):
        ctx = ToolCallContext("r", tool_name=tool)
        said = run.check(tool, {}) if tool else run.model_call([])
        assert spoken(said) is pipeline.before_llm_call(ctx)
    for url in (
        "https://api.example.com/",
        "https://evil.example/",
        "https://api.example.com/sesame-1234",
    ):
        assert spoken(run.egress(url)) is pipeline.before_egress(ToolCallContext("r"), url, "GET")


def test_what_is_wrong_with_a_file_is_said_at_its_place(tmp_path: Path) -> None:
    file = tmp_path / "shield.yaml"
    for text, why in (
        ("budget: {enabled: true, max_cals: 3}", "max_cals"),
        ("error_rate: {enabled: true, halt_rate: 2}", "at most 1"),
        ("error_rate: {enabled: true, halt_rate: 0.1}", "a halt only follows a warning"),
        ("error_rate: {enabled: true, window_calls: 4}", "there are never enough"),
        ("budget: {enabled: true, max_cost_usd: 0.0000001}", "less than can be counted"),
        ("egress: {enabled: true, allowed_hosts: ['']}", "0 characters are too few"),
        ("budget: {max_calls: 3}\nsafe_mode: {enabled: true}", "enabled"),
    ):
        file.write_text(text)
        with pytest.raises(PolicyError, match=why):
            Shield.load(file, store="memory:")


def test_the_features_of_a_file_are_those_of_a_configuration() -> None:
    assert {*ShieldFile.__struct_fields__} == VERONICA == {*ShieldConfig().to_dict()}


def test_the_error_rate_is_read_from_the_environment() -> None:
    said = {"VERONICA_ERROR_RATE": "1", "VERONICA_ERROR_RATE_HALT_RATE": "0.9"}
    config = ShieldConfig.from_env(said)
    assert (config.error_rate.enabled, config.error_rate.halt_rate) == (True, 0.9)
    assert config.is_any_enabled
    assert [one["id"] for one in stated(config)] == ["shield-state", "tool-state"]
    with pytest.raises(veronica.DialectError, match="give one of the two"):
        VeronicaIntegration(config, error_rate=veronica.ErrorRateConfig(enabled=True))


class Says:
    """A hook that always answers the same."""

    def __init__(self, answer: Decision | None) -> None:
        self.answer, self.asked = answer, 0

    def before_llm_call(self, ctx: ToolCallContext) -> Decision | None:
        self.asked += 1
        return self.answer


@pytest.mark.parametrize("turned", [False, True])
def test_of_several_hooks_the_most_severe_answer_counts(turned: bool) -> None:
    hooks = [Says(Decision.DEGRADE), Says(None), Says(Decision.HALT), Says(Decision.QUARANTINE)]
    asked = hooks[::-1] if turned else hooks
    said = ShieldPipeline(pre_dispatch=asked).before_llm_call(ToolCallContext("r", tool_name="t"))
    assert said is Decision.QUARANTINE
    assert [one.asked for one in hooks] == [1, 1, 1, 1]


def test_the_breaker_opens_for_models_and_tools_apart(tmp_path: Path) -> None:
    clock = FakeClock()
    config = ShieldConfig.from_dict({"circuit_breaker": FEATURES["circuit_breaker"]})
    vi = VeronicaIntegration(config, clock=clock)
    asked, tool = ToolCallContext("r", model="large"), ToolCallContext("r", tool_name="t")

    def down() -> None:
        raise ConnectionError("down")

    for _ in range(2):
        with pytest.raises(ConnectionError):
            vi.execute(asked, down)
    assert vi.execute(asked, lambda: "hello") is Decision.HALT
    assert vi.execute(tool, lambda: 1) == 1, "tools go on"
    clock.advance(60_000)
    assert vi.execute(asked, lambda: "hello") == "hello", "one request tries"
    assert vi.execute(asked, lambda: "again") == "again"
    pipeline = vi._shield_pipeline
    assert pipeline is not None
    for _ in range(2):
        pipeline.on_error(asked, ConnectionError("down"))
    assert pipeline.before_llm_call(asked) is Decision.HALT
    clock.advance(60_000)
    assert pipeline.before_llm_call(asked) is Decision.ALLOW
    assert pipeline.before_llm_call(asked) is Decision.HALT, "one at a time"
    assert pipeline.on_result(asked, "hello") is Decision.ALLOW
    assert pipeline.before_llm_call(asked) is Decision.ALLOW
    assert pipeline.before_llm_call(asked) is Decision.ALLOW
