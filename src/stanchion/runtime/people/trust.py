"""Trust in policies: whether somebody who may has said that a policy may loosen what is in
force."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from stanchion import typed
from stanchion.approvals.act import Answer, Purpose
from stanchion.approvals.errors import TicketError
from stanchion.approvals.operators import Roster
from stanchion.approvals.proof import doubt
from stanchion.approvals.rules import Asked
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import StoreLost, key

if TYPE_CHECKING:
    from stanchion.policy.compiled import CompiledPolicy

TRUSTED: Final = key(FLEET, "trusted")
"""Where the policies are kept that operators trust, by their hashes, each with the answer that says
so."""

CRITICAL: Final = Asked(critical=True)


class Trust(Protocol):
    """Knows which policies operators have trusted, by their content's hash."""

    def trusts(self, policy_hash: str, policy: CompiledPolicy, /) -> bool:
        """Whether a policy may loosen what is in force.

        The policy is there to be looked at: none of the code that it names has been run. What
        cannot be found out is no trust.
        """


class NoTrust:
    """Trusts nothing: what loosens does not come into force."""

    def trusts(self, _policy_hash: str, _policy: CompiledPolicy, /) -> bool:
        """No."""
        return False


NO_TRUST: Final = NoTrust()


class OperatorsTrust:
    """Trusts what an operator has signed, by what the store has."""

    def __init__(self, store: Any, roster: Callable[[], Roster]) -> None:
        self._store = store
        self._roster = roster

    def trusts(self, policy_hash: str, _policy: CompiledPolicy, /) -> bool:
        """Whether an operator has said yes to a policy with that hash."""
        try:
            kept = self._store.read(TRUSTED)[1]
            said = kept.get(policy_hash) if isinstance(kept, dict) else None
            if said is None:
                return False
            answer = typed.convert(said, Answer)
            return _is_about(answer, policy_hash) and not doubt(self._roster(), answer, CRITICAL)
        except (StoreLost, TicketError, msgspec.ValidationError):
            return False


def _is_about(answer: Answer, policy_hash: str) -> bool:
    act = answer.act
    return (act.purpose, act.tenant, act.subject, act.yes) == (
        Purpose.POLICY,
        FLEET,
        policy_hash,
        True,
    )
