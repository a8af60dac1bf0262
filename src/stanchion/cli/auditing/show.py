"""`stanchion audit show`: one record, whole, with its hash and its place."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.audit.apart import is_erased
from stanchion.audit.export import said_of
from stanchion.audit.layout import segment_file
from stanchion.audit.notes import Begun
from stanchion.audit.reading import Reader
from stanchion.audit.record import Entry
from stanchion.audit.scanning import Found
from stanchion.audit.worded import content_in_words, worded
from stanchion.cli.progress import progress
from stanchion.cli.record_line import decision_in, noted
from stanchion.cli.terminal import Terminal, put, visible
from stanchion.cli.times import shown, took
from stanchion.cli.trails import is_database, name_of, record, records_in
from stanchion.cli.trouble import BadInput
from stanchion.cli.verdict import row, style_of
from stanchion.cli.whose import whose
from stanchion.kernel.actions import Action
from stanchion.kernel.shown import json_safe
from stanchion.kernel.stages import Stage
from stanchion.kernel.table import TABLE

LONGEST: Final = 100
"""How long a value may be to stand in one line."""

PLACE: Final = frozenset({"v", "prev", "seq", "chain", "kind", "at"})
HEADED: Final = frozenset({"id", "run", "stage", "action", "policy", "agent", "task", "tool", "findings", "tenant"})
"""Fields of a decision that are told in words before the rest."""


def _begun(reader: object, found: Found | None) -> Begun | None:
    """How the run of a decision began; `None` where that cannot be read: the record itself is shown all the same."""
    if not isinstance(reader, Reader) or found is None or not found.is_decision:
        return None
    try:
        return reader.begun(found)
    except msgspec.MsgspecError:
        return None


def show(args: argparse.Namespace) -> int:
    """Show the record that is asked for."""
    if args.what is None or is_database(args.what):
        raise BadInput("name the record: the id of a decision, or its place as `stanchion audit tail` shows it")
    with records_in(args.trail, whose(args.project), args.schema) as reader, progress("looking") as told:
        found = record(reader, args.what, told)
        begun = _begun(reader, found)
        where = name_of(reader)
    if found is None:
        raise BadInput(f"there is no record `{args.what}` in `{where}`: see `stanchion audit tail`")
    if args.json:
        sys.stdout.buffer.write(json_safe(said_of(found)) + b"\n")
        return 0
    terminal = Terminal.of(sys.stdout, os.environ)
    for line in _lines(found, terminal, "" if begun is None else begun.policy):
        put(sys.stdout, line)
    return 0


def _lines(found: Found, terminal: Terminal, policy: str) -> Iterator[str]:
    """A record in words; `policy` is the hash of the policy that its run last named, where that is known."""
    entry = decision_in(found)
    if entry is not None and policy.startswith(entry.policy):
        entry = msgspec.structs.replace(entry, policy=policy)
    data = found.data()
    if entry is None:
        yield f"{terminal.paint(visible(found.stub.kind), 'bold')}  {visible(noted(found))}"
        rest = {name: value for name, value in data.items() if name not in PLACE}
    else:
        yield _headline(entry, terminal)
        rest = {name: value for name, value in data.items() if name not in PLACE | HEADED}
    yield ""
    yield from row("at", shown(found.stub.at), terminal)
    if entry is not None:
        yield from _decision(entry, is_erased(found.line.body, found.line.kept), terminal)
    for name, value in rest.items():
        words = content_in_words(value)
        yield from row(name, _json(value) if words is None else words, terminal)
    yield ""
    fits = "" if found.line.fits else terminal.paint("  does not fit: see `stanchion audit verify`", "bad")
    yield row("hash", found.line.hash, terminal)[0] + fits
    yield from row("prev", str(data.get("prev", "")), terminal)
    yield from row("place", f"{found.chain}:{found.stub.seq}", terminal)
    file = f"{found.chain}/{segment_file(Path(), found.segment)}"
    yield from row("", f"{file} from byte {found.offset}" if found.offset >= 0 else f"shipped from {file}", terminal)
    if found.line.seal:
        yield from row("seal", found.line.seal, terminal)
    if entry is not None:
        yield from row("took", f"{took(found.line.took_ns)}, which is beside the record and not protected", terminal)


def _headline(entry: Entry, terminal: Terminal) -> str:
    action = Action[entry.action]
    happens = TABLE[Stage(entry.stage)].get(action, "") if entry.stage in list(Stage) else ""
    return f"{terminal.paint(entry.action, style_of(action))}  {happens}"


def _decision(entry: Entry, erased: bool, terminal: Terminal) -> Iterator[str]:
    tool = f" of tool `{entry.tool}`" if entry.tool else ""
    agent = f" by agent `{entry.agent}`" if entry.agent else ""
    task = f" on task `{entry.task}`" if entry.task else ""
    tenant = f", tenant `{entry.tenant}`" if entry.tenant != "default" else ""
    about = f"{entry.kind}, {entry.stage}{tool}{agent}{task} in run `{entry.run}`{tenant}"
    yield from row("id", visible(entry.id), terminal)
    yield from row("event", visible(about), terminal)
    yield from row("policy", f"hash {entry.policy}", terminal)
    for said in entry.findings:
        yield from row("finding", f"{said.action} by {said.guard} ({said.code})", terminal)
        for words in worded(said, erased):
            if words:
                yield from row("", f"  {words}", terminal)


def _json(value: Any) -> str:
    """A value in one line where it is short, otherwise with a line for each thing in it."""
    if isinstance(value, str):
        return value
    line = json.dumps(value, ensure_ascii=False)
    if len(line) > LONGEST and isinstance(value, dict):
        return "\n".join(f"{name}: {json.dumps(item, ensure_ascii=False)}" for name, item in value.items())
    if len(line) > LONGEST and isinstance(value, list):
        return "\n".join(f"- {json.dumps(item, ensure_ascii=False)}" for item in value)
    return line
