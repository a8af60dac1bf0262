"""What a tool says that one call uses is reserved before it runs, and stays charged."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import Refused, Tool
from stanchion.kernel.state import key
from stanchion.testing import ScriptedTool, shield_for

POLICY: dict[str, Any] = {
    "name": "p",
    "guards": [{"use": "budget", "cost_usd": 1, "tokens": 100, "api_calls": 5}],
}


@pytest.mark.parametrize(
    ("usage", "fit"),
    [({"cost_usd": 0.4}, 2), ({"tokens": 30}, 3), ({"api_calls": 1}, 5), ({"tokens": 0}, 9)],
)
@pytest.mark.parametrize("once", [False, True])
def test_a_call_reserves_what_its_tool_says(usage: dict[str, Any], fit: int, once: bool) -> None:
    run = shield_for(POLICY).run("a")
    scripted = ScriptedTool(*["done"] * 9, name="buy")
    for number in range(9):
        tool = Tool(lambda number: scripted(), "buy", usage=usage, once=once)
        try:
            run.call(tool, number)
        except Refused as refused:
            assert refused.decision.code == "budget.exceeded"  # noqa: PT017 - some go ahead
    assert scripted.count == fit


def test_a_method_uses_what_its_tool_says_and_a_refused_call_nothing() -> None:
    shield = shield_for(
        {**POLICY, "guards": [*POLICY["guards"], {"use": "tool_denylist", "tools": ["no"]}]}
    )
    run = shield.run("a", id="r")
    for name in ("no", "yes"):
        tool = Tool(lambda self: "done", name, usage={"cost_usd": 0.25}).of(object())
        if name == "yes":
            assert run.call(tool) == "done"
        else:
            with pytest.raises(Refused):
                run.call(tool)
    assert (
        shield.store.read(key("default", "budget", "budget", "cost_microusd", "run", "r"))[0]
        == 250_000
    )


@pytest.mark.parametrize(
    ("usage", "says"),
    [
        ({"cost": 1}, "did you mean `cost_usd`?"),
        ({"tokens": -1}, "tokens is `-1`"),
        ({"cost_usd": "1"}, "cost_usd"),
    ],
)
def test_usage_that_is_none_is_refused(usage: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("?", r"\?")):
        Tool(len, usage=usage)
