"""`stanchion runs show` tells how budgets were used up: from the trail, exactly, whatever else was
going on."""

import json
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.audit.reader import TrailReader
from stanchion.audit.runs import run_detail
from stanchion.audit.trail import Trail
from stanchion.cli.main import main
from stanchion.ops.views.budgets import burn_down, policy_of
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.testing import FakeClock, shield_for
from tests.cli.test_terminal import shown, tty

POLICY = """
name: budgets
guards:
  - {use: budget, id: first, tokens: 1000}
  - {use: budget, id: all, per: tenant, tokens: 100000}
  - {use: budget, id: deploys, calls: 3, applies_to: {tools: [deploy]}}
"""


class Desk:
    """A shield with a clock of its own, whose records are in a folder."""

    def __init__(
        self,
        folder: Path,
        policy: str = POLICY,
        store: Store | None = None,
        clock: FakeClock | None = None,
    ) -> None:
        self.folder, self.clock = folder / "trail", FakeClock(1_000_000) if clock is None else clock
        self.policy = folder / "policy.yaml"
        self.policy.write_text(policy, encoding="utf-8")
        self.store = MemoryStore(self.clock) if store is None else store
        self._trail = Trail(self.folder, clock=self.clock)

    def shield(self, policy: Any = None) -> Shield:
        """A shield under the policy of the file, or one that is handed in."""
        source = self.policy if policy is None else policy
        origin = str(self.policy) if policy is None else ""
        return shield_for(
            source, clock=self.clock, store=self.store, journal=self._trail, source=origin
        )

    def told(self, run: str = "r") -> dict[str, tuple[int | None, ...]]:
        """What was used of each budget after each tenth of a run."""
        self._trail.close()
        reader = TrailReader(self.folder)
        detail = run_detail(reader, run)
        assert detail is not None
        burned = burn_down(reader, detail.story, policy_of(detail.story))
        return {one.budget if one.budget else one.measure.name: one.used for one in burned}


def test_a_settlement_counts_when_it_is_made(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with desk.shield().run("ann", id="r") as run:
        for _ in range(5):
            decision = run.check("work", {}, tokens=100)
            desk.clock.advance(10)
            run.result("work", {}, "x", call=decision.id, tokens=60)
            desk.clock.advance(10)
    assert desk.told()["first"] == (100, 60, 160, 120, 220, 180, 280, 240, 340, 300)


class Ticking(FakeClock):
    """A clock that goes on whenever somebody looks at it."""

    def __call__(self) -> int:
        return self.advance(1)


def test_an_only_call_counts_though_it_is_older_than_the_record_of_the_runs_beginning(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path, clock=Ticking(1_000_000))
    with desk.shield().run("ann", id="r") as run:
        run.check("work", {}, tokens=100)
        desk.clock.advance(500)
    assert desk.told()["first"] == (100,) * 10


def test_calls_that_overlap_are_settled_each_in_its_time(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with desk.shield().run("ann", id="r") as run:
        one, two = [run.check("work", {"n": n}, tokens=200) for n in (1, 2)]
        desk.clock.advance(50)
        run.result("work", {"n": 2}, "x", call=two.id, tokens=10)
        three = run.check("work", {"n": 3}, tokens=100)
        run.result("work", {"n": 1}, "x", call=one.id, tokens=20)
        desk.clock.advance(50)
        run.result("work", {"n": 3}, "x", call=three.id, tokens=30)
    assert desk.told()["first"] == (400, 400, 400, 400, 400, 130, 130, 130, 130, 60)


def test_what_others_use_of_a_shared_budget_is_seen(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    shield = desk.shield()
    with shield.run("ann", id="r") as run, shield.run("bob", id="other") as other:
        for _ in range(10):
            run.check("work", {}, tokens=1)
            other.check("work", {}, tokens=50)
            desk.clock.advance(10)
    told = desk.told()
    assert told["first"] == tuple(range(1, 11))
    assert told["all"] == tuple(range(1, 511, 51))


def test_a_refusal_takes_nothing_and_says_only_what_it_reached(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with desk.shield().run("ann", id="r") as run:
        run.check("work", {}, tokens=900)
        desk.clock.advance(50)
        for _ in range(100):
            assert not run.check("work", {}, tokens=200).proceeds
        desk.clock.advance(50)
        assert not run.check("work", {}, tokens=200).proceeds
    assert desk.told() == {"first": (900,) * 10, "all": (900,) * 10, "deploys": (None,) * 10}


def test_a_budget_for_some_tools_counts_those_alone(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with desk.shield().run("ann", id="r") as run:
        for tool in (
            "work",
            "deploy",
            "work",
            "work",
            "deploy",
            "work",
            "work",
            "work",
            "work",
            "work",
        ):
            run.check(tool, {})
            desk.clock.advance(10)
    assert desk.told()["deploys"] == (0, 1, 1, 1, 2, 2, 2, 2, 2, 2)


def test_an_earlier_run_of_that_name_is_another_one(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    shield = desk.shield()
    for tokens in (500, 20):
        with shield.run("ann", id="r") as run:
            run.check("work", {}, tokens=tokens)
            desk.clock.advance(100)
        desk.clock.advance(100)
    assert desk.told()["first"] == (520,) * 10


def test_a_policy_that_was_handed_in_leaves_what_the_run_used(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    given = {"name": "x", "guards": [{"use": "budget", "tokens": 1000}]}
    with desk.shield(given).run("ann", id="r") as run:
        decision = run.check("work", {}, tokens=100)
        desk.clock.advance(50)
        run.result("work", {}, "x", call=decision.id, tokens=60)
        assert not run.check("work", {}, tokens=2000).proceeds
        desk.clock.advance(50)
    assert desk.told() == {"TOKENS": (100,) * 5 + (60,) * 5}


def test_a_policy_that_has_changed_is_not_taken_for_the_one_that_was(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with desk.shield().run("ann", id="r") as run:
        run.check("work", {}, tokens=100)
    desk.policy.write_text(POLICY.replace("tokens: 1000}", "tokens: 9000}"), encoding="utf-8")
    assert desk.told() == {"TOKENS": (100,) * 10}


def test_a_policy_without_budgets_tells_of_none(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "name: none\n")
    with desk.shield().run("ann", id="r") as run:
        run.check("work", {}, tokens=100)
    assert desk.told() == {}


def test_memory_does_not_grow_with_the_run(tmp_path: Path) -> None:
    """Beyond the segment that is read."""
    peaks = []
    for count in (300, 1_000):
        folder = tmp_path / str(count)
        folder.mkdir()
        desk = Desk(folder)
        with desk.shield().run("ann", id="r") as run:
            for _ in range(count):
                decision = run.check("work", {}, tokens=0)
                desk.clock.advance(10)
                run.result("work", {}, "x", call=decision.id)
        desk.told()
        tracemalloc.start()
        desk.told()
        read = max(path.stat().st_size for path in folder.rglob("*.jsonl"))
        peaks.append(tracemalloc.get_traced_memory()[1] - read)
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 200_000


# What is printed.


@pytest.fixture
def spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """A run that has used most of its budget."""
    desk = Desk(tmp_path)
    with desk.shield().run("ann", id="r") as run:
        run.check("work", {}, tokens=400)
        desk.clock.advance(1_000)
        run.check("work", {}, tokens=550)
    desk.told()
    monkeypatch.setenv("STANCHION_AUDIT", str(desk.folder))
    return desk


def test_a_store_that_cannot_be_asked_is_named_and_no_reason_to_show_nothing(
    spent: Desk, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "none.db").write_text("this is not a store", encoding="utf-8")
    assert main(["runs", "show", "r", "--store", str(tmp_path / "none.db")]) == 0
    said = capsys.readouterr()
    assert "none.db" in said.err
    assert ["first", "run", "1,000", "tokens", "50", "tokens", "60", "60"] in [
        line.split()[:8] for line in said.out.splitlines()
    ]
    assert main(["runs", "show", "r", "--json"]) == 0
    said = capsys.readouterr()
    assert "state is kept in memory" in said.err
    assert [one["now"] for one in json.loads(said.out)["budgets"]] == [None, None, None]


def test_a_terminal_paints_what_is_left(spent: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    stream = tty()
    monkeypatch.setattr(sys, "stdout", stream)
    assert main(["runs", "show", "r"]) == 0
    lines = [line for line in shown(stream).splitlines() if "1,000 tokens" in line]
    assert len(lines) == 1
    assert "\x1b[1;33m" in lines[0]
