"""The table of acts: what a tool does, by what is declared of it and its name."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.readings.act import act_of
from stanchion.readings.names import own_name, words

ACTS: list[tuple[str, tuple[str, ...], dict[str, Any]]] = [
    ("read_file", (), {"verb": "read", "use": "read", "of_files": True}),
    ("fs.write-file", (), {"verb": "write", "use": "write", "of_files": True, "changes": True}),
    ("writeFile", (), {"verb": "write", "use": "write", "of_files": True, "changes": True}),
    ("DELETE_FOLDER", (), {"verb": "delete", "use": "delete", "of_files": True, "changes": True}),
    ("move_file", (), {"verb": "write", "use": "write", "moves": True}),
    ("rm", (), {"verb": "delete", "use": "delete", "of_files": False}),
    ("process", (), {"verb": "", "use": "write"}),
    ("process", ("read",), {"use": "read", "reads_only": True, "repeats": True}),
    ("process", ("irreversible",), {"use": "delete", "reads_only": False, "repeats": False}),
    ("process", ("outward",), {"use": "write", "reads_only": False, "repeats": False}),
    ("read_file", ("local",), {"verb": "read", "use": "write", "reads_only": False}),
    ("delete_file", ("outward",), {"use": "delete", "reads_only": False}),
    ("read_file", ("irreversible",), {"use": "delete", "reads_only": False}),
    ("write_file", ("irreversible",), {"use": "write", "changes": True, "repeats": False}),
    ("write_file", ("read",), {"use": "read", "changes": False}),
    ("delete_file", ("irreversible", "idempotent"), {"use": "delete", "repeats": True}),
    ("get_status", (), {"seeks": True, "asks": True, "says": False}),
    ("this_island", (), {"seeks": False}),
    ("sendMail", (), {"says": True}),
    ("web_fetch", (), {"web": True, "api": True}),
    ("rest_call", (), {"web": False, "api": True}),
    *[
        (tool, (), {"runs": True})
        for tool in (
            "bash", "BASH", "docker_exec", "ssh_exec", "python_exec", "kubectl_exec", "run_script",
            "container.exec", "mcp__server__exec", "start_process", "mcp__box__run", "execute",
            "runCommand", "rerun_command", "python_repl", "python3", "code_interpreter",
            "TerminalExecute", "run_javascript",
        )
    ],
    *[
        (tool, (), {"runs": False})
        for tool in (
            "read_file", "run_tests", "workflow_run", "process_payment", "explain_code",
            "verify_code", "search_commands", "python_docs_search", "create_node", "run_sql_query",
            "browser_evaluate",
        )
    ],
]  # fmt: skip


@pytest.mark.parametrize(("tool", "traits", "does"), ACTS)
def test_what_a_tool_does(tool: str, traits: tuple[str, ...], does: dict[str, Any]) -> None:
    act = act_of(tool, traits)
    assert {name: getattr(act, name) for name in does} == does


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("writeFile", ("write", "file")),
        ("fs.write-file", ("fs", "write", "file")),
        ("HTTPServer2", ("http", "server", "2")),
        ("ＢＡＳＨ", ("bash",)),
        ("", ()),
    ],
)
def test_the_words_of_a_name(name: str, said: tuple[str, ...]) -> None:
    assert words(name) == said


@pytest.mark.parametrize(
    ("tool", "own"),
    [("mcp__my_box__run", "run"), ("box.Run", "run"), ("a/b:run", "run"), ("run_all", "run_all")],
)
def test_a_name_without_whose_it_is(tool: str, own: str) -> None:
    assert own_name(tool) == own
