"""Veiling: what is written down and told bears names as they are shown, with the secrets in them
hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.kernel.chain import Plans
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import Finding
from stanchion.policy.veil import NAMED, Pairs, Veil, renamed, texts_in, together
from stanchion.runtime.standing.occurring import tell_fact, trail_lost

if TYPE_CHECKING:
    from stanchion.runtime.standing.grounds import Grounds

NO_VEIL: Final = Veil()
DIGEST: Final = "digest"
"""How the names of what is no name end in a fact's data."""


def hidden_names(plans: Plans, event: Event) -> Pairs:
    """What is hidden in the names of an event under the policy that judges it."""
    veil: Veil = getattr(plans.policy, "veil", NO_VEIL)
    return veil.of(event)


def hidden_in(plans: Plans, event: Event, decision: Decision) -> Pairs:
    """What is hidden in the names of a decision: those of its event, what broke, and the tools,
    agents and runs that are in a state of their own."""
    return hidden_by(getattr(plans.policy, "veil", NO_VEIL), event, decision)


def hidden_by(veil: Veil, event: Event, decision: Decision) -> Pairs:
    """The same by a veil. A guard of a program's own may say anything."""
    more: list[str] = []
    for finding in (*decision.findings, *decision.shadow):
        said = (finding.text, finding.guidance, finding.about, *finding.args, *finding.effects)
        more += [word for word in said if isinstance(word, str)]
    for _, answer in decision.inputs.answers:
        more += texts_in(answer)
    for _, _, value in decision.inputs.records:
        if isinstance(value, dict) and isinstance(marks := value.get("marks"), dict):
            more += marks
    pairs = veil.of(event)
    return together(pairs, veil.pairs(more)) if more else pairs


def veiled(moment: Moment, decision: Decision, pairs: Pairs) -> tuple[Moment, Decision]:
    """A moment and its decision as they are written down. Content is left to the guards that redact
    it: their patches fit it only as it is."""
    new = msgspec.structs.replace(
        moment,
        events=tuple([_event(event, pairs) for event in moment.events]),
        settles=renamed(moment.settles, pairs),
        late=_findings(moment.late, pairs),
        stakes=renamed(moment.stakes, pairs),
    )
    said = msgspec.structs.replace(
        decision,
        id=renamed(decision.id, pairs),
        findings=_findings(decision.findings, pairs),
        shadow=_findings(decision.shadow, pairs),
        inputs=renamed(decision.inputs, pairs),
        effects=renamed(decision.effects, pairs),
    )
    return new, said


def _event(event: Any, pairs: Pairs) -> Any:
    names = ("id", "call", "tool", "run", *NAMED.get(event.stage, ()))
    return msgspec.structs.replace(
        event, **{name: renamed(getattr(event, name), pairs) for name in names}
    )


def _findings(findings: tuple[Finding, ...], pairs: Pairs) -> tuple[Finding, ...]:
    return tuple(
        [
            msgspec.structs.replace(
                one,
                args=renamed(one.args, pairs),
                text=renamed(one.text, pairs),
                patches=tuple(
                    [
                        msgspec.structs.replace(each, value=renamed(each.value, pairs))
                        for each in one.patches
                    ]
                ),
            )
            for one in findings
        ]
    )


def tell(shield: Grounds, fact: Fact, tool: str = "") -> None:
    """Write a fact down, and tell operators of it where they have to hear of it; `tool` is the one
    it is about."""
    shown, tool = fact_veiled(shield.policy.veil, fact), shield.policy.veil.name(tool)
    try:
        shield.journal.tell(shown)
    except AuditLost as lost:
        tell_fact(shield, shown, tool, stands=False)
        trail_lost(shield, lost)
        raise
    tell_fact(shield, shown, tool)
    shield.telemetry.happened(
        shown.what, about=shown.about, tenant=shown.tenant, run=shown.run, by=shown.by
    )


def fact_veiled(veil: Veil, fact: Fact) -> Fact:
    """A fact as it is written down."""
    names = [fact.about, fact.tenant, fact.run, fact.by]
    names += [
        value
        for name, value in fact.data.items()
        if not name.endswith(DIGEST) and isinstance(value, str)
    ]
    return renamed(fact, veil.pairs(names))._replace(why=veil.words(fact.why))
