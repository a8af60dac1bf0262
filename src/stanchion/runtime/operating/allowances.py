"""Allowances for people: given, listed and taken back, for a false alarm that is known to be
one."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.approvals.act import Answer, Purpose
from stanchion.approvals.answerers import By
from stanchion.approvals.digest import Request
from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.kernel.compare_and_set import LEFT
from stanchion.kernel.regex import regex
from stanchion.runtime.deciding.allowances import FindingAllowance, allowances_key, allowances_of
from stanchion.runtime.driving.sync import change_now
from stanchion.runtime.people.authority import told
from stanchion.runtime.standing.veil import tell

if TYPE_CHECKING:
    from stanchion.runtime.shield import Shield

MOST: Final = 1_000
"""How many allowances a tenant can have."""
FINGERPRINT: Final = regex(r"[0-9a-f]{12}")


class Allowances:
    """A tenant's allowances, for people: given, listed and taken back; every change is written to
    the trail."""

    def __init__(self, shield: Shield, tenant: str | None = None) -> None:
        self._shield = shield
        self._tenant = shield.tenancy.of(tenant)

    def listed(self) -> list[FindingAllowance]:
        """All allowances, the newest first."""
        known = allowances_of(self._change(lambda _: LEFT))
        return sorted(known.values(), key=lambda one: (-one.at, one.fingerprint))

    def allow(
        self,
        fingerprint: str,
        once: bool = False,
        tool: str = "",
        why: str = "",
        by: By = "an operator",
    ) -> FindingAllowance:
        """Let what has this fingerprint pass from now on, or once. An operator's: `AnswerRefused`
        where `by` is none, `ValueError` where it is no fingerprint."""
        if FINGERPRINT.fullmatch(fingerprint) is None:
            raise ValueError(
                f"`{fingerprint}` is not a fingerprint: give the 12 digits that `stanchion "
                f"explain` shows"
            )
        said = {"once": once, "tool": tool, "why": why}
        made = self._shield.act(
            Request(purpose=Purpose.ALLOW, tenant=self._tenant, subject=fingerprint, said=said), by
        )
        assert isinstance(made, FindingAllowance)
        return made

    def entered(self, fingerprint: str, once: bool, tool: str, answer: Answer) -> FindingAllowance:
        """Enter an allowance, as an operator has said."""
        veil = self._shield.policy.veil
        act = answer.act
        made = FindingAllowance(
            fingerprint,
            once,
            tool,
            veil.words(act.comment),
            veil.name(act.operator),
            self._shield.clock(),
            answer,
        )

        def added(known: dict[str, FindingAllowance]) -> Any:
            if len(known) >= MOST and fingerprint not in known:
                raise ValueError(
                    f"`{self._tenant}` has {MOST:,} allowances, which is the most: forget some of "
                    f"them"
                )
            return {**known, fingerprint: made}

        self._change(added)
        self._tell("secrets.allowed", made)
        return made

    def forget(self, fingerprint: str, by: str = "", why: str = "") -> bool:
        """Take an allowance back; says whether there was one."""
        gone: list[FindingAllowance] = []

        def without(known: dict[str, FindingAllowance]) -> Any:
            gone[:] = [known[fingerprint]] if fingerprint in known else []
            return (
                {name: one for name, one in known.items() if name != fingerprint} if gone else LEFT
            )

        self._change(without)
        for one in gone:
            self._tell("secrets.forgotten", msgspec.structs.replace(one, by=by, why=why))
        return bool(gone)

    def _change(self, step: Any) -> Any:
        def new(value: Any, _now: int) -> Any:
            wanted = step(allowances_of(value))
            return wanted if wanted is LEFT else msgspec.to_builtins(wanted)

        tenant = self._tenant
        return change_now(self._shield, "allow", tenant, allowances_key(tenant), new).value

    def _tell(self, what: str, one: FindingAllowance) -> None:
        data = {
            "once": one.once,
            "tool": one.tool,
            **({} if one.answer is None else told(one.answer)),
        }
        with contextlib.suppress(AuditLost):
            about = one.fingerprint, self._tenant, "", one.by, one.why, data
            tell(self._shield, Fact(self._shield.clock(), what, *about))
