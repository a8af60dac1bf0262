"""Remarks on a policy that takes effect: what its keeper should know and no error says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from stanchion.policy.compiled import CompiledPolicy

if TYPE_CHECKING:
    from stanchion.policy.found import Found

LOGGER: Final = "stanchion.policy"
"""The logger that hears of it; where nobody configures logging, warnings go to standard error."""


UNBOUNDED: Final = "unbounded"
"""What a guard says of a measure that many at once can use more of than there is."""


def remark_on(policy: CompiledPolicy) -> None:
    """Say which measures of its budgets have no bound for what nobody estimates."""
    if not policy.measures:
        return
    from stanchion.policy.rule_lint import about_guard

    every = [point for seat in policy.seats for point in about_guard(seat, policy.warnings)]
    points = [point for point in every if point.code == UNBOUNDED]
    if points:
        import logging

        log = logging.getLogger(LOGGER)
        for point in points:
            log.warning("policy `%s`: %s; %s", policy.file.name, point.message, point.advice)


def remark_on_found(found: Found) -> None:
    """Say what of a project's policies does not count because nobody has trusted them."""
    left_out = [(file, each) for file in found.files for each in file.left_out]
    if left_out:
        import logging

        log = logging.getLogger(LOGGER)
        for file, each in left_out:
            log.warning("policy `%s`: %s: left out until an operator trusts the file", file.file, each)
