"""One pack: its calls and results beside the floor, in memory and on disk, sync and async."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import MEMORY
from stanchion_lab.bench.measure import Cost, cost_of
from stanchion_lab.bench.packs.engines import choose, sought
from stanchion_lab.bench.packs.hand import Bare, Scan
from stanchion_lab.bench.packs.players import (
    Awaited,
    ByHand,
    Kept,
    KeptBetween,
    Player,
    ScannedAlone,
    Shielded,
    Took,
    play_all,
)
from stanchion_lab.bench.packs.sessions import Drawn, Step, drawn
from stanchion_lab.bench.packs.written import left_by
from stanchion_lab.bench.table import Effort, Row, Section

SHORT: Final = 80
LONG: Final = 2_000
STATE: Final = "STANCHION_STATE_DIR"
DISK: Final = "on disk"
SHIELDS: Final = ("memory", "memory, async", DISK, f"{DISK}, async")
BARE: Final = "bare SQLite transaction and record"
BETWEEN: Final = f"{BARE}, between decisions"

Played = dict[str, list[Took]]


def measured(pack: str, effort: Effort) -> Section:
    """What calls and results of honest agents cost under a pack."""
    calls = drawn(effort)
    with ExitStack() as stack:
        players = _players(pack, stack)
        took = play_all(players, calls.sessions)
    steps, played = ahead(calls, took)
    left_out = len(calls.steps) - len(steps)
    note = (
        f"{len(steps):,} calls of {len(calls.sessions)} sessions from {calls.source}, {left_out} "
        f"more did not go ahead"
        " and are left out;\n  ratios are to the row above that has none"
    )
    return Section(f"packs: {pack}", note, rows(steps, played))


def default(effort: Effort) -> Section:
    """The pack `default`."""
    return measured("default", effort)


def strict(effort: Effort) -> Section:
    """The pack `strict`."""
    return measured("strict", effort)


def coding_agent(effort: Effort) -> Section:
    """The pack `coding-agent`."""
    return measured("coding-agent", effort)


@contextmanager
def at_home() -> Iterator[Path]:
    """A folder for all state that shields keep meanwhile, and not the user's own."""
    before = os.environ.get(STATE)
    with TemporaryDirectory(prefix="stanchion-bench-") as folder:
        os.environ[STATE] = folder
        try:
            yield Path(folder)
        finally:
            if before is None:
                del os.environ[STATE]
            else:
                os.environ[STATE] = before


def in_memory(
    source: str | dict[str, Any], stack: ExitStack, guards: tuple[Any, ...] = ()
) -> Shield:
    """A shield that keeps nothing."""
    return stack.enter_context(Shield.load(source, store=MEMORY, journal=MEMORY, guards=guards))


def ahead(calls: Drawn, took: dict[str, list[Took | None]]) -> tuple[list[Step], Played]:
    """The steps that went ahead with everybody, and what each of them took."""
    kept = [
        at for at in range(len(calls.steps)) if all(one[at] is not None for one in took.values())
    ]
    steps = calls.steps
    return [steps[at] for at in kept], {
        name: [one for at in kept if (one := took[name][at])] for name in took
    }


def _players(pack: str, stack: ExitStack) -> dict[str, Player]:
    home = stack.enter_context(at_home())
    runner = stack.enter_context(asyncio.Runner())
    players: dict[str, Player] = {}
    scanner = choose(pack)
    players["by hand"] = ByHand(Scan(sought(pack, scanner)))
    players["scanner alone"] = ScannedAlone(scanner)
    for kind, made in (("", Shielded), (", async", lambda shield: Awaited(shield, runner))):
        place = home / f"shield{kind}"
        on_disk = Shield.load(pack, store=str(place / "state.db"), journal=str(place / "trail"))
        players[f"memory{kind}"] = made(in_memory(pack, stack))
        players[f"{DISK}{kind}"] = made(stack.enter_context(on_disk))
    left = left_by(pack, home / "looked at")
    cells = max(len(left.call.bodies), len(left.result.bodies))
    alone, between = [
        stack.enter_context(closing(Bare(_made(home / name), cells)))
        for name in ("alone", "between")
    ]
    players[BARE] = Kept(alone, left)
    players[BETWEEN] = KeptBetween(between, left, in_memory(pack, stack))
    return players


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def rows(steps: list[Step], played: Played) -> list[Row]:
    """All rows of a pack."""
    short = [at for at, step in enumerate(steps) if step.chars <= SHORT]
    whole = list(range(len(steps)))
    made = []
    for title, which in ((f"calls up to {SHORT} characters", short), ("all calls", whole)):
        floor = cost_of([played["by hand"][at].call for at in which])
        made.append(Row(f"{title}: by hand", floor))
        for name in SHIELDS:
            cost = cost_of([played[name][at].call for at in which])
            made.append(beside(f"{title}: {name}", cost, floor))
    return made + _long(steps, played) + _together(played) + _durable(played)


def beside(name: str, cost: Cost, floor: Cost) -> Row:
    """A row with the ratio of its median to that of another."""
    return Row(name, cost, round(cost.p50_us / floor.p50_us, 2))


def _long(steps: list[Step], played: Played) -> list[Row]:
    """Calls and results with long texts, beside what scanning them takes."""

    def long(name: str) -> Cost | None:
        took = [
            one.call for one, step in zip(played[name], steps, strict=True) if step.chars > LONG
        ]
        took += [
            one.result
            for one, step in zip(played[name], steps, strict=True)
            if len(step.result) > LONG
        ]
        return cost_of(took) if took else None

    alone, whole = long("scanner alone"), long("memory")
    title = f"texts over {LONG:,} characters"
    if alone is None or whole is None:
        return [Row(f"{title}", amount=0, unit="texts")]
    return [
        Row(f"{title}: scanner alone", alone),
        beside(f"{title}: memory", whole, alone),
    ]


def _together(played: Played) -> list[Row]:
    made = []
    for place in ("memory", DISK):
        alone = cost_of([one.call for one in played[place]])
        both = cost_of([one.call + one.result for one in played[place]])
        made += [
            Row(f"call alone: {place}", alone),
            beside(f"call and result: {place}", both, alone),
        ]
    return made


def _durable(played: Played) -> list[Row]:
    """What keeping adds, step by step, beside the least that it takes: in a loop of its own, and in
    its place."""
    made = []
    for what in ("call", "result"):
        pairs = zip(played[DISK], played["memory"], strict=True)
        adds = cost_of([getattr(kept, what) - getattr(lost, what) for kept, lost in pairs])
        for bare in (BARE, BETWEEN):
            floor = cost_of([getattr(one, what) for one in played[bare]])
            made += [
                Row(f"{what}: {bare}", floor),
                beside(f"{what}: disk adds to memory", adds, floor),
            ]
    return made
