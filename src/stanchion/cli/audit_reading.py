"""`stanchion audit` tail, shadow, show and export: records of a trail, for people and for other
programs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

from stanchion.audit.export import NoParquet, line_of, said_of, write_jsonl, write_parquet
from stanchion.audit.reader import REFUSED, FoundRecord, RecordSource, WantedRecords
from stanchion.audit.worded import content_in_words
from stanchion.cli.command import Args, AsBadInput, BadInput, in_words, moment_ms, one_of
from stanchion.cli.printing import (
    Layout,
    event_in,
    headline,
    labelled,
    progress,
    put_view,
    records,
    row,
    style_of,
    verdict_words,
)
from stanchion.cli.record_lines import Lines
from stanchion.cli.terminal import Terminal, put_lines, visible, warn
from stanchion.cli.trails import (
    database_of,
    no_schema,
    progress_in,
    records_in,
    tell_unread,
    trail_at,
)
from stanchion.cli.whose import whose
from stanchion.kernel.actions import NAMES, Action
from stanchion.kernel.names import names
from stanchion.kernel.shown import json_safe
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import FOREVER
from stanchion.ops.views.amounts import counted, in_json, shown, took
from stanchion.ops.views.record_detail import DecidedView, RecordDetail, record_detail
from stanchion.ops.views.records import DecisionView, ShadowView, WouldView, record_view, shadowed
from stanchion.ops.views.trails import (
    chosen,
    coming,
    digits_of,
    is_database,
    newest,
    record,
    unread,
)
from stanchion.stores.memory import wall_ms


def wanted_of(args: Args, now_ms: int) -> WantedRecords:
    """The records that the options ask for."""
    actions = {one_of("--action", action.upper(), NAMES) for action in args.action or ()}
    if args.refused:
        actions = actions & REFUSED if actions else set(REFUSED)
        if not actions:
            raise BadInput("`--refused` and `--action` cannot be combined here: give one of them")
    since = 0 if args.since is None else moment_ms("--since", args.since, now_ms)
    until = FOREVER if args.until is None else moment_ms("--until", args.until, now_ms)
    if since >= until:
        raise BadInput(f"`--since {args.since}` is not before `--until {args.until}`: swap them")
    return WantedRecords(
        run=args.run,
        agents=None if args.agent is None else names(args.agent),
        tools=None if args.tool is None else names(args.tool),
        stages=frozenset(
            one_of("--stage", stage, [each.value for each in Stage]) for stage in args.stage or ()
        ),
        actions=frozenset(actions),
        since=since,
        until=until,
        shadow=bool(args.shadow),
    )


SHOWN: Final = 20
EVERY_S: Final = 0.5


def tail(args: Args) -> int:
    """Show the newest records, oldest of them first."""
    wanted = wanted_of(args, wall_ms())
    most = SHOWN if args.lines is None else args.lines
    with records_in(args, empty=bool(args.follow)) as reader:
        show = _put_records if args.json else _words(digits_of(reader))
        if args.follow:
            follow(reader, wanted, most, show, lambda: time.sleep(EVERY_S))
        show(_newest(reader, wanted, most))
        tell_unread(reader)
    return 0


def _newest(
    reader: RecordSource,
    wanted: WantedRecords,
    most: int,
    behind: Callable[[FoundRecord], bool] = lambda _: True,
) -> list[FoundRecord]:
    with progress_in(reader, "looking") as told:
        return newest(reader, wanted, most, told, behind)


def follow(
    reader: RecordSource,
    wanted: WantedRecords,
    most: int,
    show: Callable[[Iterable[FoundRecord]], None],
    pause: Callable[[], None],
) -> None:
    """Show the newest records and then those that come, until somebody interrupts."""
    follower = reader.follow()
    show(_newest(reader, wanted, most, follower.is_behind))
    told = tell_unread(reader)
    while True:
        show(coming(follower, wanted))
        if len(unread(reader, follower)) > told:
            told = tell_unread(reader, follower)
        pause()


def _put_records(records: Iterable[FoundRecord]) -> None:
    sys.stdout.buffer.write(b"".join(json_safe(line_of(found)) for found in records))
    sys.stdout.buffer.flush()


def _words(digits: int) -> Callable[[Iterable[FoundRecord]], None]:
    lines = Lines(Terminal.of_stdout(), digits)

    def show(records: Iterable[FoundRecord]) -> None:
        for found in records:
            put_lines(lines.of(record_view(found)))

    return show


LONGEST: Final = 100
"""How long a value may be to stand in one line."""


def show(args: Args) -> int:
    """Show the record that is asked for."""
    if args.what is None or is_database(args.what):
        raise BadInput(
            "give the record: the id of a decision, or its position as `stanchion audit tail` "
            "shows it"
        )
    with (
        records_in(args) as reader,
        progress("looking") as told,
    ):
        found = record(reader, args.what, told)
        detail = None if found is None else record_detail(reader, found)
        where = reader.name
    if found is None or detail is None:
        raise BadInput(f"there is no record `{args.what}` in `{where}`: see `stanchion audit tail`")
    if args.json:
        sys.stdout.buffer.write(json_safe(said_of(found)) + b"\n")
        return 0
    return put_view(detail, _lines)


def _lines(one: RecordDetail, terminal: Terminal) -> Iterator[str]:
    """A record in words."""
    record, decided = one.record, one.decided
    if record.decision is None or decided is None:
        yield f"{terminal.paint(visible(record.kind), 'bold')}  {visible(record.says)}"
        yield ""
    else:
        yield from headline(record.decision.action, decided.happens, terminal)
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
    event = event_in(decision.stage, decided.run, decision.tool, decision.agent, decided.task)
    tenant = f", tenant `{decided.tenant}`" if decided.tenant != "default" else ""
    rows = [
        ("id", visible(decision.id)),
        ("event", visible(f"{decided.kind}, {event}{tenant}")),
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
    line = in_json(value)
    if len(line) > LONGEST and isinstance(value, dict):
        return "\n".join(f"{name}: {in_json(item)}" for name, item in value.items())
    if len(line) > LONGEST and isinstance(value, list):
        return "\n".join(f"- {in_json(item)}" for item in value)
    return line


def shadow(args: Args) -> int:
    """Report what guards in shadow mode would have done."""
    wanted = wanted_of(args, wall_ms())
    with records_in(args) as reader:
        with progress_in(reader, "counting") as told:
            found = shadowed(chosen(reader, wanted, told))
        tell_unread(reader)
    return put_view(found, _shadow_lines, args.json)


def _row(row: WouldView) -> tuple[str, ...]:
    counts = f"{row.times:,}", f"{row.changed:,}", f"{row.runs:,}"
    return row.guard, row.action, row.code, *counts, shown(row.last_ms), row.examples[0]


WOULD: Final = Layout(
    ("guard", "would be", "code", "times", "changed", "runs", "last", "example"),
    _row,
    ("times", "changed", "runs"),
    styles=lambda one: {"would be": style_of(Action[one.action])},
)


def _shadow_lines(found: ShadowView, terminal: Terminal) -> Iterator[str]:
    if found.guards:
        yield from (*WOULD.lines(found.guards, terminal), "")
    yield _total(found)


def _total(found: ShadowView) -> str:
    if not found.guards:
        return f"no guard in shadow mode has found anything in {found.decisions:,} decisions"
    return f"{found.changed:,} of {found.decisions:,} decisions would have been more severe"


FORMATS: Final[dict[str, Callable[[Iterable[FoundRecord], BinaryIO], int]]] = {
    "jsonl": write_jsonl,
    "parquet": write_parquet,
}
TRAIL: Final = "trail"
"""The format that is a trail again; only a database has to be written back."""


def export(args: Args) -> int:
    """Write the records that are asked for, oldest first."""
    form = _form(args)
    wanted = wanted_of(args, wall_ms())
    if form == TRAIL:
        return _write_back(args, wanted)
    printed = args.out is None and sys.stdout.isatty()
    with (
        records_in(args) as reader,
        _sink(args.out, args.force) as sink,
        progress_in(reader, "exporting") as told,
    ):
        heard = None if printed else told
        each = reader.forwards(heard, wanted.since, wanted.until)
        with AsBadInput(NoParquet):
            count = FORMATS[form]((found for found in each if wanted.has(found.stub)), sink)
        tell_unread(reader)
    if args.out is not None:
        warn(f"{count:,} records are in {args.out}")
    return 0


def _write_back(args: Args, wanted: WantedRecords) -> int:
    """Write the records of a database into a folder, which is then a trail, byte for byte."""
    url = database_of(args.trail)
    if url is None:
        no_schema(args.schema)
        folder = trail_at(args.trail, whose(args.project))
        raise BadInput(f"`{folder}` is already the folder of a trail: copy it, or give a database")
    if wanted != WantedRecords():
        raise BadInput(
            "a trail can only be exported as a whole, because its records are chained: leave the "
            "filters out"
        )
    from stanchion.audit.postgres import export_trail
    from stanchion.audit.postgres.copy_options import SCHEMA

    with progress("exporting", records) as told:
        done = export_trail(
            url, Path(args.out), SCHEMA if args.schema is None else args.schema, told
        )
    said = f"{records(done.records)} of {counted(len(done.chains), 'chain')}"
    warn(f"{said} are in {args.out}: see `stanchion audit verify {args.out}`")
    return 0


def _form(args: Args) -> str:
    form = args.format
    if form is None:
        form = "parquet" if args.out is not None and args.out.endswith(".parquet") else "jsonl"
    if form not in (*FORMATS, TRAIL):
        raise BadInput(f"`--format` is `{form}`: give one of {', '.join((*FORMATS, TRAIL))}")
    if form == TRAIL and (args.out is None or args.force):
        raise BadInput(
            "a trail is a folder: give a new or an empty one with `--out DIR`, without `--force`"
        )
    if form == "parquet" and args.out is None:
        raise BadInput("a Parquet file cannot be printed: give a file with `--out FILE`")
    if args.force and args.out is None:
        raise BadInput("`--force` needs `--out FILE`: give the file, or leave `--force` out")
    return str(form)


@contextmanager
def _sink(out: str | None, force: bool) -> Iterator[BinaryIO]:
    """Where to write: standard output, or a file that gets its name when it is whole."""
    if out is None:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(out)
    new = target.with_name(f".{target.name}.{os.getpid()}.new")
    _refuse(target, force)
    try:
        sink = new.open("xb")
    except OSError as error:
        raise BadInput(f"`{out}` cannot be written: {in_words(error)}; use another file") from None
    try:
        with sink:
            yield sink
            sink.flush()
            os.fsync(sink.fileno())
        _refuse(target, force)
        os.replace(new, target)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise


def _refuse(target: Path, force: bool) -> None:
    if target.is_dir():
        raise BadInput(f"`{target}` is a folder: give a file in it")
    if target.exists() and not force:
        raise BadInput(
            f"`{target}` already exists: use another file, or overwrite it with `--force`"
        )
