"""`stanchion lab flow`: what is played, to which guard, and what is shown of it."""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from stanchion.cli.progress import progress
from stanchion.cli.trouble import BadInput
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion_lab.flow.replaying import ALONE, Replayed, Replayer, Shields, shields_of
from stanchion_lab.flow.report import Measured, lines, plain
from stanchion_lab.flow.sources import Source, sources
from stanchion_lab.flow.trace import TOOLS, write_traces
from stanchion_lab.measuring.rows import VARIABLE, NoRows


def flow(args: argparse.Namespace) -> tuple[Iterator[str], dict[str, Any]]:
    """Do what is asked; gives the report for people and as data."""
    try:
        found = sources(_names(args))
        if args.write is not None:
            return _written(found, Path(args.write))
        measured = measure(found, _shields(args), args.approve is not None)
    except NoRows as error:
        raise BadInput(str(error)) from None
    return lines(measured, 0 if args.show is None else args.show), plain(measured)


def measure(found: list[Source], shields: Shields, approve: bool = False) -> Measured:
    """Play everything that these sources have."""
    replayer = Replayer(shields, approve)
    played: list[Replayed] = []
    idle: Counter[str] = Counter()
    started = time.perf_counter()
    with progress("playing traces", lambda number: f"{number} sources" if number != 1 else "1 source") as told:
        for done, source in enumerate(found):
            tools = source.tools()
            for trace in source.traces():
                if trace.idle:
                    idle[trace.set] += 1
                    continue
                played.append(replayer.play(trace, source.name, tools))
                if told is not None:
                    told(done, len(found))
    note = ", questions about honest calls answered with yes" if approve else ""
    return Measured(tuple(played), time.perf_counter() - started, note, dict(idle))


def _names(args: argparse.Namespace) -> list[str]:
    if args.what:
        return list(args.what)
    folder = os.environ.get(VARIABLE, "")
    if not folder:
        raise BadInput(f"no traces are named: give a file or a folder, or set {VARIABLE}, whose folder `flow` has them")
    return [str(Path(folder) / "flow")]


def _shields(args: argparse.Namespace) -> Shields:
    if args.policy is not None and args.setting is not None:
        raise BadInput("`--setting` is for the guard alone: with `--policy` write it into the policy")
    entry = {"use": "flow"} if args.setting is None else {"use": "flow", "setting": args.setting}
    try:
        return shields_of(load_policy({**ALONE, "guards": [entry]} if args.policy is None else args.policy, args.env))
    except PolicyError as error:
        raise BadInput(*[str(fault) for fault in error.faults]) from None


def _written(found: list[Source], folder: Path) -> tuple[Iterator[str], dict[str, Any]]:
    """Write every source into a folder, as a file of traces and one of definitions."""
    folder.mkdir(parents=True, exist_ok=True)
    counts: dict[str, int] = {}
    for source in found:
        path = folder / f"{source.name}.jsonl"
        counts[str(path)] = write_traces(path, source.traces())
        (folder / f"{source.name}{TOOLS}").write_bytes(msgspec.json.encode(source.tools()))
    return iter([f"{path}: {count:,} traces" for path, count in counts.items()]), {"written": counts}
