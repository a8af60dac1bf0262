"""`stanchion audit erase`: erase what was said in records; their skeletons stay, and the trail
still verifies."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion import Shield
from stanchion.approvals.act import Purpose
from stanchion.approvals.request import Request
from stanchion.audit.erasure import (
    Meant,
    MeantRecords,
    blank,
    count_of,
    cut_off,
    meant_in,
    remove,
    undone,
)
from stanchion.audit.keys import load_key
from stanchion.audit.layout import chains
from stanchion.audit.reader import TrailReader
from stanchion.audit.remains import Remain, Tail, damaged, held_fast, pieces, strangers, tails
from stanchion.audit.trail import wall_ms
from stanchion.cli.answerers import answerer
from stanchion.cli.auditing.seen import is_nowhere
from stanchion.cli.checks_folder import checks_folder
from stanchion.cli.operator_options import answered
from stanchion.cli.progress import progress, records
from stanchion.cli.stores import opened
from stanchion.cli.terminal import tell, visible
from stanchion.cli.trails import reader_of
from stanchion.cli.trouble import BadInput
from stanchion.cli.whose import whose
from stanchion.kernel.names import Names, names
from stanchion.kernel.scopes import FLEET
from stanchion.ops.views.unerased import in_experience, kept_in, open_runs
from stanchion.runtime.operating.retention import SUBJECT
from stanchion.runtime.standing.places import KEY
from stanchion.runtime.standing.state_places import Whose


def stored(store: str | None, whose: Whose, meant: Meant) -> list[Remain]:
    """What the store has of what is meant: open and answered tickets, results that are remembered,
    histories."""
    if store is None and is_nowhere(whose):
        return []
    try:
        with opened(store, whose) as kept:
            return [] if kept is None else [*kept_in(kept, meant), *in_experience(kept)]
    except BadInput as error:
        return [Remain("the store", f"cannot be read: {error}")]


UNSAID: Final = {"why": "", "by": "", "ssh_agent": False, "as_name": "", "role": ""}
"""What the options of whoever answers are where they are not given."""

LEFT: Final = 3
"""The exit status where not all of it is gone, or would go."""

SHOWN: Final = 50
"""How many of the things that are left are named."""


CAME: Final = "written in the meantime: erase again"


class Look(msgspec.Struct, frozen=True):
    """What there is of what is meant in one trail: records, pieces beside chains, beginnings of
    records at the end of segments, and what cannot be erased."""

    folder: Path
    said: MeantRecords
    torn: list[Path]
    tails: list[Tail]
    left: list[Remain]

    def __bool__(self) -> bool:
        return bool(self.said.rows or self.torn or self.tails)


def erase(args: argparse.Namespace) -> int:
    """Erase what is meant, as whoever may; says what is left of it."""
    for name, usual in UNSAID.items():
        if getattr(args, name) is None:
            setattr(args, name, usual)
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

    def left(now: list[Look]) -> list[Remain]:
        runs = open_runs(TrailReader(trail), meant, looks[0].said.runs)
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
        purpose=Purpose.ERASE, tenant=FLEET, subject=SUBJECT, said=_asked(looks, args.why)
    )

    def carried_out(shield: Shield) -> int:
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

    return answered(args, carried_out)


def _looked(folders: list[Path], meant: Meant) -> list[Look]:
    """What there is of what is meant in each of some trails."""
    looks = []
    for folder in folders:
        reader = TrailReader(folder)
        with progress("looking") as told:
            said = meant_in(reader, meant, told)
        left = [*damaged(reader, meant), *strangers(folder, meant)]
        looks.append(Look(folder, said, pieces(folder, meant), tails(folder, meant), left))
    return looks


def _asked(looks: list[Look], why: str) -> dict[str, Any]:
    """What somebody is asked to answer for."""
    plain = [
        {chain: [list(row) for row in some] for chain, some in one.said.rows.items()}
        for one in looks
    ]
    beside = {str(one.folder): rows for one, rows in zip(looks[1:], plain[1:], strict=True) if rows}
    return {"records": plain[0], "why": why, **({"beside": beside} if beside else {})}


def _meant(args: argparse.Namespace) -> Meant:
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


def _tell(looks: list[Look], how: str) -> None:
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
