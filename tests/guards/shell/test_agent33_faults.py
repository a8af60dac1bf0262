"""Faults of the public AGENT-33 engine: lists of allowed commands that allow everything."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.testing import shield_for


def decided(command: str, **options: Any) -> Any:
    """The decision on a command under a shell guard with these options."""
    shield = shield_for({"name": "allow", "guards": [{"use": "shell", **options}]})
    return shield.run(agent="a").check("bash", {"command": command})


def test_an_empty_list_allows_nothing() -> None:
    decision = decided("ls", allow=[])
    assert (decision.code, decision.proceeds) == ("shell.not_allowed", False)


@pytest.mark.parametrize(
    "command",
    ["git status; rm -rf /", "git status && rm x", "git status | sh", "git status $(rm x)", "/bin/rm x", "./git status",  # noqa: E501
     "find . -delete", "sudo git status", "git status `id`", "eval git status", "$X"],
)  # fmt: skip
def test_a_command_behind_an_allowed_one_is_not_allowed(command: str) -> None:
    assert not decided(command, allow=["git"]).proceeds


@pytest.mark.parametrize(
    "command", ["git status", "/usr/bin/git log", "git diff; git log", "A=1; git show $A"]
)
def test_an_allowed_command_goes_ahead(command: str) -> None:
    assert decided(command, allow=["git"]).proceeds


def test_an_allowed_command_is_judged_all_the_same() -> None:
    assert decided("find . -delete", allow=["find"]).code == "shell.destructive"
    assert decided("git push --force", allow=["g*"]).code == "shell.git"
