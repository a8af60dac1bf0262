"""`stanchion policy propose`: rules that approvals in the trail propose, and the file that a person
may apply."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.cli.found_policy import given
from stanchion.cli.printing import put_json
from stanchion.cli.terminal import Terminal, put_lines, tell, visible
from stanchion.cli.trails import records_in, tell_unread
from stanchion.cli.trouble import BadInput, in_words
from stanchion.ops.views.proposed.proposals import Proposal, Proposals, Terms, proposals
from stanchion.ops.views.times import day
from stanchion.stores.memory import wall_ms

DONE: Final = 0
TERMS: Final = {"least": "least", "people": "people", "days": "days", "lasts": "lasts_days"}
"""The options by which it goes, and what they are called."""


def propose(args: argparse.Namespace) -> int:
    """Show what approvals propose, and write it to a file where that is asked for; nothing is put
    in force."""
    said = {
        term: number for name, term in TERMS.items() if (number := getattr(args, name)) is not None
    }
    for name, term in TERMS.items():
        if said.get(term, 1) < 1:
            raise BadInput(f"`--{name} {said[term]}` is too small: give 1 or more")
    source = args.policies[0]
    policy = given(source, args.env[0] if args.env else None).policy
    with records_in(args, store=args.store) as reader:
        found = proposals(reader, policy, Terms(**said), wall_ms(), args.tenant)
        tell_unread(reader)
    if args.write is not None and found.proposed:
        _write(Path(args.write), source, policy.file.name, found)
    if args.json:
        put_json(found)
        return DONE
    terminal = Terminal.of_stdout()
    put_lines(_lines(found, terminal))
    if args.write is not None and found.proposed:
        tell(f"written to {args.write}; nothing is in force before somebody loads it")
    return DONE


def _lines(found: Proposals, terminal: Terminal) -> Iterator[str]:
    for one in found.proposed:
        yield terminal.paint(visible(one.name), "bold")
        yield from (f"  {visible(line)}" for line in _about(one))
    for other in found.withheld:
        yield visible(f"no rule for {other.tool}, approved {other.approvals} times: {other.why}")
    if not found.proposed:
        yield "nothing is proposed"
    if found.more:
        yield terminal.paint("the trail has more answers: only the newest were looked at", "dim")


def _about(one: Proposal) -> Iterator[str]:
    rule = one.rule
    when = f"{day(one.first_ms)} to {day(one.last_ms)}"
    yield (
        f"approved {one.approvals} times ({one.proven} signed), {when}, by {', '.join(one.people)}"
    )
    yield f"call: {rule.tool} {json.dumps({**rule.args, **rule.patterns}, ensure_ascii=False)}"
    if rule.patterns:
        yield f"patterns: {', '.join(rule.patterns)}"
    task = rule.tasks[0] if rule.tasks[0] else "none"
    yield f"asked by: {', '.join(rule.guards)}; agents: {', '.join(rule.agents)}; task: {task}"
    counts = ", ".join(f"{count} {action}" for action, count in one.history.matched.items())
    yield (
        f"in the trail: {one.history.spared} decisions would not have waited; such calls by "
        f"decision: {counts}"
    )
    yield f"until: {rule.until}"


def _write(path: Path, source: str, name: str, found: Proposals) -> None:
    """Write a policy that extends another and approves what is proposed; a file that is there is
    left alone."""
    base = str(Path(source).absolute()) if Path(source).exists() else source
    said = {one.name: _plain(one) for one in found.proposed}
    lines = [
        (
            "# Proposed from approvals. Remove what you do not want; `stanchion policy loosens` "
            "shows what it changes."
        )
    ]
    lines += [f"name: {json.dumps(name)}", f"extends: {json.dumps(base)}", "approved:"]
    for rule, fields in said.items():
        lines.append(f"  {json.dumps(rule)}:")
        lines += [
            f"    {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items()
        ]
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    except FileExistsError:
        raise BadInput(f"`{path}` is there already: name another file") from None
    except OSError as error:
        raise BadInput(f"`{path}` cannot be written: {in_words(error)}") from None


def _plain(one: Proposal) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(one.rule)
    return {key: value for key, value in data.items() if value not in ({}, "")}
