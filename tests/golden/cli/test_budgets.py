"""`stanchion runs show` says how budgets were used up as its transcript shows."""

import itertools
from pathlib import Path
from shutil import copyfile

import pytest

from stanchion import Shield
from stanchion.audit.options import TrailOptions
from stanchion.audit.trail import Trail
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock, shield_for
from tests.golden.cli.laid_out import MORNING, Timed
from tests.golden.cli.play import same
from tests.golden.cli.test_check import replayed
from tests.golden.cli.test_trail import masked

FOLDER = Path(__file__).parent / "budgets"


def lay_out(work: Path) -> None:
    """Make a trail and a store of runs that spend."""
    clock = FakeClock(MORNING)
    names = (f"{number:016x}" for number in itertools.count(0x5F1D0C2AB8E94D17))
    trail = Trail(
        work / "trail",
        TrailOptions(checkpoint_s=1e9, head_ms=1e12),
        clock,
        lambda: next(names),
        lambda: 4711,
        secret=lambda: bytes(32),
    )
    store = SqliteStore(work / "state.db", clock)
    file = work / "policy.yaml"
    _spend(
        shield_for(file, clock=clock, store=store, journal=Timed(trail), source=str(file)), clock
    )
    given = {"name": "given", "guards": [{"use": "budget", "tokens": 1000}]}
    with shield_for(given, clock=clock, store=store, journal=Timed(trail)).run(
        "zoe", id="as-data"
    ) as run:
        for _ in range(5):
            run.check("work", {}, tokens=100)
            clock.advance(1_000)
    trail.close()
    store.close()


def _spend(shield: Shield, clock: FakeClock) -> None:
    """A run that uses most of its budget up, one beside it that is refused, and a child."""
    with (
        shield.run("ann", "fix", id="spends") as run,
        shield.run("bob", "other", id="refused") as other,
    ):
        for number in range(20):
            decision = run.check("work", {}, tokens=600, cost_usd=0.1)
            clock.advance(8_000)
            if number % 3 == 0:
                other.check("work", {}, tokens=300 * number)
            run.result("work", {}, "x", call=decision.id, tokens=400 + 10 * number, cost_usd=0.09)
        with run.spawn("kid", id="child", budget={"tokens": 100}) as child:
            child.check("work", {}, tokens=60)
            clock.advance(100)


def test_transcript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    work.mkdir()
    copyfile(FOLDER / "policy.yaml", work / "policy.yaml")
    lay_out(work)
    monkeypatch.chdir(work)
    monkeypatch.setenv("STANCHION_AUDIT", str(work / "trail"))
    monkeypatch.setenv("STANCHION_STORE", str(work / "state.db"))
    file = FOLDER / "runs.txt"
    same(file, masked(replayed(file.read_text(encoding="utf-8")).replace(str(work), "/home/me")))
