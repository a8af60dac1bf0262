"""Proposals: rules that would have spared people questions, each with what speaks for and against
it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import msgspec

from stanchion.approvals.standing import alike, fits, last_day
from stanchion.approvals.words import DENIED
from stanchion.audit.record import canonical
from stanchion.kernel.actions import Action
from stanchion.kernel.declared import LASTING
from stanchion.ops.views.proposed.gathered import Case, call_of, gathered
from stanchion.ops.views.proposed.likeness import Kind, kinds
from stanchion.policy.schema import always_active
from stanchion.policy.sections import ApprovedEntry

if TYPE_CHECKING:
    from stanchion.audit.reader import FoundRecord, Source
    from stanchion.policy.compiled import CompiledPolicy

DAY_MS: Final = 86_400_000
MOST: Final = 100
"""How many rules are proposed at once."""


class Terms(msgspec.Struct, frozen=True):
    """When a rule is proposed: after how many approvals, of how many people, within how many days;
    and for how many days it would hold."""

    least: int = 5
    people: int = 1
    days: int = 90
    lasts_days: int = 30


class History(msgspec.Struct, frozen=True):
    """What a rule matches in the trail: questions that it would have spared, and all calls with
    that tool and such arguments, whoever made them, by what was decided."""

    spared: int = 0
    matched: dict[str, int] = {}


class Proposal(msgspec.Struct, frozen=True):
    """A rule that approvals propose. `proven` is how many of the approvals were signed."""

    name: str
    rule: ApprovedEntry
    approvals: int
    proven: int
    people: tuple[str, ...]
    first_ms: int
    last_ms: int
    history: History = History()


class Withheld(msgspec.Struct, frozen=True):
    """Calls that were approved often enough, and why no rule is proposed for them."""

    tool: str
    approvals: int
    why: str


class Proposals(msgspec.Struct, frozen=True):
    """The rules that are proposed, what is not proposed and why, and whether the trail has more
    answers than were looked at."""

    proposed: tuple[Proposal, ...]
    withheld: tuple[Withheld, ...]
    more: bool = False


def proposals(
    reader: Source,
    policy: CompiledPolicy,
    terms: Terms,
    now_ms: int,
    tenant: str,
) -> Proposals:
    """The rules that the approvals in a trail propose for a policy."""
    found = gathered(reader, tenant, now_ms - terms.days * DAY_MS)
    said_no = [case for case in found.cases if not case.answer.yes]
    known = [case for case in found.cases if case.answer.yes and case.call is not None]
    made: list[Proposal] = []
    withheld: list[Withheld] = []
    for kind in kinds(known, terms.least):
        proposal = _proposal(kind, terms, now_ms)
        why = _against(kind, proposal, said_no, terms, policy)
        if why:
            withheld.append(Withheld(kind.tool, len(kind.cases), why))
        else:
            made.append(proposal)
    made = sorted(made, key=lambda one: (-one.approvals, one.name))[:MOST]
    told: list[Proposal] = []
    for proposal, history, denied in _with_history(reader, made, tenant):
        if denied:
            withheld.append(
                Withheld(proposal.rule.tool, proposal.approvals, "such a call was denied earlier")
            )
        else:
            told.append(msgspec.structs.replace(proposal, history=history))
    return Proposals(tuple(told), tuple(withheld), found.more)


def _proposal(kind: Kind, terms: Terms, now_ms: int) -> Proposal:
    answers = [case.answer for case in kind.cases]
    people = tuple(sorted({answer.by for answer in answers}))
    first, last = min(answer.at_ms for answer in answers), max(answer.at_ms for answer in answers)
    agents = tuple(sorted({agent for answer in answers for agent in answer.agents}))
    # The name says what it is about, and is the same whenever the same is proposed.
    mark = sha256(
        canonical([kind.tool, kind.guards, kind.task, kind.args, kind.patterns])
    ).hexdigest()[:8]
    rule = ApprovedEntry(
        tool=kind.tool,
        args=kind.args,
        patterns=kind.patterns,
        guards=kind.guards,
        agents=agents,
        tasks=(kind.task,),
        until=last_day(now_ms, terms.lasts_days),
        why=f"approved {len(answers)} times by {', '.join(people)}",
    )
    proven = sum([answer.proven for answer in answers])
    return Proposal(f"{kind.tool}-{mark}", rule, len(answers), proven, people, first, last)


def _against(
    kind: Kind, proposal: Proposal, said_no: list[Case], terms: Terms, policy: CompiledPolicy
) -> str:
    """Why a rule is not proposed; empty where nothing speaks against it."""
    calls = [case.call for case in kind.cases if case.call is not None]
    if any(call.once_only for call in calls):
        return "such a call is critical or cannot be undone: a person has to say yes each time"
    if len(proposal.people) < terms.people:
        return (
            f"only {', '.join(proposal.people)} approved it, and {terms.people} people are needed"
        )
    for case in said_no:
        if case.call is None and case.answer.about == kind.tool:
            return (
                f"{case.answer.by} denied a call of this tool, and the trail does not have what it "
                f"was"
            )
        if case.call is not None and alike(proposal.rule, case.call.tool, case.call.args):
            return f"{case.answer.by} denied such a call"
    always = always_active(policy.file)
    for guard in kind.guards:
        if guard not in always:
            return f"the policy has no guard `{guard}`, which asked"
        if always[guard]:
            return f"`{guard}`, which asked, is always active"
    entry = policy.tool(kind.tool)
    if entry is not None and (entry.risk == "critical" or entry.effect in LASTING):
        return "the policy calls the tool critical, or says that its effect lasts"
    if entry is not None and not kind.patterns.keys().isdisjoint(entry.sinks):
        return "the calls act on different things: a person has to say yes to each"
    if any(fits(said, call) for said in policy.file.approved.values() for call in calls):
        return "the policy approves it already"
    return ""


def _with_history(
    reader: Source, made: list[Proposal], tenant: str
) -> Iterator[tuple[Proposal, History, bool]]:
    """Each proposal with what it matches among all records, read once; and whether anybody denied
    such a call."""
    by_tool: dict[str, list[int]] = {}
    for at, proposal in enumerate(made):
        by_tool.setdefault(proposal.rule.tool, []).append(at)
    spared, denied = Counter[int](), set[int]()
    matched: list[Counter[str]] = [Counter() for _ in made]
    for found in reader.forwards() if made else ():
        places = by_tool.get(found.stub.tool) if found.stub.tenant == tenant else None
        call = call_of(found) if places is not None else None
        for at in places if places is not None and call is not None else ():
            rule = made[at].rule
            if call is not None and alike(rule, call.tool, call.args):
                matched[at][found.stub.action] += 1
                spared[at] += found.stub.action == Action.ESCALATE.name and fits(rule, call)
                if _was_denied(found):
                    denied.add(at)
    for at, proposal in enumerate(made):
        yield proposal, History(spared[at], dict(sorted(matched[at].items()))), at in denied


def _was_denied(found: FoundRecord) -> bool:
    return any(said.code == DENIED for said in found.entry().findings)
