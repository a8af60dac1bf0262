"""`stanchion explain`: why something was decided, and what would have made it pass."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Final

from stanchion.audit.reader import TrailReader
from stanchion.audit.worded import content_in_words
from stanchion.cli.command import PROJECT, Args, BadInput, DeclaredCommand, option
from stanchion.cli.printing import (
    event_in,
    headline,
    labelled,
    progress,
    put_json,
    put_view,
    shortened,
    style_of,
    verdict_words,
)
from stanchion.cli.terminal import Terminal, put_line, visible
from stanchion.cli.trails import reader_of
from stanchion.cli.whose import checks_folder, elsewhere, whose
from stanchion.kernel.actions import Action
from stanchion.kernel.units import Unit
from stanchion.ops.views.amounts import MEASURES, amount, counted, in_json, shown
from stanchion.ops.views.cures import cured
from stanchion.ops.views.explain import (
    LAST,
    CounterView,
    DecisionCase,
    Explanation,
    FindingReason,
    NoDecision,
    UnreadableDecision,
    case_named,
    explain,
    newest_decisions,
    policy_of,
)
from stanchion.ops.views.records import DecisionView
from stanchion.ops.views.remedies import ConditionPart, CureLine, Cures
from stanchion.runtime.standing.places import StateFinder, trail_folder

LONGEST: Final = 80
"""How much of a value is shown."""

SPENT: Final = ("budget", "allotment")
"""Counters of what is spent, in their unit."""

CHANGED: Final = (
    "it has changed since, or the host added guards of its own: "
    "what is quoted below is as it is now, and is not tested again"
)


def show(explained: Explanation, as_json: bool) -> None:
    """Print an explanation."""
    put_view(explained, _lines, as_json)


def cure_rows(name: str, cured: Cures) -> Iterator[tuple[str, str]]:
    """The lines that cure a refusal, each to be pasted as it is."""
    for number, line in enumerate(cured.lines):
        yield "or" if number else "to cure", f"{line.text}({_tried(line)})"
    if cured.lines:
        yield "", f"`stanchion policy propose {visible(name)}` puts the first into the policy"
    yield "to cure", cured.why


def _tried(line: CureLine) -> str:
    """What came of a line when it was tried."""
    came = "a person is asked" if line.asks else "this call goes ahead"
    near = counted(line.kept, "dangerous neighbour")
    kept = f"{near} stay{'s' if line.kept == 1 else ''} stopped" if line.kept else ""
    also = f"it lets {', '.join(line.also)} through as well" if line.also else ""
    return "; ".join(["tried: " + came, *filter(None, (kept, also, line.opens))])


def _lines(explained: Explanation, terminal: Terminal) -> Iterator[str]:
    yield from headline(explained.action, explained.happens, terminal)
    event = event_in(
        explained.stage,
        explained.run,
        explained.tool,
        explained.agent,
        explained.task,
        explained.role,
    )
    rows = [
        ("id", visible(f"{explained.id}, {shown(explained.at_ms)}")),
        ("event", visible(event)),
        ("policy", _policy(explained)),
    ]
    if explained.changed and explained.policy:
        rows.append(("", CHANGED))
    yield from labelled(rows, terminal)
    several = len(explained.findings) > 1
    for number, reason in enumerate(explained.findings, start=1):
        yield from _reason(reason, terminal, f"{number}. " if several else "")
    for reason in explained.shadow:
        yield from _reason(reason, terminal, "in shadow mode, without effect: ")
    yield ""
    counters = [_counter(counter) for counter in explained.counters]
    if counters and explained.store_ms:
        counters.append(f"as the store had it at {shown(explained.store_ms)}")
    rest = [
        ("state", "\n".join(counters)),
        *_guards(explained),
        ("notes", "\n".join(explained.notes)),
        ("effect", explained.effect),
        ("acts on", _short(explained.acts_on) if explained.acts_on else ""),
        ("content", _short(explained.content) if explained.content is not None else ""),
    ]
    yield from labelled(rest, terminal)
    if explained.cures != Cures():
        yield ""
        yield from labelled(cure_rows(explained.id, explained.cures), terminal)


def _guards(explained: Explanation) -> Iterator[tuple[str, str]]:
    """What each guardrail said; where the chain is not known any more, what the record itself
    names."""
    if explained.verdicts:
        yield "verdicts", verdict_words(explained.verdicts)
        return
    yield "passed", ", ".join(explained.passed)
    yield (
        "skipped",
        ", ".join(explained.skipped) + " (no longer asked)" if explained.skipped else "",
    )


def _policy(explained: Explanation) -> str:
    env = f" in environment `{explained.env}`" if explained.env is not None else ""
    name = explained.policy
    if not name:
        name = {
            None: "(not known: how the run began is not in the trail, or was removed from it)",
            "": "(handed in as data, so it is not kept)",
        }.get(explained.source, "(can no longer be loaded)")
    source = f", {explained.source}" if explained.source and explained.source != name else ""
    return visible(f"{name}{source}{env}, hash {explained.hash[:12]}")


def _reason(reason: FindingReason, terminal: Terminal, before: str) -> Iterator[str]:
    yield ""
    painted = terminal.paint(reason.action, style_of(Action[reason.action]))
    yield f"{visible(before)}{painted}  by {visible(reason.guard)} ({visible(reason.code)})"
    rows = [
        ("why", reason.message),
        ("instead", reason.advice),
        ("detail", reason.detail),
        ("origin", "\n".join(f"{name}: {words}" for name, words in reason.evidence.items())),
        ("entry", reason.place),
        ("", "\n".join(f"{name}: {_flow(value)}" for name, value in reason.entry.items())),
        ("when", _tested(reason.when)),
        ("check", _tested(reason.check)),
        ("to pass", "\n".join(reason.to_pass)),
    ]
    yield from labelled(rows, terminal)


def _tested(part: ConditionPart | None) -> str:
    """What a condition read and found, a line for each of its parts."""
    leaves = () if part is None else part.leaves("and")
    return "\n".join([line for each in leaves for line in _parts(each, 0)])


def _parts(part: ConditionPart, depth: int) -> Iterator[str]:
    holds = {True: "true ", False: "false", None: "?    "}[part.holds]
    read = "; ".join(f"{name} is {_short(value)}" for name, value in part.values.items())
    if part.parts:
        yield f"{holds}  {'  ' * depth}{'all of' if part.joined == 'and' else 'one of'}"
        for inner in part.parts:
            yield from _parts(inner, depth + 1)
    else:
        failed = f": {part.error}" if part.error else ""
        yield f"{holds}  {'  ' * depth}{part.text}" + (f"   ({read})" if read else "") + failed


COUNTED: Final = {"steps": "steps", "warnings": "warnings", "asks": "tickets", "retry": "retries"}
"""What counters count that are no budgets."""


FINE: Final = (MEASURES[Unit.COST_MICROUSD], MEASURES[Unit.DURATION_MS])
"""Measures whose smallest unit nobody reads."""


def _counter(counter: CounterView) -> str:
    limits = ", ".join(f"{action} {_bound(counter, limit)}" for limit, action in counter.limits)
    shadow = " (in shadow mode)" if counter.shadow else ""
    before = _number(counter, counter.before)
    said = (
        f"{before} used"
        if counter.counts in SPENT
        else f"{before} {COUNTED.get(counter.counts, counter.counts)}"
    )
    return f"{counter.guard}: {said} before this{f', {limits}' if limits else ''}{shadow}"


def _bound(counter: CounterView, limit: int) -> str:
    """From where on a limit speaks. It is what may not be exceeded, in millionths of a dollar or in
    milliseconds: one short of a rounder number it is that number which people know."""
    if counter.counts in SPENT and counter.measure in FINE and limit % 1_000 == 999:
        return f"from {_number(counter, limit + 1)} on"
    return f"after {_number(counter, limit)}"


def _number(counter: CounterView, number: int) -> str:
    return amount(counter.measure, number) if counter.counts in SPENT else f"{number:,}"


def _short(value: Any) -> str:
    words = content_in_words(value)
    if words is not None:
        return words
    text = in_json(value)
    return shortened(text, LONGEST)


def _flow(value: Any) -> str:
    return value if isinstance(value, str) else in_json(value)


LISTED: Final = 20

NOTHING: Final = "nothing was decided yet: try `stanchion check --tool bash`"


def run(args: Args) -> int:
    """Explain a decision, or list the newest ones."""
    state = whose(args.project)
    readers = trails_of(args.trail, state)
    if args.id is None:
        return _list(newest_decisions(readers, LISTED), args.json, state)
    case = case_in(readers, args.id, state)
    with progress("looking"):
        found = cured(explain(case, policy_of(case)), case)
    show(found, args.json)
    return 0


def case_in(readers: list[TrailReader], name: str, state: StateFinder) -> DecisionCase:
    """A decision by its name; what is none is bad input."""
    try:
        with progress("looking") as told:
            case = case_named(readers, name, told)
    except NoDecision:
        raise BadInput(f"`{name}` is not a decision: see `stanchion audit show {name}`") from None
    except UnreadableDecision:
        raise BadInput(
            f"the record of `{name}` cannot be read: see `stanchion audit verify`"
        ) from None
    if case is None:
        known = "`stanchion explain` lists the newest" if name != LAST else _nothing(state)
        raise BadInput(f"there is no decision `{name}`: {known}")
    return case


def trails_of(trail: str | None, state: StateFinder) -> list[TrailReader]:
    """What can be looked in: the trail of shields and that of checks, as far as they are there."""
    if trail is not None:
        return [reader_of(trail, state)]
    try:
        folder = trail_folder(None, os.environ, state)
        return [
            TrailReader(where)
            for where in (folder, checks_folder(state))
            if where is not None and where.is_dir()
        ]
    except OSError as error:
        raise BadInput(f"what was decided cannot be read: {error}") from None


def _nothing(state: StateFinder) -> str:
    return f"{NOTHING}{elsewhere(state)}"


def _list(found: list[DecisionView], as_json: bool, state: StateFinder) -> int:
    if as_json:
        put_json(*found)
        return 0
    if not found:
        put_line(_nothing(state))
        return 0
    terminal = Terminal.of_stdout()
    width = max(len(visible(one.id)) for one in found)
    for one in found:
        painted = terminal.paint(f"{one.action:<10}", style_of(Action[one.action]))
        about = one.tool if one.tool else one.stage
        why = f"{visible(f'{about:<20}')} {visible(one.reason)}"
        put_line(f"{shown(one.at_ms)}  {visible(one.id):<{width}}  {painted}  {why}".rstrip())
    return 0


EXPLAIN_COMMAND: Final = DeclaredCommand(
    usage="stanchion explain [ID] [--trail DIR] [--project DIR] [--json]",
    description="""\
Say why something was decided: the findings in order, the entry of the policy behind each
with its place in the file, its conditions part by part, the counters as they stood, which
guards passed and which were not asked, and what would have made it pass. It knows every
decision in the trail, and those of `stanchion check`; without an ID the newest are listed.""",
    epilog="""\
examples:
  stanchion explain
  stanchion explain last
  stanchion explain check.1f0c9a2b.1 --json
  stanchion explain 5f1d0c2a:411

An ID is a decision's id, or a record's position as `stanchion audit tail` shows it; `last` is
the newest decision of the newest run that was not simply allowed, or else its newest one. The
trail is the project's (`stanchion state --where`), or the one that STANCHION_AUDIT names.
Decisions of `stanchion check` are kept beside it, in a few megabytes at most.

exit status:
  0  the decision is explained, or decisions are listed
  2  there is no such decision""",
    options=(
        option(
            "id ID",
            "the decision's ID; `last` is the newest one that was not simply allowed",
            nargs="?",
        ),
        option("--trail DIR", "look only in this trail"),
        PROJECT,
        option("--json", "answer with JSON, one line for each decision"),
    ),
    work=run,
)
