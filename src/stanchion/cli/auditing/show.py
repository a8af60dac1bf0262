"""`stanchion audit show`: one record, whole, with its hash and its place."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import Any, Final

from stanchion.audit.export import said_of
from stanchion.audit.worded import content_in_words
from stanchion.cli.progress import progress
from stanchion.cli.terminal import Terminal, put_lines, visible
from stanchion.cli.trails import records_in
from stanchion.cli.trouble import AsBadInput, BadInput
from stanchion.cli.verdict import labelled, row, style_of
from stanchion.cli.verdict_words import verdict_words
from stanchion.kernel.actions import Action
from stanchion.kernel.shown import json_safe
from stanchion.ops.views.record_detail import DecidedView, RecordDetail, record_detail
from stanchion.ops.views.records import DecisionView
from stanchion.ops.views.times import shown, took
from stanchion.ops.views.trails import Ambiguous, is_database, record

LONGEST: Final = 100
"""How long a value may be to stand in one line."""


def show(args: argparse.Namespace) -> int:
    """Show the record that is asked for."""
    if args.what is None or is_database(args.what):
        raise BadInput(
            "give the record: the id of a decision, or its position as `stanchion audit tail` "
            "shows it"
        )
    with (
        records_in(args) as reader,
        progress("looking") as told,
        AsBadInput(Ambiguous),
    ):
        found = record(reader, args.what, told)
        detail = None if found is None else record_detail(reader, found)
        where = reader.name
    if found is None or detail is None:
        raise BadInput(f"there is no record `{args.what}` in `{where}`: see `stanchion audit tail`")
    if args.json:
        sys.stdout.buffer.write(json_safe(said_of(found)) + b"\n")
        return 0
    terminal = Terminal.of_stdout()
    put_lines(_lines(detail, terminal))
    return 0


def _lines(one: RecordDetail, terminal: Terminal) -> Iterator[str]:
    """A record in words."""
    record, decided = one.record, one.decided
    if record.decision is None or decided is None:
        yield f"{terminal.paint(visible(record.kind), 'bold')}  {visible(record.says)}"
    else:
        action = record.decision.action
        yield f"{terminal.paint(action, style_of(Action[action]))}  {decided.happens}"
    yield ""
    yield from row("at", shown(record.at_ms), terminal)
    if record.decision is not None and decided is not None:
        yield from _decision(record.decision, decided, terminal)
    for name, value in one.fields.items():
        words = content_in_words(value)
        yield from row(name, _json(value) if words is None else words, terminal)
    if one.engine:
        yield from row(
            "engine", f"`--json` shows what it was judged by: {', '.join(one.engine)}", terminal
        )
    yield ""
    fits = (
        "" if one.fits else terminal.paint("  does not match: see `stanchion audit verify`", "bad")
    )
    yield row("hash", one.hash, terminal)[0] + fits
    yield from row("prev", one.prev, terminal)
    yield from row("place", f"{record.chain}:{record.seq}", terminal)
    where = f"{one.file} from byte {one.offset}" if one.offset >= 0 else f"shipped from {one.file}"
    yield from row("", where, terminal)
    if one.seal:
        yield from row("seal", one.seal, terminal)
    if decided is not None:
        yield from row(
            "took", f"{took(one.took_ns)}, which is beside the record and not protected", terminal
        )


def _decision(decision: DecisionView, decided: DecidedView, terminal: Terminal) -> Iterator[str]:
    tool = f" of tool `{decision.tool}`" if decision.tool else ""
    agent = f" by agent `{decision.agent}`" if decision.agent else ""
    task = f" on task `{decided.task}`" if decided.task else ""
    tenant = f", tenant `{decided.tenant}`" if decided.tenant != "default" else ""
    about = f"{decided.kind}, {decision.stage}{tool}{agent}{task} in run `{decided.run}`{tenant}"
    rows = [
        ("id", visible(decision.id)),
        ("event", visible(about)),
        ("policy", f"hash {decided.hash}"),
        ("verdicts", verdict_words(decided.verdicts)),
    ]
    for each in decided.findings:
        rows.append(("finding", f"{each.action} by {each.guard} ({each.code})"))
        rows += [("", f"  {words}") for words in (each.message, each.advice, each.detail) if words]
    yield from labelled(rows, terminal)


def _json(value: Any) -> str:
    """A value in one line where it is short, otherwise with a line for each thing in it."""
    if isinstance(value, str):
        return value
    line = json.dumps(value, ensure_ascii=False)
    if len(line) > LONGEST and isinstance(value, dict):
        return "\n".join(
            f"{name}: {json.dumps(item, ensure_ascii=False)}" for name, item in value.items()
        )
    if len(line) > LONGEST and isinstance(value, list):
        return "\n".join(f"- {json.dumps(item, ensure_ascii=False)}" for item in value)
    return line
