"""Proposals: rules that would have spared people questions, and what speaks for and against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from msgspec import MsgspecError, Struct
from msgspec.structs import replace

from stanchion.approvals.act import LONGEST_S
from stanchion.approvals.grant_reach import Scope, matches
from stanchion.approvals.standing import CRITICAL, AskedCall, alike, fits, last_day
from stanchion.approvals.ticket import Kind as TicketKind
from stanchion.approvals.words import DENIED
from stanchion.audit.notes import FACT, FactNote
from stanchion.audit.reader import FoundRecord, RecordSource
from stanchion.audit.rebuilt import withheld
from stanchion.audit.record import INTENT, RecordEntry, canonical
from stanchion.kernel.actions import Action
from stanchion.kernel.declared import LASTING
from stanchion.kernel.stages import Stage
from stanchion.kernel.tuples import NamedTuple
from stanchion.policy.of_run import ASKS
from stanchion.policy.schema import always_active
from stanchion.policy.sections import ApprovedEntry

if TYPE_CHECKING:
    from stanchion.policy.compiled import CompiledPolicy


MOST_ANSWERS: Final = 10_000
"""How many answers are looked at; older ones are left out."""
LARGEST: Final = 4_096
"""How long the arguments of a call may be, in bytes, to be compared with others."""
APPROVED: Final = "ticket.approved"
REFUSED: Final = ("ticket.denied", "ticket.withdrawn")
OPENED: Final = "ticket.opened"


class AnsweredCall(NamedTuple):
    """Somebody's answer to a ticket: whether a signature says whose it is, for which agents it was,
    and the call that it was about; `None` where the trail does not have that as it was."""

    by: str
    at_ms: int
    yes: bool
    proven: bool
    about: str
    agents: tuple[str, ...]
    call: AskedCall | None


def gathered(reader: RecordSource, tenant: str, since_ms: int) -> tuple[list[AnsweredCall], bool]:
    """The answers of a tenant's people since then with their calls, newest first, and whether there
    are more than are looked at."""
    answers: list[FactNote] = []
    calls: dict[str, str] = {}
    wanted: set[str] = set()
    more = False
    for found in reader.of_kinds((FACT,)):
        if found.stub.at < since_ms - LONGEST_S * 1000:
            break
        told = found.told()
        if told is None or told.tenant != tenant:
            continue
        if (
            told.what == OPENED
            and told.about in wanted
            and told.data.get("kind") != TicketKind.VALUE
        ):
            calls[told.about] = str(told.data.get("call", ""))
        elif told.what in (APPROVED, *REFUSED) and found.stub.at >= since_ms:
            more = len(answers) >= MOST_ANSWERS
            if not more:
                answers.append(told)
                wanted.add(told.about)
    known = _calls(reader, frozenset(calls.values()))
    return [_answered(told, known.get(calls.get(told.about, ""))) for told in answers], more


def _answered(told: FactNote, call: AskedCall | None) -> AnsweredCall:
    proven, about = told.data.get("proven") is True, str(told.data.get("about", ""))
    agents = told.data.get("agents")
    named = tuple(map(str, agents)) if isinstance(agents, list | tuple) else ()
    # Who changes the call says no to the one that was asked for.
    yes = told.what == APPROVED and not str(told.data.get("scope", "")).startswith(f"{Scope.ONCE} ")
    return AnsweredCall(told.by, told.at, yes, proven, about, named, call)


def _calls(reader: RecordSource, ids: frozenset[str]) -> dict[str, AskedCall]:
    """The calls with these ids that waited for a person, as they were recorded. A ticket about
    anything else, such as a run that somebody should look at, is no question about a call."""
    waiting = (
        (each.stub.id, call_of(each))
        for each in (reader.forwards() if ids else ())
        if each.stub.id in ids and each.stub.action == Action.ESCALATE.name
    )
    return {name: call for name, call in waiting if call is not None}


def call_of(found: FoundRecord) -> AskedCall | None:
    """The tool call that a record is about; `None` where it is about something else, or does not
    have it as it was."""
    if found.stub.kind != INTENT or found.stub.stage != Stage.TOOL_CALL:
        return None
    try:
        entry = found.entry()
    except MsgspecError:
        return None
    args = entry.content
    if not isinstance(args, dict) or withheld(args) or len(canonical(args)) > LARGEST:
        return None
    asked = asked_in(entry)
    critical = entry.risk == CRITICAL or ASKS in asked
    once_only = critical or not LASTING.isdisjoint(entry.traits)
    return AskedCall(entry.tool, args, asked, entry.agent, entry.task, once_only)


def asked_in(entry: RecordEntry) -> tuple[str, ...]:
    """The guards that ask for a person in a record."""
    asks = [said.guard for said in entry.findings if said.action == Action.ESCALATE.name]
    return tuple(sorted(dict.fromkeys(asks)))


VARY: Final = 2
"""How many words of a text may differ from call to call for it to be the same kind of call."""
DISTINCT: Final = 3
"""How many different texts a pattern is drawn from at least: two have something in common by
chance."""
SHARED: Final = 2
"""How many letters or digits the words have in common that differ. A pattern never stands for any
word whatever."""


class ApprovedKind(NamedTuple):
    """A kind of call that was approved: one of the calls, what is the same in all, what fits a
    pattern, and the approvals."""

    call: AskedCall
    args: dict[str, Any]
    patterns: dict[str, str]
    cases: list[AnsweredCall]


Grouped = list[tuple[AskedCall, AnsweredCall]]


def kinds(cases: list[AnsweredCall], least: int) -> Iterator[ApprovedKind]:
    """The kinds of calls that were approved at least so often.

    The narrow ones first: a call that was approved often enough as it is needs no pattern. Patterns
    are sought among the others.
    """
    known = [(case.call, case) for case in cases if case.call is not None]
    for alike_in_shape in _grouped(known, _shape):
        rare: Grouped = []
        for same in _grouped(alike_in_shape, lambda call: canonical(call.args)):
            if len(same) >= least:
                call = same[0][0]
                yield ApprovedKind(call, call.args, {}, [case for _, case in same])
            else:
                rare += same
        if len(rare) >= least:
            found = _varying([call.args for call, _ in rare])
            if found is not None:
                yield ApprovedKind(rare[0][0], *found, [case for _, case in rare])


def _shape(call: AskedCall) -> Any:
    return call.tool, call.guards, call.task, tuple(sorted(call.args))


def _grouped(cases: Grouped, by: Callable[[AskedCall], Any]) -> list[Grouped]:
    groups: dict[Any, Grouped] = {}
    for call, case in cases:
        groups.setdefault(by(call), []).append((call, case))
    return list(groups.values())


def _varying(every: list[dict[str, Any]]) -> tuple[dict[str, Any], dict[str, str]] | None:
    """What is the same in all arguments, and the patterns of those that differ; `None` where there
    are none."""
    args: dict[str, Any] = {}
    patterns: dict[str, str] = {}
    for name in every[0]:
        values = [one[name] for one in every]
        if len({canonical(value) for value in values}) == 1:
            args[name] = values[0]
            continue
        pattern = pattern_of(values)
        if pattern is None:
            return None
        patterns[name] = pattern
    return args, patterns


def pattern_of(values: list[Any]) -> str | None:
    """A pattern that texts fit, which differ in few words and begin alike; `None` where they do
    not."""
    if (
        not all(isinstance(value, str) and "*" not in value for value in values)
        or len(set(values)) < DISTINCT
    ):
        return None
    rows = [value.split(" ") for value in values]
    if len({len(row) for row in rows}) != 1:
        return None
    words = [_word(column) for column in zip(*rows, strict=True)]
    begins, pattern = words[0].partition("*")[0], " ".join(words)
    differing = [word for word in words if "*" in word]
    if not any(map(str.isalnum, begins)) or len(differing) > VARY:
        return None
    if any(sum(map(str.isalnum, word)) < SHARED for word in differing):
        return None
    return pattern if all(matches(pattern, value) for value in values) else None


def _word(column: tuple[str, ...]) -> str:
    """One word as all have it: the same, or what it begins and ends with."""
    first = _beginning(column)
    if all(word == first for word in column):
        return first
    rest = [word[len(first) :][::-1] for word in column]
    return f"{first}*{_beginning(rest)[::-1]}"


def _beginning(words: Sequence[str]) -> str:
    """What all words begin with."""
    least, most = min(words), max(words)
    differs = (at for at, pair in enumerate(zip(least, most, strict=False)) if pair[0] != pair[1])
    return least[: next(differs, len(least))]


DAY_MS: Final = 86_400_000
MOST: Final = 100
"""How many rules are proposed at once."""


class ProposalTerms(Struct, frozen=True):
    """When a rule is proposed: after how many approvals, of how many people, within how many days;
    and for how many days it would hold."""

    least: int = 5
    people: int = 1
    days: int = 90
    lasts_days: int = 30


class History(Struct, frozen=True):
    """What a rule matches in the trail: questions that it would have spared, and all calls with
    that tool and such arguments, whoever made them, by what was decided."""

    spared: int = 0
    matched: dict[str, int] = {}


class Proposal(Struct, frozen=True):
    """A rule that approvals propose. `proven` is how many of the approvals were signed."""

    name: str
    rule: ApprovedEntry
    approvals: int
    proven: int
    people: tuple[str, ...]
    first_ms: int
    last_ms: int
    history: History = History()


class WithheldRule(Struct, frozen=True):
    """Calls that were approved often enough, and why no rule is proposed for them."""

    tool: str
    approvals: int
    why: str


class Proposals(Struct, frozen=True):
    """The rules that are proposed, what is not proposed and why, and whether the trail has more
    answers than were looked at."""

    proposed: tuple[Proposal, ...]
    withheld: tuple[WithheldRule, ...]
    more: bool = False


def proposals(
    reader: RecordSource,
    policy: CompiledPolicy,
    terms: ProposalTerms,
    now_ms: int,
    tenant: str,
) -> Proposals:
    """The rules that the approvals in a trail propose for a policy."""
    cases, more = gathered(reader, tenant, now_ms - terms.days * DAY_MS)
    said_no = [case for case in cases if not case.yes]
    made: list[Proposal] = []
    withheld: list[WithheldRule] = []
    for kind in kinds([case for case in cases if case.yes], terms.least):
        proposal = _proposal(kind, terms, now_ms)
        why = _against(kind, proposal, said_no, terms, policy)
        if why:
            withheld.append(WithheldRule(kind.call.tool, len(kind.cases), why))
        else:
            made.append(proposal)
    made = sorted(made, key=lambda one: (-one.approvals, one.name))[:MOST]
    told: list[Proposal] = []
    for one, history, denied in _with_history(reader, made, tenant):
        if denied:
            why = "such a call was denied earlier"
            withheld.append(WithheldRule(one.rule.tool, one.approvals, why))
        else:
            told.append(replace(one, history=history))
    return Proposals(tuple(told), tuple(withheld), more)


def rule_name(
    tool: str, guards: tuple[str, ...], task: str, args: Any, patterns: dict[str, str]
) -> str:
    """What a rule is called: it says what it is about, and is the same whenever the same is
    proposed."""
    return f"{tool}-{sha256(canonical([tool, guards, task, args, patterns])).hexdigest()[:8]}"


def _proposal(kind: ApprovedKind, terms: ProposalTerms, now_ms: int) -> Proposal:
    cases, (tool, _, guards, _, task, _) = kind.cases, kind.call
    people = tuple(sorted({case.by for case in cases}))
    times = [case.at_ms for case in cases]
    rule = ApprovedEntry(
        tool=tool,
        args=kind.args,
        patterns=kind.patterns,
        guards=guards,
        agents=tuple(sorted({agent for case in cases for agent in case.agents})),
        tasks=(task,),
        until=last_day(now_ms, terms.lasts_days),
        why=f"approved {len(cases)} times by {', '.join(people)}",
    )
    proven = sum([case.proven for case in cases])
    name = rule_name(tool, guards, task, kind.args, kind.patterns)
    return Proposal(name, rule, len(cases), proven, people, min(times), max(times))


def _against(
    kind: ApprovedKind,
    proposal: Proposal,
    said_no: list[AnsweredCall],
    terms: ProposalTerms,
    policy: CompiledPolicy,
) -> str:
    """Why a rule is not proposed; empty where nothing speaks against it."""
    tool, calls = kind.call.tool, [case.call for case in kind.cases if case.call is not None]
    if any(call.once_only for call in calls):
        return "such a call is critical or cannot be undone: a person has to say yes each time"
    if len(proposal.people) < terms.people:
        return (
            f"only {', '.join(proposal.people)} approved it, and {terms.people} people are needed"
        )
    for case in said_no:
        if case.call is None and case.about == tool:
            return f"{case.by} denied a call of this tool, and the trail does not have what it was"
        if case.call is not None and alike(proposal.rule, case.call.tool, case.call.args):
            return f"{case.by} denied such a call"
    always = always_active(policy.file)
    for guard in kind.call.guards:
        if guard not in always:
            return f"the policy has no guard `{guard}`, which asked"
        if always[guard]:
            return f"`{guard}`, which asked, is always active"
    entry = policy.tool(tool)
    if entry is not None and (entry.risk == "critical" or entry.effect in LASTING):
        return "the policy calls the tool critical, or says that its effect lasts"
    if entry is not None and not kind.patterns.keys().isdisjoint(entry.sinks):
        return "the calls act on different things: a person has to say yes to each"
    if any(fits(said, call) for said in policy.file.approved.values() for call in calls):
        return "the policy approves it already"
    return ""


def _with_history(
    reader: RecordSource, made: list[Proposal], tenant: str
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
