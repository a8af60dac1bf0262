"""What is known of tools of servers and frameworks."""

from __future__ import annotations

import pytest

from stanchion.kernel.declared import CONTENT, EFFECTS
from stanchion.readings.drafting import draft
from stanchion.readings.known_tools import _rows, known_tool


def test_every_line_of_the_table_says_what_can_be_said() -> None:
    rows = list(_rows())
    assert len(rows) > 700
    for source, _, name, declared in rows:
        registry, package, version = source.split()
        assert registry in ("npm", "pypi", "repository")
        assert package
        assert version[0].isalnum()
        assert name
        assert declared.effect in EFFECTS
        assert all(sink == "@page" or sink.replace("_", "").isalnum() for sink in declared.sinks)
    named = [(source, name) for source, _, name, _ in rows]
    assert len({*named}) == len(named)


ROWS = [
    ("mcp__github__create_issue", "outward", "repo", "npm @modelcontextprotocol/server-github"),
    ("github_delete_workflow_run_logs", "irreversible", "run_id", "repository github/github-mcp"),
    ("mcp__redis__delete", "irreversible", "key", "npm @modelcontextprotocol/server-redis"),
    ("get-structured-content", "read", "", "npm @modelcontextprotocol/server-everything"),
    ("Read a file's content", "read", "", "pypi crewai-tools"),
    ("read_a_files_content", "read", "", "pypi crewai-tools"),
    ("mcp__playwright__browser_click", "outward", "@page", "npm @playwright/mcp"),
]


@pytest.mark.parametrize(("tool", "effect", "sink", "source"), ROWS)
def test_a_whole_name_is_known_with_the_servers_before_it_or_without(
    tool: str, effect: str, sink: str, source: str
) -> None:
    known = known_tool(tool)
    assert known is not None
    assert known.declared.effect == effect
    assert not sink or sink in known.declared.sinks
    assert source in known.source


@pytest.mark.parametrize("tool", ["delete", "query", "mcp__other__get", "xcreate_issue", "", "_"])
def test_a_part_of_a_name_and_one_word_that_may_be_anybodys_are_not_known(tool: str) -> None:
    assert known_tool(tool) is None


def test_of_several_tools_of_one_name_the_strictest_holds() -> None:
    known = known_tool("delete_file")
    assert known is not None
    assert known.declared.effect == "irreversible"
    assert {"repo", "path", "file_name"} <= {*known.declared.sinks}
    assert known.source.startswith("pypi agno")


def test_a_known_tool_of_other_arguments_is_another() -> None:
    assert known_tool("create_file", ("path", "content")) is None
    assert known_tool("create_file", ("path", "content", "repo_name")) is not None
    assert known_tool("mcp__github__delete_file", ("path",)) is not None


def test_a_draft_is_only_made_stricter_by_it() -> None:
    assert draft("cron").effect == "outward"
    assert draft("browser_cookie_set", {"properties": {"name": {}}}).effect == "privilege"
    assert draft("sequentialthinking").effect == "outward"
    assert draft("mcp__redis__get").result == CONTENT
    named: dict[str, object] = {"properties": {"repo_name": {}, "source_branch": {}}}
    assert "source_branch" in draft("create_branch", named).sinks
