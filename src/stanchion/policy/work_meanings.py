"""What the options mean of guards that look at how agents work together: locks, lines, evidence and
handoffs."""

from __future__ import annotations

from typing import Final

OPTIONS: Final[dict[str, str]] = {
    "locks.root": (
        "The folder where relative paths start; absolute if agents name files in both ways."
    ),
    "locks.lock_reads": (
        "If `true`, a call that reads a file locks it, too: shared with others who read it."
    ),
    "locks.take": "If `true`, a call locks what it changes. If `false`, its run must have locked "
    "it before, with "
    "`run.lock` or the tool `lock_file`.",
    "locks.release": (
        "How long a call locks a file: for the rest of its `run`, or only for the `call`."
    ),
    "locks.handoff": "What happens to a run's locks when another agent accepts its handoff: "
    "`release`, or keep them "
    "for the `receiver`, whose next run has them from its first call on.",
    "locks.lease_s": (
        "After how many seconds without activity a run loses its locks; choose more "
        "than any call takes."
    ),
    "locks.timeout_s": (
        "How many seconds a call waits for a lock before it is refused; `0` refuses it at once."
    ),
    "locks.pause_s": "How many seconds a waiting call pauses before it is judged again; must be "
    "shorter than "
    "`timeout_s`.",
    "locks.max_locks": (
        "How many locks a tenant may have at the same time; a call that needs more is refused."
    ),
    "locks.max_waiting": "How many calls may wait in line; the next one is refused at once.",
    "locks.resources": "Arguments that name something else to lock than a file, such as `table`.",
    "locks.case_insensitive": (
        "If `true`, paths that differ only in upper and lower case are one file."
    ),
    "locks.real_paths": (
        "If `true`, the disk is asked, too, and a path that leads through a link is refused."
    ),
    "locks.action": (
        "The action for a call without its locks, and for a handoff of what others have locked."
    ),
    "locks.counter": (
        "Guards with the same counter share their locks; if absent, each entry has its own."
    ),
    "queue.max_running": "How many calls may run at the same time.",
    "queue.max_waiting": "How many calls may wait in line; the next one is refused at once.",
    "queue.timeout_s": "How many seconds a call waits before it is refused.",
    "queue.pause_s": "How many seconds a waiting call pauses before it is judged again; must be "
    "shorter than "
    "`timeout_s`.",
    "queue.keep_s": "How many seconds a place is kept for a call that reports no outcome; choose "
    "more than any call "
    "takes.",
    "queue.per": "Who shares a line; `tool` means all calls of a tool in a tenant.",
    "queue.counter": (
        "Queues with the same counter and `per` share a line; if absent, each entry has its own."
    ),
    "evidence.tests": "The action for handing on changed code whose tests have not passed since "
    "the change; `null` "
    "switches the check off.",
    "evidence.lint": "The action for handing on changed code that has not been linted without "
    "findings since the "
    "change; `null` switches the check off.",
    "evidence.claims": "The action for a claim of a kind in `proven` that nothing observed shows; "
    "`null` judges no "
    "claims at all.",
    "evidence.refuted": "The action for a claim of any kind that speaks against what was observed, "
    "or that cannot be "
    "so; `null` switches the check off.",
    "evidence.proven": "The kinds of claims that need evidence: `tests`, `lint`, `files` (there or "
    "not), `contents` "
    "(lines, bytes, texts, SHA-256), `commands` (how one ended), `versions`. Claims of other kinds "
    "stand unless they "
    "are refuted.",
    "evidence.review": "The action for merging changes that no reviewer has approved as they are; "
    "if absent, reviews "
    "do not count.",
    "evidence.branch": "The action for committing or pushing to a branch that is not meant for it, "
    "or that is not "
    "known; if absent, branches do not count.",
    "evidence.docs": "The action for handing on a changed public interface without changed "
    "documentation; if absent, "
    "documentation does not count.",
    "evidence.answers": "If `true`, a final answer hands the work on.",
    "evidence.test_commands": "The only commands that count as tests: a program and the words "
    "after it, with globs. "
    "If absent, all known ones.",
    "evidence.lint_commands": "The only commands that count as linters; if absent, all known ones.",
    "evidence.commit_commands": "The only commands that hand work on; if absent, all known ones.",
    "evidence.merge_commands": "The only commands that merge; if absent, all known ones, and "
    "pushes to `main`, "
    "`master` or `trunk`.",
    "evidence.test_tools": "The only tools that count as tests, by name or glob; if absent, tools "
    "are recognized by "
    "their names.",
    "evidence.lint_tools": "The only tools that count as linters, by name or glob; if absent, "
    "tools are recognized by "
    "their names.",
    "evidence.commit_tools": "The only tools that hand work on, by name or glob; if absent, tools "
    "are recognized by "
    "their names.",
    "evidence.code": "The files that are code, as globs of paths or names; if absent, files are "
    "recognized by their "
    "extension.",
    "evidence.reviewers": "The roles whose agents may review.",
    "evidence.branches": "The branches that may be changed, as globs, where neither the task nor "
    "the agent has "
    "`branches`; `!main` excludes one. If absent, all.",
    "evidence.api_files": "The files that are a public interface, as globs of paths or names; if "
    "absent, code outside "
    "of tests and private folders, where a change touches a public declaration.",
    "evidence.docs_files": "The files that are documentation, as globs of paths or names; if "
    "absent, files are "
    "recognized by their extension and folder.",
    "evidence.per": (
        "Whose work is one: that of a `run` with its children, or that of all runs on a `task`."
    ),
    "evidence.counter": "Guards with the same counter share what they know of a run; if absent, "
    "each entry has its "
    "own.",
    "handoff.require": "What the payload must have: `context`, `artifacts`, `rationale`, or a "
    "field by its path, such "
    "as `return_protocol.timeout`.",
    "handoff.known": "If `true`, the receiver must be in `agents`.",
    "handoff.capabilities": (
        "Capabilities that every receiver needs, in addition to those that the handoff names."
    ),
    "handoff.max_depth": "How often work may be escalated in a row.",
    "handoff.max_reroutes": (
        "How often a handoff that nobody has accepted may be sent to somebody else."
    ),
    "handoff.action": (
        "The action for a handoff that is incomplete, or that goes to an agent which may not get "
        "it."
    ),
    "handoff.counter": (
        "Guards with the same counter share what they remember; if absent, each entry has its own."
    ),
}
"""Meanings by guard and option."""
