"""`stanchion runs`: the runs that a trail tells of, one of them in full, and manifests of what a
run was made of."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.audit.manifest_check import NoManifest, read
from stanchion.audit.reader import Reader
from stanchion.cli.command import PROJECT, Args, BadInput, DeclaredCommand, Verb, count, option
from stanchion.cli.printing import Layout, progress, put_found, put_view
from stanchion.cli.record_lines import STYLES, run_lines
from stanchion.cli.terminal import Terminal, tell, visible, warn
from stanchion.cli.trails import reader_of
from stanchion.cli.whose import opened, whose
from stanchion.kernel.shown import json_safe
from stanchion.ops.views.amounts import counted, shown, span
from stanchion.ops.views.runs import (
    Kept,
    ManifestView,
    RunView,
    checked,
    kept_in,
    none_kept,
    run_in_full,
    run_manifest,
    runs,
    totals_in,
)
from stanchion.ops.views.trails import digits_of
from stanchion.ops.views.veiled import json_line
from stanchion.runtime.standing.places import StateFinder

CHANGED: Final = 1


def manifest(args: Args) -> int:
    """Make the manifest of a run."""
    reader = reader_of(args.trail, whose(args.project))
    with progress("looking") as done:
        made = run_manifest(reader, args.id, done)
    if made is None:
        raise BadInput(
            f"there is no run `{args.id}` in `{reader.folder}`: `stanchion runs` lists the newest"
        )
    if args.out is not None:
        _write(Path(args.out), made)
        tell(f"wrote {args.out}")
        return 0
    sys.stdout.buffer.write(json_line(made) if args.json else _pages(made))
    return 0


def _pages(made: dict[str, Any]) -> bytes:
    return json_safe(msgspec.json.format(msgspec.json.encode(made), indent=2)) + b"\n"


def _write(target: Path, made: dict[str, Any]) -> None:
    try:
        with target.open("xb") as file:
            file.write(_pages(made))
    except FileExistsError:
        raise BadInput(f"`{target}` already exists: use another file") from None
    except OSError as error:
        raise BadInput(f"`{target}` cannot be written: {error.strerror}") from None


def verify(args: Args) -> int:
    """Say which fields of a manifest, and which files that it names, are not as they were."""
    try:
        data = read(args.id)
    except NoManifest as error:
        raise BadInput(f"`{args.id}`: {error}") from None
    reader = _reader(args)
    with progress("looking") as done:
        found = checked(data, reader, Path(args.id).parent, done)
    put_view(found, _manifest_lines, args.json)
    return 0 if found.whole else CHANGED


def _reader(args: Args) -> Reader | None:
    """The trail that was named, or the project's where there is one."""
    try:
        return reader_of(args.trail, whose(args.project))
    except BadInput:
        if args.trail is not None:
            raise
        return None


def _manifest_lines(found: ManifestView, _terminal: Terminal) -> Iterator[str]:
    yield from (visible(f"{one.field}: {one.why}") for one in found.wrong)
    if not found.known:
        why = "the trail does not know it" if found.known is False else NO_TRAIL
        yield f"note: {why}: it was held against its own hashes"
    yield "whole" if found.whole else f"not whole: {counted(len(found.wrong), 'field')} changed"


NO_TRAIL: Final = "there is no trail to hold it against"
LISTED: Final = 20
COLUMNS: Final = (
    "run",
    "state",
    "began",
    "lasted",
    "decided",
    "refused",
    "agent",
    "task",
    "policy",
)


def _list(args: Args) -> int:
    if args.all and args.lines is not None:
        raise BadInput("`--all` and `-n` cannot be combined: give one of them")
    most = None if args.all else LISTED if args.lines is None else args.lines
    with progress("looking") as done:
        state = whose(args.project)
        found = list(runs(reader_of(args.trail, state), most, done, _kept_by(args, state)))
    put_found(found, LISTING, args.json)
    return 0


def _row(one: RunView) -> tuple[str, ...]:
    decided = f"{sum(one.decided.values()):,}"
    policy = f"{os.path.basename(one.source)} {one.policy[:12]}".strip()
    began, lasted, refused = shown(one.began_ms), span(one.lasted_ms), f"{one.refused:,}"
    state = f"{one.state}, flagged" if one.flagged else one.state
    return one.id, state, began, lasted, decided, refused, one.agent, one.task, policy


def _show(args: Args) -> int:
    state = whose(args.project, args.store)
    reader = reader_of(args.trail, state)
    with progress("looking") as done:
        found = run_in_full(
            reader, args.id, partial(_now, args.store, state), done, _kept_by(args, state)
        )
    if found is None:
        raise BadInput(
            f"there is no run `{args.id}` in `{reader.folder}`: `stanchion runs` lists the newest"
        )
    return put_view(found, partial(run_lines, digits_of(reader)), args.json)


def _kept_by(args: Args, state: StateFinder) -> Kept:
    """Asks the store of the project; a trail from elsewhere has nothing to do with it, and one that
    cannot be read tells nothing: a run is then as the trail alone has it."""

    def kept(keys: frozenset[str]) -> frozenset[str]:
        try:
            with opened(args.store, state, quiet=True) as store:
                return frozenset() if store is None else kept_in(store, keys)
        except BadInput:
            return frozenset()

    return none_kept if args.trail is not None and args.store is None else kept


def _now(given: str | None, state: StateFinder, keys: frozenset[str]) -> dict[str, int]:
    """What the store has of those budgets now; where it cannot be asked, what the trail says is all
    there is."""
    try:
        with opened(given, state) as store:
            return {} if store is None else totals_in(store, keys)
    except BadInput as error:
        for line in error.faults:
            warn(f"{line}")
        return {}


LISTING: Final = Layout(
    COLUMNS,
    _row,
    ("decided", "refused", "lasted"),
    "no run is recorded yet",
    lambda one: {
        "state": "bad" if one.flagged else STYLES[one.state],
        "refused": "bad" if one.refused else "",
        "policy": "dim",
    },
)
GIVE: Final = "give the run: `stanchion runs` lists them, and `last` is the newest"
RUNS_COMMAND: Final = DeclaredCommand(
    usage="""stanchion runs [-n N] [--all] [--trail DIR] [--json]
       stanchion runs show ID [--trail DIR] [--store URL] [--json]
       stanchion runs manifest ID [--out FILE] [--trail DIR] [--json]
       stanchion runs verify FILE [--trail DIR] [--json]""",
    description="""\
List the newest runs: agent, task, state, decisions by action, and duration. Or show one in
full: its policy, how its budgets were used over time, its last decisions, calls that were
started but never reported an outcome, and what it had produced when it ended.

`manifest` writes what the trail has of a run as one file. `verify` names every field of
such a file, or of one that a run of the Tutor wrote, that was changed since, or that is not as
the trail has it, and every file it names that was changed.

A run is open, idle (between two checks with --run), ended, halted (a guard or an operator
stopped it), cancelled, or lost: its end was never written, and its process is gone. One that
a guard has flagged says so: somebody should look at it.""",
    epilog="""\
examples:
  stanchion runs
  stanchion runs --all --json | jq 'select(.state == "lost")'
  stanchion runs show last
  stanchion runs manifest last --out run.json
  stanchion runs verify run.json

The trail is the project's (`stanchion state --where`), or the one that STANCHION_AUDIT names;
the store, which knows what is left of budgets, is the project's or the one of STANCHION_STORE.

exit status:
  0  it is shown, or the manifest is whole
  1  the manifest is not whole
  2  there is no such run, no trail, or no manifest""",
    options=(
        option("verb show|manifest|verify", "what to do with one run", nargs="?", default="list"),
        option("id ID", "the run's ID, `last` is the newest; or a manifest", nargs="?"),
        option("-n, --lines N", "how many runs (default: 20)", type=count),
        option("--all", "all runs"),
        option("--trail DIR", "the folder of the trail"),
        option("--store URL", "the store with the run's budgets: a file or a URL"),
        option("--out FILE", "where to write the manifest (default: standard output)"),
        PROJECT,
        option("--json", "answer with JSON, one line for each run"),
    ),
    work={
        "list": Verb(_list, "lines all"),
        "show": Verb(_show, "id store", GIVE),
        "manifest": Verb(manifest, "id out", GIVE),
        "verify": Verb(
            verify,
            "id",
            "give the manifest: `stanchion runs manifest ID --out FILE` writes one",
        ),
    },
)
