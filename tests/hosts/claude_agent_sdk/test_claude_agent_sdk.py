"""The Claude Agent SDK under its adapter: the behaviour suite, and what is this host's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("claude_agent_sdk")

from claude_agent_sdk import (
    ClaudeAgentOptions,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    SystemMessage,
    create_sdk_mcp_server,
    query,
    tool,
)

from stanchion import Shield
from stanchion.hosts.claude_agent_sdk import CLAUDE_AGENT_SDK, canary, guarded, options as adapter
from stanchion.hosts.claude_agent_sdk.options import Rehearsal
from stanchion.hosts.contract.canary import drive_canary
from stanchion.testing.host_suite import BEHAVIOURS, KEY, check, check_probes
from tests.hosts.claude_agent_sdk.driver import DRIVER, options_at
from tests.hosts.claude_agent_sdk.model import Block, call, serving, text
from tests.hosts.claude_agent_sdk.scripted import Session, prompt, tool_call
from tests.hosts.office import GONE
from tests.rules import rule

LOOK = "mcp__office__look"
POLICY: dict[str, Any] = {
    "name": "office",
    "guards": [
        {"use": "secrets"},
        {"id": "ask", "use": "tool_denylist", "tools": ["pay"], "action": "escalate"},
        rule(
            "root",
            "tool_call",
            applies_to={"tools": ["look"]},
            when="event.args.name == 'root'",
            action="block",
        ),
        rule("over", "prompt", when="event.text == 'stop'", action="block"),
    ],
    "escalation": {"dialogs": ["claude-agent-sdk"]},
}


class Table:
    """A session of the real Claude Code, with a model that makes one call: what came of it."""

    def __init__(self, folder: Path, policy: dict[str, Any] | None = None) -> None:
        self.folder = folder
        self.shield = Shield.load(
            POLICY if policy is None else policy, store="memory:", journal="memory:", notify="none"
        )
        self.ran: list[str] = []
        self.asked: list[list[Any]] = []
        self.messages: list[Any] = []

    @property
    def read(self) -> str:
        """All that the model has read."""
        return repr(self.asked)

    def decided(self, stage: str) -> list[tuple[str, str]]:
        """The decisions of a stage: tool and action."""
        kept = [one.read() for one in self.shield.journal.kept()]
        return [(one.tool, one.action) for one in kept if one.stage == stage]

    def server(self) -> Any:
        """Tools of the program's own."""

        @tool("look", "Look", {"name": str})
        async def look(args: dict[str, Any]) -> dict[str, Any]:
            self.ran.append(args["name"])
            return {"content": [text(f"page of {args['name']}")]}

        @tool("pay", "Pay", {"name": str})
        async def pay(args: dict[str, Any]) -> dict[str, Any]:
            self.ran.append(args["name"])
            return {"content": [text(f"{args['name']} is paid")]}

        return create_sdk_mcp_server("office", tools=[look, pay])

    def play(
        self,
        asks: Block,
        guard: Callable[[Any], Any] | None = None,
        **given: Any,
    ) -> None:
        """Have the model make one call, and then say that it is done."""

        def turn(messages: list[Any]) -> list[Block]:
            self.asked.append(messages)
            return [text("done")] if any(one["role"] == "assistant" for one in messages) else [asks]

        async def run(url: str) -> None:
            given.setdefault("allowed_tools", ["Bash", LOOK, "mcp__office__pay"])
            options = options_at(self.folder, url, mcp_servers={"office": self.server()}, **given)
            made = guarded(options, self.shield) if guard is None else guard(options)
            async for message in query(prompt="go", options=made):
                self.messages.append(message)

        with serving(turn) as url:
            asyncio.run(run(url))


@pytest.mark.parametrize("way", DRIVER.ways)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_behaviour(behaviour: str, way: str, tmp_path: Path) -> None:
    check(DRIVER, behaviour, way, tmp_path)


def test_probes() -> None:
    check_probes(DRIVER, globals())


def test_no_hook_says_what_a_model_has_used(tmp_path: Path) -> None:
    said: list[Any] = []

    async def watch(body: Any, _call: Any, _context: Any) -> Any:
        said.append(body)
        return {}

    events: Any = adapter.EVENTS
    hooks = {event: [HookMatcher(hooks=[watch])] for event in events}
    Table(tmp_path).play(call("c1", LOOK, {"name": "ann"}), hooks=hooks)
    assert {"UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"} <= {
        one["hook_event_name"] for one in said
    }
    assert not [one for one in said if "usage" in one or "tokens" in repr(one)]


def test_the_same_messages_come_with_a_guard_and_without(tmp_path: Path) -> None:
    def shown(message: Any) -> tuple[str, str]:
        about = getattr(message, "content", getattr(message, "result", message.__class__))
        return type(message).__name__, repr(about)

    seen = []
    for name, guard in (("bare", lambda options: options), ("guarded", None)):
        table = Table(tmp_path / name, {"name": "bare"})
        table.play(call("c1", LOOK, {"name": "ann"}), guard)
        told = [one for one in table.messages if not isinstance(one, SystemMessage)]
        seen.append([shown(one) for one in told])
    assert seen[0] == seen[1]
    assert len(seen[0]) >= 4


def yes(changed: Any = None) -> Any:
    async def ask(_tool: str, _given: Any, _context: Any) -> Any:
        return PermissionResultAllow(updated_input=changed)

    return ask


async def no(_tool: str, _given: Any, _context: Any) -> Any:
    return PermissionResultDeny(message="not today")


@pytest.mark.parametrize(
    ("ask", "ran", "read", "answers"),
    [
        (yes(), ["ann"], "ann is paid", ["used"]),
        (no, [], "not today", ["denied"]),
        (yes({"name": "eve"}), [], "nobody was asked about these arguments", ["denied", "open"]),
        (None, [], "a person has been asked", ["open"]),
    ],
)
def test_the_programs_own_dialog_answers_a_question(
    ask: Any, ran: list[str], read: str, answers: list[str], tmp_path: Path
) -> None:
    table = Table(tmp_path)
    table.play(call("c1", "mcp__office__pay", {"name": "ann"}), can_use_tool=ask, allowed_tools=[])
    assert (table.ran, read in table.read) == (ran, True)
    assert sorted([one.state for one in table.shield.tickets(state="all")]) == answers


def test_a_dialog_that_no_policy_names_answers_nothing(tmp_path: Path) -> None:
    table = Table(tmp_path, {**POLICY, "escalation": {}})
    table.play(
        call("c1", "mcp__office__pay", {"name": "ann"}), can_use_tool=yes(), allowed_tools=[]
    )
    assert table.ran == []


@pytest.mark.parametrize("changed", [{"name": "root"}, {"name": "bob"}])
def test_a_call_that_the_program_changes_is_judged_as_it_runs(
    changed: dict[str, str], tmp_path: Path
) -> None:
    async def change(body: Any, _call: Any, _context: Any) -> Any:
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": changed}}

    ran = [] if changed["name"] == "root" else ["bob"]
    by_hook = Table(tmp_path / "hook")
    by_hook.play(
        call("c1", LOOK, {"name": "ann"}), hooks={"PreToolUse": [HookMatcher(hooks=[change])]}
    )
    by_dialog = Table(tmp_path / "dialog")
    by_dialog.play(call("c1", LOOK, {"name": "ann"}), can_use_tool=yes(changed), allowed_tools=[])
    assert (by_hook.ran, by_dialog.ran) == (ran, ran)


def test_a_result_that_the_program_changes_is_judged(tmp_path: Path) -> None:
    async def change(body: Any, _call: Any, _context: Any) -> Any:
        own = {"hookEventName": "PostToolUse", "updatedToolOutput": [text(f"the key is {KEY}")]}
        return {"hookSpecificOutput": own}

    table = Table(tmp_path)
    table.play(
        call("c1", LOOK, {"name": "ann"}), hooks={"PostToolUse": [HookMatcher(hooks=[change])]}
    )
    assert KEY not in table.read
    assert f"the key is {GONE}" in table.read


def test_the_turn_ends_before_a_failure_is_read_that_must_not_be(tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text(KEY)
    table = Table(tmp_path)
    table.play(call("c1", "Bash", {"command": "cat page.txt >&2; exit 3", "description": "x"}))
    assert KEY not in table.read
    (result,) = [one for one in table.messages if isinstance(one, ResultMessage)]
    assert (len(table.asked), result.terminal_reason) == (1, "hook_stopped")


def test_no_tool_of_the_program_runs_where_no_hook_was_asked(tmp_path: Path) -> None:
    table = Table(tmp_path)

    def unhooked(options: Any) -> Any:
        return replace(guarded(options, table.shield), extra_args={"bare": None})

    table.play(call("c1", LOOK, {"name": "ann"}), unhooked)
    assert (table.ran, "nobody knows whose call it was" in table.read) == ([], True)


def test_hooks_are_kept_whatever_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in adapter.KEEPS_HOOKS:
        monkeypatch.setenv(name, "1")
    table = Table(tmp_path)
    table.play(call("c1", LOOK, {"name": "root"}), env=dict.fromkeys(adapter.KEEPS_HOOKS, "1"))
    assert (table.ran, table.decided("tool_call")) == ([], [("look", "BLOCK")])


def test_a_hundred_sessions_at_once_have_runs_of_their_own() -> None:
    shield = Shield.load(POLICY, store="memory:", journal="memory:", notify="none")
    options = guarded(ClaudeAgentOptions(), shield, agent="helper", task="t")

    async def one(number: int) -> list[str]:
        name = "root" if number % 2 else "ann"
        session = Session(f"s{number}", [prompt("go"), tool_call("look", {"name": name})])
        async for _ in query(prompt="go", options=options, transport=session):
            pass
        return [answer["hookSpecificOutput"]["permissionDecision"] for answer in session.denials]

    async def play() -> list[list[str]]:
        return await asyncio.gather(*[one(number) for number in range(100)])

    assert asyncio.run(play()) == [["deny"] if number % 2 else [] for number in range(100)]
    kept = [one.read() for one in shield.journal.kept()]
    assert len({one.run for one in kept}) == 100
    assert len([one for one in kept if one.stage == "tool_call"]) == 100
    assert {one.stage for one in kept} >= {"prompt", "tool_call"}


def test_a_session_goes_on_in_its_run() -> None:
    shield = Shield.load(POLICY, store="memory:", journal="memory:", notify="none")
    options = guarded(ClaudeAgentOptions(), shield)

    async def play() -> None:
        for name in ("ann", "bob"):
            session = Session("s1", [tool_call("look", {"name": name}, name)])
            async for _ in query(prompt="go", options=options, transport=session):
                pass

    asyncio.run(play())
    runs = [one.read().run for one in shield.journal.kept()]
    assert (len(runs), len(set(runs))) == (2, 1)


def test_a_run_can_be_given() -> None:
    shield = Shield.load(POLICY, store="memory:", journal="memory:", notify="none")
    with CLAUDE_AGENT_SDK.run(shield, agent="helper") as hosted:
        session = Session("s1", [tool_call("look", {"name": "root"})])

        async def play() -> None:
            options = guarded(ClaudeAgentOptions(), hosted)
            async for _ in query(prompt="go", options=options, transport=session):
                pass

        asyncio.run(play())
        assert [one.read().run for one in shield.journal.kept()] == [hosted.run.id]
    assert len(session.denials) == 1


def test_what_cannot_be_judged_is_refused() -> None:
    shield = Shield.load(POLICY, store="memory:", journal="memory:", notify="none")
    nameless = {"hook_event_name": "PreToolUse", "tool_name": "Look"}
    session = Session("s1", [nameless, prompt("stop")])

    async def play() -> None:
        options = guarded(ClaudeAgentOptions(), shield)
        async for _ in query(prompt="go", options=options, transport=session):
            pass

    asyncio.run(play())
    assert "tool_input" in session.answers[0]["hookSpecificOutput"]["permissionDecisionReason"]
    assert session.answers[1]["decision"] == "block"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "give `ClaudeAgentOptions`"),
        (ClaudeAgentOptions(extra_args={"bare": None}), "asks no hook with `bare`"),
        (ClaudeAgentOptions(extra_args={"safe-mode": None}), "asks no hook with `safe-mode`"),
        (ClaudeAgentOptions(permission_prompt_tool_name="mcp__x__y"), "give `can_use_tool`"),
        (ClaudeAgentOptions(include_partial_messages=True), "leave `include_partial_messages` out"),
    ],
)
def test_options_with_which_something_passes_are_refused(options: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        guarded(options, Shield.load(POLICY, store="memory:", notify="none"))


def test_what_is_no_shield_is_refused() -> None:
    with pytest.raises(TypeError, match="give a `Shield`"):
        guarded(ClaudeAgentOptions(), object())


def test_options_that_were_given_stay_as_they_are() -> None:
    given = ClaudeAgentOptions(env={"A": "1"})
    guarded(given, Shield.load(POLICY, store="memory:", notify="none"))
    assert (given.hooks, given.env) == (None, {"A": "1"})


def test_the_canary_runs_where_hooks_do_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails_open(*_: Any, **__: Any) -> Any:
        return HookMatcher(hooks=[])

    assert drive_canary(canary).caught
    monkeypatch.setattr(adapter, "HookMatcher", fails_open)
    assert not drive_canary(canary).caught


def test_the_rehearsal_calls_what_no_hook_holds_back() -> None:
    ran: list[str] = []

    def body() -> str:
        ran.append("ran")
        return "it ran"

    async def play() -> None:
        session = Rehearsal(body)
        async for _ in query(prompt="go", options=ClaudeAgentOptions(), transport=session):
            pass

    asyncio.run(play())
    assert ran == ["ran"]
