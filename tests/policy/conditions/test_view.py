"""What conditions see of an event, and how an action's kind and files are told from a call."""

from typing import Any

import pytest

from stanchion.kernel.actions import Risk
from stanchion.kernel.events import (
    OF_STAGE,
    Charge,
    Egress,
    Event,
    Failure,
    ModelCall,
    Prompt,
    RunInfo,
    ToolCall,
)
from stanchion.kernel.names import names
from stanchion.kernel.stages import Stage
from stanchion.kernel.units import amounts
from stanchion.policy.conditions import compile_condition
from stanchion.policy.conditions.view import STANDARD, TYPES, WORDS, EventView, call_of

RUN = RunInfo(
    "r1",
    agent="implementer-1",
    role="implementer",
    task="fix-login",
    allowed_tools=names(["Read", "git_*"]),
    additional_tools=names(["Write"]),
    capabilities=("code",),
)


def call(tool: str, **args: Any) -> ToolCall:
    return ToolCall(id="e1", at=0, run=RUN, tool=tool, args=args)


def holds(text: str, event: Event) -> bool:
    return compile_condition(text, STANDARD).test(EventView(event))


@pytest.mark.parametrize(
    ("tool", "args", "kind", "targets"),
    [
        ("Write", {"file_path": "src/a.py", "content": "x"}, "file_write", ["src/a.py"]),
        ("Edit", {"file_path": "./src/../a.py"}, "file_write", ["a.py"]),
        (
            "MultiEdit",
            {"edits": [{"path": "a"}, {"path": "b"}, {"path": "a"}]},
            "file_write",
            ["a", "b"],
        ),
        ("Read", {"file_path": "/etc/passwd"}, "file_read", ["/etc/passwd"]),
        ("Read", {}, "file_read", []),
        ("read_file", {"path": "a"}, "file_read", ["a"]),
        ("fs.readFile", {"path": "a"}, "file_read", ["a"]),
        ("list_directory", {"path": "."}, "file_read", ["."]),
        ("deleteFile", {"filename": "a"}, "file_delete", ["a"]),
        ("rm", {"paths": ["a", "b/"]}, "file_delete", ["a", "b"]),
        ("delete_user", {"user_id": "7"}, "tool", []),
        ("move_file", {"source": "a", "destination": "b"}, "file_write", ["a", "b"]),
        ("send_email", {"to": "bob@example.com", "from": "me"}, "tool", []),
        ("send_email", {"to": "b", "attachments": {"file": "a.pdf"}}, "tool", ["a.pdf"]),
        ("apply", {"path": "a", "content": "x"}, "file_write", ["a"]),
        ("lint", {"path": "a"}, "tool", ["a"]),
        ("Bash", {"command": "rm -rf /"}, "command", []),
        ("run", {"cmd": ["ls", "-l"]}, "command", []),
        ("terminal", {}, "command", []),
        ("web_fetch", {"url": "https://x"}, "http", []),
        ("WebFetch", {"url": "https://x"}, "http", []),
        ("lookup", {"url": "https://x"}, "http", []),
        ("http_get", {"url": "https://x", "path": "/a"}, "http", ["/a"]),
        ("write_file", {"path": "file:///etc/%70asswd"}, "file_write", ["/etc/passwd"]),
        ("write_file", {"path": "src\\..\\a"}, "file_write", ["a"]),
        ("write_file", {"options": {"deeper": {"path": "a"}}}, "file_write", []),
        ("write_file", {"path": 5, "file": None, "files": [1, "a", ""]}, "file_write", ["a"]),
        ("create_ticket", {"title": "x"}, "tool", []),
        ("", {}, "tool", []),
    ],
)
def test_derivation(tool: str, args: dict[str, Any], kind: str, targets: list[str]) -> None:
    found = call_of(tool, args)
    assert (found.type, found.targets) == (kind, targets)
    view = EventView(call(tool, **args))
    assert (view.action_type, view.action_target_files) == (kind, targets)
    assert view.action_target_file == (targets[0] if targets else None)
    assert kind in TYPES


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ({"command": "ls"}, "ls"),
        ({"cmd": ["ls", "-l"]}, "ls -l"),
        ({"command": 5, "script": "x"}, "x"),
        ({"command": []}, None),
        ({}, None),
    ],
)
def test_the_command(args: dict[str, Any], line: str | None) -> None:
    assert EventView(call("x", **args)).action_command == line


@pytest.mark.parametrize("args", [None, [], "text", {1: "a", "path": {"path": ["b"]}}])
def test_arguments_of_no_shape(args: Any) -> None:
    assert call_of("write_file", args).targets == (["b"] if isinstance(args, dict) else [])


def test_the_names_of_a_run() -> None:
    event = call("Write", file_path="src/login.py")
    assert holds(
        "agent.id == 'implementer-1' and agent.role == 'implementer' and task.id == 'fix-login'",
        event,
    )
    assert holds("'code' in agent.capabilities and size(agent.capabilities) == 1", event)
    assert not holds("action.tool_name in agent.allowed_tools", event)
    assert holds("action.tool_name in task.additional_tools", event)
    assert holds("action.tool_name in agent.allowed_tools", call("git_log"))
    assert holds(
        "event.stage == 'tool_call' and event.risk == 'medium' and event.tool == 'Write'", event
    )


def test_the_rule_that_keeps_implementers_from_tests() -> None:
    condition = compile_condition(
        "agent.role == 'implementer' AND action.type == 'file_write'", STANDARD
    )
    check = compile_condition(
        "not glob(action.target_file, '**/test_*') and not glob(action.target_file, '**/*_test.*')",
        STANDARD,
    )
    for path, passes in {
        "src/login.py": True,
        "tests/test_login.py": False,
        "src/../test_x": False,
        "a_test.go": False,
    }.items():
        view = EventView(call("Write", file_path=path))
        assert condition.test(view)
        assert check.test(view) is passes
    assert not condition.test(EventView(call("Read", file_path="tests/test_login.py")))


def test_the_fields_of_other_stages_are_null() -> None:
    assert holds("event.url == null and event.text == null and event.status == null", call("x"))
    egress = Egress(id="e", at=0, run=RUN, url="https://x", method="POST", headers={"a-b": "c"})
    assert holds(
        "action.type == 'http' and event.method == 'POST' and event.headers.`a-b` == 'c'", egress
    )
    assert holds(
        "event.args == null and event.args.path == null and action.target_file == null", egress
    )
    failure = Failure(
        id="e", at=0, run=RUN, tool="Write", error="boom", args={"path": "a"}, status=500
    )
    assert holds(
        "event.error == 'boom' and event.status == 500 and action.type == 'file_write'", failure
    )
    assert holds(
        "event.trusted and event.text.contains('hi')", Prompt(id="e", at=0, run=RUN, text="hi")
    )
    assert holds(
        "action.type == 'model'", ModelCall(id="e", at=0, run=RUN, model="m", messages=[{"a": 1}])
    )
    assert holds(
        "event.risk == 'critical'", Prompt(id="e", at=0, run=RUN, text="", risk=Risk.CRITICAL)
    )


def test_estimates() -> None:
    event = call("x")
    assert EventView(event).action_estimated_tokens is None
    assert EventView(event).action_estimated_duration is None
    view = EventView(event, amounts(tokens=7, duration_ms=1500))
    assert compile_condition(
        "action.estimated_tokens == 7 and action.estimated_duration == 1.5", STANDARD
    ).test(view)
    assert EventView(Charge(id="e", at=0, run=RUN, tokens=9)).action_estimated_tokens == 9


@pytest.mark.parametrize("stage", Stage)
def test_every_name_can_be_read_at_every_stage(stage: Stage) -> None:
    needed: dict[str, Any] = {
        Stage.PROMPT: {"text": ""}, Stage.MODEL_CHUNK: {"text": ""},
        Stage.MODEL_REPLY: {"text": ""}, Stage.EGRESS: {"url": ""}, Stage.ERROR: {"error": ""},
        Stage.HANDOFF: {"to": ""}, Stage.HANDOFF_DONE: {"to": ""},
    }  # fmt: skip
    event = OF_STAGE[stage](id="e", at=0, run=RUN, **needed.get(stage, {}))
    for word, told in WORDS.items():
        value = getattr(EventView(event), word.replace(".", "_"))
        assert value is not None or told.nullable or told.kind == "dyn", word


def test_a_view_has_no_other_attributes() -> None:
    with pytest.raises(AttributeError):
        EventView(call("x")).event_nothing  # noqa: B018 - the read is the test
