"""Real reference servers behind the proxy, as `make test-mcp` has recorded them: what arrives, what
is withheld alone, and what a click is taken for."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from typing import Any

import anyio
import mcp_types as types
import pytest

from stanchion.testing import shield_for
from tests.hosts.mcp.servers import Tools, client_of, text
from tools.mcp_suite.reference import GOLDEN, SCENES, told


def recorded(name: str) -> tuple[Tools, dict[str, deque[Any]]]:
    """A server that answers as the real one did, call by call; the last answer holds."""
    answers: dict[str, deque[Any]] = defaultdict(deque)
    tools = Tools(name)

    def answer(tool: str) -> Any:
        def said(context: Any, args: dict[str, Any]) -> types.CallToolResult:
            given = answers[json.dumps([tool, args], sort_keys=True)]
            made = given.popleft() if len(given) > 1 else given[0]
            return types.CallToolResult.model_validate(made)

        return said

    for line in (GOLDEN / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
        kept = json.loads(line)
        if kept["method"] == "tools/list":
            for each in kept["result"]["tools"]:
                tools.tools[each["name"]] = answer(each["name"])
                tools.more[each["name"]] = each
        else:
            params = kept["params"]
            said = json.dumps([params["name"], params["arguments"]], sort_keys=True)
            answers[said].append(kept["result"])
    return tools, answers


@pytest.mark.parametrize("name", SCENES)
def test_a_recorded_server_is_used_and_guarded(name: str) -> None:
    scene = SCENES[name]
    tools, _ = recorded(name)
    shield = shield_for({"name": name, "extends": "mcp", **scene.policy})

    async def play() -> list[str]:
        wrong: list[str] = []
        async with client_of(shield, tools.upstream("old")) as client:
            for step in scene.steps:
                before = len([one for one in tools.calls if one == (step.tool, step.args)])
                wrong += told(step, await client.call_tool(step.tool, step.args))
                asked = len([one for one in tools.calls if one == (step.tool, step.args)])
                if step.tool != "browser_snapshot" and (asked > before) is not step.runs:
                    wrong.append(f"{step} {'did not run' if step.runs else 'has run'}")
        return wrong

    assert anyio.run(play) == []


SNAPSHOT = """### Page
- Page URL: http://shop.example/
- Page Title: Shop
### Snapshot
```yaml
- button "Delete account" [ref=e1]
- textbox "Search" [ref=e2]
- textbox "Mail" [active] [ref=e3]
- button "Next" [ref=e4]
```"""
FORMS = {
    "e2": '{"to": "http://shop.example/find", "by": "Search"}',
    "e3": '{"to": "http://shop.example/", "by": "Pay now"}',
    "e4": "broken",
}


def browser(**more: Any) -> Tools:
    """A browser server with one page."""
    acting: dict[str, Any] = {
        name: lambda context, args: text("done")
        for name in ("browser_click", "browser_type", "browser_press_key", "browser_fill_form")
    }
    return Tools(
        browser_snapshot=lambda context, args: text(SNAPSHOT),
        browser_evaluate=lambda context, args: text(
            "### Result\n" + FORMS.get(args.get("target", "e3"), "null")
        ),
        **acting,
        **more,
    )


RULE = {"use": "rule", "stages": ["tool_call"], "action": "block"}
ACTS: dict[str, tuple[str, dict[str, Any], str, str, str]] = {
    "a button": ("browser_click", {"target": "e1"}, "irreversible", "button", "Delete account"),
    "a button by the older name": ("browser_click", {"ref": "e1"}, "irreversible", "button", ""),
    "a text": ("browser_type", {"target": "e2", "text": "x"}, "", "textbox", "Search"),
    "a form that is sent": (
        "browser_type",
        {"target": "e3", "text": "x", "submit": True},
        "irreversible",
        "textbox",
        "Mail",
    ),
    "a key": ("browser_press_key", {"key": "Enter"}, "irreversible", "textbox", "Mail"),
    "a page that does not answer": (
        "browser_click",
        {"target": "e4"},
        "irreversible",
        "unknown",
        "Next",
    ),
    "a selector": ("browser_click", {"target": "text=Next"}, "irreversible", "unknown", ""),
    "nothing": ("browser_click", {}, "irreversible", "unknown", ""),
    "several": (
        "browser_fill_form",
        {"fields": [{"target": "e2", "value": "x"}, {"target": "e9", "value": "y"}]},
        "irreversible",
        "unknown",
        "",
    ),
}


@pytest.mark.parametrize("case", ACTS)
def test_what_a_call_acts_on_is_said_by_the_server(case: str) -> None:
    tool, args, effect, role, words = ACTS[case]
    fits = (
        f'event.args["@element"].effect == "{effect}"'
        f' and (event.args["@element"].role == "{role}" or "{role}" in event.args["@element"].role)'
        + (f' and event.args["@element"].text == "{words}"' if words else "")
    )
    tools = browser()
    shield = shield_for({"name": "p", "guards": [{**RULE, "when": f"not ({fits})"}]})
    given = {**args, "element": "the heading"}

    async def play() -> Any:
        async with client_of(shield, tools.upstream()) as client:
            return await client.call_tool(tool, given)

    assert "done" in str(anyio.run(play))
    assert tools.calls[-1] == (tool, given)


def test_an_agent_cannot_say_what_it_acts_on() -> None:
    tools = browser(other=lambda context, args: text("done"))
    shield = shield_for({"name": "p"})
    element = {"@element": {"role": "link", "text": "Next", "effect": "read"}}

    async def play() -> list[Any]:
        async with client_of(shield, tools.upstream()) as client:
            return [
                await client.call_tool(tool, {"target": "e1", **element})
                for tool in ("browser_click", "other")
            ]

    for came in anyio.run(play):
        assert "`@element` is for hosts alone" in str(came)
    assert {tool for tool, _ in tools.calls} <= {"browser_snapshot", "browser_evaluate"}


def test_a_tool_is_not_asked_about_more_than_it_takes() -> None:
    tools = browser()
    tools.more["browser_click"] = {
        "inputSchema": {
            "type": "object",
            "properties": {"target": {"type": "string"}},
            "additionalProperties": False,
        }
    }
    for extra in ("schema", "refuse", "drop"):
        shield = shield_for({"name": "p", "guards": [{"use": "schema", "extra": extra}]})

        async def play(shield: Any = shield) -> Any:
            async with client_of(shield, tools.upstream()) as client:
                return await client.call_tool("browser_click", {"target": "e1"})

        assert "done" in str(anyio.run(play))
