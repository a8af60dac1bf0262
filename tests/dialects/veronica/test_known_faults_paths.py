"""Faults of earlier systems in judging paths; each test fails where Stanchion has the fault."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.testing import shield_for

OPEN: dict[str, Any] = {"name": "open", "guards": [{"use": "files"}]}
BOXED: dict[str, Any] = {"name": "boxed", "guards": [{"use": "files", "root": ["/srv/app"]}]}


@pytest.mark.parametrize("path", ["/etc/passwd", "/etc/cron.d/x", "../../x"])
@pytest.mark.parametrize("policy", [OPEN, BOXED], ids=["open", "boxed"])
@pytest.mark.parametrize(
    ("tool", "key"), [("write_file", "path"), ("save", "file"), ("edit", "target_file")]
)
def test_fault_10_paths_that_leave_are_refused(
    path: str, policy: dict[str, Any], tool: str, key: str
) -> None:
    """An execution shield let all three through."""
    decision = shield_for(policy).run("a").check(tool, {key: path, "content": "x"})
    assert not decision.proceeds
    assert decision.code in ("files.protected", "files.outside")


@pytest.mark.parametrize("path", ["/etc/passwd", "/etc/cron.d/x", "../../x"])
def test_fault_10_in_commands_too(path: str) -> None:
    assert not shield_for(BOXED).run("a").check("bash", {"command": f"echo x > {path}"}).proceeds


@pytest.mark.parametrize("policy", [OPEN, BOXED], ids=["open", "boxed"])
def test_fault_10_honest_paths_go_ahead(policy: dict[str, Any]) -> None:
    run = shield_for(policy).run("a")
    for path in ("x", "src/x.py", "./x", "a/../b", "/srv/app/x"):
        assert run.check("write_file", {"path": path, "content": "x"}).proceeds
