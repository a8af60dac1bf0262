"""Trust in policies: whether somebody who may has said that a policy may loosen what is in force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from stanchion.policy.compiled import CompiledPolicy


class Trust(Protocol):
    """Knows which policies operators have trusted, by their content's hash."""

    def trusts(self, policy_hash: str, policy: CompiledPolicy, /) -> bool:
        """Whether a policy may loosen what is in force.

        The policy is there to be looked at: none of the code that it names has been run. What cannot be found out is
        no trust.
        """


class NoTrust:
    """Trusts nothing: what loosens does not come into force."""

    def trusts(self, _policy_hash: str, _policy: CompiledPolicy, /) -> bool:
        """No."""
        return False


NO_TRUST: Final = NoTrust()
