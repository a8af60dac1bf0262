"""Runs, decisions and records as a trail tells of them, with what a store has of their budgets."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from stanchion.audit.options import TrailOptions
from stanchion.audit.reader import TrailReader
from stanchion.audit.trail import Trail
from stanchion.ops.views.explain import (
    Explanation,
    NoDecision,
    case_named,
    explain,
    newest_decisions,
    policy_of,
)
from stanchion.ops.views.record_detail import record_detail
from stanchion.ops.views.records import record_view
from stanchion.ops.views.runs import run_in_full, runs, totals_in
from stanchion.ops.views.trails import Ambiguous, digits_of, record
from stanchion.stores.protocol import Store
from stanchion.testing import FakeClock, shield_for
from tests.ops.views.shown import KINDS, START, stored

POLICY = """\
name: spends
guards:
  - {use: budget, id: spend, cost_usd: 2, reserve_cost_usd: 0.01}
  - {use: tool_denylist, id: never, tools: [rm]}
"""


@pytest.fixture(params=KINDS)
def told(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[TrailReader, Store]]:
    """A trail of a run that spends and is refused, and the store of its budget."""
    clock = FakeClock(START)
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY, encoding="utf-8")
    trail = Trail(tmp_path / "trail", TrailOptions(checkpoint_s=1e9, head_ms=1e12), clock)
    with stored(request.param, tmp_path, clock) as kept:
        shield = shield_for(file, clock=clock, store=kept, journal=trail, source=str(file))
        with shield.run("ann", "fix", id="first") as run:
            for _ in range(2):
                call = run.check("work", {}, cost_usd=0.6)
                clock.advance(1_000)
                run.result("work", {}, "x", call=call.id, cost_usd=0.5)
            run.check("rm", {"path": "/"})
            run.check("work", {"last": True}, cost_usd=0.25)
        trail.close()
        yield TrailReader(tmp_path / "trail"), kept


def explained(readers: list[TrailReader], name: str) -> Explanation | None:
    case = case_named(readers, name)
    return None if case is None else explain(case, policy_of(case))


def test_runs_and_one_in_full(told: tuple[TrailReader, Store]) -> None:
    reader, store = told
    (one,) = runs(reader, None)
    assert (one.id, one.state, one.agent, one.lasted_ms, one.refused) == (
        "first",
        "ended",
        "ann",
        2_000,
        1,
    )
    full = run_in_full(reader, "last", partial(totals_in, store))
    assert full is not None
    assert (full.id, full.decided, full.unfinished) == ("first", {"ALLOW": 5, "BLOCK": 1}, 1)
    (burned,) = full.budgets
    assert (burned.budget, burned.measure, burned.limit) == ("spend", "cost_microusd", 2_000_000)
    assert (burned.used[-1], burned.now) == (1_250_000, 1_250_000)
    assert full.newest[0].decision is not None
    assert (full.newest[0].decision.action, full.newest[0].decision.about) == ("ALLOW", "work")
    assert run_in_full(reader, "nobody", partial(totals_in, store)) is None


def test_decisions_are_listed_and_explained_in_their_units(told: tuple[TrailReader, Store]) -> None:
    reader, _ = told
    last, refused, *_ = newest_decisions([reader], 20)
    assert (refused.action, refused.guard, refused.code, refused.reason) == (
        "BLOCK",
        "never",
        "tool.denied",
        "never (tool.denied)",
    )
    assert refused.policy is not None
    assert refused.policy.endswith("policy.yaml")
    assert (refused.does, refused.why) == ("/", "tool `rm` is on the denylist")
    assert (last.does, last.why) == ('{"last":true}', "")
    why = explained([reader], last.id)
    assert why is not None
    (counter,) = why.counters
    assert (counter.guard, counter.before, counter.measure, counter.limits) == (
        "spend",
        1_000_000,
        "cost_microusd",
        ((2_000_000, "BLOCK"),),
    )
    assert explained([reader], "no such id") is None


def test_the_last_one_is_what_was_not_simply_allowed(told: tuple[TrailReader, Store]) -> None:
    reader, _ = told
    newest, refused, *_ = newest_decisions([reader], 20)
    last = explained([reader], "last")
    assert last is not None
    assert last.id == refused.id
    assert last.notes[-1] == f"after it all was allowed, up to `{newest.id}`"
    by_id = explained([reader], refused.id)
    assert by_id is not None
    assert by_id.notes == last.notes[:-1]


def test_the_last_one_is_of_the_newest_run_and_its_children(tmp_path: Path) -> None:
    clock = FakeClock(START)
    trail = Trail(tmp_path, TrailOptions(checkpoint_s=1e9, head_ms=1e12), clock)
    shield = shield_for(
        {"name": "p", "guards": [{"use": "tool_denylist", "tools": ["rm"]}]},
        clock=clock,
        journal=trail,
    )

    def last() -> str:
        found = explained([TrailReader(tmp_path)], "last")
        assert found is not None
        return f"{found.tool} in {found.run}"

    with shield.run("ann", id="first") as run:
        run.check("rm", {})
        clock.advance(1)
        run.check("ls", {})
        assert last() == "rm in first"
        clock.advance(1)
        with shield.run("ann", id="second") as other:
            other.check("ls", {})
            assert last() == "ls in second"
            clock.advance(1)
            with other.spawn("bob", id="below") as child:
                child.check("rm", {})
            clock.advance(1)
            other.check("ls", {})
            assert last() == "rm in below"
    trail.close()


def test_what_a_call_would_do_stands_in_one_short_line(tmp_path: Path) -> None:
    trail = Trail(tmp_path, TrailOptions(checkpoint_s=1e9, head_ms=1e12), FakeClock(START))
    shield = shield_for("default", clock=FakeClock(START), journal=trail)
    with shield.run("ann") as run:
        run.check("bash", {"command": "git status\n  && ls", "cwd": "/srv"})
        run.check("bash", {"command": "echo ghp_" + "0123456789abcdefghijABCDEFGHIJ456789"})
        run.check("write_file", {"path": "src/a.py", "content": "x"})
        run.check("look", {"text": "a" * 100})
    trail.close()
    seen = [one.does for one in newest_decisions([TrailReader(tmp_path)], 20)]
    assert seen[::-1] == [
        "git status && ls",
        "echo [redacted:github-pat]",
        "src/a.py",
        '{"text":"' + "a" * 31 + "…",
    ]


def test_a_record_is_found_by_its_place_and_told_in_words(told: tuple[TrailReader, Store]) -> None:
    reader, _ = told
    spending = next(found for found in reader.forwards() if found.is_decision)
    view = record_view(spending)
    assert record(reader, view.place(digits_of(reader))) == spending
    detail = record_detail(reader, spending)
    assert detail.fields["amounts"] == "1 call, $0.60"
    assert detail.fields["now"] == "2100-01-01 08:00:00Z"
    assert "values" in detail.engine
    assert not {"values", "actions", "records"} & detail.fields.keys()
    assert detail.decided is not None
    assert (detail.decided.run, detail.decided.task, detail.decided.happens) == (
        "first",
        "fix",
        "the tool runs",
    )
    begun = next(found for found in reader.forwards() if found.stub.kind == "run")
    assert record_view(begun).says.startswith("first of ann on fix, under policy ")
    with pytest.raises(NoDecision):
        explained([reader], record_view(begun).place(16))


def test_digits_of_two_chains_are_not_guessed_at(tmp_path: Path) -> None:
    for name in ("abcd000000000000", "abce000000000000"):
        (tmp_path / name).mkdir()
    reader = TrailReader(tmp_path)
    assert digits_of(reader) == 4
    with pytest.raises(Ambiguous, match="matches 2 chains"):
        record(reader, "abc:1")
