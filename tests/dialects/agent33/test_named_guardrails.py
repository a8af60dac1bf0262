"""Each guardrail that the specification names does what it says there: one thing that it finds, and
one that it lets be. It stands alone beside those that are built in, and its verdict is the action
that its block gives it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from stanchion.dialects.agent33 import Hooks, Verdict
from stanchion.testing import FakeClock
from tests.dialects.agent33.rails import block, only, rails

LISTS = {140: "safety", 167: "quality", 194: "compliance", 221: "budget", 250: "scope"}
NAMED = {one["id"]: one for line in LISTS for one in only(line)}
WHOLE: dict[str, Any] = {"context": {"task": "login"}, "artifacts": [], "rationale": "it is done"}


class Alone(NamedTuple):
    """One guardrail of the specification in force: its hooks, and what it says of calls."""

    hooks: Hooks
    id: str

    def says(self, *calls: tuple[str, dict[str, Any]], **estimated: Any) -> list[Verdict]:
        """The verdicts on calls, all of them the guardrail's own."""
        told = [self.hooks.pre_execution(tool, args, **estimated) for tool, args in calls]
        for one in told:
            assert {each.guardrail_id for each in one.details if each.result != Verdict.PASS} <= {
                self.id
            }
        return [one.final_verdict for one in told]

    def did(self, tool: str, args: dict[str, Any], result: Any) -> Verdict:
        """The verdict on what a call gave."""
        return self.hooks.post_execution(tool, args, result).final_verdict


def alone(guardrail: str, agent: str = "ann", task: str = "fix", **more: Any) -> Alone:
    """A guardrail of a category as it stands in its block, beside those that are built in."""
    source = {f"{guardrail.partition('-')[0]}_guardrails": [NAMED[guardrail]]}
    settings = {
        "autonomy": False,
        **more,
        "policy": {"limits": {"warnings": 99}, **more.get("policy", {})},
    }
    return Alone(rails(source, **settings).hooks(agent, task), guardrail)


def bash(command: str) -> tuple[str, dict[str, Any]]:
    return "bash", {"command": command}


def write(path: str, content: str = "x") -> tuple[str, dict[str, Any]]:
    return "write_file", {"path": path, "content": content}


def test_safety_001() -> None:
    one = alone("safety-001")
    destructive = [
        bash("rm -rf /"),
        ("run_sql", {"query": "DROP TABLE users"}),
        bash("git push --force origin main"),
    ]
    assert one.says(*destructive) == ["block"] * 3
    assert (
        one.says(
            bash("git status"), ("run_sql", {"query": "SELECT 1"}), bash("git push origin main")
        )
        == ["pass"] * 3
    )


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("rm -rf build", "block"),
        ("rm -fr src", "block"),
        ("rm --recursive --force src", "block"),
        ("cd src && rm -r -f .", "block"),
        ("git push -f origin me", "block"),
        ("git push --force-with-lease", "block"),
        ("rm notes.txt", "pass"),
        ("rm -r src", "pass"),
        ("git push origin me", "pass"),
        ("echo 'rm -rf src'", "pass"),
        ("git commit -m 'no force push'", "pass"),
    ],
)
def test_safety_001_goes_by_what_its_sentence_names_whatever_would_be_lost(
    command: str, says: str
) -> None:
    assert alone("safety-001").says(bash(command)) == [says]


def test_safety_001_lets_a_tool_delete_a_file() -> None:
    assert alone("safety-001").says(("delete_file", {"path": "notes.txt"})) == ["pass"]


def test_safety_002() -> None:
    one = alone("safety-002")
    protected = [write(".env"), write("/home/ann/.aws/credentials"), write("/home/ann/.ssh/id_rsa")]
    assert one.says(*protected, ("read_file", {"path": ".env"})) == ["block"] * 4
    assert one.says(write("src/login.py"), ("read_file", {"path": "docs/env.md"})) == ["pass"] * 2


def test_safety_003() -> None:
    one = alone("safety-003")
    found = [
        "AKIAQ3EGRPYX7K2LMN5T",
        "password = 'hR7!kd93_pQz'",
        "token ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "her number is 536-90-4399, card 4539 1488 0343 6467",
    ]
    assert [one.did("read_page", {}, text) for text in found] == ["block"] * 4
    assert one.did("read_page", {}, "the page has no such thing") == "pass"


def test_safety_004(tmp_path: Path) -> None:
    one = alone("safety-004", sandbox=tmp_path)
    assert (
        one.says(write("/etc/hosts"), write("../other/x.py"), bash("cp a /tmp/x")) == ["block"] * 3
    )
    assert one.says(write(f"{tmp_path}/src/x.py"), write("src/x.py")) == ["pass"] * 2


def test_quality_001() -> None:
    """Whatever the tool is: the third warning waits for a person, so each kind of nothing has its
    own."""
    nothing: list[object] = ["", "   ", None, [], {}]
    for empty in nothing:
        one = alone("quality-001")
        assert [one.did("ls", {}, empty), one.did("summarise", {}, empty)] == ["warn"] * 2
        assert [one.did("fetch", {}, said) for said in ("words", 0, False)] == ["pass"] * 3


def test_quality_002() -> None:
    schema = {"type": "object", "required": ["degrees"]}
    one = alone("quality-002", policy={"tools": {"weather": {"result_schema": schema}}})
    results: list[Any] = [{"degree": 9}, "9", {"degrees": 9}]
    assert [one.did("weather", {}, result) for result in results] == [
        "block",
        "block",
        "pass",
    ]


def changed() -> tuple[Callable[[Alone], None], tuple[str, dict[str, Any]]]:
    def changes(one: Alone) -> None:
        one.did(*write("src/login.py"), "written")

    return changes, ("git_push", {})


def test_quality_003() -> None:
    one = alone("quality-003")
    changes, push = changed()
    assert one.says(push) == ["pass"]
    changes(one)
    assert one.says(push) == ["escalate"]
    one.did("run_tests", {}, "1 failed, 4 passed")
    assert one.says(push) == ["escalate"]
    one.did("run_tests", {}, "5 passed")
    assert one.says(push) == ["pass"]


def test_quality_004() -> None:
    one = alone("quality-004")
    changes, push = changed()
    changes(one)
    assert one.says(push) == ["warn"]
    one.did("run_linter", {}, "All checks passed!")
    assert one.says(push) == ["pass"]


def test_compliance_001() -> None:
    one = alone("compliance-001")
    assert one.says(write("src/login.py")) == ["block"]
    one.hooks.run.lock("src/login.py")
    assert one.says(write("src/login.py"), write("src/other.py")) == ["pass", "block"]


def test_compliance_002() -> None:
    agents = {"ann": {"role": "coder"}, "rob": {"role": "reviewer"}}
    one = alone("compliance-002", agents=agents)
    shield = one.hooks.run.desk.shield
    rob = Hooks(shield.run("rob", "fix"))
    one.did(*write("src/login.py"), "written")
    assert one.says(bash("gh pr merge 7 --squash")) == ["block"]
    one.hooks.post_handoff(
        "rob", after=one.hooks.pre_handoff("rob", **WHOLE, payload={"review": "approved"})
    )
    assert one.says(bash("gh pr merge 7 --squash")) == ["block"], "nobody reviews their own changes"
    rob.pre_handoff("ann", **WHOLE, payload={"review": "approved"})
    assert one.says(bash("gh pr merge 7 --squash")) == ["pass"]


def test_compliance_003() -> None:
    one = alone("compliance-003", tasks={"fix": {"branches": ["login/*"]}})
    assert one.says(bash("git push origin main"), bash("git push origin login/form")) == [
        "block",
        "pass",
    ]


def test_compliance_004() -> None:
    one = alone("compliance-004")
    one.did(*write("src/api.py", "def fetch(url):\n    return url\n"), "ok")
    assert one.says(bash("git commit -am api")) == ["warn"]
    one.did(*write("docs/api.md"), "ok")
    assert one.says(bash("git commit -am api")) == ["pass"]


def used(
    guardrail: str, budget: dict[str, Any], unit: str, amounts: tuple[Any, ...]
) -> list[Verdict]:
    """What a guardrail says of one call in a new task that uses so much of 100."""
    found = []
    for amount in amounts:
        source = {"budget_guardrails": [NAMED[guardrail]]}
        told = (
            rails(source, autonomy=False, tasks={"fix": budget})
            .hooks("ann", "fix")
            .pre_execution("fetch", {}, **{unit: amount})
        )
        (own,) = [one.result for one in told.details if one.guardrail_id == guardrail]
        found.append(own)
    return found


def share(guardrail: str) -> int:
    """The share at which its block has it warn, in percent; both numbers in it say the same."""
    said = NAMED[guardrail]["threshold"]
    first, second = float(said.split()[0]) * 100, float(said.split("at ")[1].rstrip("%)"))
    assert first == second
    return int(second)


def test_budget_001() -> None:
    warn = share("budget-001")
    amounts = (warn - 1, warn, 99, 100)
    assert used("budget-001", {"token_budget": 100}, "estimated_tokens", amounts) == [
        "pass",
        "warn",
        "warn",
        "escalate",
    ]


def test_budget_002() -> None:
    warn = share("budget-002")
    amounts = (warn - 1, warn, 99, 100)
    told = used("budget-002", {"time_budget": 100}, "estimated_duration", amounts)
    assert told == ["pass", "warn", "warn", "escalate"]


def test_budget_003() -> None:
    assert used("budget-003", {"api_call_budget": 3}, "api_calls", (1, 2, 3)) == [
        "pass",
        "pass",
        "block",
    ]


def test_budget_004() -> None:
    assert used("budget-004", {"cost_budget": 1.0}, "estimated_cost", (0.5, 0.99, 1.0)) == [
        "pass",
        "pass",
        "escalate",
    ]


def test_scope_001() -> None:
    one = alone("scope-001", tasks={"fix": {"related_tools": ["read_file", "bash"]}})
    assert one.says(("read_file", {"path": "a"}), ("send_mail", {})) == ["pass", "warn"]


def test_scope_002() -> None:
    """`builtin-003` stands before it and says the same, so the task has only what is not written
    here."""
    tasks = {"fix": {"scope": {"files": {"write": ["src/**"], "deny": ["src/keys/**"]}}}}
    made = rails({"scope_guardrails": [NAMED["scope-002"]]}, tasks=tasks, autonomy=False)
    placed = made.shield.policy.placed("scope-002")
    assert placed is not None
    hooks = made.hooks("ann", "fix")
    paths = ("src/a.py", "docs/a.md", "src/keys/a")
    told = [hooks.pre_execution(*write(path)).final_verdict for path in paths]
    assert told == ["pass", "block", "block"]
    first = made.shield.policy.placed("builtin-003")
    assert first is not None
    assert placed.guard == first.guard


def test_scope_003() -> None:
    agents = {"ann": {"capabilities": ["edit"]}}
    policy = {"tools": {"deploy": {"needs": ["release"]}, "write_file": {"needs": ["edit"]}}}
    one = alone("scope-003", agents=agents, policy=policy)
    assert one.says(("deploy", {}), write("a.py")) == ["block", "pass"]


def test_scope_004() -> None:
    agents = {"ann": {"autonomy_level": 1}}
    policy = {"tools": {"deploy": {"authority": 2}, "write_file": {"authority": 1}}}
    one = alone("scope-004", agents=agents, policy=policy)
    assert one.says(("deploy", {}), write("a.py")) == ["escalate", "pass"]


def test_every_guardrail_is_played() -> None:
    played = [
        name.removeprefix("test_").replace("_", "-") for name in globals() if name[-3:].isdigit()
    ]
    assert played == list(NAMED)


def test_what_is_used_and_what_is_estimated_count_together() -> None:
    for line, budget, unit in (
        (386, {"token_budget": 100}, "estimated_tokens"),
        (402, {"time_budget": 100}, "estimated_duration"),
    ):
        clock = FakeClock()
        hooks = rails(block(line), clock=clock, tasks={"fix": budget}, autonomy=False).hooks(
            "ann", "fix"
        )
        hooks.pre_execution("read", {}, **({unit: 40} if line == 386 else {}))
        clock.advance(40_000)
        told = [
            hooks.pre_execution("read", {}, **{unit: amount}).final_verdict for amount in (61, 20)
        ]
        assert told == ["block", "pass"]


def test_a_target_file_has_to_match_what_may_be_written_and_nothing_that_is_denied() -> None:
    """`builtin-003`: every file of a call, and both lists."""
    tasks = {"fix": {"scope": {"files": {"write": ["src/**"], "deny": ["src/keys/**"]}}}}
    hooks = rails(block(418), tasks=tasks, autonomy=False).hooks("ann", "fix")
    calls = [
        write("src/a.py"),
        write("src/keys/a"),
        write("docs/a.md"),
        bash("cp src/a.py src/b.py docs/"),
    ]
    assert [hooks.pre_execution(*call).final_verdict for call in calls] == [
        "pass",
        "block",
        "block",
        "block",
    ]


def test_a_tool_is_one_of_the_agents_or_one_that_the_task_adds() -> None:
    """`builtin-004`."""
    made = rails(
        agents={"ann": {"allowed_tools": ["read"]}}, tasks={"fix": {"additional_tools": ["deploy"]}}
    )
    calls: list[tuple[str, dict[str, Any]]] = [("read", {}), ("deploy", {}), ("pay", {})]
    said = {
        task: [made.hooks("ann", task).pre_execution(*call).final_verdict for call in calls]
        for task in ("fix", "")
    }
    assert said == {"fix": ["pass", "pass", "block"], "": ["pass", "block", "block"]}
