"""`stanchion audit erase`: erase what was said in records; their skeletons stay, and the trail still verifies."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Final

from stanchion import Shield
from stanchion.approvals.act import Purpose
from stanchion.approvals.request import Request
from stanchion.audit.erasing import Meant, Rows, blank, count_of, meant_in, pieces, undone
from stanchion.cli.answerers import answerer
from stanchion.cli.operating import answered
from stanchion.cli.progress import progress
from stanchion.cli.terminal import say
from stanchion.cli.trails import reader_of
from stanchion.cli.trouble import BadInput
from stanchion.cli.whose import whose
from stanchion.kernel.scopes import FLEET
from stanchion.runtime.retaining import SUBJECT

UNSAID: Final = {"why": "", "by": "", "ssh_agent": False, "as_name": "", "role": ""}
"""What the options of whoever answers are where they are not given."""

STILL: Final = (
    "the store still has the results of calls whose effects are remembered, tickets that are open, and histories of "
    "runs, until they expire: `stanchion state` shows them"
)


def erase(args: argparse.Namespace) -> int:
    """Erase what is meant, as whoever may."""
    for name, usual in UNSAID.items():
        if getattr(args, name) is None:
            setattr(args, name, usual)
    meant = _meant(args)
    reader = reader_of(None, whose(args.project))
    with progress("looking") as told:
        rows = meant_in(reader, meant, told)
    torn = pieces(reader.folder, meant)
    if args.dry_run:
        _tell(rows, torn, "would be erased")
        return 0
    finished = blank(reader.folder, undone(reader.folder))
    if finished:
        say(sys.stdout, f"what was said in {_records(finished)} is erased, as the trail says since it was interrupted")
    if not rows and not torn:
        say(sys.stdout, "no record says anything of that")
        return 0
    request = Request(
        purpose=Purpose.ERASE,
        tenant=FLEET,
        subject=SUBJECT,
        said={"records": {chain: [list(row) for row in some] for chain, some in rows.items()}, "why": args.why},
    )

    def carried_out(shield: Shield) -> int:
        shield.act(request, answerer(args, shield))
        for path in torn:
            path.unlink(missing_ok=True)
        _tell(rows, torn, "is erased")
        say(sys.stdout, STILL)
        return 0

    return answered(args, carried_out)


def _meant(args: argparse.Namespace) -> Meant:
    agents = args.agent if args.agent is not None else [None]
    if len(agents) > 1:
        raise BadInput("`--agent` is given several times: erase what one of them said, then what the next did")
    if args.containing == "":
        raise BadInput("`--containing` is empty, and every record contains that: give the text")
    meant = Meant(run=args.run, agent=agents[0], task=args.task, tenant=args.tenant, containing=args.containing)
    if not meant:
        raise BadInput(
            "say whose words are to be erased: `--run`, `--agent`, `--task`, `--tenant` or `--containing`; "
            "`--dry-run` shows how many records those are"
        )
    return meant


def _tell(rows: Rows, torn: list[Path], how: str) -> None:
    say(
        sys.stdout,
        f"what was said in {_records(count_of(rows))} {how}; that they were written, and what was decided, stays",
    )
    for chain, some in rows.items():
        say(sys.stdout, f"  {chain}: {_records(count_of({chain: some}))}, {some[0][0]} to {some[-1][1]}")
    for path in torn:
        say(sys.stdout, f"  {path.parent.name}{os.sep}{path.name}: a piece of a record that a crash left")


def _records(count: int) -> str:
    return f"{count:,} record{'' if count == 1 else 's'}"
