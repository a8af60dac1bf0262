"""What leaves a trail: `stanchion audit` prune and erase, and retention, which says what may."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from stanchion import Shield
from stanchion.approvals.act import Purpose
from stanchion.approvals.digest import Request
from stanchion.audit.erasure import Meant, Said, blank, count_of, cut_off, meant_in, remove, undone
from stanchion.audit.keys import load_key
from stanchion.audit.layout import chains
from stanchion.audit.reader import Reader
from stanchion.audit.remains import Remain, Tail, damaged, held_fast, pieces, strangers, tails
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
from stanchion.kernel.names import Names, names
from stanchion.kernel.regex import regex
from stanchion.kernel.scopes import FLEET
from stanchion.ops.views.amounts import counted, day, size
from stanchion.ops.views.unerased import in_experience, kept_in, open_runs
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
        key = os.environ.get(KEY, "")
        done = prune_trail(reader.folder, gone, keep, load_key(Path(key)) if key else None, wall_ms)
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


def _show(reader: Reader, gone: list[Old], keep: Keep) -> None:
    bounds = [f"older than {keep.days:g} days"] if keep.days is not None else []
    bounds += [f"more than {size(keep.size)}"] if keep.size is not None else []
    if not gone:
        words = f"nothing is {' or '.join(bounds)}" if bounds else "everything is kept"
        tell(
            f"{words}: the trail has {size(reader.size())}, and only whole segments are removed",
        )
        return
    total = sum(old.size for old in gone)
    said = (
        f"{counted(len(gone), 'segment')}, {size(total)} of {size(reader.size())}: what is "
        f"{' or '.join(bounds)}"
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


CAME: Final = "written in the meantime: erase again"


class ErasureLook(Struct, frozen=True):
    """What there is of what is meant in one trail: records, pieces beside chains, beginnings of
    records at the end of segments, and what cannot be erased."""

    folder: Path
    said: Said
    torn: list[Path]
    tails: list[Tail]
    left: list[Remain]

    def __bool__(self) -> bool:
        return bool(self.said.rows or self.torn or self.tails)


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
        runs = open_runs(Reader(trail), meant, looks[0].said.runs)
        return [
            *(one for each in now for one in each.left),
            *runs,
            *stored(args.store, state, meant),
        ]

    if args.dry_run:
        _tell(looks, "would be erased")
        return _told(left(looks), "would be removed")
    if not any(looks):
        tell("no record matches")
        return _told(left(looks))
    request = Request(
        purpose=Purpose.ERASE, tenant=FLEET, subject=SUBJECT, said=_said_of(looks, args.why)
    )

    def carried_out(args: Args, shield: Shield) -> int:
        shield.act(request, answerer(args, shield))
        key = os.environ.get(KEY, "")
        for folder in folders:
            # Opening a trail may have made pieces of what was no piece before.
            torn = [tail.chain for tail in tails(folder, meant)]
            cut_off(folder, torn, load_key(Path(key)) if key and folder == trail else None, wall_ms)
            remove(pieces(folder, meant))
        _tell(looks, "is erased")
        again = _looked(folders, meant)
        came = [
            Remain(f"{chain}:{rows[0][0]}", CAME)
            for one in again
            for chain, rows in one.said.rows.items()
        ]
        fast = [one for folder in folders for one in held_fast(folder, meant)]
        return _told([*came, *fast, *left(again)])

    return answered(carried_out, args)


def _looked(folders: list[Path], meant: Meant) -> list[ErasureLook]:
    """What there is of what is meant in each of some trails."""
    looks = []
    for folder in folders:
        reader = Reader(folder)
        with progress("looking") as told:
            said = meant_in(reader, meant, told)
        left = [*damaged(reader, meant), *strangers(folder, meant)]
        looks.append(ErasureLook(folder, said, pieces(folder, meant), tails(folder, meant), left))
    return looks


def _said_of(looks: list[ErasureLook], why: str) -> dict[str, Any]:
    """What somebody is asked to answer for."""
    plain = [
        {chain: [list(row) for row in some] for chain, some in one.said.rows.items()}
        for one in looks
    ]
    beside = {str(one.folder): rows for one, rows in zip(looks[1:], plain[1:], strict=True) if rows}
    return {"records": plain[0], "why": why, **({"beside": beside} if beside else {})}


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
        for chain, some in one.said.rows.items():
            words = f"{of_checks}{records(count_of({chain: some}))}, {some[0][0]} to {some[-1][1]}"
            tell(f"  {chain}: {words}")
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

    bounds = [f"older than {args.days:g} days"] if args.days is not None else []
    bounds += [f"more than {args.megabytes:g} MB"] if args.megabytes is not None else []
    leaves = " or ".join(bounds)

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
