"""smolagents: the behaviour suite, and what only this host has: generated code, answers that code
computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("smolagents")

from smolagents import CodeAgent, Model, ToolCallingAgent
from smolagents.models import ChatMessage, MessageRole
from smolagents.utils import AgentGenerationError

from stanchion import Refused
from stanchion.hosts.smolagents import PYTHON, SMOLAGENTS, guarded
from stanchion.testing import shield_for
from stanchion.testing.host_suite import BEHAVIOURS, KEY, Call, Scene, Turn, check, check_probes
from tests.hosts.office import called_with
from tests.hosts.smolagents.driver import DRIVER, QUIET, Plain, Scripted, agent_of, texts
from tests.rules import rule

RULES: dict[str, Any] = {
    "name": "rules",
    "guards": [
        called_with("root"),
        called_with("end", "halt"),
        rule(
            "eval",
            "tool_call",
            when="has(event.args.code) and event.args.code.matches('eval')",
            action="block",
        ),
        {"use": "secrets"},
    ],
}


@pytest.mark.parametrize("way", DRIVER.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_behaviour(behaviour: str, way: str, tmp_path: Path) -> None:
    check(DRIVER, behaviour, way, tmp_path)


def test_probes() -> None:
    check_probes(DRIVER, globals())


class Writes(Model):
    """A model that writes code, one piece after the other."""

    def __init__(self, *codes: str) -> None:
        super().__init__(model_id="writes")
        self._codes = iter(codes)
        self.asked: list[str] = []

    def generate(self, messages: list[Any], **_options: Any) -> Any:
        """The next reply."""
        self.asked.append("\n".join(texts(messages)))
        return ChatMessage(MessageRole.ASSISTANT, f"<code>\n{next(self._codes)}\n</code>")


def written(tmp_path: Path, *codes: str) -> tuple[Any, Writes, Scene, Any]:
    """What comes of an agent that writes this code."""
    shield, model = shield_for(RULES), Writes(*codes)
    scene = Scene(shield, [], "sync", tmp_path)
    with SMOLAGENTS.run(shield, "coder") as hosted:
        agent = guarded(CodeAgent([Plain(fn) for fn in scene.tools], model, **QUIET), hosted)
        answer = agent.run("do it")
    kept = [one.read() for one in shield.journal.kept()]
    return answer, model, scene, [(one.stage, one.tool, one.action) for one in kept if one.tool]


def test_what_generated_code_calls_is_judged_inside_the_code_that_is_judged(tmp_path: Path) -> None:
    answer, model, scene, decided = written(tmp_path, "print(look('ann'))", "final_answer('done')")
    assert answer == "done"
    assert scene.ran == [("look", {"name": "ann"})]
    assert "ann's key is [redacted" in model.asked[-1]
    assert KEY not in model.asked[-1]
    assert decided[:4] == [
        ("tool_call", PYTHON, "ALLOW"),
        ("tool_call", "look", "ALLOW"),
        ("tool_result", "look", "REDACT"),
        ("tool_result", PYTHON, "ALLOW"),
    ]


def test_a_refused_call_stops_the_code_and_the_model_reads_why(tmp_path: Path) -> None:
    code = "page = look('root')\nsend(page)"
    answer, model, scene, _ = written(tmp_path, code, "final_answer('root stays')")
    assert (answer, scene.ran) == ("root stays", [])
    assert "a rule of the policy forbids this" in model.asked[-1]


def test_code_that_is_refused_does_not_run(tmp_path: Path) -> None:
    answer, model, scene, _ = written(tmp_path, "look('bob')\neval('1')", "final_answer('no')")
    assert (answer, scene.ran) == ("no", [])
    assert "a rule of the policy forbids this" in model.asked[-1]


def test_an_answer_that_code_computes_is_redacted(tmp_path: Path) -> None:
    code = f"a = '{KEY[:20]}'\nb = '{KEY[20:]}'\nfinal_answer({{'key': a + b, 'of': ['ann']}})"
    answer, *_ = written(tmp_path, code)
    assert KEY not in str(answer)
    assert "[redacted:github-pat]" in str(answer)


def test_an_answer_that_nobody_changes_keeps_its_type(tmp_path: Path) -> None:
    answer, *_ = written(tmp_path, "final_answer({'rows': [1, 2]})")
    assert answer == {"rows": [1, 2]}


def test_code_that_would_run_elsewhere_is_refused_before_it_does(tmp_path: Path) -> None:
    class Elsewhere:
        """An executor on another machine: it sends the source of tools there."""

    agent = CodeAgent([], Writes(), **QUIET)
    agent.python_executor = Elsewhere()
    with (
        SMOLAGENTS.run(shield_for(RULES), "coder") as hosted,
        pytest.raises(ValueError, match=r"^code runs in `Elsewhere`.*use `executor_type='local'`"),
    ):
        guarded(agent, hosted)


def test_the_end_of_a_run_ends_the_agent(tmp_path: Path) -> None:
    turns = [Turn("1", calls=(Call("c", "look", {"name": "end"}),)), Turn("2", "never said")]
    scene = Scene(shield_for(RULES), turns, "sync", tmp_path)
    with (
        SMOLAGENTS.run(scene.shield, "helper") as hosted,
        pytest.raises(AgentGenerationError) as raised,
    ):
        guarded(agent_of(scene), hosted).run("do it")
    assert isinstance(raised.value.__cause__, Refused)
    assert raised.value.__cause__.ended
    assert (scene.ran, len(scene.asked)) == ([], 1)


def test_what_the_user_asks_for_is_judged_and_redacted(tmp_path: Path) -> None:
    scene = Scene(shield_for(RULES), [Turn("1", "done")], "sync", tmp_path)
    with SMOLAGENTS.run(scene.shield, "helper") as hosted:
        guarded(agent_of(scene), hosted).run(f"use {KEY}")
    assert KEY not in "\n".join(scene.asked[0])
    assert "use [redacted" in "\n".join(scene.asked[0])


def test_a_cheaper_model_is_asked_where_that_is_decided(tmp_path: Path) -> None:
    asked: list[Any] = []

    class Noted(Scripted):
        def generate(self, messages: list[Any], **options: Any) -> Any:
            asked.append((self.model_id, self.kwargs))
            return super().generate(messages, **options)

    scene = Scene(
        shield_for({"name": "d"}, guards=[cheaper]), [Turn("1", "done")], "sync", tmp_path
    )
    model = Noted(scene.ask)
    model.kwargs = {"max_tokens": 900}
    with SMOLAGENTS.run(scene.shield, "helper") as hosted:
        assert guarded(ToolCallingAgent([], model, **QUIET), hosted).run("do it") == "done"
    assert asked == [("small", {"max_tokens": 100})]
    assert model.model_id == "scripted"


def cheaper(event: Any) -> Any:
    """Have a smaller model asked for less."""
    from stanchion import Action, Finding, Patch

    patches = (Patch(("model",), "small"), Patch(("params", "max_tokens"), 100))
    return Finding(Action.DEGRADE, "mine.cheaper", text="it is cheaper", patches=patches)


cheaper.stages = ("model_call",)  # type: ignore[attr-defined] # how a function says it


def test_the_agent_itself_stays_as_it_was(tmp_path: Path) -> None:
    scene = Scene(shield_for(RULES), [Turn("1", "done")], "sync", tmp_path)
    agent = agent_of(scene)
    before = (agent.model, dict(agent.tools), dict(agent.managed_agents))
    with SMOLAGENTS.run(scene.shield, "helper") as hosted:
        guarded(agent, hosted)
    assert (agent.model, agent.tools, agent.managed_agents) == before
