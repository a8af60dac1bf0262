"""Whatever a hook says is answered in a form that its host knows, and lets nothing pass by
accident."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from stanchion.hosts.coding import AGENTS, Heard, HostAnswer
from stanchion.hosts.coding.agent import BadHook, HookVerdict, Says
from stanchion.hosts.coding.claude import withheld
from stanchion.hosts.coding.speaker import Speaker
from tests.hosts.coding.talk import Talk, desk, own_process

OUTCOMES: Final = (
    HookVerdict(),
    HookVerdict(notices=("mind this",)),
    HookVerdict(changed={"command": "ls"}),
    HookVerdict("ask", "why"),
    HookVerdict("refuse", "why"),
    HookVerdict("refuse", "why", command="answer it"),
    HookVerdict("refuse", ""),
    HookVerdict("end", "it is over", notices=("mind this",)),
)
EVENTS: Final = [(name, event) for name, agent in AGENTS.items() for event in agent.says]
STOPPABLE: Final[frozenset[Says]] = frozenset({"call", "asks", "prompt", "result", "settings"})
COMMON: Final = {
    "continue": bool, "stopReason": str, "systemMessage": str, "decision": str, "reason": str,
    "hookSpecificOutput": dict,
}  # fmt: skip
OWN: Final = {
    "hookEventName": str, "additionalContext": str, "permissionDecision": str,
    "permissionDecisionReason": str, "updatedInput": dict, "updatedToolOutput": object,
    "decision": dict,
}  # fmt: skip


def check_form(agent: str, event: str, answer: HostAnswer) -> dict[str, Any]:
    """An answer is one of the forms that its host knows."""
    said = json.loads(answer.stdout)
    own = said.get("hookSpecificOutput", {})
    for known, given_ in ((COMMON, said), (OWN, own)):
        assert all(isinstance(one, known[name]) for name, one in given_.items())
    assert said.get("decision", "block") == "block"
    assert ("reason" in said) == ("decision" in said)
    assert own.get("hookEventName", event) == event
    if agent == "claude":
        assert (answer.status, answer.stderr) == (0, "")
        assert own.get("permissionDecision", "deny") in ("ask", "deny")
        assert said["continue"] or said["stopReason"] is not None
        if event == "PreToolUse" and not said["continue"]:
            assert own["permissionDecision"] == "deny"  # else the call runs before the turn ends
    else:
        assert answer.status in (0, 2)
        assert (answer.status == 2) == bool(answer.stderr.strip())
        assert "updatedToolOutput" not in own
        if event in ("PreToolUse", "PermissionRequest"):
            assert not said.keys() & {"continue", "stopReason"}
        allowed = own.get("permissionDecision") == "allow"
        assert allowed == ("updatedInput" in own)
        assert own.get("permissionDecision") != "ask"
    return said


def stops(agent: str, answer: HostAnswer) -> bool:
    """Whether a host stops by an answer."""
    said = json.loads(answer.stdout)
    own = said.get("hookSpecificOutput", {})
    if agent == "codex":
        return answer.status == 2
    return (
        own.get("permissionDecision") in ("deny", "ask")
        or own.get("decision", {}).get("behavior") == "deny"
        or said.get("decision") == "block"
        or not said["continue"]
    )


@pytest.mark.parametrize(("name", "event"), EVENTS)
@pytest.mark.parametrize("verdict", OUTCOMES)
def test_every_outcome_of_every_event_has_a_form(
    name: str, event: str, verdict: HookVerdict
) -> None:
    agent = AGENTS[name]
    says = agent.says[event]
    heard = Heard(event, says, "s", "/", tool="Bash", fields={"result": "out"})
    answer = agent.words(heard, verdict)
    check_form(name, event, answer)
    if says in STOPPABLE and verdict.outcome != "go":
        assert stops(name, answer)
    elif verdict.changed is msgspec.UNSET and verdict.outcome == "go":
        assert not stops(name, answer)


@pytest.mark.parametrize(("name", "event"), [*EVENTS, ("claude", ""), ("codex", "Never")])
def test_what_is_broken_is_refused_where_it_can_be(name: str, event: str) -> None:
    answer = AGENTS[name].refusal(event, "it is broken")
    known = event in AGENTS[name].says
    check_form(name, event if known else "PreToolUse", answer)
    says = AGENTS[name].says.get(event, "call")
    assert stops(name, answer) == (says in STOPPABLE)
    assert "it is broken" in answer.stdout
    # A block at the end would have the agent go on for ever.


@pytest.mark.parametrize(
    ("tool", "result", "held"),
    [
        ("Bash", {"stdout": "a", "stderr": "b", "interrupted": False},
         {"stdout": "no", "stderr": "", "interrupted": False}),
        ("Read", {"type": "text", "file": {"filePath": "/a", "content": "x", "numLines": 1}},
         {"type": "text", "file": {"filePath": "/a", "content": "no", "numLines": 1}}),
        ("Read", {"type": "image", "file": {"base64": "x"}}, msgspec.UNSET),
        ("WebFetch", {"result": "x", "code": 200}, {"result": "no", "code": 200}),
        ("mcp__a__b", [{"type": "text", "text": "x"}, {"type": "image"}],
         [{"type": "text", "text": "no"}]),
        ("mcp__a__b", {"content": [{"type": "text", "text": "x"}], "structuredContent": {"a": 1}},
         {"content": [{"type": "text", "text": "no"}]}),
        ("mcp__a__b", "x", "no"),
        ("Unknown", {"stdout": "a"}, msgspec.UNSET),
        ("Bash", None, msgspec.UNSET),
    ],
)  # fmt: skip
def test_what_is_withheld_keeps_its_form(tool: str, result: Any, held: Any) -> None:
    assert withheld(tool, result, "no") == held


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)
FIELDS: Final = {
    "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/", "tool_name": "Bash",
    "tool_input": {"command": "ls"}, "tool_use_id": "t", "prompt": "hello", "agent_id": "a",
    "tool_response": "out", "error": "no", "permission_mode": "default", "source": "user",
    "last_assistant_message": "done", "stop_hook_active": False,
}  # fmt: skip


@st.composite
def bodies(draw: st.DrawFn, event: str) -> dict[str, Any]:
    """A body of an event in which anything may be wrong."""
    body: dict[str, Any] = {**FIELDS, "hook_event_name": event}
    for name in draw(st.lists(st.sampled_from(sorted(FIELDS)), max_size=3)):
        if draw(st.booleans()):
            body.pop(name, None)
        else:
            body[name] = draw(JSON)
    return {**body, **draw(st.dictionaries(st.text(max_size=5), JSON, max_size=2))}


def is_whole(body: dict[str, Any]) -> bool:
    """Whether a call could be judged by what the body says."""
    names = ("session_id", "cwd", "tool_name", "tool_use_id")
    return (
        all(type(body.get(name)) is str for name in names)
        and type(body.get("tool_input")) is dict
        and body["session_id"] != ""
        and body["cwd"].startswith("/")
    )


@pytest.fixture(scope="module")
def talks() -> Iterator[dict[str, Talk]]:
    """A session of each host where everything is allowed."""
    with desk({"name": "quiet", "version": 1}) as at:
        yield {name: at.talk(name, Path("/"), speaker=Speaker(own_process())) for name in AGENTS}


@pytest.mark.parametrize(("name", "event"), EVENTS)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_drawn_body_is_answered_in_a_known_form(
    talks: dict[str, Talk], name: str, event: str, data: st.DataObject
) -> None:
    body = data.draw(bodies(event))
    answer = talks[name].raw(json.dumps(body).encode()).raw
    said = body.get("hook_event_name")
    known = said if isinstance(said, str) and said in AGENTS[name].says else "PreToolUse"
    check_form(name, known, answer)
    if known == "PreToolUse" and (said != "PreToolUse" or not is_whole(body)):
        assert stops(name, answer)


@pytest.mark.parametrize("name", AGENTS)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(body=st.binary(max_size=60) | JSON.map(lambda one: json.dumps(one).encode()))
def test_rubbish_is_refused(talks: dict[str, Talk], name: str, body: bytes) -> None:
    answer = talks[name].raw(body).raw
    check_form(name, "PreToolUse", answer)
    assert stops(name, answer)


@pytest.mark.parametrize("name", AGENTS)
def test_too_much_is_not_read(name: str) -> None:
    with pytest.raises(BadHook, match="at most"):
        AGENTS[name].read(b" " * (16 * 1024 * 1024 + 1))


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("bash", "bash"), ("cd a && python3", "python3"), ("sudo bash --norc", "bash"),
        ("python3 -i a.py", "python3"), ("psql shop", "psql"), ("ssh host", "ssh"),
        ("tmux attach -t a", "tmux"), ("bash run.sh", ""), ("bash -c ls", ""),
        ("python3 -m pytest", ""), ("python - <<E\nprint(1)\nE", ""), ("cat a | sh", ""),
        ("psql shop -c 'select 1'", ""), ("sqlite3 a.db 'select 1'", ""), ("ssh host ls", ""),
        ("node --version", ""), ("make test", ""), ("python3 < a.py", ""),
        ("psql shop < a.sql", ""), ("bash < /dev/tty", "bash"),
        ("tmux send-keys -t a ls Enter", ""),
    ],
)  # fmt: skip
def test_codex_starts_nothing_that_is_typed_into_unheard(command: str, program: str) -> None:
    agent = AGENTS["codex"]
    body = {**FIELDS, "tool_input": {"command": command}}
    assert agent.fed(agent.heard(body)) == program


@pytest.mark.parametrize(
    ("command", "is_patch"),
    [
        ("apply_patch <<'E'\n*** Begin Patch\n*** End Patch\nE\n", True),
        ("cd sub && apply_patch <<E\n*** Begin Patch\nE", True),
        ("apply_patch <<E\nE\nexec client\nE", False),
        ("apply_patch <<E\n*** Begin Patch\nE\nls", False),
        ("apply_patch a.patch", False),
        ("ls", False),
    ],
)
def test_a_patch_is_what_is_nothing_else(command: str, is_patch: bool) -> None:
    agent = AGENTS["codex"]
    body = {**FIELDS, "tool_input": {"command": command}}
    assert agent.runs_itself(agent.heard(body)) == is_patch


def test_arguments_go_back_as_they_came() -> None:
    agent = AGENTS["codex"]
    given_ = {"command": "*** Begin Patch"}
    body = {**FIELDS, "tool_name": "apply_patch", "tool_input": given_, "cwd": "/work"}
    heard = agent.heard(body)
    assert heard.fields["args"] == {"patch": "*** Begin Patch", "cwd": "/work"}
    assert agent.own_args(heard, heard.fields["args"]) == given_
    own = agent.heard({**FIELDS, "tool_name": "mcp__a__b", "tool_input": {"workdir": "x"}})
    assert own.fields["args"] == {"workdir": "x"}


@pytest.mark.parametrize("name", AGENTS)
def test_an_agent_does_not_say_where_its_shell_stands(name: str) -> None:
    agent = AGENTS[name]
    given_ = {"command": "rm -rf x", "cwd": "/tmp", "workDir": "/tmp", "base_dir": "/tmp"}
    heard = agent.heard({**FIELDS, "tool_input": given_, "cwd": "/work"})
    assert heard.fields["args"] == {"command": "rm -rf x", "cwd": "/work"}
    changed = {"command": "ls", "cwd": "/work"}
    assert agent.own_args(heard, changed) == {**given_, "command": "ls", "cwd": "/work"}
