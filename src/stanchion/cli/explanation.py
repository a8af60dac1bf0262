"""An explanation as people read it, or as one line of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from stanchion.audit.worded import content_in_words
from stanchion.cli.printing import put_json
from stanchion.cli.terminal import Terminal, put_lines, visible
from stanchion.cli.verdict import labelled, style_of
from stanchion.cli.verdict_words import verdict_words
from stanchion.kernel.actions import Action
from stanchion.kernel.units import Unit
from stanchion.ops.views.amounts import MEASURES, amount
from stanchion.ops.views.conditions import Part
from stanchion.ops.views.explain import Counter, Explanation, Reason
from stanchion.ops.views.times import shown

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
    if as_json:
        put_json(explained)
        return
    terminal = Terminal.of_stdout()
    put_lines(_lines(explained, terminal))


def _lines(explained: Explanation, terminal: Terminal) -> Iterator[str]:
    action = Action[explained.action]
    yield f"{terminal.paint(explained.action, style_of(action))}  {explained.happens}"
    yield ""
    rows = [
        ("id", visible(f"{explained.id}, {shown(explained.at_ms)}")),
        ("event", _event(explained)),
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


def _event(explained: Explanation) -> str:
    tool = f" of tool `{explained.tool}`" if explained.tool else ""
    agent = f" by agent `{explained.agent}`" if explained.agent else ""
    role = f" ({explained.role})" if explained.role else ""
    task = f" on task `{explained.task}`" if explained.task else ""
    return visible(f"{explained.stage}{tool}{agent}{role}{task} in run `{explained.run}`")


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


def _reason(reason: Reason, terminal: Terminal, before: str) -> Iterator[str]:
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


def _tested(part: Part | None) -> str:
    """What a condition read and found, a line for each of its parts."""
    leaves = () if part is None else part.leaves("and")
    return "\n".join([line for each in leaves for line in _parts(each, 0)])


def _parts(part: Part, depth: int) -> Iterator[str]:
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


def _counter(counter: Counter) -> str:
    limits = ", ".join(f"{action} {_bound(counter, limit)}" for limit, action in counter.limits)
    shadow = " (in shadow mode)" if counter.shadow else ""
    before = _number(counter, counter.before)
    said = (
        f"{before} used"
        if counter.counts in SPENT
        else f"{before} {COUNTED.get(counter.counts, counter.counts)}"
    )
    return f"{counter.guard}: {said} before this{f', {limits}' if limits else ''}{shadow}"


def _bound(counter: Counter, limit: int) -> str:
    """From where on a limit speaks. It is what may not be exceeded, in millionths of a dollar or in
    milliseconds: one short of a rounder number it is that number which people know."""
    if counter.counts in SPENT and counter.measure in FINE and limit % 1_000 == 999:
        return f"from {_number(counter, limit + 1)} on"
    return f"after {_number(counter, limit)}"


def _number(counter: Counter, number: int) -> str:
    return amount(counter.measure, number) if counter.counts in SPENT else f"{number:,}"


def _short(value: Any) -> str:
    words = content_in_words(value)
    if words is not None:
        return words
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _flow(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
