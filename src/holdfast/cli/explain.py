"""`holdfast explain`: say why something was decided, and what would have made it pass."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

import msgspec

from holdfast.audit.recent import Recent, Remembered
from holdfast.cli.terminal import Terminal, put, visible
from holdfast.cli.trouble import BadInput
from holdfast.cli.verdict import row, style_of
from holdfast.kernel.actions import Action
from holdfast.lab.conditions import Part
from holdfast.lab.explain import Counter, Explanation, Reason, explain
from holdfast.policy.errors import PolicyError
from holdfast.policy.load import load_policy

LAST: Final = "last"
LISTED: Final = 20
LONGEST: Final = 80
"""How much of a value is shown."""

USAGE: Final = "holdfast explain [ID] [--json]"

DESCRIPTION: Final = """\
Say why something was decided: the findings in order, the entry of the policy behind each
with its place in the file, its conditions part by part, the counters as they stood, which
guards passed and which were not asked, and what would have made it pass. Decisions of
`holdfast check` are kept for a while, in your state folder; without an ID they are listed."""

EPILOG: Final = """\
examples:
  holdfast explain
  holdfast explain last
  holdfast explain check.1f0c9a2b.1 --json

The state folder is the usual one of your system, or HOLDFAST_STATE_DIR. What is kept
there is redacted, readable by you alone, and never more than some two megabytes.

exit status:
  0  it is explained, or listed
  2  there is no such decision"""


def add(commands: Any) -> None:
    """Add the command to those of the command line."""
    summary = "say why something was decided, and what would have made it pass"
    parser = commands.add_parser("explain", help=summary, usage=USAGE, description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("id", metavar="ID", nargs="?", help="the decision; `last` is the newest")
    parser.add_argument("--json", action="store_true", help="answer with JSON, one line for each decision")


def run(args: argparse.Namespace) -> int:
    """Explain a decision, or list the newest ones."""
    try:
        recent = Recent.of_user(os.environ)
        if args.id is None:
            return _list(list(islice(recent.newest(), LISTED)), args.json)
        found = next(recent.newest(), None) if args.id == LAST else recent.find(args.id)
    except OSError as error:
        raise BadInput(f"what was decided cannot be read: {error}") from None
    if found is None:
        known = "`holdfast explain` lists what is kept" if args.id != LAST else "nothing was decided yet"
        raise BadInput(f"there is no decision `{args.id}`: {known}")
    try:
        policy = load_policy(found.source, found.env)
    except PolicyError:
        policy = None
    show(explain(found, policy), args.json)
    return 0


def show(explained: Explanation, as_json: bool) -> None:
    """Print an explanation."""
    if as_json:
        sys.stdout.buffer.write(msgspec.json.encode(explained) + b"\n")
        return
    terminal = Terminal.of(sys.stdout, os.environ)
    for line in _lines(explained, terminal):
        put(sys.stdout, line)


def _list(found: list[Remembered], as_json: bool) -> int:
    terminal = Terminal.of(sys.stdout, os.environ)
    if as_json:
        sys.stdout.buffer.write(b"".join(msgspec.json.encode(_brief(one)) + b"\n" for one in found))
        return 0
    if not found:
        put(sys.stdout, "nothing was decided yet: try `holdfast check --tool bash`")
        return 0
    width = max(len(one.entry.id) for one in found)
    for one in found:
        entry = one.entry
        painted = terminal.paint(f"{entry.action:<10}", style_of(Action[entry.action]))
        about = entry.tool if entry.tool else entry.stage
        why = next((f"{said.guard} ({said.code})" for said in entry.findings if said.action == entry.action), "")
        put(
            sys.stdout,
            f"{_time(entry.at)}  {visible(entry.id):<{width}}  {painted}  {visible(f'{about:<20} {why}')}".rstrip(),
        )
    return 0


def _brief(one: Remembered) -> dict[str, Any]:
    entry = one.entry
    return {
        "id": entry.id,
        "at_ms": entry.at,
        "action": entry.action,
        "stage": entry.stage,
        "tool": entry.tool,
        "agent": entry.agent,
        "codes": [said.code for said in entry.findings],
        "policy": one.source,
    }


def _lines(explained: Explanation, terminal: Terminal) -> Iterator[str]:
    action = Action[explained.action]
    yield f"{terminal.paint(explained.action, style_of(action))}  {explained.happens}"
    yield ""
    rows = [
        ("id", f"{explained.id}, {_time(explained.at_ms)}"),
        ("event", _event(explained)),
        ("policy", _policy(explained)),
    ]
    if explained.changed:
        rows.append(("", "it has changed since: what is quoted below is as it is now, and is not tested again"))
    for label, words in rows:
        yield from row(label, words, terminal)
    several = len(explained.findings) > 1
    for number, reason in enumerate(explained.findings, start=1):
        yield from _reason(reason, terminal, f"{number}. " if several else "")
    for reason in explained.shadow:
        yield from _reason(reason, terminal, "in shadow mode, without effect: ")
    yield ""
    counters = [_counter(counter) for counter in explained.counters]
    if counters and explained.store_ms:
        counters.append(f"as the store had it at {_time(explained.store_ms)}")
    rest = [
        ("state", "\n".join(counters)),
        ("passed", ", ".join(explained.passed)),
        ("skipped", ", ".join(explained.skipped) + " (not asked any more)" if explained.skipped else ""),
        ("content", _short(explained.content) if explained.content is not None else ""),
    ]
    for label, words in rest:
        if words:
            yield from row(label, words, terminal)


def _event(explained: Explanation) -> str:
    tool = f" of tool `{explained.tool}`" if explained.tool else ""
    agent = f" by agent `{explained.agent}`" if explained.agent else ""
    role = f" ({explained.role})" if explained.role else ""
    task = f" on task `{explained.task}`" if explained.task else ""
    return f"{explained.stage}{tool}{agent}{role}{task} in run `{explained.run}`"


def _policy(explained: Explanation) -> str:
    env = f" in environment `{explained.env}`" if explained.env is not None else ""
    name = explained.policy if explained.policy else "(cannot be loaded any more)"
    source = f", {explained.source}" if explained.source != name else ""
    return f"{name}{source}{env}, hash {explained.hash[:12]}"


def _reason(reason: Reason, terminal: Terminal, before: str) -> Iterator[str]:
    yield ""
    painted = terminal.paint(reason.action, style_of(Action[reason.action]))
    yield f"{visible(before)}{painted}  by {visible(reason.guard)} ({visible(reason.code)})"
    for label, words in (("why", reason.message), ("instead", reason.advice)):
        if words:
            yield from row(label, words, terminal)
    if reason.place:
        yield from row("entry", reason.place, terminal)
    if reason.entry:
        yield from row("", "\n".join(f"{name}: {_flow(value)}" for name, value in reason.entry.items()), terminal)
    for label, part in (("when", reason.when), ("check", reason.check)):
        if part is not None:
            shown = [line for each in part.leaves("and") for line in _parts(each, 0)]
            yield from row(label, "\n".join(shown), terminal)
    if reason.to_pass:
        yield from row("to pass", "\n".join(reason.to_pass), terminal)


def _parts(part: Part, depth: int) -> Iterator[str]:
    holds = {True: "true ", False: "false", None: "?    "}[part.holds]
    read = "; ".join(f"{name} is {_short(value)}" for name, value in part.values.items())
    if part.parts:
        yield f"{holds}  {'  ' * depth}{'all of' if part.joined == 'and' else 'one of'}"
        for inner in part.parts:
            yield from _parts(inner, depth + 1)
    else:
        yield f"{holds}  {'  ' * depth}{part.text}" + (f"   ({read})" if read else "")


def _counter(counter: Counter) -> str:
    limits = ", ".join(f"{action} after {limit}" for limit, action in counter.limits)
    shadow = " (in shadow mode)" if counter.shadow else ""
    return f"{counter.guard}: {counter.before} {counter.counts} before this{f', {limits}' if limits else ''}{shadow}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _flow(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S") + "Z"
