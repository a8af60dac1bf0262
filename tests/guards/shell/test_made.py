"""What a build, an installer or a program makes again may go; what only looks like it may not."""

from __future__ import annotations

import pytest

from stanchion.guards.shell import Shell
from stanchion.kernel.actions import Action
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.readings import read


def action(command: str) -> Action:
    event = ToolCall(id="1", at=0, run=RunInfo("r"), tool="bash", args={"command": command})
    found = Shell().judge(read(event))
    return Action.ALLOW if found is None else found.action


@pytest.mark.parametrize(
    "command",
    [
        "find . -name __pycache__ -exec rm -rf {} +",
        "find . -type d -name .mypy_cache -exec rm -rf {} \\;",
        "find packages -name node_modules -prune -exec rm -rf '{}' +",
        "find . \\( -name dist -o -name '*.egg-info' \\) -print0 | xargs -0 rm -rf --",
        "rm -rf $(find . -name .pytest_cache)",
        "fd -t d __pycache__ -x rm -rf",
        "find .. -iname DerivedData -exec rm -rf {} +",
        "cd services && find . -path '*/target' -exec rm -rf {} +",
    ],
)
def test_a_search_for_what_is_made_again_may_delete_it(command: str) -> None:
    assert action(command) is Action.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "find . -name src -exec rm -rf {} +",
        "find . -name __pycache__ -o -type d -exec rm -rf {} +",
        "find . ! -name __pycache__ -exec rm -rf {} +",
        "find . -not -name dist | xargs rm -rf",
        "find . -type d -exec rm -rf {} +",
        "find /usr -name node_modules -exec rm -rf {} +",
        "find / -name __pycache__ | xargs rm -rf",
        "find . -name node_modules | sed s,/node_modules,, | xargs rm -rf",
        "find . -name dist; ls | xargs rm -rf",
        "rm -rf $(find . -name dist) ~/documents",
        "fd -t d src -x rm -rf",
        "find . -name dist -print; find . -name src -exec rm -rf {} +",
    ],
)
def test_a_search_for_anything_else_may_not(command: str) -> None:
    assert action(command) >= Action.ESCALATE
