"""What leaves a trail: `stanchion audit` prune and erase, and retention, which says what may."""

from __future__ import annotations

import argparse
import os
import re
from itertools import chain
from pathlib import Path
from typing import Final

from stanchion import Shield
from stanchion.approvals.act import Purpose
from stanchion.approvals.digest import Request
from stanchion.audit.erasure import Meant, blank, count_of, undone
from stanchion.audit.keys import TrailKey, load_key
from stanchion.audit.layout import chains
from stanchion.audit.reader import TrailReader
from stanchion.audit.remains import Remain
from stanchion.audit.retention import DAY_MS, Keep, Old, leaving, prune as prune_trail
from stanchion.cli.answerers import answered, answerer
from stanchion.cli.audit_verifying import is_nowhere
from stanchion.cli.command import (
    ANSWERER,
    BY,
    PROJECT,
    STORE,
    WHY,
    Args,
    AsBadInput,
    BadInput,
    DeclaredCommand,
    option,
)
from stanchion.cli.printing import progress, records
from stanchion.cli.terminal import tell, visible, warn
from stanchion.cli.trails import database_of, reader_of
from stanchion.cli.whose import checks_folder, named_project, opened, whose
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.names import Names, names
from stanchion.kernel.regex import regex
from stanchion.ops.views.amounts import counted, day, size
from stanchion.ops.views.erasing import (
    ErasureLook,
    erasure_request,
    in_experience,
    kept_in,
    look_over,
    open_runs,
    remove_pieces,
    still_there,
)
from stanchion.runtime.operating.retention import SUBJECT, USUAL, permitted
from stanchion.runtime.people.authority import pinned_by
from stanchion.runtime.standing.places import KEY, StateFinder, keep_of
from stanchion.stores.memory import wall_ms

REFUSED: Final = 1
BYTES: Final = {"": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
_SIZE: Final = regex(r"(\d{1,12}(?:\.\d{1,3})?)\s?(|KB|MB|GB)", re.IGNORECASE)
_AGE: Final = regex(r"(\d{1,6})([dw])")


def prune(args: Args) -> int:
    """Show what leaves, and let it leave."""
    if database_of(None) is not None:
        raise BadInput(
            "the trail is copied to a database, and records that are not there yet must not be "
            "removed: set STANCHION_AUDIT_KEEP_DAYS and STANCHION_AUDIT_KEEP_MB for the shields "
            "that copy it"
        )
    reader = reader_of(None, whose(args.project))
    asked = _bounds(args)
    keep = _permitted(args, asked)
    if asked and not keep:
        warn(
            "operators have keys here, and none has said what may be removed: see "
            "`stanchion audit retention`",
        )
        return REFUSED
    gone = leaving(reader.folder, keep, wall_ms()) if keep else []
    if not args.dry_run:
        blank(reader.folder, undone(reader.folder))
    _show(reader, gone, keep)
    if args.dry_run or not gone:
        return 0
    with AsBadInput(OSError):
        done = prune_trail(reader.folder, gone, keep, _key(), wall_ms)
    tell(
        f"{counted(done, 'segment')} removed; the trail records which they were, and the rest "
        f"still verifies",
    )
    if done < len(gone):
        tell(
            f"{counted(len(gone) - done, 'segment')} kept: a process is writing that chain, or it "
            f"was tampered with",
        )
    return 0


def _bounds(args: Args) -> Keep:
    if args.older_than is None and args.larger_than is None:
        with AsBadInput(ValueError):
            return keep_of(os.environ, USUAL)
    days = largest = None
    if args.older_than is not None:
        said = _AGE.fullmatch(args.older_than.strip())
        if said is None or not int(said[1]):
            raise BadInput(
                f"`--older-than` is `{args.older_than}`: give days or weeks, such as `30d` or `8w`"
            )
        days = int(said[1]) * (7 if said[2] == "w" else 1)
    if args.larger_than is not None:
        said = _SIZE.fullmatch(args.larger_than.strip())
        if said is None or not float(said[1]):
            raise BadInput(
                f"`--larger-than` is `{args.larger_than}`: give a size such as `500MB` or `2GB`"
            )
        largest = int(float(said[1]) * BYTES[said[2].upper()])
    return Keep(days, largest)


def _permitted(args: Args, asked: Keep) -> Keep:
    """What operators let leave, of what is asked for."""
    named = "default" if args.policy is None else args.policy
    with args.load(named, store=args.store, journal="memory:", **named_project(args)) as shield:
        return permitted(asked, shield.store, pinned_by(shield.policy))


def _bounded(days: float | None, most: str) -> str:
    """What is meant by an age and a size, in words; empty where neither is given."""
    older = "" if days is None else f"older than {days:g} days"
    return " or ".join(filter(None, [older, f"more than {most}" if most else ""]))


def _show(reader: TrailReader, gone: list[Old], keep: Keep) -> None:
    bounds = _bounded(keep.days, "" if keep.size is None else size(keep.size))
    if not gone:
        words = f"nothing is {bounds}" if bounds else "everything is kept"
        tell(
            f"{words}: the trail has {size(reader.size())}, and only whole segments are removed",
        )
        return
    total = sum(old.size for old in gone)
    said = (
        f"{counted(len(gone), 'segment')}, {size(total)} of {size(reader.size())}: what is {bounds}"
    )
    tell(
        f"{said}; `stanchion audit export --until {day(max(old.at for old in gone) + DAY_MS)}` "
        f"keeps a copy",
    )
    for old in gone:
        tell(
            f"  {old.chain} segment {old.number}: records {old.first} to {old.last}, until "
            f"{day(old.at)}",
        )


def stored(store: str | None, whose: StateFinder, meant: Meant) -> list[Remain]:
    """What the store has of what is meant: open and answered tickets, results that are remembered,
    histories."""
    if store is None and is_nowhere(whose):
        return []
    try:
        with opened(store, whose) as kept:
            return [] if kept is None else [*kept_in(kept, meant), *in_experience(kept)]
    except BadInput as error:
        return [Remain("the store", f"cannot be read: {error}")]


LEFT: Final = 3
"""The exit status where not all of it is gone, or would go."""

SHOWN: Final = 50
"""How many of the things that are left are named."""


def erase(args: Args) -> int:
    """Erase what is meant, as whoever may; says what is left of it."""
    meant = _meant(args)
    state = whose(args.project)
    trail = reader_of(None, state).folder
    folders = [trail, *[one for one in [checks_folder(state)] if one != trail and chains(one)]]
    finished = 0 if args.dry_run else sum(blank(folder, undone(folder)) for folder in folders)
    if finished:
        tell(
            f"the content of {records(finished)} is erased, which finishes an erasure that was "
            f"interrupted",
        )
    looks = _looked(folders, meant)

    def left(now: list[ErasureLook]) -> list[Remain]:
        runs = open_runs(TrailReader(trail), meant, looks[0].said.runs)
        return [*chain(*[each.left for each in now]), *runs, *stored(args.store, state, meant)]

    if args.dry_run:
        _tell(looks, "would be erased")
        return _told(left(looks), "would be removed")
    if not any(looks):
        tell("no record matches")
        return _told(left(looks))

    def carried_out(args: Args, shield: Shield) -> int:
        shield.act(erasure_request(looks, args.why), answerer(args, shield))
        for folder in folders:
            remove_pieces(folder, meant, _key() if folder == trail else None)
        _tell(looks, "is erased")
        again = _looked(folders, meant)
        return _told([*still_there(again, meant), *left(again)])

    return answered(carried_out, args)


def _key() -> TrailKey | None:
    key = os.environ.get(KEY, "")
    return load_key(Path(key)) if key else None


def _looked(folders: list[Path], meant: Meant) -> list[ErasureLook]:
    looks = []
    for folder in folders:
        with progress("looking") as told:
            looks.append(look_over(folder, meant, told))
    return looks


def _meant(args: Args) -> Meant:
    if args.containing == "":
        raise BadInput("`--containing` is empty, and every record contains that: give the text")
    meant = Meant(
        run=_names(args.run),
        agent=None if args.agent is None else names(args.agent),
        task=_names(args.task),
        tenant=_names(args.tenant),
        containing=args.containing,
    )
    if not meant:
        raise BadInput(
            "say what to erase: `--run`, `--agent`, `--task`, `--tenant` or `--containing`; "
            "`--dry-run` shows how many records match"
        )
    return meant


def _names(given: str | None) -> Names | None:
    return None if given is None else names([given])


def _tell(looks: list[ErasureLook], how: str) -> None:
    count = sum(count_of(one.said.rows) for one in looks)
    tell(
        f"the content of {records(count)} {how}; the records themselves and their decisions stay",
    )
    for number, one in enumerate(looks):
        of_checks = "of `stanchion check`, " if number else ""
        for name, some in one.said.rows.items():
            words = f"{of_checks}{records(count_of({name: some}))}, {some[0][0]} to {some[-1][1]}"
            tell(f"  {name}: {words}")
        for path in one.torn:
            tell(
                f"  {path.parent.name}/{path.name}: {of_checks}a piece of a record that a crash "
                f"left",
            )
        for tail in one.tails:
            tell(
                f"  {tail.place}: {of_checks}the beginning of a record, cut off by a crash",
            )


def _told(left: list[Remain], how: str = "is gone") -> int:
    """Name what is left; gives the exit status."""
    if not left:
        return 0
    tell(f"not all of it {how}:")
    for one in left[:SHOWN]:
        tell(f"  {visible(one.place)}: {one.what}")
    if len(left) > SHOWN:
        tell(f"  … and {len(left) - SHOWN:,} more")
    return LEFT


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < 1e9:
        raise argparse.ArgumentTypeError(f"is `{text}`: give a positive number")
    return number


def retain(args: Args) -> int:
    """Say it."""
    said = {"days": args.days, "megabytes": args.megabytes, "why": args.why}
    request = Request(purpose=Purpose.RETENTION, tenant=FLEET, subject=SUBJECT, said=said)

    leaves = _bounded(args.days, "" if args.megabytes is None else f"{args.megabytes:g} MB")

    def said_so(args: Args, shield: Shield) -> int:
        shield.act(request, answerer(args, shield))
        tell(
            f"what is {leaves} may be removed from the trail"
            if leaves
            else "nothing is removed from the trail",
        )
        return 0

    return answered(said_so, args)


AUDIT_RETENTION_COMMAND: Final = DeclaredCommand(
    usage="""stanchion audit retention [--days N] [--megabytes N] [--why WORDS] [--store URL]
       --key FILE | --ssh-agent""",
    description="""\
Set which records may be removed from the trail: those older than a number of days, or
beyond a number of megabytes. If operators are enrolled, STANCHION_AUDIT_KEEP_DAYS and
STANCHION_AUDIT_KEEP_MB remove no more than this allows, and nothing if it was never set.
Without either option everything is kept.""",
    epilog="""\
examples:
  stanchion audit retention --days 90 --key ~/.config/stanchion/keys/ann
  stanchion audit retention --why 'the auditors are here' --ssh-agent

It applies to shields that start from now on.

exit status:
  0  it is done
  1  you are not allowed to: nothing has changed
  2  the store or the key cannot be used""",
    options=(
        option("--days N", "records older than this may be removed", type=_positive),
        option(
            "--megabytes N", "records above this size may be removed, oldest first", type=_positive
        ),
        WHY,
        BY,
        STORE,
        PROJECT,
        ANSWERER,
    ),
    work=retain,
)
