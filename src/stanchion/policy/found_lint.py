"""Linting what is found: the user's policy with those of a project over it, and what of these does
not count."""

from __future__ import annotations

from pathlib import Path

from stanchion.policy.argument_lint import NONE_KNOWN, Schemas
from stanchion.policy.found import Trusts, find_policy, nobody
from stanchion.policy.lint import Linted, Remark, looked_over


def lint_found(
    env: str | None = None,
    trusts: Trusts = nobody,
    folder: Path | None = None,
    tools: Schemas = NONE_KNOWN,
) -> Linted:
    """Look over what counts in a folder; `PolicyError` where one of its policies is wrong."""
    found = find_policy(folder, env, trusts)
    linted = looked_over({env: found.document}, {env: found.policy()}, tools)
    advice = "have an operator trust the file, or remove it"
    left_out = [
        Remark(
            str(file.file),
            "left_out",
            "info",
            f"{each}: this is left out, because it may loosen",
            advice,
        )
        for file in found.files
        for each in file.left_out
    ]
    return Linted((*left_out, *linted.remarks), linted.checked)
