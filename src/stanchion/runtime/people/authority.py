"""Authority: who may do what only an operator may, on the store of one shield; every refusal is
written down."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from stanchion import typed
from stanchion.approvals.act import GRANT_S, LONGEST_S, Answer, Purpose, Way
from stanchion.approvals.answerers import By, Dialog, Person, Relayed, Signer, Wish, called, named
from stanchion.approvals.errors import AnswerRefused, TicketError
from stanchion.approvals.grant_reach import Scope, reach
from stanchion.approvals.operators import (
    ELSEWHERE,
    PINNED,
    RECORD,
    Operator,
    Roster,
    RosterChange,
    changes_of,
    check_name,
    operators_of,
)
from stanchion.approvals.proof import SpentAnswers, doubt, rostered
from stanchion.approvals.public_key import public_of
from stanchion.approvals.rules import Asked, folded
from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.kernel.autonomy import OPERATOR, may_bypass
from stanchion.kernel.compare_and_set import LEFT, change_together
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.state import ABSENT, StoreLost, key
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import change_now, drive, new_batch
from stanchion.runtime.standing.veil import tell
from stanchion.stores.protocol import ends_here

if TYPE_CHECKING:
    from stanchion.policy.compiled import CompiledPolicy
    from stanchion.runtime.shield import Shield

DISAPPEARED: Final = (
    "changes to the operators have disappeared from the store: restore it, or restart this process"
)

FUTURE_MS: Final = 60_000
"""By how much the clock of whoever signs may be ahead of the store's."""


class OperatorAuthority:
    """The operators that a shield knows: those its program and its policy pin, and those in the
    store who follow from them. The first operator of a store counts only where it was there before
    the shield's first run."""

    def __init__(self, shield: Shield, pinned: Iterable[Operator]) -> None:
        self._shield = shield
        self._pinned = tuple(
            [msgspec.structs.replace(one, key=public_of(one.key).line) for one in pinned]
        )
        self._begun: str | None = None
        self._spent = SpentAnswers()
        self._heard = SpentAnswers()
        self._known: tuple[int, tuple[Operator, ...], Roster] = (-1, (), Roster())
        self._furthest: tuple[tuple[Operator, ...], Roster] = ((), Roster())

    def begin(self) -> None:
        """Remember who was first, before anything is judged; called when a run begins."""
        if self._begun is None:
            with contextlib.suppress(StoreLost, TicketError):
                version, value = self._shield.store.read(RECORD)
                self._read(version, value, self._mark(value))

    def _mark(self, changes: Any) -> bool:
        """Whether it is marked that somebody names operators here; where this shield does, it is
        from now on. Beside operators in the store those alone are marked who are among them."""
        shield = self._shield
        marked = shield.store.read(PINNED)[1] is not None
        if marked or not self.shared:
            return marked
        own = rostered((), changes).operators
        named = [
            one
            for one in self._named()
            if not changes or (one.name in own and own[one.name].key == one.key)
        ]
        if not named:
            return False
        value = msgspec.to_builtins(named)
        change_now(shield, "pinned", FLEET, PINNED, lambda kept, _: value if kept is None else LEFT)
        return True

    def _named(self) -> tuple[Operator, ...]:
        """The operators whom this shield's program and its policy name."""
        return (*self._pinned, *pinned_by(self._shield.policy))

    def is_agent(self, name: str) -> bool:
        """Whether a name is that of an agent who answers tickets here, however it is spelt."""
        return any(one.agent and folded(one.name) == folded(name) for one in self._named())

    def keepers(self) -> Flow[Roster]:
        """Who may change what the store holds, whoever comes with which policy: its operators, and
        of those whom this shield names the ones that were named there first. Where there are none
        yet, whom this shield names."""
        roster, _ = yield from self._now()
        return self._keeping(roster)

    def _keeping(self, roster: Roster) -> Roster:
        """The same by the store's own word, as it was just read."""
        records = self._shield.records
        changes, marked = records.get(RECORD, ABSENT)[1], records.get(PINNED, ABSENT)[1]
        if not self.shared or (not changes and marked is None):
            return roster
        kept = self.rostered(changes)
        if roster.trouble == DISAPPEARED:
            both = {
                name: one
                for name, one in kept.operators.items()
                if roster.operators.get(name) == one
            }
            return msgspec.structs.replace(roster, operators=both)
        return kept if kept.enrolled else Roster({}, (), ELSEWHERE)

    def rostered(self, changes: Any) -> Roster:
        """Who may change what the store holds, by what it says of its operators."""
        marked = self._shield.records.get(PINNED, ABSENT)[1]
        named = self._named()
        if self.shared and (changes or marked is not None):
            known = {(one.name, one.key) for one in operators_of(marked)}
            named = tuple([one for one in named if (one.name, one.key) in known])
        return rostered(named, changes)

    def roster(self) -> Flow[Roster]:
        """Who is an operator, as the store has it now."""
        return (yield from self._now())[0]

    def known(self) -> Roster:
        """Who is an operator, for callers outside of a flow."""
        return drive(self.roster(), self._shield)

    def _now(self) -> Flow[tuple[Roster, int]]:
        """Who is an operator, and the store's time."""
        batch, records = new_batch("operators"), self._shield.records
        kept = yield from change_together(
            records, batch, FLEET, lambda: (RECORD, PINNED), lambda _now: {}
        )
        marked = records.get(PINNED, ABSENT)[1] is not None
        return self._read(*records.get(RECORD, ABSENT), marked), kept.reply.now

    def said(
        self, wish: Wish, by: By, *, yes: bool = True, comment: str = "", for_s: float = GRANT_S
    ) -> Answer:
        """Somebody's answer to a wish, if they may give it: `AnswerRefused` otherwise, which is
        written down."""
        try:
            return self._answer(wish, by, yes, comment, for_s)
        except AnswerRefused as error:
            self._refused(wish, called(by), str(error))
            raise

    def doubt(self, roster: Roster, answer: Answer, asked: Asked, scope: Scope = Scope.ONCE) -> str:
        """Why an answer does not count on this shield's store; empty where it does."""
        if self._spent.has(answer):
            return "the answer was used or taken back"
        heard = self._has_heard(answer)
        return doubt(roster, answer, self.asked(asked), scope, self.shared, heard)

    def asked(self, asked: Asked) -> Asked:
        """What is asked of people, with what this shield's policy says of who may answer."""
        terms = self._shield.policy.file.escalation
        least = "" if terms.at_least is None else terms.at_least
        return msgspec.structs.replace(asked, at_least=least, relayed=terms.relayed)

    def _has_heard(self, answer: Answer) -> bool:
        """Whether somebody has said so to this process in a dialog that its policy names. What a
        store holds may have been written by anybody."""
        named = [f"host:{name}" for name in self._shield.policy.file.escalation.dialogs]
        return answer.act.operator in named and self._heard.has(answer)

    def spend(self, answer: Answer) -> None:
        """Remember that an answer was used or taken back: whatever a store says later, it lets
        nothing through here."""
        self._spent.add(answer, self._shield.clock())

    @property
    def shared(self) -> bool:
        """Whether others than this process may reach the state: so it is, unless its store says
        otherwise."""
        return not ends_here(self._shield.store)

    def follows(self, roster: Roster, change: RosterChange) -> bool:
        """Whether a change is one that an operator has signed."""
        known = [msgspec.to_builtins(one) for one in (*roster.changes, change)]
        return not self.rostered(known).trouble

    def _answer(self, wish: Wish, by: By, yes: bool, comment: str, for_s: float) -> Answer:
        roster, now = drive(self._now(), self._shield)
        if wish.purpose is not Purpose.TICKET:
            roster = self._keeping(roster)
        if not 0 < for_s <= LONGEST_S:
            most = f"give a number of seconds up to {LONGEST_S:g}"
            raise AnswerRefused(f"an answer cannot be valid for `{for_s:g}` s: {most}")
        until = now + max(1, int(for_s * 1000))
        match by:
            case Answer():
                answer = by
                if answer.act.yes and not answer.way.proven:
                    raise AnswerRefused(
                        "a yes that is handed in has to be signed: `stanchion tickets sign` does "
                        "that"
                    )
                if not wish.is_answered_by(answer.act):
                    raise AnswerRefused(
                        "this answer is for something else: show the ticket again, and sign what "
                        "is shown"
                    )
                if not now < answer.act.until <= now + int(LONGEST_S * 1000) + FUTURE_MS:
                    raise AnswerRefused("this answer is too late: sign it again")
            case Signer():
                if by.shows is not None:
                    by.shows(wish)
                role = by.role if by.role else _role(roster.operators.get(by.name), wish.asked)
                answer = by.signed(wish.act(by.name, role, until, yes, comment))
            case Person():
                self._shield.nobody_beside()
                answer = Answer(
                    act=wish.act(by.name, by.role, until, yes, comment), way=Way.TERMINAL
                )
            case Dialog():
                answer = Answer(
                    act=wish.act(by.name, OPERATOR, until, yes, comment), way=Way.DIALOG
                )
                if wish.purpose is Purpose.TICKET:
                    self._heard.add(answer, now)
            case Relayed():
                role = by.role if by.role else _role(roster.operators.get(by.name), wish.asked)
                answer = Answer(act=wish.act(by.name, role, until, yes, comment), way=by.way)
            case _:
                answer = Answer(
                    act=wish.act(named(by), OPERATOR, until, yes, comment), way=Way.PROGRAM
                )
        why = self.doubt(roster, answer, wish.asked, reach(wish.scope)[0])
        if why:
            veil = self._shield.policy.veil
            raise AnswerRefused(
                f"`{veil.name(answer.act.operator)}` cannot answer this: {veil.words(why)}"
            )
        if isinstance(by, Person):
            by.confirms(wish)
        return answer

    def _read(self, version: int, value: Any, marked: bool) -> Roster:
        """The roster by what the store has; what this shield knew before cannot be taken from under
        it."""
        pinned = self._named()
        seen, at, known = self._known
        if (version, pinned) == (seen, at) and self._begun is not None and known.enrolled:
            return known
        whose, furthest = self._furthest
        furthest = furthest if whose == pinned else Roster()
        changes = changes_of(value)
        roster = rostered(pinned, value)
        first = changes[0].hash if changes else ""
        if self._begun is None:
            self._begun = first
        elif not pinned and first != self._begun:
            late = (
                "the first operator was added after this process began: restart it"
                if not self._begun
                else ""
            )
            roster = Roster(
                {}, (), late if late else "the operators are not the ones that this process knows"
            )
        elif furthest.changes != roster.changes[: len(furthest.changes)]:
            # Who was revoked may be back in an older copy, and sign what would stand in the place
            # of that: those count who are operators by that and by what was known.
            both = {
                name: one
                for name, one in roster.operators.items()
                if furthest.operators.get(name) == one
            }
            roster = Roster(both, furthest.changes, DISAPPEARED)
        else:
            self._furthest = (pinned, roster)
        if not roster.enrolled and marked:
            return Roster({}, (), ELSEWHERE)
        self._known = (version, pinned, roster)
        return roster

    def _refused(self, wish: Wish, by: str, why: str) -> None:
        shield = self._shield
        data = {"purpose": str(wish.purpose), "generation": wish.generation, "why": why}
        with contextlib.suppress(AuditLost):
            fact = Fact(
                shield.clock(),
                "answer.refused",
                wish.subject,
                wish.tenant,
                by=shield.policy.veil.name(by),
            )
            tell(shield, fact._replace(why=shield.policy.veil.words(why), data=data))


def pinned_by(policy: CompiledPolicy) -> tuple[Operator, ...]:
    """The operators whom a policy names; `OperatorError` where one of them cannot be."""
    found = [
        Operator(
            name=name,
            key=public_of(entry.key).line,
            roles=entry.roles,
            agents=entry.agents,
            agent=entry.agent,
        )
        for name, entry in policy.file.operators.items()
    ]
    for one in found:
        check_name(one.name)
    return tuple(found)


def told(answer: Answer) -> dict[str, Any]:
    """What the trail says of who answered, and how that is known."""
    proof = {"key": answer.key, "signature": answer.signature} if answer.way.proven else {}
    known = {"strength": str(answer.way.strength), "proven": answer.way.proven}
    return {"way": str(answer.way), **known, "role": answer.act.role, **proof}


def tell_answered(
    shield: Shield, what: str, about: str, tenant: str, answer: Answer, run: str = "", **data: Any
) -> None:
    """Write down what was done because somebody answered, and how it is known who."""
    act = answer.act
    fact = Fact(shield.clock(), what, about, tenant, run, act.operator, act.comment)
    tell(shield, fact._replace(data={**data, **told(answer)}))


def _role(operator: Operator | None, asked: Asked) -> str:
    """The role in which somebody answers who does not say: the first that counts, or the first that
    they have."""
    roles = () if operator is None else operator.roles
    counts = [role for role in asked.roles if role in roles and may_bypass(asked.mode, role)]
    return next(iter((*counts, *roles)), OPERATOR)


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
