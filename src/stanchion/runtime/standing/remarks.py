"""Remarks on a policy that takes effect: what its keeper should know and no error says."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from stanchion.policy.compiled import CompiledPolicy
from stanchion.telemetry.loggers import POLICY, WARNING, say

if TYPE_CHECKING:
    from stanchion.policy.found import FoundPolicy

UNBOUNDED: Final = "unbounded"
"""What a guard says of a measure that many at once can use more of than there is."""


def remark_on(policy: CompiledPolicy) -> None:
    """Say which measures of its budgets have no bound for what nobody estimates."""
    if not policy.measures:
        return
    from stanchion.policy.seat import own_points

    for point in [point for seat in policy.seats for point in own_points(seat, policy)]:
        if point.code == UNBOUNDED:
            say(POLICY, WARNING, f"policy `{policy.file.name}`: {point.message}; {point.advice}")


def remark_on_tools(
    policy: CompiledPolicy, schemas: Mapping[str, Any], declared: Collection[str] = ()
) -> None:
    """Say which rules do not fit the tools that are known, and of which of these nobody says what
    they do; `declared` are those whose code does."""
    from stanchion.policy.tool_lint import about_arguments, about_effects

    points = [point for seat in policy.seats for point in about_arguments(seat, schemas)]
    points += [point for _, point in about_effects(policy, schemas, declared)]
    for point in points:
        said = policy.veil.words(f"{point.message}; {point.advice}")
        say(POLICY, WARNING, f"policy `{policy.file.name}`: {said}")


def remark_on_found(found: FoundPolicy) -> None:
    """Say what of a project's policies does not count because nobody has trusted them."""
    for file in found.files:
        for each in file.left_out:
            say(
                POLICY,
                WARNING,
                f"policy `{file.file}`: {each}: left out until an operator trusts the file",
            )
