"""`stanchion lab compile`: what is asked for, and what is said of it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from stanchion.cli.command import BadInput, nearest
from stanchion.cli.printing import progress
from stanchion.tutor.bundles.file import BundleRefused
from stanchion_lab.compiling.compiling import Compiled, Plan, compiled
from stanchion_lab.compiling.drafting import write_frozen
from stanchion_lab.compiling.optimizing import CANDIDATES, OPTIMIZERS, ModelFailed, language_model
from stanchion_lab.compiling.package import NoDSPy
from stanchion_lab.compiling.traces import ENDING, NoTraces

MOST: Final = 100
"""How many candidates can be asked for."""

Said = tuple[Iterator[str], dict[str, Any]]


def compile_bundle(args: argparse.Namespace) -> Said:
    """Compile a bundle and freeze it; gives the report for people and as data."""
    plan, to = _plan(args), _target(args)
    try:
        with progress("compiling", _replies) as told:
            found = compiled(plan, lambda: language_model(plan.model), _now(), told)
        digest = _written(found, to)
    except (NoTraces, NoDSPy, ModelFailed) as error:
        raise BadInput(str(error)) from None
    return _lines(found, to, digest), _data(found, to, digest)


def _plan(args: argparse.Namespace) -> Plan:
    if not args.what:
        raise BadInput(f"name the traces: files that end in `{ENDING}`, or folders that have some")
    if args.model is None:
        raise BadInput("name the model that is to play with `--model`, as `ollama_chat/small:3b`")
    name = "bootstrap" if args.optimizer is None else args.optimizer
    if name not in OPTIMIZERS:
        known = f"there are {', '.join(OPTIMIZERS)}"
        raise BadInput(f"there is no optimizer `{name}`: {nearest(name, OPTIMIZERS, known)}")
    number = CANDIDATES if args.candidates is None else args.candidates
    if not 1 <= number <= MOST:
        raise BadInput(f"`--candidates` is `{number}`: give a number from 1 to {MOST}")
    return Plan(traces=tuple(args.what), model=args.model, optimizer=name, candidates=number)


def _target(args: argparse.Namespace) -> Path:
    """Where the bundle goes. It is looked at before the model is asked a thousand times."""
    if args.out is None:
        raise BadInput("say where the bundle goes with `--out FILE`")
    to = Path(args.out)
    if to.suffix != ".json":
        raise BadInput(f"`{to}` does not end in `.json`: a frozen bundle is written as JSON")
    if to.exists():
        raise BadInput(f"`{to}` already exists: use another file")
    if not to.parent.is_dir():
        raise BadInput(f"`{to}` cannot be written: there is no folder `{to.parent}`")
    return to


def _written(found: Compiled, to: Path) -> str:
    try:
        return write_frozen(found.draft, to)
    except BundleRefused as refused:
        raise BadInput(f"what was compiled cannot be frozen: {refused}") from None
    except FileExistsError:
        raise BadInput(f"`{to}` already exists: use another file") from None
    except OSError as error:
        raise BadInput(f"`{to}` cannot be written: {str(error.strerror).lower()}") from None


def _lines(found: Compiled, to: Path, digest: str) -> Iterator[str]:
    yield f"learnt from {_games(found.learnt)}, {_situations(found.positions)}"
    yield f"held back: {_games(len(found.scores.games))}: {found.scores.words}"
    yield f"examples: {len(found.draft['exemplars'])}"
    yield f"wrote {to}: {digest}"


def _data(found: Compiled, to: Path, digest: str) -> dict[str, Any]:
    scores = found.scores
    return {
        "bundle": str(to),
        "bundle_hash": digest,
        "games_learnt": found.learnt,
        "situations": found.positions,
        "held_back": list(scores.games),
        "wins": scores.wins,
        "worth": scores.worth,
        "baseline_wins": scores.baseline_wins,
        "baseline_worth": scores.baseline_worth,
    }


def _games(number: int) -> str:
    return f"{number} games" if number != 1 else "1 game"


def _situations(number: int) -> str:
    return f"{number:,} situations" if number != 1 else "1 situation"


def _replies(number: int) -> str:
    return f"{number:,} replies" if number != 1 else "1 reply"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
