"""Proving who answered: signatures, against the operators who are known."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final

from stanchion.approvals.act import Answer, Way
from stanchion.approvals.grant_reach import Scope
from stanchion.approvals.operators import Operator, Roster, changes_of, roster_of
from stanchion.approvals.public_key import public_of, verify
from stanchion.approvals.rules import AnswererRole, Asked, refusal


def rostered(pinned: Iterable[Operator], value: Any) -> Roster:
    """Who is an operator by what is pinned, and by what the store's record tells."""
    return roster_of(pinned, changes_of(value), _verified)


def doubt(
    roster: Roster,
    answer: Answer,
    asked: Asked,
    scope: Scope = Scope.ONCE,
    shared: bool = True,
    heard: bool = False,
) -> str:
    """Why an answer does not count; empty where it does. A program's own yes counts only where the
    state is not `shared`: it is in that process's memory, and nobody else can reach it. That of a
    host's dialog counts where this process has `heard` it."""
    act = answer.act
    if act.yes and answer.way is Way.DIALOG and not heard:
        return (
            "a host's dialog counts where the policy names it under `escalation.dialogs`, in "
            "the host's own process"
        )
    if shared and act.yes and answer.way is Way.PROGRAM:
        return "a name proves nothing: use an operator's key, or `stanchion` at a terminal"
    operator = roster.operators.get(act.operator)
    is_held = operator is not None and act.role in operator.roles
    if answer.way is Way.CHAT and act.yes and roster.enrolled and not is_held:
        return f"the chat says it is `{act.operator}`, and no operator with that role is"
    agents = () if operator is None else roster.own(operator)
    is_agent = operator is not None and operator.agent
    answering = AnswererRole(
        answer.way, act.operator, act.role, agents, roster.enrolled, act.yes, is_agent
    )
    forged = _forged(roster, answer) if answer.way.proven else ""
    return forged if forged else refusal(asked, answering, scope)


def _forged(roster: Roster, answer: Answer) -> str:
    """Why a signature proves nothing; empty where it is an operator's."""
    act, operator = answer.act, roster.operators.get(answer.act.operator)
    if operator is None:
        return roster.trouble if roster.trouble else "there is no operator with that name"
    if act.role not in operator.roles:
        return f"they do not have the role `{act.role}`"
    try:
        signature = bytes.fromhex(answer.signature)
    except ValueError:
        return "the signature cannot be read"
    if not _verified(operator.key, act.message, signature):
        return "the signature was not made with their key, or not for this answer"
    if answer.key != _fingerprint(operator.key):
        return "it names a key that is not theirs"
    return ""


def _fingerprint(key: str) -> str:
    return public_of(key).fingerprint


def _verified(key: str, message: bytes, signature: bytes) -> bool:
    return verify(public_of(key), message, signature)


FIRST: Final = 1_024
"""How many are remembered before those are dropped whose time is over."""


class SpentAnswers:
    """What a process has seen used or taken back. A store that others can write to may say
    otherwise later; a process that starts anew does not know it any more."""

    def __init__(self) -> None:
        self._until: dict[bytes, int] = {}
        self._most = FIRST

    def add(self, answer: Answer, now: int) -> None:
        """Remember an answer until its time is over."""
        if len(self._until) >= self._most:
            self._until = {mark: until for mark, until in self._until.items() if now < until}
            self._most = max(FIRST, 2 * len(self._until))
        self._until[_mark(answer)] = answer.act.until

    def has(self, answer: Answer) -> bool:
        """Whether an answer is over."""
        return bool(self._until) and _mark(answer) in self._until


def _mark(answer: Answer) -> bytes:
    """What tells an answer from others, however it is encoded: what it says, and not its
    signature."""
    return sha256(answer.act.message).digest()
