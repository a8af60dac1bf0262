"""`stanchion audit witness`: write the heads of a trail where agents cannot rewrite them, until
told to stop."""

from __future__ import annotations

import argparse
import queue
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from stanchion.audit.witnessing.place import BadPlace, Unreachable
from stanchion.audit.witnessing.rounds import Round, Writer, patience_s
from stanchion.cli.auditing.places import owner, place_at, usual_place
from stanchion.cli.terminal import say, tell
from stanchion.cli.trails import database_of, records_in, trail_at
from stanchion.cli.trouble import BadInput
from stanchion.cli.whose import whose
from stanchion.ops.views.times import shown
from stanchion.runtime.standing.places import WITNESS
from stanchion.stores.memory import wall_ms

if TYPE_CHECKING:
    from stanchion.audit.witnessing.place import WitnessPlace

EVERY_S: Final = 60
DONE: Final = 0
NOT_REACHED: Final = 1


def keep_witness(args: argparse.Namespace) -> int:
    """Write heads to a place, once or until a signal comes."""
    name = usual_place(args.trail) if args.what is None else args.what
    if not name:
        raise BadInput(
            f"say where the witness is kept: `stanchion audit witness PLACE`, or set {WITNESS}"
        )
    # Without an interval a single line promises no next one.
    every_s = int(args.every) if args.every is not None else 0 if args.once else EVERY_S
    folder = (
        None if database_of(args.trail) is not None else trail_at(args.trail, whose(args.project))
    )
    place = place_at(name, folder, args.tsa_cert)
    writer = Writer(lambda: _heads(args), place, every_s, wall_ms)
    try:
        _heads(args)
        return _once(writer, place, folder) if args.once else _often(writer, place, folder, every_s)
    except BadPlace as error:
        raise BadInput(str(error)) from None
    finally:
        place.close()


def _once(writer: Writer, place: WitnessPlace, folder: Path | None) -> int:
    try:
        _tell(writer.write(), place)
        _name(place, folder)
    except Unreachable as error:
        say(sys.stderr, f"stanchion: {error}")
        return NOT_REACHED
    return DONE


def _often(writer: Writer, place: WitnessPlace, folder: Path | None, every_s: int) -> int:
    stopped: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: stopped.put(number))
    failures, named = 0, False
    while True:
        began = time.monotonic()
        try:
            done = writer.write()
            if not named:
                _name(place, folder)
                tell(
                    f"writing the heads to `{place.name}` every {every_s} s, until SIGTERM or "
                    f"Ctrl-C",
                )
            elif sys.stdout.isatty():
                _tell(done, place)
            for odd in done.odd:
                say(sys.stderr, f"stanchion: {odd}")
            failures, named = 0, True
            wait_s = every_s - (time.monotonic() - began)
        except (Unreachable, BadInput) as error:
            failures += 1
            wait_s = patience_s(failures, every_s)
            say(sys.stderr, f"stanchion: {error}; trying again in {wait_s:g} s")
        try:
            stopped.get(timeout=max(0.0, wait_s))
            return DONE
        except queue.Empty:
            continue


def _heads(args: argparse.Namespace) -> Mapping[str, bytes]:
    """The heads as they stand; a trail that is not there yet has none."""
    with records_in(args, empty=True) as reader:
        try:
            return {name: head for name, head in reader.heads() if head}
        except OSError as error:
            raise BadInput(
                f"the heads in `{reader.name}` cannot be read: {error.strerror or error}"
            ) from None


def _name(place: WitnessPlace, folder: Path | None) -> None:
    """Call a copy a copy."""
    why = place.why_copy(owner(folder))
    if why:
        kept = "keep it where the trail's user cannot rewrite it"
        tell(
            f"`{place.name}` is only a copy, and proves nothing against somebody who can rewrite "
            f"it: {why}; {kept}",
        )


def _tell(done: Round, place: WitnessPlace) -> None:
    chains = "1 chain" if done.chains == 1 else f"{done.chains} chains"
    new = f"{done.changed} with a new head" if done.changed else "all as before"
    tell(f"{shown(done.at_ms)}  {chains}, {new}, to `{place.name}`")
