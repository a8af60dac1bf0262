"""One sitting: each library and the dialect that speaks for it play the same sessions by turns, in
processes of their own."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from stanchion_lab.bench.measure import cost_of
from stanchion_lab.bench.packs.pack import STATE, at_home
from stanchion_lab.bench.packs.sessions import Session
from stanchion_lab.bench.peers import worker
from stanchion_lab.bench.peers.library import (
    DISK,
    MEMORY,
    PEERS,
    Kept,
    NotInstalled,
    Peer,
    environment,
)
from stanchion_lab.bench.peers.repeated import repeated, told, warming
from stanchion_lab.bench.peers.worker import OURS, Timed
from stanchion_lab.bench.table import Effort, Row, Section

PACK: Final = "default"
WHAT: Final[dict[str, Callable[[Timed], tuple[int, int]]]] = {
    "call": lambda took: (took.call, took.call_cpu),
    "call and result": lambda took: (took.call + took.result, took.call_cpu + took.result_cpu),
}
Seat = tuple[str, str]
"""Who plays, and where it keeps things."""


class Beside:
    """A library in its own process."""

    def __init__(self, process: subprocess.Popen[str], name: str, errors: Path) -> None:
        self._process, self._name, self._errors = process, name, errors

    def play(self, session: Session) -> list[Timed]:
        """Have it play a session."""
        if self._process.stdin is None or self._process.stdout is None:
            raise AssertionError("it was started without pipes")
        try:
            self._process.stdin.write(json.dumps(told(session)) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            with suppress(BrokenPipeError):  # what was not read is not written once more
                self._process.stdin.close()
        answer = self._process.stdout.readline()
        if not answer:
            status, said = (
                self._process.wait(),
                self._errors.read_text(encoding="utf-8", errors="replace"),
            )
            why = said.strip().splitlines()[-1:]
            raise RuntimeError(f"`{self._name}` ended with {status}{f': {why[0]}' if why else ''}")
        return [Timed(*one) for one in json.loads(answer)]


def sitting(
    effort: Effort, folder: Path, peers: tuple[Peer, ...] = PEERS, packs: tuple[str, ...] = (PACK,)
) -> Section:
    """What a call, and a call with its result, cost each library and the dialect beside it, and
    some packs alone."""
    calls = repeated(effort)
    with ExitStack() as stack:
        home = stack.enter_context(at_home())
        there, missing = _installed(peers, folder)
        players = {
            seat: stack.enter_context(_started(seat, there, home))
            for seat in _seats(list(there), packs)
        }
        took = _played(players, calls.sessions)
    note = (
        f"{len(calls.steps):,} calls of {len(calls.sessions)} sessions from {calls.source}; "
        f"medians by the clock, and\n"
        "  the mean of processor time; calls that one of a pair refuses are left out with both.\n"
        "  Ratios are to Stanchion's row above: above 1 Stanchion is faster. On a busy machine "
        "trust the second"
    )
    rows = [row for peer in there for row in _compared(peer, took)]
    return Section("peers", note, [*rows, *_alone(packs, took), *missing])


def _installed(peers: tuple[Peer, ...], folder: Path) -> tuple[dict[Peer, Path], list[Row]]:
    """The Python of each library, and a row for each that is not there."""
    there: dict[Peer, Path] = {}
    missing: list[Row] = []
    for peer in peers:
        try:
            there[peer] = environment(peer, folder)
        except NotInstalled as error:
            said = f"{peer.pinned}: not measured, it cannot be installed ({error})"
            missing.append(Row(said, amount=0, unit="calls"))
    return there, missing


def _seats(peers: list[Peer], packs: tuple[str, ...]) -> list[Seat]:
    """All who play: libraries stand beside the dialects that speak for them."""
    seats: list[Seat] = []
    for peer in peers:
        for kept in peer.kept:
            seats += [(peer.name, kept.storage), *_dialects(peer, kept)]
    return [*seats, *[(OURS + pack, storage) for pack in packs for storage in (MEMORY, DISK)]]


def _dialects(peer: Peer, kept: Kept) -> list[Seat]:
    return [(OURS + peer.dialect, place) for place in (kept.ours, kept.more) if place]


@contextmanager
def _started(seat: Seat, there: dict[Peer, Path], home: Path) -> Iterator[Beside]:
    """A library in a process that ends with the sitting; what it leaves lies in the folder it works
    in."""
    name, storage = seat
    place = home / f"{name}-{storage}".replace(" ", "-")
    place.mkdir()
    python = next(
        (str(found.absolute()) for peer, found in there.items() if peer.name == name),
        sys.executable,
    )
    own = (
        {"PYTHONPATH": os.pathsep.join(sys.path), STATE: str(place / "home")}
        if name.startswith(OURS)
        else {}
    )
    command = [python, str(Path(worker.__file__).absolute()), name, storage, str(place)]
    pipe, env, errors = subprocess.PIPE, {**os.environ, **own}, place / "errors"
    with (
        errors.open("wb") as written,
        subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=written, text=True, cwd=place, env=env
        ) as process,
    ):
        try:
            yield Beside(process, name, errors)
        finally:
            process.kill()


def _played(players: dict[Seat, Beside], sessions: tuple[Session, ...]) -> dict[Seat, list[Timed]]:
    """What every step took each player, once all are warm. They take turns, session by session, and
    each begins as often as any other: what else the machine does meets all."""
    order = list(players)
    for session in warming(sessions):
        for seat in order:
            players[seat].play(session)
    took: dict[Seat, list[Timed]] = {seat: [] for seat in order}
    for session in sessions:
        for seat in order:
            took[seat] += players[seat].play(session)
        order = [*order[1:], *order[:1]]
    return took


def _compared(peer: Peer, took: dict[Seat, list[Timed]]) -> list[Row]:
    """The rows of a library, and of the dialect that speaks for it."""
    made = []
    for kept in peer.kept:
        own, *more = _dialects(peer, kept)
        pair = [took[(peer.name, kept.storage)], *[took[seat] for seat in (own, *more)]]
        ahead = [at for at in range(len(pair[0])) if all(one[at].ahead for one in pair)]
        left = f"{len(pair[0]) - len(ahead)} left out"
        for what in WHAT:
            if peer.whole and what == "call":
                continue
            title = f"{what}, {kept.storage}"
            base = _row(
                f"{title}: stanchion `{peer.dialect}` ({kept.says}; {left})", took[own], ahead, what
            )
            made.append(base)
            for seat in more:
                made.append(
                    _row(
                        f"{title}: the same, and its records on disk", took[seat], ahead, what, base
                    )
                )
            theirs = took[(peer.name, kept.storage)]
            made.append(_row(f"{title}: {peer.pinned} ({peer.less})", theirs, ahead, what, base))
    return made


def _alone(packs: tuple[str, ...], took: dict[Seat, list[Timed]]) -> list[Row]:
    """Packs of Stanchion's, beside nobody: no library reads as much."""
    made = []
    for pack, what, storage in itertools.product(packs, WHAT, (MEMORY, DISK)):
        played = took[(OURS + pack, storage)]
        ahead = [at for at, one in enumerate(played) if one.ahead]
        said = f"reads all texts of calls and results; {len(played) - len(ahead)} left out"
        made.append(_row(f"{what}, {storage}: stanchion `{pack}` ({said})", played, ahead, what))
    return made


def _row(name: str, took: list[Timed], ahead: list[int], what: str, base: Row | None = None) -> Row:
    spent = [WHAT[what](took[at]) for at in ahead]
    if not spent:
        return Row(name, amount=0, unit="calls")
    cost = cost_of([clock for clock, _ in spent])
    cpu_us = round(sum([used for _, used in spent]) / len(spent) / 1000, 2)
    if base is None or base.cost is None or base.cpu_us is None:
        return Row(name, cost, cpu_us=cpu_us)
    ratio, cpu_ratio = round(cost.p50_us / base.cost.p50_us, 2), round(cpu_us / base.cpu_us, 2)
    return Row(name, cost, ratio, cpu_us=cpu_us, cpu_ratio=cpu_ratio)
