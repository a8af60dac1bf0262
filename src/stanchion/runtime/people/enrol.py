"""Enrolling operators: the first at a terminal while nothing runs, every other change signed by one
who is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from stanchion.approvals.act import Purpose, Way
from stanchion.approvals.answerers import By, Person, Signer, Wish, named
from stanchion.approvals.digest import hashed
from stanchion.approvals.errors import AnswerRefused, OperatorError
from stanchion.approvals.operators import RECORD, Operator, Roster, RosterChange, applied, checked
from stanchion.approvals.public_key import public_of
from stanchion.audit.journal import Fact
from stanchion.kernel.autonomy import OPERATOR
from stanchion.kernel.counter_scopes import FLEET
from stanchion.runtime.driving.sync import change_now, drive
from stanchion.runtime.standing.presence import asker, beside, live_runs
from stanchion.runtime.standing.veil import tell

if TYPE_CHECKING:
    from stanchion.runtime.shield import Shield


def enrol(
    shield: Shield, kind: Literal["add", "revoke", "rotate"], operator: Operator, by: By
) -> Roster:
    """Change who is an operator of the store; `TicketError` where `by` may not, which is written
    down."""
    operator = msgspec.structs.replace(operator, key=public_of(operator.key).line)
    roster = drive(shield.authority.keepers(), shield)
    made = RosterChange(
        kind=kind, operator=operator, at=shield.clock(), before=roster.last, by=_signs(roster, by)
    )
    try:
        made = _signed(shield, roster, checked(made, roster), by)
        return _keep(shield, roster, made, by)
    except (AnswerRefused, OperatorError) as error:
        fact = Fact(
            shield.clock(),
            "answer.refused",
            f"operator:{operator.name}",
            FLEET,
            by=named(by),
            why=str(error),
        )
        tell(shield, fact._replace(data={"purpose": str(Purpose.OPERATORS), "kind": kind}))
        raise


def _signs(roster: Roster, by: By) -> str:
    return by.name if isinstance(by, Signer) and roster.operators else ""


def _signed(shield: Shield, roster: Roster, made: RosterChange, by: By) -> RosterChange:
    if roster.operators:
        if not isinstance(by, Signer):
            raise AnswerRefused(
                "there is an operator already: an operator has to sign every change, with their key"
            )
        signer = roster.operators.get(by.name)
        if signer is None or OPERATOR not in signer.roles:
            raise AnswerRefused(
                f"`{by.name}` cannot change who is an operator: somebody with the role "
                f"`{OPERATOR}` can"
            )
        signed = msgspec.structs.replace(made, signature=by.key.sign(made.message).hex())
        if not shield.authority.follows(roster, signed):
            raise AnswerRefused(f"this is not the key of `{by.name}`: sign with the enrolled key")
        return signed
    if roster.enrolled or not isinstance(by, Person):
        why = (
            roster.trouble
            if roster.trouble
            else "the first operator has to be added at a terminal, or pinned in a policy"
        )
        raise AnswerRefused(why)
    _first(shield, made, by)
    return made


def _first(shield: Shield, made: RosterChange, by: Person) -> None:
    """Have the first operator confirmed, while nothing runs that could play a person."""
    try:
        open_now = live_runs(shield.presence.state) if shield.presence is not None else ()
    except OSError as error:
        raise AnswerRefused(
            f"it is not known which runs are open: {error}; pin the key in the policy"
        ) from None
    if open_now:
        pids = ", ".join(str(one.pid) for one in open_now)
        raise AnswerRefused(
            f"runs are open (process {pids}): end them first, or pin the key in the policy"
        )
    said = msgspec.to_builtins(made)
    by.confirms(
        Wish(
            purpose=Purpose.OPERATORS,
            tenant=FLEET,
            subject=made.operator.name,
            generation=0,
            digest=hashed(said),
            said=said,
        )
    )


def _keep(shield: Shield, roster: Roster, made: RosterChange, by: By) -> Roster:
    after = (*roster.changes, made)

    def written(value: Any, _now: int) -> Any:
        if shield.authority.rostered(value).changes != roster.changes:
            raise OperatorError(
                "the operators were changed in the meantime: look at them, and try again"
            )
        return msgspec.to_builtins(after)

    change_now(shield, "operators", FLEET, RECORD, written)
    way = by.way if isinstance(by, Signer) else Way.TERMINAL
    data = {
        "key": made.operator.key,
        "roles": made.operator.roles,
        "way": str(way),
        "proven": way.proven,
        "signature": made.signature,
    }
    words = {"add": "added", "revoke": "revoked", "rotate": "rotated"}[made.kind]
    fact = Fact(made.at, f"operator.{words}", f"operator:{made.operator.name}", FLEET, by=named(by))
    tell(shield, fact._replace(data=data))
    return Roster(applied(roster.operators, made), after)


def nobody_beside(shield: Shield) -> None:
    """Raise `AnswerRefused` where an answer without a key would be given beside an open run: in its
    process, below it, or at its terminal."""
    if shield.presence is None:
        return

    try:
        found = beside(live_runs(shield.presence.state), asker())
    except OSError as error:
        raise AnswerRefused(f"it is not known which runs are open: {error}; use a key") from None
    if found is not None:
        raise AnswerRefused(
            f"process {found.pid} has an open run, and this process belongs to it: answer at "
            f"another terminal, or "
            "use a key"
        )
