"""Allowances as they may be shown: what was taken for a secret, is none, and may pass."""

from __future__ import annotations

import msgspec

from stanchion.ops.views.veiled import veiled
from stanchion.runtime.deciding.allowances import FindingAllowance


class AllowanceView(msgspec.Struct, frozen=True):
    """That something a guard finds may pass: `once`, or until it is forgotten; in the calls of one
    tool, or in all."""

    fingerprint: str
    once: bool
    tool: str
    why: str
    by: str
    at_ms: int
    proven: bool


def allowance_view(one: FindingAllowance) -> AllowanceView:
    """An allowance as it may be shown."""
    proven = one.answer is not None and one.answer.way.proven
    return veiled(
        AllowanceView(one.fingerprint, one.once, one.tool, one.why, one.by, one.at, proven)
    )
