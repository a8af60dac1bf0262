"""What of an agent's tools the provider runs, by how vendors write them."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.hosts import Part, survey
from stanchion.hosts.contract.frameworks import by_provider


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ({"type": "web_search"}, "web_search"),
        ({"type": "web_search_20250305", "name": "web_search", "max_uses": 3}, "web_search"),
        ({"type": "mcp", "server_label": "pages", "server_url": "https://example.org"}, "mcp"),
        ({"google_search": {}}, "google_search"),
    ],
)
def test_a_tool_of_the_providers_own_is_named(tool: Any, name: str) -> None:
    assert by_provider([tool], "helper") == [Part("tool", name, False, "helper")]


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "look", "parameters": {}}},
        {"type": "function", "name": "look", "parameters": {}},
        {"name": "look", "description": "Look.", "input_schema": {"type": "object"}},
        {"type": "custom", "name": "look"},
        {"type": "bash_20250124", "name": "bash"},
        print,
        object(),
    ],
)
def test_a_tool_that_the_caller_runs_is_not(tool: Any) -> None:
    assert by_provider([tool]) == []


def test_where_nobody_watches_the_open_parts_are_given_all_the_same() -> None:
    parts = [Part("tool", "look", True), Part("tool", "web_search", False)]
    assert survey(object(), parts) == (parts[1],)
