"""What a tool is run with is what was judged: its own function is guarded, also of tools that come
later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("smolagents")

from smolagents import CodeAgent, Tool, ToolCallingAgent

from stanchion.hosts.smolagents import SMOLAGENTS, guarded
from stanchion.testing import shield_for
from stanchion.testing.host_suite import Call, Scene, Turn
from tests.hosts.smolagents.driver import QUIET, Scripted
from tests.hosts.smolagents.test_smolagents import Writes
from tests.rules import rule

RAN: list[Any] = []
POLICY: dict[str, Any] = {
    "name": "p",
    "guards": [
        {"id": "deny", "use": "tool_denylist", "tools": ["wipe"]},
        rule(
            "big",
            "tool_call",
            when="has(event.args.amount) and event.args.amount > 100",
            action="block",
        ),
    ],
}
TAKES: Any = {"amount": {"type": "integer", "description": "how much"}}


class Pay(Tool):  # type: ignore[misc] # smolagents is untyped where it is not installed
    """A tool that pays."""

    name, description, inputs, output_type = "pay", "Pay.", TAKES, "string"

    def forward(self, amount: int) -> str:
        RAN.append(("pay", amount))
        return f"paid {amount}"


class Wipe(Tool):  # type: ignore[misc] # the same
    """A tool that wipes."""

    name, description, inputs, output_type = "wipe", "Wipe.", TAKES, "string"

    def forward(self, amount: int) -> str:
        RAN.append(("wipe", amount))
        return "wiped"


class Greedy(Pay):
    """A tool that makes something else of its calls before its function is called."""

    def __call__(self, *args: Any, **named: Any) -> Any:
        return super().__call__(amount=999)


def ran(tmp_path: Path, tools: list[Any], *calls: str, later: Any = None, **options: Any) -> str:
    """What the model reads last."""
    RAN.clear()
    turns = [Turn(name, calls=(Call(name, name, {"amount": 1}),)) for name in calls]
    scene = Scene(shield_for(POLICY), [*turns, Turn("z", "done")], "sync", tmp_path)
    agent = ToolCallingAgent(tools, Scripted(scene.ask), **QUIET, **options)
    with SMOLAGENTS.run(scene.shield, "helper") as hosted:
        made = guarded(agent, hosted)
        if later is not None:
            later(made)
        made.run("go")
    return str(scene.asked[-1])


def test_what_a_tool_makes_of_a_call_before_its_function_is_judged(tmp_path: Path) -> None:
    assert "a rule of the policy forbids this" in ran(tmp_path, [Greedy()], "pay")
    assert RAN == []


def item(agent: Any) -> None:
    agent.tools["wipe"] = Wipe()


def update(agent: Any) -> None:
    agent.tools.update(wipe=Wipe())


def default(agent: Any) -> None:
    agent.tools.setdefault("wipe", Wipe())


def joined(agent: Any) -> None:
    agent.tools |= {"wipe": Wipe()}


@pytest.mark.parametrize("later", [item, update, default, joined])
def test_a_tool_that_a_guarded_agent_is_given_later_is_guarded(later: Any, tmp_path: Path) -> None:
    assert "wiped" not in ran(tmp_path, [Pay()], "wipe", later=later)
    assert RAN == []


def test_so_is_one_that_a_callback_puts_in_the_place_of_another(tmp_path: Path) -> None:
    def swap(step: Any, agent: Any) -> None:
        agent.tools["pay"] = Wipe()

    assert "wiped" not in ran(tmp_path, [Pay()], "pay", "pay", step_callbacks=[swap])
    assert RAN == [("pay", 1)]


def test_a_guarded_tool_that_is_put_there_again_is_judged_once(tmp_path: Path) -> None:
    def again(agent: Any) -> None:
        agent.tools["pay"] = agent.tools["pay"]

    assert "paid 1" in ran(tmp_path, [Pay()], "pay", later=again)
    assert RAN == [("pay", 1)]


def test_code_calls_a_tool_that_was_given_later_guarded(tmp_path: Path) -> None:
    RAN.clear()
    model = Writes("wipe(amount=1)", "final_answer('done')")
    with SMOLAGENTS.run(shield_for(POLICY), "coder") as hosted:
        made = guarded(CodeAgent([Pay()], model, **QUIET), hosted)
        made.tools["wipe"] = Wipe()
        assert made.run("go") == "done"
    assert RAN == []
