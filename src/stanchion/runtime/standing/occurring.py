"""What the runtime tells of: facts that an operator has to hear of, and trouble with the trail."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final

from stanchion.audit.journal import Fact
from stanchion.audit.redaction import masked
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.events import Event
from stanchion.kernel.tuples import NamedTuple
from stanchion.policy.compiled import CompiledPolicy
from stanchion.telemetry.loggers import POLICY, WARNING, say
from stanchion.telemetry.occurrences import Kind, Occurrence

if TYPE_CHECKING:
    from stanchion.policy.found import FoundPolicy
    from stanchion.runtime.shield import Shield


class FactTelling(NamedTuple):
    """How a fact is told: as what, in which words, and whether it has happened even where it could
    not be recorded."""

    kind: Kind
    words: str
    stands: bool = True


FACTS: Final[dict[str, FactTelling]] = {
    "ticket.opened": FactTelling(
        Kind.TICKET_OPENED, "ticket `{about}` waits for {asks}: {who}: {why}"
    ),
    "ticket.passed": FactTelling(
        Kind.TICKET_PASSED,
        "nobody has answered ticket `{about}`, and it waits for {asks} now: {who}: {why}",
    ),
    "ticket.voted": FactTelling(
        Kind.TICKET_ANSWERED,
        "`{by}` said yes to `{about}`, and others have to: {why}",
        stands=False,
    ),
    "ticket.approved": FactTelling(
        Kind.TICKET_ANSWERED, "`{by}` approved ticket `{about}`: {why}", stands=False
    ),
    "ticket.denied": FactTelling(
        Kind.TICKET_ANSWERED, "`{by}` denied ticket `{about}`: {why}", stands=False
    ),
    "ticket.withdrawn": FactTelling(
        Kind.TICKET_ANSWERED, "`{by}` withdrew the approval of `{about}`: {why}", stands=False
    ),
    "bypass.requested": FactTelling(
        Kind.BYPASS_REQUESTED, "ticket `{about}` asks for a bypass: {why}"
    ),
    "bypass.granted": FactTelling(
        Kind.BYPASS_ANSWERED, "`{by}` granted the bypass of ticket `{about}`: {why}", stands=False
    ),
    "bypass.denied": FactTelling(
        Kind.BYPASS_ANSWERED, "the bypass of ticket `{about}` is denied: {why}", stands=False
    ),
    "bypass.withdrawn": FactTelling(
        Kind.BYPASS_ANSWERED, "`{by}` withdrew the bypass of `{about}`: {why}", stands=False
    ),
    "bypass.used": FactTelling(
        Kind.BYPASS_ANSWERED, "the bypass of ticket `{about}` was used: {why}"
    ),
    "bypass.overridden": FactTelling(
        Kind.BYPASS_OVERRIDDEN, "ticket `{about}` was not answered: {why}"
    ),
    "bypass.reviewed": FactTelling(
        Kind.BYPASS_ANSWERED, "`{by}` reviewed ticket `{about}`: {why}", stands=False
    ),
    "bypass.review_missed": FactTelling(
        Kind.REVIEW_MISSED, "ticket `{about}` was not reviewed in time: {why}"
    ),
    "run.flagged": FactTelling(Kind.RUN_FLAGGED, "`{about}` is flagged: {why}"),
    "state.halt": FactTelling(Kind.HALTED, "`{about}` is halted: {why}"),
    "state.quarantine": FactTelling(Kind.QUARANTINED, "`{about}` is isolated: {why}"),
    "state.safe_mode": FactTelling(Kind.SAFE_MODE, "`{about}` is in safe mode: {why}"),
    "state.normal": FactTelling(Kind.NORMAL, "`{about}` is back to normal: {why}"),
    "answer.refused": FactTelling(
        Kind.ANSWER_REFUSED, "the answer or command of `{by}` about `{about}` was refused: {why}"
    ),
    "definition.changed": FactTelling(
        Kind.DEFINITION_CHANGED, "`{about}` is not as it was pinned: {why}"
    ),
    "coverage.escaped": FactTelling(Kind.ESCAPED, "`{about}` passed by: {why}"),
    "credential.strayed": FactTelling(
        Kind.ESCAPED, "the placeholder of credential `{about}` strayed: {why}"
    ),
    "host.forged": FactTelling(Kind.FORGED, "another one has spoken for `{about}`: {why}"),
    "coverage.unguarded": FactTelling(Kind.ESCAPED, "nothing guards `{about}`: {why}"),
    "coverage.canary_missed": FactTelling(
        Kind.ESCAPED, "`{about}` does not catch its canary: {why}"
    ),
    "definition.suspect": FactTelling(
        Kind.DEFINITION_SUSPECT, "the definition of `{about}` is suspect: {why}"
    ),
}
"""Facts that operators hear of, besides what is recorded."""

ASKED: Final = frozenset(
    {Kind.TICKET_OPENED, Kind.TICKET_PASSED, Kind.BYPASS_REQUESTED, Kind.BYPASS_OVERRIDDEN}
)
"""Kinds of what an agent has brought about."""

NO_REASON: Final = "no reason was given"


def tell_fact(shield: Shield, fact: Fact, tool: str = "", stands: bool = True) -> None:
    """Tell of a fact, as it is shown in records, where operators have to hear of it. `stands` says
    whether it could be recorded."""
    told = FACTS.get(fact.what)
    if told is None or not (stands or told.stands):
        return
    why = str(masked(fact.why)) if fact.why else NO_REASON
    named = fact.about.removeprefix("tool:") if fact.about.startswith("tool:") else tool
    of_values = told.kind in ASKED and fact.data.get("kind") == "value"
    is_ticket = fact.what.startswith(("ticket.", "bypass."))
    whole = "fleet" if fact.tenant == FLEET else f"tenant:{fact.tenant}"
    shield.occurrences.tell(
        Occurrence(
            kind=told.kind,
            at=fact.at,
            text=(VALUES if of_values else told.words).format(
                about=fact.about if fact.about else whole,
                by=fact.by if fact.by else "somebody",
                why=why,
                asks=_asks(fact),
                who=_who(fact),
            ),
            about=fact.about,
            tenant="" if fact.tenant == FLEET else fact.tenant,
            run=fact.run,
            agent=fact.by if told.kind in ASKED else "",
            tool=named,
            ticket=fact.about if is_ticket else "",
            decision=str(fact.data.get("call", "")) if is_ticket else "",
        )
    )


VALUES: Final = "{why}; ticket `{about}` waits for {asks}: {who}"
"""How a question about values is told: the danger comes first."""


def _asks(fact: Fact) -> str:
    """Whom a ticket waits for."""
    role = fact.data.get("asks", "")
    return f"`{role}`" if role else "a person"


def _who(fact: Fact) -> str:
    """Whose ticket it is, about what, and how bad that can be."""
    said = [
        f"{name} `{value}`"
        for name in ("agent", "task", "risk")
        if (value := fact.data.get(name, ""))
    ]
    return (
        ", ".join([*said, f"`{fact.data['about']}`"]) if fact.data.get("about") else ", ".join(said)
    )


def tell_run(shield: Shield, kind: Kind, text: str, event: Event, about: str = "") -> None:
    """Tell what an event has come to for its run, with names as they are shown."""
    veil, info = shield.policy.veil, event.run
    shield.occurrences.tell(
        Occurrence(
            kind=kind,
            at=event.at,
            text=str(masked(veil.words(text))),
            about=about if about else f"run:{veil.name(info.id)}",
            tenant=veil.name(info.tenant),
            run=veil.name(info.id),
            agent=veil.name(info.agent),
            tool=veil.name(event.tool),
            decision=veil.name(event.id),
        )
    )


def trail_lost(shield: Shield, why: Exception) -> None:
    """Tell that the trail cannot be written."""
    text = f"the audit trail cannot be written: {why}; what cannot be recorded is refused"
    _tell(shield, Kind.TRAIL_LOST, text, place_of(shield.journal))


def trail_back(shield: Shield) -> None:
    """Tell that the trail can be written again, where it could not."""
    if Kind.TRAIL_LOST in shield.occurrences.open:
        _tell(
            shield,
            Kind.TRAIL_BACK,
            "the audit trail can be written again",
            place_of(shield.journal),
        )


def trail_tampered(shield: Shield, words: str) -> None:
    """Tell that the trail is not as it was written."""
    text = f"the audit trail is not as it was written: {words}; see `stanchion audit verify`"
    _tell(shield, Kind.TRAIL_TAMPERED, text, place_of(shield.journal))


def _tell(shield: Shield, kind: Kind, text: str, about: str) -> None:
    shield.occurrences.tell(Occurrence(kind=kind, at=shield.clock(), text=text, about=about))


def place_of(journal: Any) -> str:
    """Where a journal is, as operators know it."""
    folder = getattr(journal, "folder", None)
    return "trail" if folder is None else f"trail:{folder}"


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
