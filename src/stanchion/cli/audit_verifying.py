"""`stanchion audit` verify and witness: whether a trail is as it was written, and what proves
it."""

from __future__ import annotations

import os
import queue
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stanchion.audit.verify import CannotVerify, Chain, Report, as_json, verdict, verify
from stanchion.audit.verifying.rewritable import owner_of
from stanchion.audit.witnessing.names import place_named
from stanchion.audit.witnessing.place import BadPlace, Unreachable
from stanchion.audit.witnessing.rounds import Round, Writer, patience_s
from stanchion.cli.command import Args, AsBadInput, BadInput
from stanchion.cli.printing import progress, records, row, table
from stanchion.cli.terminal import Terminal, put_lines, tell, visible, warn
from stanchion.cli.trails import database_of, no_schema, records_in, trail_at
from stanchion.cli.whose import opened, whose
from stanchion.ops.views.amounts import counted, shown, size
from stanchion.ops.views.trails import anchors_in
from stanchion.runtime.errors import NotifyError
from stanchion.runtime.remote.witness import NAME, BrokerPlace
from stanchion.runtime.standing.listeners import listened_to, post_for
from stanchion.runtime.standing.places import (
    BROKER,
    KEY,
    MEMORY,
    STORE_FILE,
    TRAIL_FOLDER,
    WITNESS,
    StateFinder,
    is_own,
    metrics_folder,
    store_named,
)
from stanchion.runtime.standing.telling import switched
from stanchion.stores.memory import wall_ms
from stanchion.stores.open_store import file_of
from stanchion.telemetry import loggers
from stanchion.telemetry.catalogue import OCCURRENCES
from stanchion.telemetry.folder import count_once
from stanchion.telemetry.occurrences import Kind, Occurrence

if TYPE_CHECKING:
    from stanchion.audit.verify import Witness
    from stanchion.audit.witnessing.place import WitnessPlace


Anchors = list[tuple[str, int, str]]


def seen_in(store: str | None, trail: str | None, folder: Path, found: StateFinder) -> Anchors:
    """The anchors of a trail: in the store that was named, or in that of the project where the
    trail is its own."""
    if store is not None:
        return _read(store, folder, found)
    own = found.state.folder / TRAIL_FOLDER
    if (trail is not None and folder.absolute() != own.absolute()) or is_nowhere(found):
        return []
    try:
        return _read(None, folder, found)
    except BadInput as error:
        warn(f"{error}; the end of the trail is not proven")
        return []


def is_nowhere(found: StateFinder) -> bool:
    """Whether the project has no store that outlives a process, or none yet."""
    name = store_named(None, os.environ)
    path = found.state.folder / STORE_FILE if is_own(None, os.environ) else file_of(name)
    return name == MEMORY or (path is not None and not os.path.lexists(path))


def _read(store: str | None, folder: Path, found: StateFinder) -> Anchors:
    with opened(store, found) as kept:
        return [] if kept is None else anchors_in(kept, folder)


def place_at(name: str, trail: Path | None, certificates: str | None) -> WitnessPlace:
    """The place that a name says; one that no witness can be kept at is bad input."""
    if name.startswith(BROKER):
        path, _, part = name.removeprefix(BROKER).partition("#")
        return BrokerPlace(path, part if part else NAME)
    return place_named(name, trail, None if certificates is None else Path(certificates))


def usual_place(trail: str | None) -> str:
    """The place that the environment names for the usual trail; empty for any other, whose heads it
    does not hold."""
    return os.environ.get(WITNESS, "") if trail is None else ""


def witnesses_at(
    given: Sequence[str], trail: Path | None, certificates: str | None
) -> list[Witness]:
    """What the witnesses say that were named; raises `CannotVerify`."""

    found = []
    for name in given:
        try:
            found.append(place_at(name, trail, certificates).witness(owner_of(trail)))
        except (BadPlace, Unreachable) as error:
            raise CannotVerify(str(error)) from None
    return found


WHOLE: Final = 0
FAULTY: Final = 1

COLUMNS: Final = ("chain", "state", "records", "size", "sealed", "from", "to")
NUMBERS: Final = frozenset({"records", "size", "sealed"})


def check_trail(args: Args) -> int:
    """Verify a trail and say what was found."""
    loggers.leave_out((Kind.TRAIL_TAMPERED,))  # said below, in the command's own words
    given = args.key if args.key is not None else os.environ.get(KEY, "")
    with AsBadInput(CannotVerify):
        report = report_of(args, given if given else None)
    if args.json:
        sys.stdout.write(as_json(report) + "\n")
    else:
        put_lines(_lines(report, Terminal.of_stdout()))
    if report.whole:
        written = sum(chain.records for chain in report.chains)
        loggers.say(loggers.TRAIL, loggers.INFO, "verified", trail=report.folder, records=written)
    else:
        _tell_tampered(args, report)
    return WHOLE if report.whole else FAULTY


def _tell_tampered(args: Args, report: Report) -> None:
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
            warn(f"no notice is sent: {fault}")
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


def report_of(args: Args, key: str | None) -> Report:
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
    from stanchion.audit.postgres.copy_options import SCHEMA

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


EVERY_S: Final = 60
DONE: Final = 0
NOT_REACHED: Final = 1


def keep_witness(args: Args) -> int:
    """Write heads to a place, once or until a signal comes."""
    name = usual_place(args.trail) if args.what is None else args.what
    if not name:
        raise BadInput(
            f"say where the witness is kept: `stanchion audit witness PLACE`, or set {WITNESS}"
        )
    # Without an interval a single line promises no next one.
    every_s = int(args.every) if args.every is not None else 0 if args.once else EVERY_S
    folder = (
        None if database_of(args.trail) is not None else trail_at(args.trail, whose(args.project))
    )
    place = place_at(name, folder, args.tsa_cert)
    writer = Writer(lambda: _heads(args), place, every_s, wall_ms)
    try:
        _heads(args)
        return _once(writer, place, folder) if args.once else _often(writer, place, folder, every_s)
    finally:
        place.close()


def _once(writer: Writer, place: WitnessPlace, folder: Path | None) -> int:
    try:
        _tell_round(writer.write(), place)
        _name(place, folder)
    except Unreachable as error:
        warn(f"{error}")
        return NOT_REACHED
    return DONE


def _often(writer: Writer, place: WitnessPlace, folder: Path | None, every_s: int) -> int:
    stopped: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: stopped.put(number))
    failures, named = 0, False
    while True:
        began = time.monotonic()
        try:
            done = writer.write()
            if not named:
                _name(place, folder)
                tell(
                    f"writing the heads to `{place.name}` every {every_s} s, until SIGTERM or "
                    f"Ctrl-C",
                )
            elif sys.stdout.isatty():
                _tell_round(done, place)
            for odd in done.odd:
                warn(f"{odd}")
            failures, named = 0, True
            wait_s = every_s - (time.monotonic() - began)
        except (Unreachable, BadInput) as error:
            failures += 1
            wait_s = patience_s(failures, every_s)
            warn(f"{error}; trying again in {wait_s:g} s")
        try:
            stopped.get(timeout=max(0.0, wait_s))
            return DONE
        except queue.Empty:
            continue


def _heads(args: Args) -> Mapping[str, bytes]:
    """The heads as they stand; a trail that is not there yet has none."""
    with records_in(args, empty=True) as reader:
        try:
            return {name: head for name, head in reader.heads() if head}
        except OSError as error:
            raise BadInput(
                f"the heads in `{reader.name}` cannot be read: {error.strerror or error}"
            ) from None


def _name(place: WitnessPlace, folder: Path | None) -> None:
    """Call a copy a copy."""
    why = place.why_copy(owner_of(folder))
    if why:
        kept = "keep it where the trail's user cannot rewrite it"
        tell(
            f"`{place.name}` is only a copy, and proves nothing against somebody who can rewrite "
            f"it: {why}; {kept}",
        )


def _tell_round(done: Round, place: WitnessPlace) -> None:
    chains = counted(done.chains, "chain")
    new = f"{done.changed} with a new head" if done.changed else "all as before"
    tell(f"{shown(done.at_ms)}  {chains}, {new}, to `{place.name}`")
