"""The faults of the public engine beside the specification, once more through the dialect;
the known faults are tested without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion import Refused
from stanchion.dialects.agent33 import Verdict
from tests.dialects.agent33.rails import FAILS, Deeds, block, only, rail, rails


def test_an_empty_allowlist_allows_nothing() -> None:
    made = rails(agents={"a": {"allowed_tools": []}})
    assert made.hooks("a").pre_execution("read", {}).final_verdict == Verdict.BLOCK


@pytest.mark.parametrize(
    "command", ["git status; rm -rf /", "find . -delete", "/bin/rm -rf /etc", "git status"]
)
def test_a_harmless_beginning_hides_nothing(command: str) -> None:
    told = (
        rails({"safety_guardrails": only(140)[:1]})
        .hooks("a")
        .pre_execution("bash", {"command": command})
    )
    assert told.proceeds == (command == "git status")


def test_a_path_that_climbs_out_is_outside(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    hooks = rails({"safety_guardrails": only(140)[3:]}, sandbox=tmp_path).hooks("a")
    paths = [
        "src/../../etc/passwd",
        "/etc/passwd",
        "link/passwd",
        str(tmp_path / "link/passwd"),
        "src/login.py",
    ]
    told = [
        hooks.pre_execution("write_file", {"path": path, "content": ""}).final_verdict
        for path in paths
    ]
    assert told == [Verdict.BLOCK] * 4 + [Verdict.PASS]


def test_what_needs_approval_does_not_proceed_without_one() -> None:
    deeds = Deeds()
    hooks = rails({"guardrail": rail(FAILS, "escalate")}).hooks("a")
    for _ in range(3):
        with pytest.raises(Refused):
            hooks.execute(deeds.deploy)
    assert deeds.done == []


def test_a_limit_of_calls_is_a_limit() -> None:
    made = rails(
        {"budget_guardrails": only(221)[2:3]}, tasks={"fix": {"api_call_budget": 3}}, autonomy=False
    )
    hooks = made.hooks("a", "fix")
    told = [hooks.pre_execution("fetch", {}, api_calls=1).final_verdict for _ in range(4)]
    assert told == [Verdict.PASS, Verdict.PASS, Verdict.BLOCK, Verdict.BLOCK], (
        "fewer than the budget, by its check"
    )


def test_what_was_stopped_stays_stopped() -> None:
    hooks = rails().hooks("a")
    hooks.close()
    assert [hooks.pre_execution("read", {}).final_verdict for _ in range(3)] == [Verdict.BLOCK] * 3


def test_a_full_url_is_no_domain() -> None:
    """A host that is allowed is reached by any of its addresses, and one that is not by none."""
    check = "event.tool != 'fetch' or glob(event.args.url, 'https://docs.example.org/*')"
    hooks = rails({"guardrail": rail(check)}).hooks("a")
    urls = [
        "https://docs.example.org/a?b=c",
        "https://evil.example/docs.example.org",
        "https://docs.example.org.evil/",
    ]
    told = [hooks.pre_execution("fetch", {"url": url}).final_verdict for url in urls]
    assert told == [Verdict.PASS, Verdict.BLOCK, Verdict.BLOCK]


class Twice:
    """A guard of the program's own that counts how often it was asked."""

    id = "counted"

    def __init__(self) -> None:
        self.asked = 0

    def judge(self, event: Any) -> str:
        self.asked += 1
        return "no"


def test_a_hook_runs_once() -> None:
    counted = Twice()
    assert not rails(block(431), guards=[counted]).hooks("a").pre_execution("read", {}).proceeds
    assert counted.asked == 1
