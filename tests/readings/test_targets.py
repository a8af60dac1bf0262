"""Which paths a call names, and what would be done with them."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.guards._protected import Use
from stanchion.guards.files import Files
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.readings import read
from stanchion.readings.commands import USUAL, held
from stanchion.readings.paths.targets import PathTarget, Seeing, targets

PLAIN = Seeing(lambda _tool: None, {})


def named(
    tool: str, traits: tuple[str, ...], args: dict[str, Any], seeing: Seeing = PLAIN
) -> list[PathTarget]:
    return list(targets(tool, traits, args, seeing, held(tool, args, USUAL)))


def found(tool: str, args: dict[str, Any], *traits: str) -> list[tuple[str, Use, bool]]:
    """The paths of a call, how they are used, and whether they are surely paths."""
    return [(one.text, one.use, one.sure) for one in named(tool, traits, args)]


@pytest.mark.parametrize(
    ("tool", "args", "expected"),
    [
        ("read_file", {"path": "a"}, [("a", "read", True)]),
        ("Write", {"file_path": "a", "content": "/etc/shadow"}, [("a", "write", True)]),
        ("fs.deleteFile", {"filePath": "a"}, [("a", "delete", True)]),
        ("read_files", {"paths": ["a", "b"]}, [("a", "read", True), ("b", "read", True)]),
        (
            "apply",
            {"files": [{"path": "a", "text": "/x"}, {"path": "b"}]},
            [("a", "write", True), ("b", "write", True)],
        ),
        ("deep", {"x": {"y": [{"filename": "a"}]}}, [("a", "write", True)]),
        ("copy_file", {"src": "a", "dst": "b"}, [("a", "read", True), ("b", "write", True)]),
        (
            "move_file",
            {"source": "a", "destination": "b"},
            [("a", "delete", True), ("b", "write", True)],
        ),
        (
            "convert",
            {"input_path": "a", "output_path": "b"},
            [("a", "read", True), ("b", "write", True)],
        ),
        ("rename_branch", {"old": "main", "new": "trunk"}, []),
        ("send_mail", {"to": "ada@example.org", "body": "see /etc/shadow"}, []),
        ("http_get", {"path": "/api/users"}, [("/api/users", "read", False)]),
        ("lookup", {"thing": "/etc/shadow"}, [("/etc/shadow", "read", False)]),
        ("lookup", {"thing": "and/or"}, []),
        ("lookup", {"thing": "x" * 2_000 + "/../y"}, []),
        ("read_file", {"odd": "~/x"}, [("~/x", "read", True)]),
        ("read_file", {"path": ""}, []),
        ("read_file", {"path": 7, "paths": [None, True, {}]}, []),
    ],
)
def test_paths_are_found_by_the_names_of_arguments(
    tool: str, args: dict[str, Any], expected: list[tuple[str, Use, bool]]
) -> None:
    assert found(tool, args) == expected


def test_a_declared_effect_says_more_than_names() -> None:
    assert found("update", {"path": "a"}, "read") == [("a", "read", True)]
    assert found("process", {"path": "a"}, "irreversible") == [("a", "delete", True)]
    assert found("process", {"path": "a"}) == [("a", "write", True)]


def test_options_say_more_than_a_declared_effect() -> None:
    reading = Seeing(lambda tool: "read" if tool == "process" else None, {"blob": "delete"})
    assert named("process", ("irreversible",), {"path": "a", "blob": "b"}, reading) == [
        PathTarget("a", "read"),
        PathTarget("b", "delete"),
    ]


def test_paths_are_seen_from_the_folder_beside_them() -> None:
    got = named("read_file", (), {"path": "a", "cwd": "/w"})
    assert got == [PathTarget("a", "read", True, "/w"), PathTarget("/w", "read")]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat a > b", {("a", "read"), ("b", "write")}),
        (["rm", "-rf", "a b"], {("a b", "delete")}),
        ("sh -c 'cat /etc/shadow'", {("/etc/shadow", "read")}),
        ("echo '/etc/shadow'", set()),
        ('cat "$FILE"', set()),
    ],
)
def test_commands_are_read_for_their_paths(command: Any, expected: set[tuple[str, str]]) -> None:
    assert {(path, use) for path, use, _ in found("bash", {"command": command})} == expected


def test_a_command_that_changes_its_folder_is_followed() -> None:
    one, _ = named("bash", (), {"command": "cd src && cat x", "cwd": "/w"})
    assert (one.text, one.base) == ("x", "/w/src")


def test_guards_that_lay_down_nothing_of_their_own_read_the_paths_of_a_call_once() -> None:
    call = read(
        ToolCall(id="c1", run=RunInfo("r1"), at=0, tool="write_file", args={"path": "a.py"})
    )
    found = Files().targets(call)
    assert Files(root=("/",), shipped=False).targets(call) is found
    assert found == [PathTarget("a.py", "write")]
    assert Files(tools={"write_file": "delete"}).targets(call) == [PathTarget("a.py", "delete")]
    assert Files().targets(call) is found
