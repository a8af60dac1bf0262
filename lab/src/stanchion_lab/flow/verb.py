"""`stanchion lab flow`: what is played, to which guard, and what is shown of it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.cli.trouble import BadInput
from stanchion.policy.errors import PolicyError
from stanchion.policy.load import load_policy
from stanchion_lab.flow.ablating import ablate, ablation_data, ablation_lines
from stanchion_lab.flow.fitting import Fitting, fit_data, fit_lines
from stanchion_lab.flow.measuring import measure
from stanchion_lab.flow.replaying import ALONE, Shields, shields_of
from stanchion_lab.flow.report import lines, plain
from stanchion_lab.flow.sources import DOJO, Source, sources
from stanchion_lab.flow.trace import TOOLS, write_traces
from stanchion_lab.flow.tuning import flow_guard
from stanchion_lab.measuring.rows import VARIABLE, NoRows

SAMPLE: Final = 25
SEED: Final = 1
WORKS: Final = ("write", "fit", "table", "ablate")
"""What can be done with traces instead of playing them once."""

ROWS: Final = ("injecagent.jsonl", "benign_traces.jsonl", "honest_sessions.jsonl")

Said = tuple[Iterator[str], dict[str, Any]]


def flow(args: argparse.Namespace) -> Said:
    """Do what is asked; gives the report for people and as data."""
    work = _work(args)
    try:
        found = sources(_names(args, bool(work) and work != "write"))
        if work == "write":
            return _written(found, Path(args.write))
        if work:
            return _tuned(args, found)
        measured = measure(found, _shields(args), args.approve is not None)
    except NoRows as error:
        raise BadInput(str(error)) from None
    return lines(measured, 0 if args.show is None else args.show), plain(measured)


def _work(args: argparse.Namespace) -> str:
    """The one thing that is asked for; empty where traces are just played."""
    asked = [name for name in WORKS if getattr(args, name) is not None]
    if len(asked) > 1:
        raise BadInput(f"`--{asked[0]}` and `--{asked[1]}` are two things: ask for one at a time")
    work = asked[0] if asked else ""
    if (work == "fit") != (args.without is not None):
        raise BadInput("`--fit` and `--without SET` go together: name the set that is left out")
    sampling = [name for name in ("seed", "sample") if getattr(args, name) is not None]
    if sampling and work not in ("fit", "table", "ablate"):
        raise BadInput(
            f"`--{sampling[0]}` is for samples: give it with `--fit`, `--table` or `--ablate`"
        )
    if work and (args.policy is not None or args.approve is not None or args.show is not None):
        raise BadInput(f"`--{work}` takes no `--policy`, `--approve` or `--show`")
    return work


def _tuned(args: argparse.Namespace, found: list[Source]) -> Said:
    most, seed = (
        SAMPLE if args.sample is None else args.sample,
        SEED if args.seed is None else args.seed,
    )
    tunable = flow_guard(args.setting)
    if args.ablate is not None:
        results = ablate(tunable, found, most, seed)
        return ablation_lines(results, most, seed), ablation_data(results, most, seed)
    fitting = Fitting(tunable, found, most, seed)
    fitted = [fitting.fit(part) for part in (fitting.parts if args.fit is None else [args.without])]
    return fit_lines(fitted, fitting.grid, most, seed), fit_data(fitted, most, seed)


def _names(args: argparse.Namespace, every: bool) -> list[str]:
    """What is named, or what there is: the folder `flow`, and to compare parts `every` other set,
    too."""
    if args.what:
        return list(args.what)
    folder = os.environ.get(VARIABLE, "")
    if not folder:
        raise BadInput(
            f"no traces are named: give a file or a folder, or set {VARIABLE}, whose folder `flow` "
            f"has them"
        )
    rows = [str(path) for name in ROWS if (path := Path(folder) / name).is_file()]
    return [str(Path(folder) / "flow"), *([*rows, DOJO] if every else [])]


def _shields(args: argparse.Namespace) -> Shields:
    if args.policy is not None and args.setting is not None:
        raise BadInput(
            "`--setting` is for the guard alone: with `--policy` write it into the policy"
        )
    entry = {"use": "flow"} if args.setting is None else {"use": "flow", "setting": args.setting}
    try:
        return shields_of(
            load_policy(
                {**ALONE, "guards": [entry]} if args.policy is None else args.policy, args.env
            )
        )
    except PolicyError as error:
        raise BadInput(*[str(fault) for fault in error.faults]) from None


def _written(found: list[Source], folder: Path) -> Said:
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
