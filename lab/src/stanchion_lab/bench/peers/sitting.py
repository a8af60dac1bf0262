"""One sitting: everybody plays the same sessions by turns, each library in a process of its own."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from stanchion.dialects.guardian import GuardianLayer
from stanchion.runtime.shield import Shield
from stanchion_lab.bench.dialects.guardian import Spoken
from stanchion_lab.bench.dialects.penguiflow import spoken
from stanchion_lab.bench.dialects.veronica import Spoken as Veronica
from stanchion_lab.bench.measure import Cost, cost_of
from stanchion_lab.bench.packs.engines import CORE, choose
from stanchion_lab.bench.packs.pack import at_home, in_memory
from stanchion_lab.bench.packs.players import Advised, Player, Shielded, Took, play_all
from stanchion_lab.bench.packs.sessions import Session, drawn
from stanchion_lab.bench.peers import worker
from stanchion_lab.bench.peers.library import PEERS, NotInstalled, Peer, environment
from stanchion_lab.bench.table import Effort, Row, Section

PACK: Final = "default"
FLOW: Final = "penguiflow in its own words"
LAYERS: Final = "guardian"
DEEP: Final = "guardian and a deep rule"
WORDS: Final = "guardian in GuardianLayer's words"
SHIELD: Final = "veronica in its own words"
OURS: Final = {
    PACK: "reads all texts of calls and results",
    FLOW: "the same rules through the dialect: reads all texts of results",
    LAYERS: "compares calls, with experience and advice",
    DEEP: "the same, and a deep rule that passes is asked beside each call",
    WORDS: "the same as `guardian`, by `check` and `report_result`",
    SHIELD: "reads commands and paths, bounds steps, cost and failures, makes the call, judges its result",
}
WITH_DEEP: Final[dict[str, Any]] = {"name": "deep", "extends": LAYERS, "tools": {"*": {"risk": "low"}}}
WHAT: Final[dict[str, Callable[[Took], int]]] = {
    "call": lambda took: took.call,
    "call and result": lambda took: took.call + took.result,
}


class Beside:
    """A library in its own process. What it refuses has taken its time like the rest."""

    def __init__(self, process: subprocess.Popen[str], peer: Peer) -> None:
        self._process, self._peer = process, peer

    def play(self, session: Session, /) -> list[Took | None]:
        """Have it play a session."""
        if self._process.stdin is None or self._process.stdout is None:
            raise AssertionError("it was started without pipes")
        told = [(step.tool, step.args, step.result, step.failed) for step in session]
        self._process.stdin.write(json.dumps(told) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"`{self._peer.pinned}` ended with {self._process.wait()}: remove its environment")
        return [Took(*one) for one in json.loads(answer)]


class Passes:
    """A deep rule that has nothing against any call."""

    id = "passes"
    deep = True

    def judge(self, _event: Any) -> None:
        """Pass."""


class Seat(NamedTuple):
    """A library at the table, where it keeps things, and whether it asks a deep rule."""

    peer: Peer
    storage: str
    player: Beside
    deep: bool = False

    @property
    def name(self) -> str:
        """What it is called among the players."""
        return f"{self.peer.name}{' deep' if self.deep else ''} {self.storage}"

    def faces(self, pack: str, storage: str) -> bool:
        """Whether it is measured beside a pack of ours: one that knows deep rules asks one where we do."""
        return self.storage == storage and self.deep == (pack == DEEP and self.peer.deep)


def sitting(effort: Effort, folder: Path, peers: tuple[Peer, ...] = PEERS) -> Section:
    """What a call, and a call with its result, cost everybody."""
    calls = drawn(effort)
    with ExitStack() as stack:
        home = stack.enter_context(at_home())
        choose(PACK, CORE)
        players: dict[str, Player] = {
            f"{PACK} memory": Shielded(in_memory(PACK, stack)),
            f"{PACK} disk": Shielded(_on_disk(PACK, home / "own", stack)),
            f"{FLOW} memory": spoken(stack),
            f"{FLOW} disk": spoken(stack, store=str(home / "flow" / "state.db"), journal=str(home / "flow" / "trail")),
            f"{LAYERS} memory": Advised(in_memory(LAYERS, stack)),
            f"{LAYERS} disk": Advised(_on_disk(LAYERS, home / "layers", stack)),
            f"{DEEP} memory": Advised(in_memory(WITH_DEEP, stack, (Passes(),))),
            f"{DEEP} disk": Advised(_on_disk(WITH_DEEP, home / "deep", stack, (Passes(),))),
            f"{WORDS} memory": Spoken(stack.enter_context(GuardianLayer())),
            f"{WORDS} disk": Spoken(_spoken(home / "words", stack)),
            f"{SHIELD} memory": Veronica(stack),
            f"{SHIELD} disk": Veronica(
                stack, store=str(home / "shield" / "state.db"), journal=str(home / "shield" / "trail")
            ),
        }
        seats, missing = _seated(peers, folder, home, stack)
        players |= {seat.name: seat.player for seat in seats}
        took = play_all(players, calls.sessions)
    note = (
        f"{len(calls.steps):,} calls of {len(calls.sessions)} sessions from {calls.source}, refused or not;\n"
        "  ratios are to Stanchion's pack above with the same storage: below 1 the other is faster"
    )
    return Section("peers", note, [*_rows(took, seats), *missing])


def _on_disk(source: str | dict[str, Any], folder: Path, stack: ExitStack, guards: tuple[Any, ...] = ()) -> Shield:
    shield = Shield.load(source, store=str(folder / "state.db"), journal=str(folder / "trail"), guards=guards)
    return stack.enter_context(shield)


def _spoken(folder: Path, stack: ExitStack) -> GuardianLayer:
    folder.mkdir()
    return stack.enter_context(GuardianLayer(str(folder / "state.db"), journal=str(folder / "trail")))


def _seated(peers: tuple[Peer, ...], folder: Path, home: Path, stack: ExitStack) -> tuple[list[Seat], list[Row]]:
    """A process for each library and storage, and a row for each library that is not there."""
    seats: list[Seat] = []
    missing: list[Row] = []
    for peer in peers:
        try:
            python = environment(peer, folder)
        except NotInstalled as error:
            missing.append(
                Row(f"{peer.pinned}: not measured, it cannot be installed ({error})", amount=0, unit="calls")
            )
            continue
        for storage, deep in itertools.product(peer.storages, (False, True) if peer.deep else (False,)):
            place = home / f"{peer.name}-{storage}{'-deep' if deep else ''}"
            place.mkdir()
            started = stack.enter_context(_started(python, peer, storage, place, deep))
            seats.append(Seat(peer, storage, started, deep))
    return seats, missing


@contextmanager
def _started(python: Path, peer: Peer, storage: str, place: Path, deep: bool) -> Iterator[Beside]:
    """A library in a process that ends with the sitting; what it leaves lies in the folder it works in."""
    name = f"{peer.name} deep" if deep else peer.name
    command = [str(python.absolute()), str(Path(worker.__file__).absolute()), name, storage, str(place)]
    pipe, hidden = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=hidden, text=True, cwd=place) as process:
        try:
            yield Beside(process, peer)
        finally:
            process.kill()


def _rows(took: dict[str, list[Took | None]], seats: list[Seat]) -> list[Row]:
    made = []
    for what, pack, storage in itertools.product(WHAT, OURS, ("memory", "disk")):
        mine = took[f"{pack} {storage}"]
        own = cost_of([WHAT[what](one) for one in mine if one is not None])
        lost = sum([one is None or not one.ahead for one in mine])
        made.append(Row(f"{what}, {storage}: stanchion `{pack}` ({OURS[pack]}; refused {lost})", own))
        made += [_row(what, seat, took[seat.name], own) for seat in seats if seat.faces(pack, storage)]
    return made


def _row(what: str, seat: Seat, took: list[Took | None], own: Cost) -> Row:
    played = [one for one in took if one is not None]
    cost = cost_of([WHAT[what](one) for one in played])
    ratio = round(cost.p50_us / own.p50_us, 2)
    slower = f"; stanchion is {own.p50_us / cost.p50_us:.1f} times slower" if ratio < 1 else ""
    asks = "; asks a deep rule that passes" if seat.deep else ""
    said = f"{seat.peer.reads}{asks}; refused {sum([not one.ahead for one in played])}{slower}"
    return Row(f"{what}, {seat.storage}: {seat.peer.pinned} ({said})", cost, ratio)
