"""A host's own log, matched with the trail: each call that was answered needs a decision."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.audit.reader import TrailReader, WantedRecords
from stanchion.ops.views.coverage import CoverageView, coverage
from stanchion.ops.views.trails import chosen
from stanchion.ops.views.transcript import BadTranscript, read_transcript
from tests.runtime.coverage.doing import BARE
from tests.sdks.shapes import completion, message

ARGS = {"city": "Bern", "days": 2}


def openai_chat(tool: str, args: Any) -> Any:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": tool, "arguments": json.dumps(args)},
    }
    return [
        {"role": "user", "content": "what is the weather?"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    ]


def openai_responses(tool: str, args: Any) -> Any:
    return [
        {
            "type": "function_call",
            "call_id": "c1",
            "id": "fc1",
            "name": tool,
            "arguments": json.dumps(args),
        },
        {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
    ]


def anthropic(tool: str, args: Any) -> Any:
    return {
        "messages": [
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "t1", "name": tool, "input": args}],
            },
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "sunny"}],
            },
        ]
    }


def langchain(tool: str, args: Any) -> Any:
    return [
        {
            "type": "ai",
            "content": "",
            "tool_calls": [{"type": "tool_call", "id": "c1", "name": tool, "args": args}],
        },
        {"type": "tool", "tool_call_id": "c1", "content": "sunny"},
    ]


def mcp(tool: str, args: Any) -> Any:
    return [
        {
            "jsonrpc": "2.0",
            "id": 7,
            "method": "tools/call",
            "params": {"name": tool, "arguments": args},
        },
        {"jsonrpc": "2.0", "id": 7, "result": {"content": [{"type": "text", "text": "sunny"}]}},
    ]


SHAPES = [openai_chat, openai_responses, anthropic, langchain, mcp]


def lines(values: Any) -> bytes:
    return b"\n".join(
        json.dumps(value).encode() for value in (values if isinstance(values, list) else [values])
    )


def reconciled(trail: Path, log: bytes, run: str = "") -> CoverageView:
    return coverage(chosen(TrailReader(trail), WantedRecords()), run, read_transcript(log))


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """A trail with one call of each kind."""
    policy = {
        **BARE,
        "guards": [{"use": "secrets"}, {"use": "tool_denylist", "tools": ["forbidden"]}],
    }
    with (
        Shield.load(policy, store="memory:", journal=tmp_path / "trail") as shield,
        shield.run(id="r") as run,
    ):
        run.check("weather", ARGS)
        run.result("weather", ARGS, "sunny")
        run.check("forbidden", ARGS)
        run.model(lambda _: completion("hello there"), [])
        run.check("post", {"text": "the key is ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"})
    return tmp_path / "trail"


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "written", [lines, lambda value: json.dumps(value).encode()], ids=["lines", "whole"]
)
def test_a_call_that_was_decided_is_matched_in_every_shape(
    shape: Any, written: Any, trail: Path
) -> None:
    found = reconciled(trail, written(shape("weather", dict(reversed(ARGS.items())))))
    assert found.escaped == ()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("tool", "args"), [("weather", {"city": "Chur", "days": 2}), ("shell", ARGS)]
)
def test_one_that_nobody_decided_is_named(shape: Any, tool: str, args: Any, trail: Path) -> None:
    (one,) = reconciled(trail, lines(shape(tool, args))).escaped
    assert (one.what, one.name, one.told_by) == ("call", tool, "transcript")


def test_a_decision_answers_for_one_call(trail: Path) -> None:
    twice = openai_chat("weather", ARGS)
    again = json.loads(json.dumps(twice).replace("c1", "c2"))
    assert len(reconciled(trail, lines([*twice, *again])).escaped) == 1


def test_history_that_requests_repeat_counts_once(trail: Path) -> None:
    messages = openai_chat("weather", ARGS)
    assert reconciled(trail, lines([{"messages": messages}, {"messages": messages}])).escaped == ()


def test_a_refused_call_was_decided(trail: Path) -> None:
    found = reconciled(trail, lines(openai_chat("forbidden", ARGS)))
    assert (found.escaped, found.untold) == ((), 1)


def test_a_call_that_was_changed_is_matched_by_its_tool(trail: Path) -> None:
    assert (
        reconciled(trail, lines(openai_chat("post", {"text": "the key is [gone]"}))).escaped == ()
    )


def test_a_call_that_was_never_answered_is_only_said(trail: Path) -> None:
    found = reconciled(trail, lines(openai_chat("shell", ARGS)[:2]))
    assert (found.escaped, found.asked) == ((), 1)


def test_definitions_of_tools_are_no_calls(trail: Path) -> None:
    tools = [
        {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
    ]
    assert read_transcript(lines({"model": "gpt-x", "messages": [], "tools": tools})).calls == ()


@pytest.mark.parametrize("made", [completion, message])
def test_a_reply_that_nobody_decided_is_named(made: Any, trail: Path) -> None:
    assert reconciled(trail, lines(made("hello there"))).escaped == ()
    (one,) = reconciled(trail, lines(made("something else"))).escaped
    assert (one.what, one.name, one.place) == ("reply", made("")["model"], made("")["id"])


def test_only_the_run_that_is_asked_for_answers(trail: Path) -> None:
    log = lines(openai_chat("weather", ARGS))
    assert reconciled(trail, log, "r").escaped == ()
    assert len(reconciled(trail, log, "another").escaped) == 1


def test_what_is_no_json_is_said_with_its_line() -> None:
    with pytest.raises(BadTranscript, match="line 2 is no JSON"):
        read_transcript(b'{"a": 1}\nnot json\n')


def asking(*replies: Any, budget: bool = True) -> Any:
    """What a run does that asks a model for these replies."""

    def work(trail: Path) -> None:
        guards = [{"use": "budget", "tokens": 1_000_000}] if budget else []
        with (
            Shield.load({**BARE, "guards": guards}, store="memory:", journal=trail) as shield,
            shield.run(id="r") as run,
        ):
            for reply in replies:
                run.model(lambda _, reply=reply: reply, [])

    return work


def other(reply: Any) -> Any:
    """The same reply to another request."""
    return {**reply, "id": f"{reply['id']}-2"}


FIRST = completion("hello there")
USED = FIRST["usage"]["total_tokens"]


def test_tokens_that_were_counted_are_no_more_than_those_that_were_used(tmp_path: Path) -> None:
    asking(FIRST, message("and here"))(tmp_path / "trail")
    found = reconciled(tmp_path / "trail", lines([FIRST, message("and here")]))
    assert found.escaped == ()
    assert found.tokens_told == found.tokens_recorded > USED


def test_a_reply_beside_the_guard_that_says_what_a_decided_one_says_is_told_by_its_tokens(
    tmp_path: Path,
) -> None:
    asking(FIRST, FIRST)(tmp_path / "trail")
    longer = {
        **other(FIRST),
        "usage": {"prompt_tokens": 900, "completion_tokens": 100, "total_tokens": 1000},
    }
    (one,) = reconciled(tmp_path / "trail", lines([FIRST, longer])).escaped
    assert (one.what, one.name, one.told_by) == ("tokens", f"{1000 - USED:,}", "transcript")
    assert one.why == (
        f"the transcript tells of {1000 - USED:,} tokens more than were counted for what was "
        f"decided"
    )


def test_tokens_of_a_reply_that_is_named_are_not_named_again(tmp_path: Path) -> None:
    asking(FIRST)(tmp_path / "trail")
    found = reconciled(tmp_path / "trail", lines([FIRST, other(completion("something else"))]))
    assert [one.what for one in found.escaped] == ["reply"]
    assert (found.tokens_told > found.tokens_recorded) is True


def test_where_nobody_counts_tokens_none_are_missed(tmp_path: Path) -> None:
    asking(FIRST, budget=False)(tmp_path / "trail")
    found = reconciled(tmp_path / "trail", lines(FIRST))
    assert (found.escaped, found.tokens_told, found.tokens_recorded) == ((), USED, 0)


def test_tokens_that_a_host_reports_count(tmp_path: Path) -> None:
    with (
        Shield.load(BARE, store="memory:", journal=tmp_path / "trail") as shield,
        shield.run(id="r") as run,
    ):
        run.model(lambda _: FIRST, [])
        run.charge(tokens=USED)
    found = reconciled(tmp_path / "trail", lines(FIRST))
    assert (found.escaped, found.tokens_recorded) == ((), USED)
    assert reconciled(tmp_path / "trail", lines(FIRST), "another").tokens_recorded == 0
