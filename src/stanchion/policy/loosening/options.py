"""Which way each option of each guard becomes stricter. What is not stated here counts as loosening
when it changes."""

from __future__ import annotations

from typing import Final

from stanchion.policy.loosening.directions import Direction, Stricter

LOWER, HIGHER, SOONER = Direction.LOWER, Direction.HIGHER, Direction.SOONER
MORE, WIDER, FEWER, SHORTER = Direction.MORE, Direction.WIDER, Direction.FEWER, Direction.SHORTER
ON, OFF, WORDS, SAME = Direction.ON, Direction.OFF, Direction.WORDS, Direction.SAME
ACTION, GIVEN, BY_STAGE = Direction.ACTION, Direction.GIVEN_ACTION, Direction.BY_STAGE
REFUSING: Final = ("allow", "refuse")
REACH: Final = ("allowed", "refused")

OPTIONS: Final[dict[str, dict[str, Stricter]]] = {
    "safe_mode": {},
    "tool_allowlist": {"tools": SHORTER, "undeclared": REFUSING, "action": ACTION},
    "tool_denylist": {"tools": MORE, "action": ACTION},
    "step_limit": {
        "max_steps": LOWER,
        "per": SAME,
        "warn_after": LOWER,
        "action": ACTION,
        "counter": SAME,
    },
    "budget": {
        **dict.fromkeys(("tokens", "cost_usd", "calls", "api_calls", "duration_s"), LOWER),
        # Another span or another owner is another counter, and that begins at nothing.
        **dict.fromkeys(("per", "window_s", "window", "counter", "of_task"), SAME),
        "turns": SAME,
        **dict.fromkeys(("warn_at", "escalate_at"), LOWER),
        "degrade_at": SAME,
        "action": ACTION,
        "reach": REACH,
        **dict.fromkeys(("reserve_tokens", "reserve_cost_usd", "reserve_duration_s"), HIGHER),
    },
    "time_limit": {
        "max_s": LOWER,
        **dict.fromkeys(("per", "of_task"), SAME),
        "estimate_s": HIGHER,
        "warn_at": LOWER,
        "escalate_at": LOWER,
        "action": ACTION,
        "reach": REACH,
    },
    "error_rate": {
        **dict.fromkeys(
            ("per", "calls", "min_calls", "warn_at", "repeats", "recover_s", "quarantine_s"), SAME
        ),
        **dict.fromkeys(("halt_after", "counts"), SAME),
        **dict.fromkeys(("halt_at", "runs"), LOWER),
    },
    "queue": {
        **dict.fromkeys(("max_running", "max_waiting"), LOWER),
        **dict.fromkeys(("timeout_s", "pause_s", "keep_s", "per", "counter"), SAME),
    },
    "locks": {
        **dict.fromkeys(("lock_reads", "case_insensitive", "real_paths"), ON),
        **dict.fromkeys(("max_locks", "max_waiting"), LOWER),
        "resources": MORE,
        "action": ACTION,
        # What is locked at all, by whom and for how long: who is refused more then is refused less
        # elsewhere.
        **dict.fromkeys(
            ("root", "take", "release", "handoff", "lease_s", "timeout_s", "pause_s", "counter"),
            SAME,
        ),
    },
    "breaker": {
        **dict.fromkeys(("failure_threshold", "runs"), LOWER),
        **dict.fromkeys(("cooldown_s", "max_cooldown_s", "successes"), HIGHER),
        "counts": MORE,
        "action": ACTION,
        **dict.fromkeys(("probe_s", "per", "counter"), SAME),
    },
    "health": dict.fromkeys(("calls", "min_calls", "low", "unsteady", "counts"), SAME),
    "loops": {
        # One finding stands for several kinds of loops: more of one kind may hide another.
        **dict.fromkeys(("max_history", "max_repeats", "idempotent_repeats", "poll_repeats"), SAME),
        **dict.fromkeys(("unreported_repeats", "max_errors", "near_repeats", "stall_after"), SAME),
        **dict.fromkeys(("refusals_escalated", "refusals_halted", "refusals_factor"), SOONER),
        "refusals_told": SAME,
        "by_reading": OFF,
        "others_renew": SAME,
        **dict.fromkeys(("action", "error_action", "near_action", "stall_action"), ACTION),
    },
    "recovery": {
        **dict.fromkeys(
            ("max_retries", "per_run", "backoff_base_s", "backoff_factor", "backoff_max_s"), SAME
        ),
        **dict.fromkeys(
            ("jitter", "on_recoverable", "on_fatal", "on_unknown", "recoverable", "fatal"), SAME
        ),
        **dict.fromkeys(("ignore", "rollback", "isolate", "isolate_s"), SAME),
        "retry_unsafe": OFF,
    },
    "size_limits": {
        **dict.fromkeys(("max_chars", "max_depth", "max_values"), LOWER),
        "action": ACTION,
    },
    "schema": {
        "unknown": REFUSING,
        "extra": ("schema", "refuse"),
        "coerce": OFF,
        "formats": ON,
        "results": ON,
        "max_values": LOWER,
        "hook_deadline_ms": SAME,
        **dict.fromkeys(("action", "result_action", "changed_action", "suspect_action"), ACTION),
    },
    "shell": {
        **dict.fromkeys(("tools", "arguments", "roots", "allow", "families"), SAME),
        **dict.fromkeys(("strict", "counted"), ON),
        "repository": OFF,
        "deadline_ms": SAME,
        **dict.fromkeys(("danger", "doubt", "note", "unclear", "malformed"), ACTION),
    },
    "sql": {
        **dict.fromkeys(("tools", "arguments", "dialect", "dialects"), SAME),
        "level": ("guarded", "no_ddl", "read_only"),
        "allow_tables": FEWER,
        **dict.fromkeys(("deny_tables", "deny_functions"), MORE),
        "allow_functions": SHORTER,
        **dict.fromkeys(
            ("destructive", "privilege", "admin", "function", "unbounded", "table"), GIVEN
        ),
        **dict.fromkeys(("unclear", "ddl", "stacked", "write"), GIVEN),
        "fragments": ACTION,
    },
    "files": {
        **dict.fromkeys(("root", "arguments", "tools", "case_insensitive", "deadline_ms"), SAME),
        **dict.fromkeys(("read", "write"), FEWER),
        **dict.fromkeys(("deny", "protected"), MORE),
        "unprotected": SHORTER,
        **dict.fromkeys(("shipped", "real_paths"), ON),
        **dict.fromkeys(
            ("action", "outside_read", "outside_write", "protected_read", "protected_write"), ACTION
        ),
        **dict.fromkeys(("unclear", "asked"), ACTION),
        "surroundings": OFF,
    },
    "canary": {"action": ACTION, "key": SAME, "all_replies": ON},
    "secrets": {
        **dict.fromkeys(("action", "at"), BY_STAGE),
        "kinds": WIDER,
        **dict.fromkeys(("without", "allow"), SHORTER),
        **dict.fromkeys(("patterns", "pseudonyms", "salt"), SAME),
        **dict.fromkeys(("decode", "isolate_agent"), ON),
        "isolate_after": LOWER,
        "isolate_for_s": HIGHER,
    },
    "injection": {
        **dict.fromkeys(("action", "at"), BY_STAGE),
        "score": LOWER,
        "without": SHORTER,
        **dict.fromkeys(("trusted", "replies", "users"), ON),
        # As a signal it adds to what refuses, as a warning it only says so: neither is always the
        # stricter one.
        "model": SAME,
    },
    "egress": {
        # A host that is named may be inside, so a list where there was none can open what was
        # closed.
        **dict.fromkeys(("allowed_hosts", "internal_hosts", "schemes", "proxies"), SHORTER),
        "denied_hosts": MORE,
        **dict.fromkeys(("ports", "methods"), FEWER),
        "max_url": LOWER,
        "credentials": OFF,
        **dict.fromkeys(("arguments", "resolve"), ON),
        "deadline_ms": SAME,
        "action": ACTION,
    },
    "flow": {
        **dict.fromkeys(("action", "answer"), ACTION),
        "remember": OFF,
        "setting": ("lenient", "balanced", "firm", "strict"),
        "share": ON,
    },
    "pii": {
        **dict.fromkeys(("action", "at"), BY_STAGE),
        **dict.fromkeys(("entities", "pseudonyms", "salt"), SAME),
        **dict.fromkeys(("without", "allow"), SHORTER),
        "bare": ON,
    },
    "presidio": {
        **dict.fromkeys(("action", "at"), BY_STAGE),
        "score": LOWER,
        **dict.fromkeys(("entities", "language", "deadline_ms"), SAME),
    },
    "capabilities": {"action": ACTION},
    "authority": {"by_risk": ON, "undeclared": LOWER, "action": ACTION},
    "task_scope": {"action": ACTION},
    "output": {
        **dict.fromkeys(("empty", "errors", "result_errors", "mismatch"), ACTION),
        **dict.fromkeys(("tools", "schema", "results"), SAME),
        "exempt": SHORTER,
        "format": (None, "json"),
    },
    "evidence": {
        **dict.fromkeys(("tests", "lint", "claims", "refuted", "review", "branch", "docs"), ACTION),
        "proven": MORE,
        "answers": ON,
        "reviewers": SHORTER,
        **dict.fromkeys(
            ("test_commands", "lint_commands", "commit_commands", "merge_commands"), SAME
        ),
        **dict.fromkeys(("test_tools", "lint_tools", "commit_tools", "code", "counter"), SAME),
        **dict.fromkeys(("branches", "api_files", "docs_files", "per"), SAME),
    },
    "handoff": {
        **dict.fromkeys(("require", "capabilities"), MORE),
        "known": ON,
        **dict.fromkeys(("max_depth", "max_reroutes"), LOWER),
        "action": ACTION,
        "counter": SAME,
    },
    "clamp": {**dict.fromkeys(("max_chars", "max_field"), LOWER), "keep": SAME},
    "python": dict.fromkeys(("call", "deadline_ms", "deep", "isolated", "waits", "cache"), SAME),
    "llm_judge": {
        **dict.fromkeys(
            ("rule", "model", "endpoint", "key_env", "deadline_ms", "waits", "max_chars"), SAME
        ),
        "required": ON,
        **dict.fromkeys(("action", "unsure"), ACTION),
        **dict.fromkeys(("input_usd_per_mtok", "output_usd_per_mtok"), HIGHER),
    },
    "scope_classifier": {
        **dict.fromkeys(("about", "deadline_ms", "waits"), SAME),
        "covered": HIGHER,
        **dict.fromkeys(("task_words", "action_words"), LOWER),
        "action": ACTION,
        "required": ON,
    },
    "injection_classifier": {
        **dict.fromkeys(("deadline_ms", "waits"), SAME),
        "at_least": LOWER,
        "action": ACTION,
        **dict.fromkeys(("trusted", "required"), ON),
    },
    "rule": {
        **dict.fromkeys(("when", "check"), SAME),
        "action": ACTION,
        **dict.fromkeys(("message", "advice"), WORDS),
        **dict.fromkeys(("pause", "max_attempts"), SAME),
    },
    "sequence": {
        **dict.fromkeys(("after", "refuse", "unless", "before", "need", "since", "count"), SAME),
        **dict.fromkeys(("distinct", "only", "argument", "seen_in", "field", "keep"), SAME),
        **dict.fromkeys(("within_steps", "within_s", "scope", "counter"), SAME),
        "at_most": LOWER,
        "action": ACTION,
        **dict.fromkeys(("message", "advice"), WORDS),
    },
}
"""Directions by guard and option."""

PLACEMENT: Final[dict[str, Stricter]] = {
    **dict.fromkeys(("priority", "category"), SAME),
    "stages": MORE,
    "fail_open": OFF,
    "log_pass": WORDS,
    "part_of": SAME,
    "always": ON,
    "bypass": SHORTER,
    "effects": SAME,
    **dict.fromkeys(
        ("applies_to.agents", "applies_to.tasks", "applies_to.tools", "applies_to.risks"), WIDER
    ),
}
"""Directions of where a guard stands and whom it concerns, in effect."""

BANDED: Final = frozenset({"step_limit", "budget", "time_limit"})
"""Guards whose actions are marks on one scale: what comes sooner is as severe as what it comes
before."""

WORST: Final = frozenset({"shell", "sql"})
"""Guards that say the worst of all they find."""

LAST_WORD: Final = {"shell": "malformed"}
"""Options that answer only where nothing else was found: whatever finds more may take their word
away."""

ONLY_REFUSES: Final = frozenset(OPTIONS) - {"recovery", "python"}
"""Guards that let nothing through by being there. `recovery` makes calls again, and `python` names
code."""
