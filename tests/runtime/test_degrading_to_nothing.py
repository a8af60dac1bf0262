"""DEGRADE without a lesser request was ALLOW: the request was sent as it was."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import Action, Finding, PolicyError, Refused, Shield, Stage
from stanchion.testing import ScriptedModel, ScriptedTool, shield_for

HELLO = [{"role": "user", "content": "hello"}]


class AsksForLess:
    """A guard of a user's own that wants something lesser and says not what."""

    id = "less"
    stages = (Stage.TOOL_CALL, Stage.MODEL_CALL)

    def judge(self, event: Any) -> Finding:
        return Finding(Action.DEGRADE, "own.less", text="that is too much")


def test_a_mark_without_a_ladder_does_not_load() -> None:
    policy = {"name": "p", "guards": [{"use": "budget", "tokens": 10, "degrade_at": 50}]}
    with pytest.raises(PolicyError, match="asks for a lesser request, but the policy defines none"):
        Shield.load(policy, store="memory:", journal="memory:")


def test_a_guard_of_ones_own_never_sends_a_request_unchanged() -> None:
    run = shield_for({"name": "p"}, guards=[AsksForLess()]).run()
    model, tool = ScriptedModel("reply"), ScriptedTool("done")
    with pytest.raises(Refused) as refused:
        run.model(model, HELLO)
    assert refused.value.decision.code == "kernel.no_lesser"
    with pytest.raises(Refused):
        run.call(tool)
    assert (model.count, tool.count) == (0, 0)
    assert not run.check("t", {}).proceeds
    assert not run.model_call(HELLO, "large").proceeds
