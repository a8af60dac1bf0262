"""Named checks: what the guardrails of AGENT-33 validate, and the guards that do it.

The specification writes its checks as sentences. Each sentence has a name here, which a file may
write instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from stanchion.kernel.option import ACTIONS
from stanchion.kernel.tuples import NamedTuple

Options = dict[str, Any]
PRE, POST = "pre_execution", "post_execution"
OUTPUT: Final = ("tool_result", "model_reply")


class Marks(NamedTuple):
    """Shares of a budget, in percent, at which is spoken before it is used up; `blocks` where the
    end refuses whatever else the guardrail does."""

    warn_at: float | None = None
    escalate_at: float | None = None
    blocks: bool = False

    def options(self) -> Options:
        """The marks as a guard's options."""
        marks = {"warn_at": self.warn_at, "escalate_at": self.escalate_at}
        return {name: at for name, at in marks.items() if at is not None}


class Part(NamedTuple):
    """A guard that does a check, or a part of it, and its options for an action."""

    use: str
    options: Callable[[str, Marks], Options]


class Check(NamedTuple):
    """A named check: the guardrail of the specification that has it, as it stands there, and what
    does it.

    `hooks` gives the stages at which it stands by hook, the usual one first; `None` for those of
    its guards.
    """

    id: str
    sentence: str
    action: str
    parts: tuple[Part, ...]
    hooks: dict[str, tuple[str, ...] | None]
    marks: Marks = Marks()
    measured: bool = False
    logs: bool = True
    priority: int | None = None


def milder(usual: str, action: str) -> str:
    """The milder of two actions: a guardrail that only warns does nothing severer."""
    return min(usual, action, key=ACTIONS.__getitem__)


def _shell(action: str, _: Marks) -> Options:
    unclear = [milder(usual, action) for usual in ("warn", "escalate", "block", "block")]
    doubts = {
        "doubt": milder("escalate", action),
        "note": milder("warn", action),
        "unclear": unclear,
    }
    return {"danger": action, **doubts, "counted": False, "repository": True}


def _sql(action: str, _: Marks) -> Options:
    if action == "block":
        return {}
    found = ("destructive", "privilege", "admin", "function", "unbounded", "table", "stacked")
    return {**dict.fromkeys(found, action), "unclear": milder("escalate", action)}


def _files(**own: Any) -> Callable[[str, Marks], Options]:
    def options(action: str, _: Marks) -> Options:
        found = (
            "action",
            "outside_read",
            "outside_write",
            "protected_read",
            "protected_write",
            "unclear",
        )
        return {**dict.fromkeys(found, action), "asked": milder("escalate", action), **own}

    return options


def _plain(name: str = "action", **own: Any) -> Callable[[str, Marks], Options]:
    return lambda action, _: {name: action, **own}


def _evidence(asked: str, **own: Any) -> Callable[[str, Marks], Options]:
    """Evidence of one thing alone."""
    usual = {"tests": None, "lint": None, "claims": None}
    return lambda action, _: {**usual, **own, asked: action}


def _spent(reach: str, **own: Any) -> Callable[[str, Marks], Options]:
    def options(action: str, marks: Marks) -> Options:
        at_the_end = "block" if marks.blocks else action
        return {"per": "task", **own, "action": at_the_end, "reach": reach, **marks.options()}

    return options


_ANYWHERE: Final = {"root": ["/"], "outside_read": "allow", "outside_write": "allow"}
"""Where a path leads is not asked: only what it names."""
_BY_TASK: Final = {
    "root": [], "outside_read": "allow", "outside_write": "allow",
    "shipped": False, "protected_read": "allow", "protected_write": "allow", "asked": "allow",
}  # fmt: skip
"""Only the patterns of the task are asked. Relative ones, like relative paths, start in the working
directory."""
_BEFORE: Final[dict[str, tuple[str, ...] | None]] = {PRE: None}
_AFTER: Final[dict[str, tuple[str, ...] | None]] = {POST: OUTPUT}
_TEXTS: Final[dict[str, tuple[str, ...] | None]] = {
    POST: OUTPUT,
    PRE: ("tool_call",),
    "pre_handoff": ("handoff",),
    "on_error": ("error",),
}
_OF_DATA: Final[dict[str, tuple[str, ...] | None]] = {POST: ("tool_result",), PRE: ("tool_call",)}

CHECKS: Final[dict[str, Check]] = {
    "destructive_command_block": Check(
        "safety-001",
        "command does not match destructive patterns (rm -rf, DROP TABLE, force push)",
        "block",
        (Part("shell", _shell), Part("sql", _sql)),
        _BEFORE,
    ),
    "sensitive_file_protection": Check(
        "safety-002",
        "target file is not in protected paths (.env, credentials, keys)",
        "block",
        (Part("files", _files(**_ANYWHERE)),),
        _BEFORE,
    ),
    "output_secret_scan": Check(
        "safety-003",
        "output does not contain API keys, passwords, tokens, or PII",
        "block",
        (Part("secrets", _plain()), Part("pii", _plain())),
        _TEXTS,
        logs=False,
    ),
    "sandbox_boundary": Check(
        "safety-004",
        "action stays within designated sandbox directory",
        "block",
        (Part("files", _files(shipped=False)),),
        _BEFORE,
    ),
    "non_empty_output": Check(
        "quality-001",
        "action produced non-trivial output",
        "warn",
        (Part("output", _plain("empty", tools=["*"])),),
        _AFTER,
    ),
    "schema_conformance": Check(
        "quality-002",
        "output matches expected schema or format",
        "block",
        (Part("schema", lambda action, _: {"action": action, "result_action": action}),),
        _OF_DATA,
    ),
    "test_pass_required": Check(
        "quality-003",
        "modified code passes existing test suite",
        "escalate",
        (Part("evidence", _evidence("tests")),),
        _BEFORE,
    ),
    "lint_clean": Check(
        "quality-004",
        "modified code passes linting rules",
        "warn",
        (Part("evidence", _evidence("lint")),),
        _BEFORE,
    ),
    "file_ownership_check": Check(
        "compliance-001",
        "agent has lock on file before writing",
        "block",
        (Part("locks", _plain(take=False)),),
        _BEFORE,
    ),
    "review_before_merge": Check(
        "compliance-002",
        "code changes have been reviewed by reviewer agent",
        "block",
        (Part("evidence", _evidence("review", per="task")),),
        _BEFORE,
    ),
    "branch_policy": Check(
        "compliance-003",
        "commits target correct branch per workflow rules",
        "block",
        (Part("evidence", _evidence("branch")),),
        _BEFORE,
    ),
    "documentation_required": Check(
        "compliance-004",
        "public API changes include documentation updates",
        "warn",
        (Part("evidence", _evidence("docs")),),
        _BEFORE,
    ),
    "token_budget_check": Check(
        "budget-001",
        "cumulative tokens consumed < task.token_budget",
        "escalate",
        (Part("budget", _spent("refused", of_task="tokens")),),
        _BEFORE,
        Marks(90),
        measured=True,
        logs=False,
    ),
    "time_budget_check": Check(
        "budget-002",
        "elapsed time < task.time_budget",
        "escalate",
        (Part("time_limit", _spent("refused", of_task=True)),),
        _BEFORE,
        Marks(80),
        measured=True,
    ),
    "api_call_limit": Check(
        "budget-003",
        "external API calls < task.api_call_budget",
        "block",
        (Part("budget", _spent("refused", of_task="api_calls")),),
        _BEFORE,
        measured=True,
        logs=False,
    ),
    "cost_ceiling": Check(
        "budget-004",
        "estimated cost of action < remaining cost budget",
        "escalate",
        (Part("budget", _spent("refused", of_task="cost_usd")),),
        _BEFORE,
        measured=True,
        logs=False,
    ),
    "task_boundary": Check(
        "scope-001",
        "action is relevant to assigned task (not drifting to unrelated work)",
        "warn",
        (Part("task_scope", _plain()),),
        _BEFORE,
    ),
    "file_scope": Check(
        "scope-002",
        "file being modified is within allowed file patterns for this task",
        "block",
        (Part("files", _files(**_BY_TASK)),),
        _BEFORE,
    ),
    "capability_scope": Check(
        "scope-003",
        "action matches agent's declared capabilities",
        "block",
        (Part("capabilities", _plain()),),
        _BEFORE,
    ),
    "decision_authority": Check(
        "scope-004",
        "decision is within agent's autonomy level",
        "escalate",
        (Part("authority", _plain()),),
        _BEFORE,
    ),
    "token_budget": Check(
        "builtin-001",
        "current_tokens + estimated_action_tokens <= task.token_budget",
        "escalate",
        (Part("budget", _spent("allowed", of_task="tokens")),),
        _BEFORE,
        Marks(80, 95, blocks=True),
        measured=True,
        logs=False,
        priority=1,
    ),
    "time_budget": Check(
        "builtin-002",
        "current_elapsed + estimated_action_duration <= task.time_budget",
        "escalate",
        (Part("time_limit", _spent("allowed", of_task=True)),),
        _BEFORE,
        Marks(70, 90, blocks=True),
        measured=True,
        priority=2,
    ),
    "scope_boundary": Check(
        "builtin-003",
        "action.target_files all match task.scope.files.write patterns "
        "AND action.target_files none match task.scope.files.deny patterns",
        "block",
        (Part("files", _files(**_BY_TASK)),),
        _BEFORE,
        priority=3,
    ),
    "tool_allowlist": Check(
        "builtin-004",
        "action.tool_name in agent.allowed_tools OR action.tool_name in task.additional_tools",
        "block",
        (Part("tool_allowlist", _plain()),),
        _BEFORE,
        priority=4,
    ),
}
"""Every named check, by its name."""

NAME_OF: Final = {check.id: name for name, check in CHECKS.items()}
"""The check of each guardrail of the specification, by the guardrail's id."""

BUILT_IN: Final = tuple(id_ for id_ in NAME_OF if id_.startswith("builtin-"))
"""The guardrails that are always active."""
