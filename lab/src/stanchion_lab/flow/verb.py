"""`stanchion lab flow`: what is played, to which guard, and what is shown of it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.cli.command import BadInput
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion_lab.flow.measuring import Manner, measure
from stanchion_lab.flow.phrasings import WAYS
from stanchion_lab.flow.replaying import (
    Shields,
    shields_alone,
    shields_of,
)
from stanchion_lab.flow.report import lines, plain
from stanchion_lab.flow.sources import Source, sources
from stanchion_lab.flow.trace import TOOLS, write_traces
from stanchion_lab.measuring.rows import VARIABLE, NoRows

ALL: Final = "all"

Report = tuple[Iterator[str], dict[str, Any]]


def flow(args: argparse.Namespace) -> Report:
    """Do what is asked; gives the report for people and as data."""
    manner = _manner(args)
    try:
        found = sources(_names(args), manner.flat, manner.phrasings)
        if args.write is not None:
            return _written(found, Path(args.write))
        measured = measure(found, _shields(args), manner)
    except NoRows as error:
        raise BadInput(str(error)) from None
    return lines(measured, 0 if args.show is None else args.show), plain(measured)


def _manner(args: argparse.Namespace) -> Manner:
    """How the traces are to be played."""
    if args.drafted is not None and args.policy is not None:
        raise BadInput("`--drafted` is for the guard alone: a policy declares what it declares")
    ways = [] if args.phrasing is None else list(dict.fromkeys(args.phrasing))
    for way in ways:
        if way not in (ALL, *WAYS):
            raise BadInput(f"there is no phrasing `{way}`: there are all, {', '.join(WAYS)}")
    flags = {"drafted": args.drafted, "flat": args.flat, f"may by {args.may}": args.may}
    note = "".join([f", {name}" for name, given in flags.items() if given is not None])
    return Manner(
        args.flat is not None,
        "" if args.may is None else args.may,
        WAYS if ALL in ways else tuple(ways),
        note,
    )


def _names(args: argparse.Namespace) -> list[str]:
    """What is named, or the folder `flow` of the corpora."""
    if args.what:
        return list(args.what)
    folder = os.environ.get(VARIABLE, "")
    if not folder:
        raise BadInput(
            f"no traces are named: give a file or a folder, or set {VARIABLE}, whose folder `flow` "
            f"has them"
        )
    return [str(Path(folder) / "flow")]


def _shields(args: argparse.Namespace) -> Shields:
    if args.policy is None:
        return shields_alone(args.drafted is not None)
    try:
        return shields_of(load_policy(args.policy, args.env))
    except PolicyError as error:
        raise BadInput(*[str(fault) for fault in error.faults]) from None


def _written(found: list[Source], folder: Path) -> Report:
    """Write every source into a folder, as a file of traces and one of definitions."""
    folder.mkdir(parents=True, exist_ok=True)
    counts: dict[str, int] = {}
    for source in found:
        path = folder / f"{source.name}.jsonl"
        counts[str(path)] = write_traces(path, source.traces())
        (folder / f"{source.name}{TOOLS}").write_bytes(msgspec.json.encode(source.tools()))
    return iter([f"{path}: {count:,} traces" for path, count in counts.items()]), {
        "written": counts
    }
