"""`stanchion audit prune`: let the oldest segments of the trail leave now."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path
from typing import Final

from stanchion.audit.erasure import blank, undone
from stanchion.audit.errors import TrailError
from stanchion.audit.keys import load_key
from stanchion.audit.reader import TrailReader
from stanchion.audit.retention import DAY_MS, Keep, Old, leaving, prune as prune_trail
from stanchion.cli.terminal import say, tell
from stanchion.cli.trails import database_of, reader_of
from stanchion.cli.trouble import AsBadInput, BadInput
from stanchion.cli.whose import named_project, whose
from stanchion.kernel.regex import regex
from stanchion.ops.views.amounts import size
from stanchion.ops.views.times import day
from stanchion.runtime.operating.retention import USUAL, permitted
from stanchion.runtime.people.authority import pinned_by
from stanchion.runtime.standing.places import KEY, keep_of
from stanchion.stores.memory import wall_ms
from stanchion.stores.protocol import StoreError

REFUSED: Final = 1
BYTES: Final = {"": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}
_SIZE: Final = regex(r"(\d{1,12}(?:\.\d{1,3})?)\s?(|KB|MB|GB)", re.IGNORECASE)
_AGE: Final = regex(r"(\d{1,6})([dw])")


def prune(args: argparse.Namespace) -> int:
    """Show what leaves, and let it leave."""
    if database_of(None) is not None:
        raise BadInput(
            "the trail is copied to a database, and records that are not there yet must not be "
            "removed: set STANCHION_AUDIT_KEEP_DAYS and STANCHION_AUDIT_KEEP_MB for the shields "
            "that copy it"
        )
    reader = reader_of(None, whose(args.project))
    asked = _asked(args)
    keep = _permitted(args, asked)
    if asked and not keep:
        say(
            sys.stderr,
            "stanchion: operators have keys here, and none has said what may be removed: see "
            "`stanchion retention`",
        )
        return REFUSED
    gone = leaving(reader.folder, keep, wall_ms()) if keep else []
    if not args.dry_run:
        blank(reader.folder, undone(reader.folder))
    _show(reader, gone, keep)
    if args.dry_run or not gone:
        return 0
    with AsBadInput(TrailError, OSError):
        key = os.environ.get(KEY, "")
        done = prune_trail(reader.folder, gone, keep, load_key(Path(key)) if key else None, wall_ms)
    tell(
        f"{_segments(done)} removed; the trail records which they were, and the rest still "
        f"verifies",
    )
    if done < len(gone):
        tell(
            f"{_segments(len(gone) - done)} kept: a process is writing that chain, or it was "
            f"tampered with",
        )
    return 0


def _asked(args: argparse.Namespace) -> Keep:
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


def _permitted(args: argparse.Namespace, asked: Keep) -> Keep:
    """What operators let leave, of what is asked for."""
    with AsBadInput(StoreError):
        named = "default" if args.policy is None else args.policy
        with args.load(named, store=args.store, journal="memory:", **named_project(args)) as shield:
            return permitted(asked, shield.store, pinned_by(shield.policy))


def _show(reader: TrailReader, gone: list[Old], keep: Keep) -> None:
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
        f"{_segments(len(gone))}, {size(total)} of {size(reader.size())}: what is "
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


def _segments(count: int) -> str:
    return f"{count:,} segment{'' if count == 1 else 's'}"
