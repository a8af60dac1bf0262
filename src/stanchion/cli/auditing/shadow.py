"""`stanchion audit shadow`: what guards in shadow mode would have done, by guard."""

from __future__ import annotations

import argparse
from typing import Final

from stanchion.audit.reader import TrailReader
from stanchion.cli.auditing.choice import wanted_of
from stanchion.cli.printing import put_json, put_table
from stanchion.cli.progress import progress, records
from stanchion.cli.terminal import put_line
from stanchion.cli.trails import records_in, tell_unread
from stanchion.cli.verdict import style_of
from stanchion.kernel.actions import Action
from stanchion.ops.views.shadow import ShadowView, WouldView, shadowed
from stanchion.ops.views.times import shown
from stanchion.ops.views.trails import chosen
from stanchion.stores.memory import wall_ms

COLUMNS: Final = ("guard", "would be", "code", "times", "changed", "runs", "last", "example")
NUMBERS: Final = frozenset({"times", "changed", "runs"})


def shadow(args: argparse.Namespace) -> int:
    """Report what guards in shadow mode would have done."""
    wanted = wanted_of(args, wall_ms())
    with records_in(args) as reader:
        with progress("counting", None if isinstance(reader, TrailReader) else records) as told:
            found = shadowed(chosen(reader, wanted, told))
        tell_unread(reader)
    if args.json:
        put_json(found)
        return 0
    if found.guards:
        styles = [{"would be": style_of(Action[row.action])} for row in found.guards]
        put_table(COLUMNS, [_row(row) for row in found.guards], NUMBERS, styles)
        put_line("")
    put_line(_total(found))
    return 0


def _row(row: WouldView) -> tuple[str, ...]:
    counts = f"{row.times:,}", f"{row.changed:,}", f"{row.runs:,}"
    return row.guard, row.action, row.code, *counts, shown(row.last_ms), row.examples[0]


def _total(found: ShadowView) -> str:
    if not found.guards:
        return f"no guard in shadow mode has found anything in {found.decisions:,} decisions"
    return f"{found.changed:,} of {found.decisions:,} decisions would have been more severe"
