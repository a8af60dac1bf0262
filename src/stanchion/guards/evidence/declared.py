"""What the options of evidence mean, and which way each becomes stricter."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.option import Stricter

OPTIONS: Final = {
    "tests": Stricter.ACTION(
        "The action for handing on changed code whose tests have not passed since the change; "
        "`null` switches the check off."
    ),
    "lint": Stricter.ACTION(
        "The action for handing on changed code that has not been linted without findings since "
        "the change; `null` switches the check off."
    ),
    "claims": Stricter.ACTION(
        "The action for a claim of a kind in `proven` that nothing observed shows; `null` judges "
        "no claims at all."
    ),
    "refuted": Stricter.ACTION(
        "The action for a claim of any kind that speaks against what was observed, or that cannot "
        "be so; `null` switches the check off."
    ),
    "proven": Stricter.MORE(
        "The kinds of claims that need evidence: `tests`, `lint`, `files` (there or not), "
        "`contents` (lines, bytes, texts, SHA-256), `commands` (how one ended), `versions`. Claims "
        "of other kinds stand unless they are refuted."
    ),
    "review": Stricter.ACTION(
        "The action for merging changes that no reviewer has approved as they are; if absent, "
        "reviews do not count."
    ),
    "branch": Stricter.ACTION(
        "The action for committing or pushing to a branch that is not meant for it, or that is not "
        "known; if absent, branches do not count."
    ),
    "docs": Stricter.ACTION(
        "The action for handing on a changed public interface without changed documentation; if "
        "absent, documentation does not count."
    ),
    "answers": Stricter.ON("If `true`, a final answer hands the work on."),
    "test_commands": Stricter.SAME(
        "The only commands that count as tests: a program and the words after it, with globs. If "
        "absent, all known ones."
    ),
    "lint_commands": Stricter.SAME(
        "The only commands that count as linters; if absent, all known ones."
    ),
    "commit_commands": Stricter.SAME(
        "The only commands that hand work on; if absent, all known ones."
    ),
    "merge_commands": Stricter.SAME(
        "The only commands that merge; if absent, all known ones, and pushes to `main`, `master` "
        "or `trunk`."
    ),
    "test_tools": Stricter.SAME(
        "The only tools that count as tests, by name or glob; if absent, tools are recognized by "
        "their names."
    ),
    "lint_tools": Stricter.SAME(
        "The only tools that count as linters, by name or glob; if absent, tools are recognized by "
        "their names."
    ),
    "commit_tools": Stricter.SAME(
        "The only tools that hand work on, by name or glob; if absent, tools are recognized by "
        "their names."
    ),
    "code": Stricter.SAME(
        "The files that are code, as globs of paths or names; if absent, files are recognized by "
        "their extension."
    ),
    "reviewers": Stricter.SHORTER("The roles whose agents may review."),
    "branches": Stricter.SAME(
        "The branches that may be changed, as globs, where neither the task nor the agent has "
        "`branches`; `!main` excludes one. If absent, all."
    ),
    "api_files": Stricter.SAME(
        "The files that are a public interface, as globs of paths or names; if absent, code "
        "outside of tests and private folders, where a change touches a public declaration."
    ),
    "docs_files": Stricter.SAME(
        "The files that are documentation, as globs of paths or names; if absent, files are "
        "recognized by their extension and folder."
    ),
    "per": Stricter.SAME(
        "Whose work is one: that of a `run` with its children, or that of all runs on a `task`."
    ),
    "counter": Stricter.SAME(
        "Guards with the same counter share what they know of a run; if absent, each entry has its "
        "own."
    ),
}
