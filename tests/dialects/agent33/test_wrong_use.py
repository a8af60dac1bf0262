"""What cannot be carried out is one clear line that names the dialect's own word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stanchion import PolicyError
from stanchion.dialects.agent33 import DialectError, Guardrails
from stanchion.runtime.errors import StanchionError
from tests.dialects.agent33.rails import FAILS, rail, rails

OWN = {"guardrail": rail(FAILS)}
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a shield that is none": (lambda: Guardrails({"name": "p"}), "`shield` is a `dict`: give a `Shield`"),  # type: ignore[arg-type]  # that is the mistake
    "a source that is none": (lambda: rails(7), "`source` is a `int`: give a file, a folder, or a mapping"),
    "a source without guardrails": (lambda: rails({"name": "p"}), "`source` has no guardrails"),
    "a policy with agents": (
        lambda: rails(OWN, policy={"agents": {}}),
        "`policy` says `agents`: give them as `agents`",
    ),
    "a policy with guards": (lambda: rails(OWN, policy={"guards": []}), "`policy` says `guards`: write them as"),
    "agents that are a list": (lambda: rails(agents=["a"]), "`agents` is a `list`: give a mapping"),
    "an agent that is a text": (lambda: rails(agents={"a": "b"}), "agent `a` is a `str`: give a `Agent`"),
    "an unknown field": (
        lambda: rails(agents={"a": {"allowed_tool": []}}),
        "agent `a` has no field `allowed_tool`: did you mean `allowed_tools`?",
    ),
    "an unknown field below": (
        lambda: rails(tasks={"t": {"scope": {"files": {"writes": []}}}}),
        "`files` of `scope` of task `t` has no field `writes`: did you mean `write`?",
    ),
    "a value of another type": (
        lambda: rails(tasks={"t": {"token_budget": "many"}}),
        "task `t`: expected `int | null`, got `str` - at `$.token_budget`",
    ),
    "an unknown reaction": (
        lambda: rails(on_error={"fatal": "panic"}),
        "`on_error`: invalid enum value 'panic' - at `$.fatal`",
    ),
    "an unknown level": (
        lambda: rails().hooks("a", risk_level="hihg"),
        "`risk_level` is `hihg`: did you mean `high`?",
    ),
    "responses as a text": (lambda: rails(safety_responses="stop"), "`safety_responses` is a text: give a list"),
    "passes as a text": (lambda: rails(OWN, log_passes="safety-050"), "`log_passes` is a text: give a list"),
    "passes of nobody": (
        lambda: rails(OWN, log_passes=["safety-05"]),
        "`log_passes` needs the guardrail `safety-05`: did you mean `safety-050`?",
    ),
    "a sandbox that nothing keeps": (
        lambda: rails(OWN, sandbox="/srv/app"),
        "`sandbox` needs the guardrail `safety-004`: ",
    ),
    "what another hook has said": (
        lambda: rails().hooks("a").post_handoff("b", after=rails().hooks("a").pre_execution("read", {})),
        "`after` is what `pre_execution` has returned: give what `pre_handoff` has returned",
    ),
    "what no hook has said": (
        lambda: rails().hooks("a").post_execution("read", {}, "words", after="call-1"),  # type: ignore[arg-type]  # that is the mistake
        "`after` is a `str`: give what `pre_execution` has returned",
    ),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_is_one_line(mistake: str) -> None:
    make, says = WRONG[mistake]
    with pytest.raises(DialectError) as error:
        make()
    assert isinstance(error.value, StanchionError)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(says)


def test_a_file_that_is_wrong_is_named_with_its_line(tmp_path: Path) -> None:
    """With a policy's other mistakes, as everywhere."""
    (tmp_path / "rails.yaml").write_text("safety_guardrail:\n  - id: safety-050\nguardrails: []\n", encoding="utf-8")
    with pytest.raises(PolicyError, match=r"rails\.yaml:1:1: .*did you mean `safety_guardrails`"):
        rails(tmp_path)
    with pytest.raises(PolicyError, match="no such policy"):
        rails(tmp_path / "gone")


def test_passes_of_a_file_are_recorded_by_their_ids(tmp_path: Path) -> None:
    (tmp_path / "rails.yaml").write_text(str(OWN), encoding="utf-8")
    made = rails({"guardrail": rail("event.tool != 'deploy'")}, log_passes=["safety-050"])
    made.hooks("a").pre_execution("read", {})
    assert made.shield.journal.kept()[-1].read().passed == ("safety-050",)
    with pytest.raises(PolicyError, match="there is no entry `safety-051`"):
        rails(tmp_path, log_passes=["safety-051"])
