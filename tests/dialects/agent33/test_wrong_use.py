"""What cannot be carried out is one clear line that names the dialect's own word."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from stanchion import PolicyError
from stanchion.dialects.agent33 import Agent, DialectError, Guardrails, OnError, Task, Verdict
from stanchion.kernel.shown import StanchionError
from stanchion.policy.formats.agent33.checks import BUILT_IN
from tests.dialects.agent33.rails import FAILS, rail, rails

OWN = {"guardrail": rail(FAILS)}
ANYBODY: Any = "ann"
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a shield that is none": (
        lambda: Guardrails({"name": "p"}),  # type: ignore[arg-type]  # that is the mistake
        "`shield` is a `dict`: give a `Shield`",
    ),
    "a source that is none": (
        lambda: rails(7),
        "`source` is a `int`: give a file, a folder, or a mapping",
    ),
    "a source without guardrails": (lambda: rails({"name": "p"}), "`source` has no guardrails"),
    "a policy with agents": (
        lambda: rails(OWN, policy={"agents": {}}),
        "`policy` says `agents`: give them as `agents`",
    ),
    "a policy with guards": (
        lambda: rails(OWN, policy={"guards": []}),
        "`policy` says `guards`: write them as",
    ),
    "agents that are a list": (lambda: rails(agents=["a"]), "`agents` is a `list`: give a mapping"),
    "an agent that is a text": (
        lambda: rails(agents={"a": "b"}),
        "agent `a` is a `str`: give a `Agent`",
    ),
    "an unknown field": (
        lambda: rails(agents={"a": {"allowed_tool": []}}),
        "agent `a`: allowed_tool: the key `allowed_tool` is not known: did you mean",
    ),
    "an unknown field below": (
        lambda: rails(tasks={"t": {"scope": {"files": {"writes": []}}}}),
        "task `t`: scope.files.writes: the key `writes` is not known: did you mean `write`?",
    ),
    "a value of another type": (
        lambda: rails(tasks={"t": {"token_budget": "many"}}),
        (
            "task `t`: token_budget: the text `many` was found where a whole number is expected: "
            "correct it"
        ),
    ),
    "an unknown reaction": (
        lambda: rails(on_error={"fatal": "retyr"}),
        "`on_error`: fatal: `retyr` is not a value of `fatal`: did you mean `retry`?",
    ),
    "an unknown reaction in an object": (
        lambda: rails(on_error=OnError(fatal="retyr")),  # type: ignore[arg-type]  # that is the mistake
        "`on_error`: fatal: `retyr` is not a value of `fatal`: did you mean `retry`?",
    ),
    "an unknown level of a task": (
        lambda: rails(tasks={"t": {"risk_level": "hihg"}}),
        "task `t`: risk_level: `hihg` is not a value of `risk_level`: did you mean `high`?",
    ),
    "a number for a guardrail": (
        lambda: rails().hooks("a").request_bypass(5, "a reason"),  # type: ignore[arg-type]  # that is the mistake
        "`guardrail_id` of `request_bypass` is a `int`: give a text",
    ),
    "a number for a reason": (
        lambda: rails().hooks("a").request_bypass("safety-001", 5),  # type: ignore[arg-type]  # that is the mistake
        "`reason` of `request_bypass` is a `int`: give a text",
    ),
    "an escalation that is none": (
        lambda: rails().escalation("nope"),
        "`nope` is the id of no escalation, or of several: `escalations()` has those that wait",
    ),
    "a yes to none": (
        lambda: rails().approve("nope", by=ANYBODY),
        "`nope` is the id of no escalation",
    ),
    "a no to none": (
        lambda: rails().deny("nope", by=ANYBODY, comment="no"),
        "`nope` is the id of no escalation",
    ),
    "a review of none": (
        lambda: rails().review("nope", by=ANYBODY, comment="no"),
        "`nope` is the id of no escal",
    ),
    "an escalation that is a number": (
        lambda: rails().escalation(5),  # type: ignore[arg-type]  # that is the mistake
        "`of` is a `int`: give the id of an escalation, or a `BypassRequest`",
    ),
    "artifacts that are a number": (
        lambda: rails().hooks("a").pre_handoff("b", artifacts=5),  # type: ignore[arg-type]  # that is the mistake
        "`artifacts` is a `int`: give a list of the names of files",
    ),
    "capabilities that are a text": (
        lambda: rails().hooks("a").pre_handoff("b", required_capabilities="review"),
        "`required_capabilities` is a text: give a list of the names of capabilities",
    ),
    "passes that are a number": (
        lambda: rails(OWN, log_passes=5),
        "`log_passes` is a `int`: give a list of the names of guardrails",
    ),
    "an unknown level": (
        lambda: rails().hooks("a", risk_level="hihg"),
        "`risk_level` is `hihg`: did you mean `high`?",
    ),
    "responses as a text": (
        lambda: rails(safety_responses="stop"),
        "`safety_responses` is a text: give a list",
    ),
    "passes as a text": (
        lambda: rails(OWN, log_passes="safety-050"),
        "`log_passes` is a text: give a list",
    ),
    "passes of nobody": (
        lambda: rails(OWN, log_passes=["safety-05"]),
        "`log_passes` needs the guardrail `safety-05`: did you mean `safety-050`?",
    ),
    "a sandbox that nothing keeps": (
        lambda: rails(OWN, sandbox="/"),
        "`sandbox` needs the guardrail `safety-004`: ",
    ),
    "what another hook has said": (
        lambda: (
            rails().hooks("a").post_handoff("b", after=rails().hooks("a").pre_execution("read", {}))
        ),
        "`after` is what `pre_execution` has returned: give what `pre_handoff` has returned",
    ),
    "what no hook has said": (
        lambda: rails().hooks("a").post_execution("read", {}, "words", after="call-1"),  # type: ignore[arg-type]  # that is the mistake
        "`after` is a `str`: give what `pre_execution` has returned",
    ),
}

PRE: dict[str, tuple[dict[str, Any], str]] = {
    "a cost that is no number": (
        {"estimated_cost": float("nan")},
        "`estimated_cost` is `nan`: give a finite amount",
    ),
    "tokens as a text": (
        {"estimated_tokens": "5"},
        "`estimated_tokens` is `5`: give a whole number",
    ),
    "a cost that is too large": (
        {"estimated_cost": 1e9},
        (
            "`estimated_cost` is `1000000000.0`: give a finite amount of dollars that is not "
            "negative and below 10^9"
        ),
    ),
    "a time that is too long": (
        {"estimated_duration": 1e12},
        (
            "`estimated_duration` is `1000000000000.0`: give a number of seconds that is not "
            "negative and below 10^12"
        ),
    ),
    "a time below nothing": (
        {"estimated_duration": -1},
        "`estimated_duration` is `-1`: give a number of seconds",
    ),
    "calls below nothing": ({"api_calls": -1}, "`api_calls` is `-1`: give a whole number"),
}
WRONG |= {
    name: (partial(rails().hooks("a").pre_execution, "read", {}, **said), says)
    for name, (said, says) in PRE.items()
}
HANDED: dict[str, tuple[dict[str, Any], str]] = {
    "a context that is a text": (
        {"context": "words"},
        "`context` is a `str`: give a mapping of what the receiver has",
    ),
    "artifacts as a text": (
        {"artifacts": "src/a.py"},
        "`artifacts` is a text: give a list of the names of files",
    ),
    "artifacts by names": (
        {"artifacts": {"a.py": 1}},
        "`artifacts` is a `dict`: give a list of the names of files",
    ),
    "artifacts without a name": (
        {"artifacts": [""]},
        "`artifacts` has an empty name: give a list of the names of",
    ),
    "a rationale that is a number": (
        {"rationale": 5},
        "`rationale` of `pre_handoff` is a `int`: give a text",
    ),
    "a payload that is a text": (
        {"payload": "all"},
        "`payload` is a `str`: give a mapping of fields to what they say",
    ),
    "nobody who receives": (
        {"to": " "},
        "`to` of `pre_handoff` is empty: give the id of the agent that receives",
    ),
}
WRONG |= {
    name: (
        partial(
            rails().hooks("a").pre_handoff,
            **{"to": "b", "context": {"n": 1}, "artifacts": [], **said},
        ),
        says,
    )
    for name, (said, says) in HANDED.items()
}
WRONG |= {
    "an acceptance by nobody": (
        lambda: rails().hooks("a").post_handoff(""),
        "`to` of `post_handoff` is empty",
    ),
    "an action without a name": (
        lambda: rails().hooks("a").pre_execution(" ", {}),
        "`tool` of `pre_execution` is empty: give the name of the tool",
    ),
    "a result of no action": (
        lambda: rails().hooks("a").post_execution("", {}, "words"),
        "`tool` of `post_execution` is empty: give the name of the tool",
    ),
    "a tool in bytes that was done": (
        lambda: rails().hooks("a").post_execution(b"read", {}, "words"),  # type: ignore[arg-type]  # that is the mistake
        "`tool` of `post_execution` is a `bytes`: give a text",
    ),
    "a tool in bytes that failed": (
        lambda: rails().hooks("a").on_error(b"read", "no"),  # type: ignore[arg-type]  # that is the mistake
        "`tool` of `on_error` is a `bytes`: give a text",
    ),
    "a misspelt option": (
        lambda: Guardrails.load(OWN, agnets={}, store="memory:", journal="memory:"),  # type: ignore[call-arg]  # that is the mistake
        "`Guardrails.load` has no option `agnets`: did you mean `agents`?",
    ),
    "a misspelt option of hooks": (
        lambda: rails().hooks("a", dedline_s=5),
        "`hooks` has no option `dedline_s`: did you mean `deadline_s`?",
    ),
    "the level of a run by another word": (
        lambda: rails().hooks("a", risk="high"),
        (
            "`hooks` has no option `risk`: choose among `can`, `deadline_s`, `id`, `parent`, "
            "`risk_level`"
        ),
    ),
    "a name to execute": (
        lambda: rails().hooks("a").execute("deploy"),  # type: ignore[arg-type]  # that is the mistake
        (
            "`tool` of `execute` is a `str`, which cannot be called: give the function itself; "
            "`pre_execution` takes"
        ),
    ),
}
WRONG |= {
    "a budget below nothing": (
        lambda: rails(tasks={"t": Task(token_budget=-1)}),
        "task `t`: token_budget: `-1` is out of bounds: give a whole number of at least 0",
    ),
    "tools as a text": (
        lambda: rails(agents={"a": Agent(allowed_tools="Read")}),  # type: ignore[arg-type]  # that is the mistake
        "agent `a`: allowed_tools: the text `Read` was found where a list is expected",
    ),
    "a scope as a text": (
        lambda: rails(tasks={"t": Task(scope="src")}),  # type: ignore[arg-type]  # that is the mistake
        "task `t`: scope: the text `src` was found where a mapping is expected",
    ),
    "a reaction that is none": (
        lambda: rails(on_error=OnError(fatal="explode")),  # type: ignore[arg-type]  # that is the mistake
        "`on_error`: fatal: `explode` is not a value of `fatal`: choose among `escalate`",
    ),
    "a tool that is a number": (
        lambda: rails().hooks("a").pre_execution(3, {}),  # type: ignore[arg-type]  # that is the mistake
        (
            "`pre_execution` takes the tool's name and its arguments as a mapping, and the name is "
            "of the type `int`"
        ),
    ),
    "a cost below nothing": (
        lambda: rails().hooks("a").post_execution("read", {}, "words", cost=-1.0),
        "`cost` is `-1.0`: give a finite amount",
    ),
    "a budget to hand over below nothing": (
        lambda: rails().hooks("a").pre_handoff("b", token_budget=-1),
        "`token_budget` is `-1`: give a whole number",
    ),
    "a receiver that is a number": (
        lambda: rails().hooks("a").pre_handoff(3),  # type: ignore[arg-type]  # that is the mistake
        "`to` of `pre_handoff` is a `int`: give a text",
    ),
    "an error that is a number": (
        lambda: rails().hooks("a").on_error("read", 3),  # type: ignore[arg-type]  # that is the mistake
        "`error` of `on_error`: expected `str`, got `int`",
    ),
    "an escalation without a reason": (
        lambda: rails().hooks("a").escalate(""),
        "`escalate`: say in words why",
    ),
    "an unknown urgency": (
        lambda: (
            rails().hooks("a").request_bypass("builtin-003", "the log has to be read again", "asap")
        ),
        "`urgency` is `asap`: choose among `emergency`, `normal`, `urgent`",
    ),
    "passes of nobody in the pack": (
        lambda: rails("agent-33", log_passes=["safty-001"]),
        "`log_passes` needs the guardrail `safty-001`: did you mean `safety-001`?",
    ),
    "changes of nobody": (
        lambda: rails(OWN, changes={"safety-05": {}}),
        "`changes` needs the guardrail `safety-05`: did you mean `safety-050`?",
    ),
    "changes of what is built in": (
        lambda: rails("agent-33", changes={"builtin-003": {"action": "warn"}}),
        "`changes` names `builtin-003`, which is built in: only an emergency bypass",
    ),
    "changes that are a list": (
        lambda: rails(OWN, changes=["a"]),
        "`changes` is a `list`: give a mapping",
    ),
    "responses that are numbers": (
        lambda: rails(safety_responses=[3]),
        "`safety_responses` has a `int`: give a list",
    ),
    "autonomy as a text": (
        lambda: rails(autonomy="no"),
        "`autonomy` is `'no'`: give `True` or `False`",
    ),
    "a policy that is a number": (lambda: rails(policy=3), "`policy` is a `int`: give a mapping"),
    "a sandbox that is not there": (
        lambda: rails("agent-33", sandbox="does/not/exist"),
        "`sandbox` is `does/not/exist`, and there is no such folder",
    ),
    "a sandbox that is a number": (
        lambda: rails("agent-33", sandbox=3),
        "`sandbox` is `3`, and there is no such",
    ),
    "nobody to tell": (
        lambda: rails().on_alert("x"),  # type: ignore[arg-type]  # that is the mistake
        "`tell` is a `str`: give a function that takes an `Alert`",
    ),
    "nobody at work": (lambda: rails().hooks(""), "`agent` is `''`: give the id of the agent"),
    "nothing to watch": (
        lambda: rails().watch(),
        "there is no file to watch: load the guardrails from a file",
    ),
    "a misspelt key": (
        lambda: rails({"custom_guardrial": {}}),
        "`source` has no guardrails: did you mean `custom_guardrail`?",
    ),
    "a budget that no guardrail keeps to": (
        lambda: Guardrails.load(
            OWN, tasks={"t": Task(cost_budget=1.0)}, store="memory:", journal="memory:"
        ),
        (
            "task `t` has a `cost_budget`, and no guardrail keeps to it: add `budget-004`, or "
            "leave it out"
        ),
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
    (tmp_path / "rails.yaml").write_text(
        "safety_guardrail:\n  - id: safety-050\nguardrails: []\n", encoding="utf-8"
    )
    with pytest.raises(PolicyError, match=r"rails\.yaml:1:1: .*did you mean `safety_guardrails`"):
        rails(tmp_path)
    with pytest.raises(PolicyError, match="no such policy"):
        rails(tmp_path / "gone")


NO_GUARDRAILS = (
    "",
    "# guardrails\n",
    "null\n",
    "{}\n",
    "[]\n",
    "- 1\n",
    "7\n",
    "just words\n",
    "---\n",
    "version: 1\n",
)


@pytest.mark.parametrize("text", NO_GUARDRAILS)
def test_a_file_without_guardrails_is_refused_and_those_in_force_stay(
    text: str, tmp_path: Path
) -> None:
    """One that is empty or cut off would be without the built-in guardrails, which are always
    active."""
    file = tmp_path / "rails.yaml"
    file.write_text(str(OWN), encoding="utf-8")
    with Guardrails.load(file, store="memory:", journal="memory:") as made:
        before = made.runtime_state().keys()
        file.write_text(text, encoding="utf-8")
        with pytest.raises(DialectError if "version" in text else PolicyError):
            made.reload()
        assert made.runtime_state().keys() == before
        assert made.hooks("a").pre_execution("read", {}).final_verdict == Verdict.BLOCK
    with pytest.raises(
        PolicyError,
        match=r"^\S+rails\.yaml:[12]:1: there are no guardrails in it: give keys such as",
    ):
        Guardrails.load(file, store="memory:", journal="memory:")


def test_a_policy_without_the_built_in_guardrails_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("name: mine\nguards: [{use: step_limit}]\n", encoding="utf-8")
    with pytest.raises(
        PolicyError, match=r"mine\.yaml:1:1: there are no guardrails in it: extend `agent-33`, or"
    ):
        rails(file)
    file.write_text(
        "name: mine\nextends: agent-33\nguards: [{use: step_limit}]\n", encoding="utf-8"
    )
    assert rails(file).runtime_state().keys() >= {*BUILT_IN, "step-limit"}


def test_passes_of_a_file_are_recorded_by_their_ids(tmp_path: Path) -> None:
    (tmp_path / "rails.yaml").write_text(str(OWN), encoding="utf-8")
    made = rails({"guardrail": rail("event.tool != 'deploy'")}, log_passes=["safety-050"])
    made.hooks("a").pre_execution("read", {})
    assert made.shield.journal.kept()[-1].read().passed == ("safety-050",)
    with pytest.raises(
        DialectError,
        match="`log_passes` needs the guardrail `safety-051`: did you mean `safety-050`",
    ):
        rails(tmp_path, log_passes=["safety-051"])
