"""Operators: people who may do what an agent may not, each known by a key; the first is pinned, the
rest are signed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any, Final, Literal

import msgspec

from stanchion import typed
from stanchion.approvals.errors import OperatorError
from stanchion.kernel.autonomy import OPERATOR
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.regex import regex
from stanchion.kernel.state import key

NAME: Final = regex(r"[a-z0-9](?:[a-z0-9._@-]{0,62}[a-z0-9])?")
"""Names have one spelling each, so that nobody looks like somebody else."""

MOST: Final = 500
"""How many changes are kept. Whoever has had so many pins the keys in the policy."""

FORM: Final = b"stanchion-operators-1\n"

RECORD: Final = key(FLEET, "operators")
"""Where the changes are kept: operators are the whole fleet's."""


PINNED: Final = key(FLEET, "pinned")
"""Where it is marked that a policy or a program names operators: then nobody answers without a key
here."""

ELSEWHERE: Final = "a policy lists the operators here: give it with `--policy FILE`"


class Operator(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Somebody with a key (a line as OpenSSH writes it). `agents` are those who work for them: what
    those ask for somebody else has to answer. One who is an `agent` is a program that answers in
    its roles, and never for itself or a run above or below its own."""

    name: str
    key: str
    roles: tuple[str, ...] = (OPERATOR,)
    agents: tuple[str, ...] = ()
    agent: bool = False

    def __post_init__(self) -> None:
        if self.agent and OPERATOR in self.roles:
            raise OperatorError(
                f"`{self.name}` is an agent, and `{OPERATOR}` is a person: give it another role, "
                f"such as `reviewer`"
            )


class RosterChange(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One change of who is an operator: `before` is the hash of the one before it, `by` who signed
    it. The first alone may be unsigned, where the policy pins nobody."""

    kind: Literal["add", "revoke", "rotate"]
    operator: Operator
    at: int
    before: str = ""
    by: str = ""
    signature: str = ""

    @property
    def message(self) -> bytes:
        """What is signed."""
        return FORM + _encode(msgspec.structs.replace(self, signature=""))

    @property
    def hash(self) -> str:
        """What the next one names."""
        return sha256(_encode(self)).hexdigest()


class Roster(msgspec.Struct, frozen=True):
    """Who is an operator, after so many changes, and what is wrong with those behind them."""

    operators: dict[str, Operator] = {}
    changes: tuple[RosterChange, ...] = ()
    trouble: str = ""

    @property
    def last(self) -> str:
        """The hash of the last change."""
        return self.changes[-1].hash if self.changes else ""

    def own(self, operator: Operator) -> tuple[str, ...]:
        """The agents that work for somebody. Whoever has the same key is the same person, under
        whatever name."""
        same = [
            one
            for one in self.operators.values()
            if one.key == operator.key and one.name != operator.name
        ]
        return (*operator.agents, *[name for one in same for name in (one.name, *one.agents)])

    @property
    def enrolled(self) -> bool:
        """Whether anybody is, or was: then nobody answers without a key."""
        return bool(self.operators or self.changes or self.trouble)


Verify = Callable[[str, bytes, bytes], bool]
"""Whether a signature is a key's, for a message."""

_encode: Final = msgspec.json.Encoder(order="deterministic").encode


def roster_of(
    pinned: Iterable[Operator], changes: Iterable[RosterChange], verify: Verify
) -> Roster:
    """Who is an operator by what is pinned and by the changes since, each signed by one who was an
    operator then. From the first that is not, none counts. A first operator who is pinned as well
    is as they are pinned."""
    operators = {one.name: one for one in pinned}
    good: list[RosterChange] = []
    for number, change in enumerate(changes):
        trouble = _wrong(operators, good, change, verify)
        if trouble:
            return Roster(operators, tuple(good), f"change {number + 1} of the operators {trouble}")
        operators = applied(operators, change) if change.by or not operators else operators
        good.append(change)
    return Roster(operators, tuple(good))


def applied(operators: dict[str, Operator], change: RosterChange) -> dict[str, Operator]:
    """Who is an operator after a change."""
    others = {name: one for name, one in operators.items() if name != change.operator.name}
    return others if change.kind == "revoke" else {**others, change.operator.name: change.operator}


def changes_of(value: Any) -> tuple[RosterChange, ...]:
    """The changes that a record tells; `OperatorError` where it cannot be read."""
    if value is None:
        return ()
    try:
        return typed.convert(value, tuple[RosterChange, ...])
    except msgspec.ValidationError as error:
        raise OperatorError(
            f"the operators in the store cannot be read: {error}; restore the store"
        ) from None


def check_name(name: str) -> None:
    """Raise `OperatorError` for what is no name of an operator."""
    if NAME.fullmatch(name) is None:
        raise OperatorError(
            f"`{name}` is not a name for an operator: use up to 64 of a-z, 0-9, `.`, `_`, `-`, `@`"
        )


def operators_of(value: Any) -> tuple[Operator, ...]:
    """The operators that a mark tells; none where it cannot be read."""
    try:
        return typed.convert([] if value is None else value, tuple[Operator, ...])
    except msgspec.ValidationError:
        return ()


def checked(change: RosterChange, roster: Roster) -> RosterChange:
    """A change that makes sense for those who are operators now; `OperatorError` where it does
    not."""
    name, known = change.operator.name, change.operator.name in roster.operators
    check_name(name)
    if change.kind == "add" and known:
        raise OperatorError(
            f"`{name}` is already an operator: `stanchion operators rotate` gives them another key"
        )
    if change.kind != "add" and not known:
        raise OperatorError(
            f"`{name}` is not an operator: `stanchion operators list` shows all of them"
        )
    if change.kind == "revoke" and len(roster.operators) == 1:
        raise OperatorError(
            f"`{name}` is the last operator: add another one first, because nobody could undo this"
        )
    if change.kind != "revoke":
        twin = [one.name for one in roster.operators.values() if one.key == change.operator.key]
        if twin:
            raise OperatorError(
                f"this key already belongs to `{twin[0]}`: use a different key for each operator"
            )
        if not change.operator.roles:
            raise OperatorError(f"`{name}` would have no role: give one, such as `{OPERATOR}`")
    if len(roster.changes) >= MOST:
        raise OperatorError(
            f"the operators have changed {MOST} times, which is the most: list them with their "
            f"keys in the policy "
            "from now on"
        )
    return change


def _wrong(
    operators: dict[str, Operator], good: list[RosterChange], change: RosterChange, verify: Verify
) -> str:
    if change.before != (good[-1].hash if good else ""):
        return "does not follow from the one before it"
    if not change.by:
        pinned = operators.get(change.operator.name)
        first = not good and change.kind == "add"
        agrees = not operators or (pinned is not None and pinned.key == change.operator.key)
        return "" if first and agrees else "is not signed"
    signer = operators.get(change.by)
    if signer is None or OPERATOR not in signer.roles:
        return f"is signed by `{change.by}`, who is not an operator with that right"
    try:
        signature = bytes.fromhex(change.signature)
    except ValueError:
        return "has an unreadable signature"
    return (
        ""
        if verify(signer.key, change.message, signature)
        else f"is not signed by `{change.by}`'s key"
    )
