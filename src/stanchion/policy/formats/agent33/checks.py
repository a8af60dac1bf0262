"""Named checks: what the guardrails of AGENT-33 validate, and the guards that do it. The
specification writes its checks as sentences. Each sentence has a name here, which a file may write
instead; a sentence that speaks of the event becomes a condition."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from stanchion.kernel.option import ACTIONS
from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple
from stanchion.policy.conditions import ConditionError, compile_condition
from stanchion.policy.conditions.view import STANDARD
from stanchion.policy.nearest import hint
from stanchion.readings.word_lists import in_order

Options = dict[str, Any]
PRE, POST = "pre_execution", "post_execution"
OUTPUT: Final = ("tool_result", "model_reply")


class BudgetMarks(NamedTuple):
    """Shares of a budget, in percent, at which is spoken before it is used up; `blocks` where the
    end refuses whatever else the guardrail does."""

    warn_at: float | None = None
    escalate_at: float | None = None
    blocks: bool = False

    def options(self) -> Options:
        """The marks as a guard's options."""
        marks = {"warn_at": self.warn_at, "escalate_at": self.escalate_at}
        return {name: at for name, at in marks.items() if at is not None}


class CheckGuard(NamedTuple):
    """A guard that does a check, or a part of it, and its options for an action."""

    use: str
    options: Callable[[str, BudgetMarks], Options]


class Check(NamedTuple):
    """A named check: the guardrail of the specification that has it, as it stands there, and what
    does it.

    `hooks` gives the stages at which it stands by hook, the usual one first; `None` for those of
    its guards.
    """

    id: str
    sentence: str
    action: str
    parts: tuple[CheckGuard, ...]
    hooks: dict[str, tuple[str, ...] | None]
    marks: BudgetMarks = BudgetMarks()
    measured: bool = False
    logs: bool = True
    priority: int | None = None


def milder(usual: str, action: str) -> str:
    """The milder of two actions: a guardrail that only warns does nothing severer."""
    return min(usual, action, key=ACTIONS.__getitem__)


NAMED: Final[Options] = {
    "rm": {"risks": {"deletes with force all that is in a folder": [
        {"flags": "-r|-R|--recursive -f|--force", "family": "destructive", "loss": "good"},
    ]}},
    "git": {"risks": {"pushes with force": [
        {
            "words": "push",
            "flags": "-f|--force|--force-with-lease|--force-if-includes",
            "family": "git",
            "loss": "others",
        },
    ]}},
}  # fmt: skip
"""What the sentence names, whatever would be lost by it."""


def _shell(action: str, _: BudgetMarks) -> Options:
    unclear = [milder(usual, action) for usual in ("warn", "escalate", "block", "block")]
    doubts = {
        "doubt": milder("escalate", action),
        "note": milder("warn", action),
        "unclear": unclear,
    }
    kept = {"counted": False, "repository": True, "programs": NAMED}
    return {"danger": action, **doubts, **kept}


def _sql(action: str, _: BudgetMarks) -> Options:
    if action == "block":
        return {}
    found = ("destructive", "privilege", "admin", "function", "unbounded", "table", "stacked")
    return {**dict.fromkeys(found, action), "unclear": milder("escalate", action)}


def _files(**own: Any) -> Callable[[str, BudgetMarks], Options]:
    def options(action: str, _: BudgetMarks) -> Options:
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


def _plain(name: str = "action", **own: Any) -> Callable[[str, BudgetMarks], Options]:
    return lambda action, _: {name: action, **own}


def _evidence(asked: str, **own: Any) -> Callable[[str, BudgetMarks], Options]:
    """Evidence of one thing alone."""
    usual = {"tests": None, "lint": None, "claims": None}
    return lambda action, _: {**usual, **own, asked: action}


def _spent(reach: str, **own: Any) -> Callable[[str, BudgetMarks], Options]:
    def options(action: str, marks: BudgetMarks) -> Options:
        at_the_end = "block" if marks.blocks else action
        return {"per": "task", **own, "action": at_the_end, "reach": reach, **marks.options()}

    return options


_ANYWHERE: Final = {"root": ["/"], "outside_read": "allow", "outside_write": "allow"}
"""Where a path leads is not asked: only what it names."""
SENSITIVE: Final = in_order(
    "**/.env **/.env.* **/credentials **/credentials.json **/credentials.y*ml **/credentials.toml "
    "**/credentials.ini **/credentials.csv **/credentials.xml **/secrets.json **/secrets.y*ml "
    "**/secrets.toml **/*.pem **/*.key **/*.p12 **/*.pfx **/*.jks **/id_rsa* **/id_dsa* "
    "**/id_ecdsa* **/id_ed25519* **/keys **/keys/**"
)
"""The protected paths that the specification names (`.env`, credentials, keys), for every use."""
EXAMPLES: Final = in_order("**/.env.example **/.env.sample **/.env.template **/cacert.pem **/*.pub")
"""What is named like them and keeps nothing secret."""
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
        (CheckGuard("shell", _shell), CheckGuard("sql", _sql)),
        _BEFORE,
    ),
    "sensitive_file_protection": Check(
        "safety-002",
        "target file is not in protected paths (.env, credentials, keys)",
        "block",
        (
            CheckGuard(
                "files",
                _files(**_ANYWHERE, protected=list(SENSITIVE), unprotected=list(EXAMPLES)),
            ),
        ),
        _BEFORE,
    ),
    "output_secret_scan": Check(
        "safety-003",
        "output does not contain API keys, passwords, tokens, or PII",
        "block",
        (CheckGuard("secrets", _plain()), CheckGuard("pii", _plain())),
        _TEXTS,
        logs=False,
    ),
    "sandbox_boundary": Check(
        "safety-004",
        "action stays within designated sandbox directory",
        "block",
        (CheckGuard("files", _files(shipped=False)),),
        _BEFORE,
    ),
    "non_empty_output": Check(
        "quality-001",
        "action produced non-trivial output",
        "warn",
        (CheckGuard("output", _plain("empty", tools=["*"])),),
        _AFTER,
    ),
    "schema_conformance": Check(
        "quality-002",
        "output matches expected schema or format",
        "block",
        (CheckGuard("schema", lambda action, _: {"action": action, "result_action": action}),),
        _OF_DATA,
    ),
    "test_pass_required": Check(
        "quality-003",
        "modified code passes existing test suite",
        "escalate",
        (CheckGuard("evidence", _evidence("tests")),),
        _BEFORE,
    ),
    "lint_clean": Check(
        "quality-004",
        "modified code passes linting rules",
        "warn",
        (CheckGuard("evidence", _evidence("lint")),),
        _BEFORE,
    ),
    "file_ownership_check": Check(
        "compliance-001",
        "agent has lock on file before writing",
        "block",
        (CheckGuard("locks", _plain(take=False)),),
        _BEFORE,
    ),
    "review_before_merge": Check(
        "compliance-002",
        "code changes have been reviewed by reviewer agent",
        "block",
        (CheckGuard("evidence", _evidence("review", per="task")),),
        _BEFORE,
    ),
    "branch_policy": Check(
        "compliance-003",
        "commits target correct branch per workflow rules",
        "block",
        (CheckGuard("evidence", _evidence("branch")),),
        _BEFORE,
    ),
    "documentation_required": Check(
        "compliance-004",
        "public API changes include documentation updates",
        "warn",
        (CheckGuard("evidence", _evidence("docs")),),
        _BEFORE,
    ),
    "token_budget_check": Check(
        "budget-001",
        "cumulative tokens consumed < task.token_budget",
        "escalate",
        (CheckGuard("budget", _spent("refused", of_task="tokens")),),
        _BEFORE,
        BudgetMarks(90),
        measured=True,
        logs=False,
    ),
    "time_budget_check": Check(
        "budget-002",
        "elapsed time < task.time_budget",
        "escalate",
        (CheckGuard("time_limit", _spent("refused", of_task=True)),),
        _BEFORE,
        BudgetMarks(80),
        measured=True,
    ),
    "api_call_limit": Check(
        "budget-003",
        "external API calls < task.api_call_budget",
        "block",
        (CheckGuard("budget", _spent("refused", of_task="api_calls")),),
        _BEFORE,
        measured=True,
        logs=False,
    ),
    "cost_ceiling": Check(
        "budget-004",
        "estimated cost of action < remaining cost budget",
        "escalate",
        (CheckGuard("budget", _spent("refused", of_task="cost_usd")),),
        _BEFORE,
        measured=True,
        logs=False,
    ),
    "task_boundary": Check(
        "scope-001",
        "action is relevant to assigned task (not drifting to unrelated work)",
        "warn",
        (CheckGuard("task_scope", _plain()),),
        _BEFORE,
    ),
    "file_scope": Check(
        "scope-002",
        "file being modified is within allowed file patterns for this task",
        "block",
        (CheckGuard("files", _files(**_BY_TASK)),),
        _BEFORE,
    ),
    "capability_scope": Check(
        "scope-003",
        "action matches agent's declared capabilities",
        "block",
        (CheckGuard("capabilities", _plain()),),
        _BEFORE,
    ),
    "decision_authority": Check(
        "scope-004",
        "decision is within agent's autonomy level",
        "escalate",
        (CheckGuard("authority", _plain()),),
        _BEFORE,
    ),
    "token_budget": Check(
        "builtin-001",
        "current_tokens + estimated_action_tokens <= task.token_budget",
        "escalate",
        (CheckGuard("budget", _spent("allowed", of_task="tokens")),),
        _BEFORE,
        BudgetMarks(80, 95, blocks=True),
        measured=True,
        logs=False,
        priority=1,
    ),
    "time_budget": Check(
        "builtin-002",
        "current_elapsed + estimated_action_duration <= task.time_budget",
        "escalate",
        (CheckGuard("time_limit", _spent("allowed", of_task=True)),),
        _BEFORE,
        BudgetMarks(70, 90, blocks=True),
        measured=True,
        priority=2,
    ),
    "scope_boundary": Check(
        "builtin-003",
        "action.target_files all match task.scope.files.write patterns "
        "AND action.target_files none match task.scope.files.deny patterns",
        "block",
        (CheckGuard("files", _files(**_BY_TASK)),),
        _BEFORE,
        priority=3,
    ),
    "tool_allowlist": Check(
        "builtin-004",
        "action.tool_name in agent.allowed_tools OR action.tool_name in task.additional_tools",
        "block",
        (CheckGuard("tool_allowlist", _plain()),),
        _BEFORE,
        priority=4,
    ),
}
"""Every named check, by its name."""

NAME_OF: Final = {check.id: name for name, check in CHECKS.items()}
"""The check of each guardrail of the specification, by the guardrail's id."""

BUILT_IN: Final = tuple(id_ for id_ in NAME_OF if id_.startswith("builtin-"))
"""The guardrails that are always active."""

POST_EXECUTION: Final = "post-execution"
PRE_HANDOFF: Final = "pre-handoff"
ON_ERROR: Final = "on-error"
HOOKS: Final[tuple[Options, ...]] = (
    {
        "use": "output",
        "id": POST_EXECUTION,
        "stages": ["tool_result"],
        "result_errors": "warn",
        "errors": None,
        "empty": "allow",
    },
    {"use": "handoff", "id": PRE_HANDOFF, "known": False},
    {"use": "recovery", "id": ON_ERROR, "isolate": "agent", "on_given_up": "warn"},
)
"""What the hooks check by themselves: output that is nothing but an error, handoffs, and what
becomes of errors. The specification gives these no ids."""


_REMARK: Final = regex(r"\s*\([^()]*\)\s*$")
_WORD: Final = regex(r"\b(?:agent|action|task|event)\.[a-z_]+")
_COMPARES: Final = regex(r"[=!<>]=|[<>]")
_QUOTED: Final = r"(?:'[^']*'|\"[^\"]*\")"
_MATCHES: Final = regex(
    rf"(?P<name>[a-z_]+(?:\.[a-z_]+)+)\s+(?P<verb>does not match|matches)\s+"
    rf"(?P<globs>{_QUOTED}(?:\s*(?:,|AND|OR|and|or)\s*{_QUOTED})*)"
)
_JOINED_BY_AND: Final = regex(r"\bAND\b", re.IGNORECASE)
_GLOB: Final = regex(_QUOTED)

EACH_OF: Final = {"action.target_file": "action.target_files"}
"""What stands for one of several: a call that changes many files is judged by all of them."""


def named_check(text: str) -> str | None:
    """The name of the check that a sentence writes out, or that is written itself; `None` where it
    is another."""
    plain = " ".join(text.split())
    return plain if plain in CHECKS else _sentences().get(plain.casefold())


@cache
def _sentences() -> dict[str, str]:
    """Names by sentences, each with and without the remark in brackets that ends it."""
    whole = {check.sentence.casefold(): name for name, check in CHECKS.items()}
    return whole | {_REMARK.sub("", sentence): name for sentence, name in whole.items()}


def condition(text: str) -> str:
    """A check as a condition of a policy; `ValueError` says what is wrong with it. `false` fails
    for every action that the guardrail applies to.

    `NAME does not match 'a' AND 'b'` is true where neither glob fits, `NAME matches 'a' OR 'b'`
    where one does.
    """
    speaks = _WORD.search(text) is not None
    made = _MATCHES.sub(_spelled_out, " ".join(text.split()))
    try:
        compile_condition(made, STANDARD)
    except ConditionError as error:
        if speaks:
            raise ValueError(str(error)) from None
        what = (
            "it says nothing about the action"
            if _COMPARES.search(text)
            else "there is no such check"
        )
        other = "write a condition about it, such as `event.tool != 'deploy'`, or a named check"
        raise ValueError(f"{what}: {other}: {hint(text, CHECKS)}") from None
    return made


def _spelled_out(found: re.Match[str]) -> str:
    name, globs = found["name"], _GLOB.findall(found["globs"])
    each = EACH_OF.get(name)
    tests = [f"glob({name if each is None else 'file'}, {glob})" for glob in globs]
    if found["verb"] == "matches":
        fits = (" and " if _JOINED_BY_AND.search(_GLOB.sub("", found["globs"])) else " or ").join(
            tests
        )
    else:
        fits = " and ".join(f"not {test}" for test in tests)
    return f"({fits})" if each is None else f"{each}.all(file, {fits})"
