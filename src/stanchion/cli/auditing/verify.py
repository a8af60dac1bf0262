"""`stanchion audit verify`: whether a trail is as it was written, and if not, what was done to
it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from stanchion.audit.verify import CannotVerify, Chain, Report, as_json, verdict, verify
from stanchion.cli.auditing.places import usual_place, witnesses_at
from stanchion.cli.auditing.seen import seen_in
from stanchion.cli.printing import table
from stanchion.cli.progress import progress, records
from stanchion.cli.terminal import Terminal, put_lines, say, visible
from stanchion.cli.trails import database_of, no_schema, trail_at
from stanchion.cli.trouble import AsBadInput, BadInput
from stanchion.cli.verdict import row
from stanchion.cli.whose import whose
from stanchion.ops.views.amounts import size
from stanchion.ops.views.times import shown
from stanchion.runtime.errors import NotifyError
from stanchion.runtime.standing.listeners import listened_to
from stanchion.runtime.standing.notify_file import post_for
from stanchion.runtime.standing.places import KEY, metrics_folder
from stanchion.runtime.standing.telling import switched
from stanchion.stores.memory import wall_ms
from stanchion.telemetry import loggers
from stanchion.telemetry.catalogue import OCCURRENCES
from stanchion.telemetry.folder import count_once
from stanchion.telemetry.occurrences import Kind, Occurrence

WHOLE: Final = 0
FAULTY: Final = 1

COLUMNS: Final = ("chain", "state", "records", "size", "sealed", "from", "to")
NUMBERS: Final = frozenset({"records", "size", "sealed"})


def check_trail(args: argparse.Namespace) -> int:
    """Verify a trail and say what was found."""
    loggers.leave_out((Kind.TRAIL_TAMPERED,))  # said below, in the command's own words
    given = args.key if args.key is not None else os.environ.get(KEY, "")
    with AsBadInput(CannotVerify):
        report = _report(args, given if given else None)
    if args.json:
        sys.stdout.write(as_json(report) + "\n")
    else:
        put_lines(_lines(report, Terminal.of_stdout()))
    if report.whole:
        written = sum(chain.records for chain in report.chains)
        loggers.say(loggers.TRAIL, loggers.INFO, "verified", trail=report.folder, records=written)
    else:
        _tell(args, report)
    return WHOLE if report.whole else FAULTY


def _tell(args: argparse.Namespace, report: Report) -> None:
    """Count that a trail is not as it was written, log it, and tell whoever gets notices."""
    with suppress(OSError, ValueError):
        folder = metrics_folder(None, None, os.environ, whose(args.project))
        if folder is not None and switched(os.environ):
            count_once(folder, OCCURRENCES, str(Kind.TRAIL_TAMPERED))
    post = None
    try:
        post = post_for(None, os.environ)
    except NotifyError as error:
        for fault in error.faults:
            say(sys.stderr, f"stanchion: no notice is sent: {fault}")
    occurrences = listened_to(post)
    occurrences.tell(
        Occurrence(kind=Kind.TRAIL_TAMPERED, at=wall_ms(), text=_notice(report), about="trail")
    )
    occurrences.close()


def _notice(report: Report) -> str:
    """What somebody far away has to know: which trail, what was found first, and where."""
    first = report.faults[0]
    where = f"{first.deed.value} at `{first.place}`, {first.sentence}"
    return (
        f"`stanchion audit verify` says of `{report.folder}`: {verdict(report)}; the first: {where}"
    )


def _report(args: argparse.Namespace, key: str | None) -> Report:
    """What the verifier says of a folder, or of a database."""
    url = database_of(args.trail)
    usual = usual_place(args.trail)
    named = ([usual] if usual else []) if args.witness is None else args.witness
    if url is None:
        no_schema(args.schema)
        found = whose(args.project)
        folder = trail_at(args.trail, found)
        # Before the trail is read: what it has seen by then is there by then.
        anchors = seen_in(args.store, args.trail, folder, found)
        witnesses = witnesses_at(named, folder, args.tsa_cert)
        with progress("verifying") as told:
            return verify(folder, key, witnesses, told, anchors)
    if args.store is not None:
        raise BadInput(
            "`--store` is for the folder of a trail: `stanchion audit export --format trail` makes "
            "one"
        )
    from stanchion.audit.postgres import verify_database
    from stanchion.audit.postgres.shipment import SCHEMA

    witnesses = witnesses_at(named, None, args.tsa_cert)
    with progress("verifying", records) as told:
        return verify_database(
            url, key, witnesses, told, SCHEMA if args.schema is None else args.schema
        )


def _lines(report: Report, terminal: Terminal) -> Iterator[str]:
    yield from table(COLUMNS, [_row(chain) for chain in report.chains], NUMBERS, terminal)
    for fault in report.faults:
        yield ""
        yield terminal.paint(f"{fault.deed.value.upper()}  {visible(fault.place)}", "bad")
        yield from row("found", fault.sentence, terminal)
        yield from row("that is", fault.deed.meaning, terminal)
    if report.remarks:
        yield ""
    for remark in report.remarks:
        about = f"{remark.chain}: " if remark.chain else ""
        yield from row("note", f"{about}{remark.sentence}", terminal)
    yield ""
    yield terminal.paint(visible(verdict(report)), "good" if report.whole else "bad")


def _row(chain: Chain) -> tuple[str, ...]:
    state = "closed" if chain.closed else "open"
    if chain.retired:
        state += f", {chain.retired:,} retired"
    if chain.behind_head:
        state += f", {chain.behind_head:,} after the head"
    times = ["-" if at is None else shown(at) for at in (chain.first_at, chain.last_at)]
    sealed = f"{chain.sealed}/{chain.checkpoints}"
    return (chain.id, state, f"{chain.records:,}", size(chain.bytes), sealed, *times)
