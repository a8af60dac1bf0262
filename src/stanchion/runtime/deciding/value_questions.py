"""Questions about values: what guards ask about a call where it is not the whole of it."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.approvals.act import RELAYED, Way
from stanchion.approvals.digest import bounded, hashed
from stanchion.approvals.operators import Roster
from stanchion.approvals.questions import (
    CALL,
    CHOICES,
    AskedPiece,
    in_words,
    values_deed,
)
from stanchion.approvals.quorum import is_anybody_able
from stanchion.approvals.ticket import Kind, Ticket, id_of, shown_of
from stanchion.audit.redaction import masked
from stanchion.kernel.actions import Action
from stanchion.kernel.content import content_of
from stanchion.kernel.contract.powers import having
from stanchion.kernel.contract.values import AskedValues
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.lookups import Answered
from stanchion.kernel.tuples import NamedTuple
from stanchion.policy.veil import renamed
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.discretion import cleaner, wanted as hidden
from stanchion.runtime.standing.veil import hidden_in


class AboutValues(NamedTuple):
    """What is asked about values of one call: the pieces as they are hashed, the values as they may
    be shown by their arguments, what may be picked instead, what the user asked for, and the digest
    of what is declared of the tool."""

    pieces: tuple[AskedPiece, ...]
    values: dict[str, Any]
    choices: dict[str, Any]
    wanted: tuple[str, ...]
    declared: str

    def ticket(self, call: Ticket, root: str) -> Ticket:
        """What is asked of a person: the values, with the call that asks first beside them."""
        content = bounded(self.values)
        shown = hashed(shown_of(content, {}))
        deed = msgspec.structs.replace(
            call.deed, root=hashed(root), declared=self.declared, shown=shown
        )
        deed = values_deed(deed, call.tenant, self.pieces)
        more = {CHOICES: self.choices} if self.choices else {}
        return msgspec.structs.replace(
            call,
            id=id_of(deed),
            kind=Kind.VALUE,
            deed=deed,
            content=content,
            beside={},
            evidence={**call.evidence, **more, CALL: call.content},
            message=in_words(deed, self.values, call.evidence),
        )


def about_values(desk: Desk, event: Event, decision: Decision, call: Ticket) -> AboutValues | None:
    """What guards ask about values of a call; nothing where one of them asks about the whole of
    it."""
    pieces: list[AskedPiece] = []
    raw: list[tuple[str, Any]] = []
    choices: list[tuple[str, Any]] = []
    words: list[str] = []
    for finding in asks_of(decision):
        asked = _asked(desk, decision, finding)
        if asked is None:
            return None
        named = [
            AskedPiece(finding.guard, finding.code, name, hashed(it)) for name, it in asked.values
        ]
        pieces += named if named else [AskedPiece(finding.guard, finding.code)]
        raw += asked.values
        choices += [one for one in asked.choices if one[0] in dict(asked.values)]
        words += asked.wanted
    if not pieces:
        return None
    clean = _Clean(desk, event, decision, call)
    return AboutValues(
        tuple(pieces),
        clean.grouped(raw),
        clean.grouped(choices),
        tuple([str(clean.of(one)) for one in dict.fromkeys(words)]),
        _declared(desk, event),
    )


def asks_of(decision: Decision) -> list[Finding]:
    """The findings that ask for a person, those included to whose questions one has said yes
    already."""
    return [one for one in decision.findings if Action.ESCALATE in (one.action, one.said)]


def answers_of(desk: Desk, decision: Decision, guard: str) -> tuple[Any, list[Any]]:
    """A guard, and the answers that its finding rests on."""
    placed = desk.shield.placed(decision.policy, guard)
    found = [
        answer.value
        for name, answer in decision.inputs.answers
        if name == guard and type(answer) is Answered
    ]
    return None if placed is None else placed.guard, found


def _asked(desk: Desk, decision: Decision, finding: Finding) -> AskedValues | None:
    placed, found = answers_of(desk, decision, finding.guard)
    guard = having(placed, "asked_about")
    return None if guard is None else guard.asked_about(finding, found[0] if found else None)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


class _Clean:
    """Values of a call as they may be shown: as the ticket of the whole call shows them, or without
    what guards hide in it."""

    def __init__(self, desk: Desk, event: Event, decision: Decision, call: Ticket) -> None:
        content = content_of(event)
        self._names = hidden_in(desk.plans, event, decision)
        self._clean = cleaner(content, (*hidden(decision.findings), *decision.trace.hides))
        self._args = content if isinstance(content, dict) else {}
        self._shown = call.content if isinstance(call.content, dict) else {}

    def of(self, value: Any, name: str = "") -> Any:
        """One value, which may be that of an argument."""
        if name and name in self._shown and self._args.get(name) == value:
            return self._shown[name]
        plain = value if isinstance(value, str | int | float | bool | None) else _json(value)
        shown = self._clean(plain) if isinstance(plain, str) else plain
        return renamed(masked({name: shown})[name], self._names)

    def grouped(self, values: list[tuple[str, Any]]) -> dict[str, Any]:
        """Values by their arguments: one, or a list of them."""
        found: dict[str, list[Any]] = {}
        for name, value in values:
            shown = self.of(value, name)
            if shown not in found.setdefault(name, []):
                found[name].append(shown)
        return {name: some[0] if len(some) == 1 else some for name, some in found.items()}


def _declared(desk: Desk, event: Event) -> str:
    """The digest of what is declared of a tool: what it does, to whom, what comes of it, and its
    schema."""
    policy, (_, *said) = desk.shield.policy, desk.known(desk.plans, event.tool)
    known = None if policy.defined is None else policy.defined.find(event.run.tenant, event.tool)
    schema = "" if known is None else known.digest
    return hashed([event.tool, *said, schema])


def is_somebody_there(desk: Desk, wanted: Ticket, roster: Roster) -> bool:
    """Whether somebody could answer at all. A question about values is not put where nobody could
    say yes to it as things stand."""
    terms = desk.shield.policy.file.escalation
    if not terms.attended:
        return False
    if wanted.kind is not Kind.VALUE or roster.trouble:
        return True
    ways = [Way.TERMINAL if desk.shield.authority.shared else Way.PROGRAM]
    ways += [Way.DIALOG] if terms.dialogs else []
    ways += RELAYED
    return is_anybody_able(desk.shield.authority.asked(wanted.asked), roster, ways)
