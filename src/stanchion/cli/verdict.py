"""The answer to one event as people read it: what happens, why, what to do instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from stanchion.cli.check_runs import JudgedEvent
from stanchion.cli.terminal import Terminal, visible
from stanchion.kernel.actions import NAMES, Action
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import order
from stanchion.kernel.table import TABLE
from stanchion.policy.compiled import CompiledPolicy

INDENT: Final = 11
MAX_LINES: Final = 40
"""How many lines of content are shown."""


def verdict(judged: JudgedEvent, policy: CompiledPolicy, terminal: Terminal) -> list[str]:
    """The lines to show: a headline, then one row for each thing that is known."""
    report, _, decision, unresolved = judged
    action = decision.action
    headline = f"{terminal.paint(NAMES[action], style_of(action))}  {TABLE[report.stage][action]}"
    tool = visible(policy.veil.name(str(report.fields.get("tool", ""))))
    rows = [("tool", tool) if tool else ("stage", str(report.stage))]
    determining = decision.determining
    if determining is not None:
        rows += _reasons(determining)
    rows += [
        ("also", _in_short(finding)) for finding in decision.findings if finding is not determining
    ]
    rows += [("shadow", f"would be {_in_short(finding)}") for finding in decision.shadow]
    if unresolved:
        rows.append(
            (
                "dns",
                (
                    f"{_names(unresolved)} not looked up: `--resolve` asks for the addresses, as a "
                    f"run does"
                ),
            )
        )
    rows += _guards(judged, policy)
    if decision.proceeds and decision.patches:
        rows.append(("content", _shown(decision.patched(report.content))))
    return [headline, "", *[line for label, words in rows for line in row(label, words, terminal)]]


def _names(hosts: tuple[str, ...]) -> str:
    listed = ", ".join([f"`{host}`" for host in hosts])
    return f"{listed} was" if len(hosts) == 1 else f"{listed} were"


def _reasons(finding: Finding) -> list[tuple[str, str]]:
    rows = [
        ("why", finding.message),
        ("instead", finding.advice),
        ("guard", f"{finding.guard} ({finding.code})"),
    ]
    if finding.said is not None:
        rows.append(
            (
                "asked",
                f"{NAMES[finding.said]}, which cannot be done here, so the next stricter action",
            )
        )
    return [(label, words) for label, words in rows if words]


def _in_short(finding: Finding) -> str:
    return f"{NAMES[finding.action]} by {finding.guard} ({finding.code}): {finding.message}"


def _guards(judged: JudgedEvent, policy: CompiledPolicy) -> list[tuple[str, str]]:
    """Which guards had nothing to say, and which were not asked."""
    report, run, decision, _ = judged
    chain = policy.guards(
        report.stage, report.fields.get("tool", ""), run.desk.info, decision.inputs.mode
    )
    spoke = {finding.guard for finding in (*decision.findings, *decision.shadow)} | set(
        decision.skipped
    )
    passed = [placed.id for placed in sorted(chain, key=order) if placed.id not in spoke]
    rows = [("passed", ", ".join(passed)), ("skipped", ", ".join(decision.skipped))]
    if not chain and not decision.findings:
        rows.append(("guards", f"no guard of this policy judges `{report.stage}`"))
    return [
        *[(label, words) for label, words in rows if words],
        ("policy", policy.file.name),
        ("id", decision.id),
    ]


def _shown(content: Any) -> str:
    import json

    text = (
        content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False)
    )
    lines = text.split("\n")
    if len(lines) > MAX_LINES:
        lines = [*lines[:MAX_LINES], f"… {len(lines) - MAX_LINES} more lines: `--json` shows all"]
    return "\n".join(lines)


def row(label: str, words: str, terminal: Terminal) -> list[str]:
    """A labelled text as lines; on a terminal they are wrapped to its width."""
    lines = [visible(line) for line in words.split("\n")]
    if terminal.width is not None:
        import textwrap

        room = terminal.width - INDENT
        lines = [
            part
            for line in lines
            for part in textwrap.wrap(line, room, drop_whitespace=False) or [""]
        ]
    first = "  " + terminal.paint(f"{label:<{INDENT - 3}} ", "dim")
    return [first + lines[0], *[" " * INDENT + line for line in lines[1:]]]


def labelled(rows: Iterable[tuple[str, str]], terminal: Terminal) -> Iterator[str]:
    """Labelled texts as lines, without those that say nothing."""
    for label, words in rows:
        if words:
            yield from row(label, words, terminal)


def style_of(action: Action) -> str:
    """How an action's name is painted."""
    if action == Action.ALLOW:
        return "good"
    if action <= Action.DEGRADE:
        return "mild"
    return "asks" if action <= Action.ESCALATE else "bad"
