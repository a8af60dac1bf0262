"""Transcripts become what hooks would have said; what cannot be read is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stanchion.hosts.coding.transcripts import (
    LONGEST,
    RecordedSession,
    TranscriptEvent,
    TranscriptLines,
    files_of,
    sessions_in,
    told_in,
)

RECORDED = Path(__file__).parent / "recorded"
HOMES = {"CLAUDE_CONFIG_DIR": str(RECORDED / "claude"), "CODEX_HOME": str(RECORDED / "codex")}
OWN = "00000000-0000-4000-8000-0000000000"


def recorded(agent: str) -> dict[str, RecordedSession]:
    met = TranscriptLines()
    found = list(sessions_in(files_of(agent, HOMES, met), met))
    assert met.unopened == {}
    return {one.id.removeprefix(OWN): one for one in found}


def bodies(session: RecordedSession) -> list[dict[str, Any]]:
    met = TranscriptLines()
    told = list(told_in(session, met))
    assert (met.unreadable, met.unknown) == (0, {})
    return [one.body for one in told if one.body is not None]


def written(folder: Path, *lines: object) -> Path:
    path = folder / "session.jsonl"
    path.write_text("".join([f"{one if type(one) is str else json.dumps(one)}\n" for one in lines]))
    return path


def read(path: Path) -> tuple[list[TranscriptEvent], TranscriptLines]:
    met = TranscriptLines()
    (session,) = sessions_in([path], met)
    return list(told_in(session, met)), met


def claude(kind: str, content: object, **more: object) -> dict[str, Any]:
    own = {"type": kind, "sessionId": "s1", "cwd": "/home/u/app", "message": {"content": content}}
    return {**own, **more}


def bash(call: str, command: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}


def test_a_session_of_claude_says_what_its_hooks_would_have_said() -> None:
    told = bodies(recorded("claude")["01"])
    assert told[0]["hook_event_name"] == "UserPromptSubmit"
    assert told[0]["prompt"] == "please do the work"
    called = [one["tool_name"] for one in told if one["hook_event_name"] == "PreToolUse"]
    assert called[:5] == ["Bash", "Read", "Bash", "Edit", "Write"]
    assert {"mcp__toy__echo", "mcp__toy__fail"} <= set(called)
    (failed, tool) = [one for one in told if one["hook_event_name"] == "PostToolUseFailure"]
    assert (failed["tool_use_id"], failed["error"]) == ("toolu_1_1", "Exit code 1")
    assert tool["tool_name"] == "mcp__toy__fail"
    came = next(one for one in told if one["hook_event_name"] == "PostToolUse")
    assert came["tool_input"]["command"] == "ls -la"
    assert came["tool_response"]["stdout"].startswith("total 16")
    assert {one["cwd"] for one in told} == {"/home/u/app"}


def test_what_claude_writes_for_itself_is_no_prompt() -> None:
    told = bodies(recorded("claude")["01"])
    prompts = [one["prompt"] for one in told if one["hook_event_name"] == "UserPromptSubmit"]
    assert prompts[0] == "please do the work"
    assert prompts[-1] == "and once more"
    assert not [one for one in prompts if "compact" in one or "continued from" in one]


def test_sub_agents_of_claude_are_in_the_session_that_started_them() -> None:
    session = recorded("claude")["50"]
    assert len(session.files) == 2
    told = bodies(session)
    own = {one["agent_id"] for one in told if "agent_id" in one}
    assert own == {"a76681e0fa3059ecc"}
    ends = [one["hook_event_name"] for one in told if "agent_id" in one][-1]
    assert ends == "SubagentStop"


def test_calls_that_the_host_did_not_carry_out_have_no_result() -> None:
    met = TranscriptLines()
    told = list(told_in(recorded("claude")["42"], met))
    assert [one.refused for one in told if one.refused] == [True]
    assert not [one for one in told if one.body and one.body["hook_event_name"] == "PostToolUse"]


def test_a_forked_session_has_the_keys_of_the_one_it_was_forked_from() -> None:
    first, fork = [
        {one.key for one in told_in(recorded("claude")[name], TranscriptLines()) if one.key}
        for name in ("42", "47")
    ]
    assert first < fork


def test_used_tokens_are_counted_once_a_reply_and_costs_by_their_growth() -> None:
    told = list(told_in(recorded("claude")["01"], TranscriptLines()))
    assert sum(one.tokens for one in told) == 14 * 16
    assert sum(one.cost_usd for one in told) == pytest.approx(0.002304)


def test_a_session_of_codex_says_what_its_hooks_would_have_said() -> None:
    told = bodies(recorded("codex")["65"])
    assert [one["prompt"] for one in told if "prompt" in one] == [
        "please do the work",
        "and once more",
    ]
    called = [one for one in told if one["hook_event_name"] == "PreToolUse"]
    assert called[0]["tool_name"] == "Bash"
    assert called[0]["tool_input"] == {"command": "ls -la"}
    patched = next(one for one in called if one["tool_name"] == "apply_patch")
    assert patched["tool_input"]["command"].startswith("*** Begin Patch")
    came = [one for one in told if one["hook_event_name"] == "PostToolUse"]
    assert came[0]["tool_response"].startswith("total 20\n")
    assert came[1]["tool_response"] == "hello\nworld\n"
    assert [one["last_assistant_message"] for one in told if one["hook_event_name"] == "Stop"] == [
        "done",
        "x",
    ]
    assert sum(one.tokens for one in told_in(recorded("codex")["65"], TranscriptLines())) == 13 * 16


def test_sub_agents_and_mcp_tools_of_codex_have_the_names_that_hooks_give_them() -> None:
    session = recorded("codex")["83"]
    assert len(session.files) == 2
    told = bodies(session)
    tools = [one["tool_name"] for one in told if one["hook_event_name"] == "PreToolUse"]
    assert tools[:3] == ["mcp__toy__echo", "mcp__toy__fail", "spawn_agent"]
    own = [one for one in told if one["hook_event_name"] == "PostToolUse" and "agent_id" not in one]
    came = next(one for one in own if one["tool_name"] == "mcp__toy__echo")
    assert came["tool_response"] == {"content": [{"type": "input_text", "text": "echo: hi"}]}
    assert {one.get("agent_id", "") for one in told} == {"", f"{OWN}88"}


def test_times_of_several_files_are_in_order() -> None:
    for session in (*recorded("claude").values(), *recorded("codex").values()):
        at = [one.at_ms for one in told_in(session, TranscriptLines())]
        assert at == sorted(at)


def test_the_oldest_codex_wrote_bare_items(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"id": "o1", "timestamp": "2025-06-01T10:00:00Z", "instructions": None},
        {"record_type": "state"},
        {"type": "function_call", "name": "shell", "call_id": "c1",
         "arguments": '{"command":["bash","-lc","ls -la"],"workdir":"/srv/app"}'},
        {"type": "function_call_output", "call_id": "c1",
         "output": '{"output":"a\\n","metadata":{"exit_code":0,"duration_seconds":0.0}}'},
        {"type": "local_shell_call", "call_id": "c2", "status": "completed",
         "action": {"type": "exec", "command": ["rm", "a b"], "working_directory": "/srv"}},
    )  # fmt: skip
    told, met = read(path)
    first, came, second = [one.body for one in told if one.body]
    assert met.unreadable == 0
    assert (first["tool_input"], first["cwd"]) == ({"command": "ls -la"}, "/srv/app")
    assert came["tool_response"] == "a\n"
    assert (second["tool_input"], second["cwd"]) == ({"command": "rm 'a b'"}, "/srv")


def test_the_oldest_claude_wrote_whole_texts_and_costs(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"type": "summary", "summary": "work", "leafUuid": "x"},
        claude("user", "fix it"),
        {**claude("assistant", [bash("t1", "ls")]), "costUSD": 0.5}
        | {"message": {"id": "m1", "usage": {"input_tokens": 3}, "content": [bash("t1", "ls")]}},
        claude("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "a"}]),
    )
    told, met = read(path)
    events = [one.body["hook_event_name"] for one in told if one.body]
    assert events == ["UserPromptSubmit", "PreToolUse", "PostToolUse"]
    assert (met.unreadable, sum(one.cost_usd for one in told)) == (0, 0.5)


@pytest.mark.parametrize(
    "line",
    ["{", "[]", '{"type":"user"}', '{"type":"user","message":{"content":[1]}}', "\x00", '"text"',
     '{"type":"assistant","message":{"content":[{"type":"tool_use"}]}}', "[" * 100_000,
     '{"type":"user","timestamp":"soon","message":{"content":"x"}}'],
)  # fmt: skip
def test_a_line_that_cannot_be_read_is_counted_and_the_others_are_read(
    tmp_path: Path, line: str
) -> None:
    told, met = read(written(tmp_path, claude("user", "a"), line, claude("user", "b")))
    assert [one.body["prompt"] for one in told if one.body] == ["a", "b"]
    assert (met.lines, met.unreadable) == (3, 1)


def test_kinds_that_are_not_known_are_named(tmp_path: Path) -> None:
    _, met = read(written(tmp_path, claude("user", "a"), {"type": "news"}, {"type": "news"}))
    assert (met.unknown, met.unreadable) == ({"news": 2}, 0)


def test_a_line_that_is_too_long_is_passed_over_without_being_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stanchion.hosts.coding.transcripts.LONGEST", 1_000)
    assert LONGEST > 1_000
    told, met = read(
        written(tmp_path, claude("user", "a"), claude("user", "x" * 5_000), claude("user", "b"))
    )
    assert [one.body["prompt"] for one in told if one.body] == ["a", "b"]
    assert met.unreadable == 1


def test_a_file_of_something_else_is_named(tmp_path: Path) -> None:
    met = TranscriptLines()
    assert list(sessions_in([written(tmp_path, {"role": "user"})], met)) == []
    assert list(met.unopened.values()) == ["it is no transcript of Claude Code or of Codex"]
