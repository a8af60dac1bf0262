"""The three alerts at their edges, with a clock that stands where the test puts it: when each
begins, that it is told once while it lasts, when it is over, and that processes watch together."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion import Shield
from stanchion.locks.files import attempt
from stanchion.telemetry import alerts as alerts_module
from stanchion.telemetry.alerts import (
    FILE,
    HELD,
    MOST,
    RULES,
    SLOTS,
    AlertWindow,
    FreshEvents,
    looked,
    looked_together,
)
from stanchion.telemetry.folder import collect
from stanchion.telemetry.guardrails import states
from stanchion.telemetry.kinds import Kind, Occurrence
from tests.telemetry.holding import Held

MINUTE = 60_000
START = 1_700_000_000_000 // 3_600_000 * 3_600_000
POLICY: dict[str, Any] = {
    "name": "watched",
    "guards": [
        {"id": "no-rm", "use": "tool_denylist", "tools": ["rm"]},
        {"id": "ask", "use": "rule", "check": "action.tool_name != 'pay'", "action": "escalate"},
    ],
}


class Watched:
    """A shield whose clock is set by the test, and what it told of the alerts."""

    def __init__(self, folder: Path | None = None, policy: dict[str, Any] = POLICY) -> None:
        self.now = START
        self.told: list[Occurrence] = []
        self.shield = Shield.load(
            policy, store="memory:", journal="memory:", clock=lambda: self.now
        )
        self.shield.occurrences.subscribe(self._heard)
        if folder is not None:
            assert self.shield.telemetry.alerts is not None
            self.shield.telemetry.alerts.folder = folder

    def _heard(self, one: Occurrence) -> None:
        if one.kind in RULES:
            self.told.append(one)

    def calls(self, run: Any, tool: str, times: int) -> None:
        for _ in range(times):
            run.check(tool, {})

    def later(self, ms: int) -> None:
        self.now += ms

    @property
    def kinds(self) -> list[Kind]:
        return [one.kind for one in self.told]


def test_more_than_thirty_percent_of_an_agents_actions_blocked_is_told_once() -> None:
    one = Watched()
    run = one.shield.run("ann")
    one.calls(run, "ls", 7)
    one.calls(run, "rm", 3)
    assert one.told == []  # 3 of 10 are 30 %, and not more
    one.calls(run, "rm", 1)
    (told,) = one.told
    assert (told.kind, told.agent, told.about, told.tenant) == (
        Kind.HIGH_BLOCK_RATE,
        "ann",
        "agent:ann",
        "default",
    )
    assert told.text.startswith(
        "4 of 11 actions (36%) of agent `ann` in the last 10 minutes were blocked"
    )
    one.calls(run, "rm", 50)
    one.later(5 * MINUTE)
    one.calls(run, "rm", 50)
    assert len(one.told) == 1


def test_few_actions_say_nothing() -> None:
    one = Watched()
    one.calls(one.shield.run("ann"), "rm", 9)
    assert one.told == []
    one.calls(one.shield.run("ann"), "rm", 1)
    assert one.kinds == [Kind.HIGH_BLOCK_RATE]


def test_agents_and_tenants_are_watched_apart() -> None:
    one = Watched()
    one.calls(one.shield.run("ann", tenant="t1"), "rm", 9)
    one.calls(one.shield.run("bob", tenant="t1"), "rm", 9)
    one.calls(one.shield.run("ann", tenant="t2"), "rm", 9)
    assert one.told == []


def test_questions_to_a_person_and_refusals_of_the_kernel_are_no_blocks() -> None:
    one = Watched()
    one.calls(one.shield.run("ann"), "pay", 20)
    one.shield.halt("by hand")
    one.calls(one.shield.run("bob"), "ls", 20)
    assert one.told == []


@pytest.mark.parametrize("within_slot_ms", [0, 1, 9_999])
def test_what_was_blocked_ten_minutes_ago_does_not_count(within_slot_ms: int) -> None:
    one = Watched()
    one.later(within_slot_ms)
    run = one.shield.run("ann")
    one.calls(run, "rm", 9)
    one.later(10 * MINUTE - 1)
    one.calls(run, "rm", 1)
    assert one.kinds == [Kind.HIGH_BLOCK_RATE]
    two = Watched()
    two.later(within_slot_ms)
    run = two.shield.run("ann")
    two.calls(run, "rm", 9)
    two.later(10 * MINUTE + RULES[Kind.HIGH_BLOCK_RATE].slot_ms)
    two.calls(run, "rm", 1)
    assert two.told == []


def test_what_went_ahead_counts_when_it_did() -> None:
    one = Watched()
    run = one.shield.run("ann")
    one.calls(run, "ls", 1_000)
    one.later(11 * MINUTE)
    one.calls(run, "ls", 6)
    one.calls(run, "rm", 4)
    assert one.kinds == [Kind.HIGH_BLOCK_RATE]


def test_an_alert_is_over_at_twenty_percent_and_told_anew_when_it_begins_anew() -> None:
    one = Watched()
    run = one.shield.run("ann")
    one.calls(run, "rm", 10)
    one.calls(run, "ls", 30)  # 25 %: below where it begins, above where it is over
    one.calls(run, "rm", 10)
    assert one.kinds == [Kind.HIGH_BLOCK_RATE]
    one.calls(run, "ls", 50)
    one.later(MINUTE)
    one.calls(run, "ls", 1)  # 20 of 101
    one.calls(run, "rm", 30)
    assert one.kinds == [Kind.HIGH_BLOCK_RATE, Kind.HIGH_BLOCK_RATE]


def test_the_run_above_is_told_and_no_other() -> None:
    one = Watched()
    with (
        one.shield.run("boss") as boss,
        one.shield.run("stranger") as stranger,
        boss.spawn("ann") as ann,
    ):
        one.calls(ann, "rm", 12)
        (said,) = boss.notices()
        assert said.startswith("10 of 10 actions (100%) of agent `ann`")
        assert stranger.notices() == ()
        assert ann.notices() == ()


def bypasses(one: Watched, agent: str, times: int) -> None:
    run = one.shield.run(agent).desk.info
    for _ in range(times):
        one.shield.telemetry.bypass("no-rm", "requested", run)
        one.shield.telemetry.bypass("no-rm", "denied", run)


def test_more_than_five_requests_of_one_agent_in_an_hour_are_told_once() -> None:
    one = Watched()
    bypasses(one, "ann", 5)
    bypasses(one, "bob", 5)
    assert one.told == []
    one.later(60 * MINUTE - 1)
    bypasses(one, "ann", 1)
    (told,) = one.told
    assert (told.kind, told.agent, told.severity) == (Kind.BYPASS_ABUSE, "ann", "critical")
    assert "6 times in the last hour" in told.text
    bypasses(one, "ann", 20)
    assert len(one.told) == 1


def test_requests_of_the_hour_before_do_not_count_and_the_alert_can_begin_anew() -> None:
    one = Watched()
    bypasses(one, "ann", 5)
    one.later(61 * MINUTE)
    bypasses(one, "ann", 5)
    assert one.told == []
    bypasses(one, "ann", 1)
    one.later(61 * MINUTE)
    bypasses(one, "ann", 3)
    assert len(one.told) == 1
    bypasses(one, "ann", 3)
    assert len(one.told) == 2


def slow(one: Watched, ms: float, times: int = 1) -> None:
    """Have a guardrail take so long, as a decision would tell it."""
    times_of = one.shield.telemetry._guardrails.times
    for _ in range(times):
        times_of.took((("llm", int(ms * 1e6)),), None)
    one.later(RULES[Kind.GUARDRAIL_SLOW].slot_ms)
    one.shield.run("ann").check("ls", {})


def test_a_guardrail_above_500_ms_on_average_is_told_once() -> None:
    one = Watched()
    slow(one, 500, 10)
    assert one.told == []
    slow(one, 501)
    (told,) = one.told
    assert (told.kind, told.about, told.agent, told.tenant) == (
        Kind.GUARDRAIL_SLOW,
        "guard:llm",
        "",
        "",
    )
    slow(one, 2_000, 20)
    assert len(one.told) == 1
    two = Watched()
    slow(two, 5_000, 9)
    assert two.told == []
    slow(two, 5_000)
    assert two.kinds == [Kind.GUARDRAIL_SLOW]


def test_slow_guardrails_are_logged_as_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    one = Watched()
    slow(one, 800, 10)
    (line,) = [record for record in caplog.records if "alert.guardrail_slow" in record.getMessage()]
    assert line.levelname == "WARNING"
    assert "guardrail `llm` takes 800 ms on average" in line.getMessage()


def settled(*watched: Watched) -> None:
    for one in watched:
        one.shield.telemetry.settle()


def test_processes_that_share_a_folder_watch_together_and_one_of_them_tells(tmp_path: Path) -> None:
    several = [Watched(tmp_path) for _ in range(3)]
    for one in several:
        one.calls(one.shield.run("ann"), "rm", 4)
        settled(one)
    settled(*several)
    assert [one.kinds for one in several] == [[], [], [Kind.HIGH_BLOCK_RATE]]
    several[0].calls(several[0].shield.run("ann"), "rm", 40)
    settled(*several)
    assert sum([len(one.told) for one in several]) == 1


def test_the_run_above_is_told_in_its_own_process(tmp_path: Path) -> None:
    one, two = Watched(tmp_path), Watched(tmp_path)
    boss = one.shield.run("boss")
    ann = boss.spawn("ann")
    one.calls(ann, "rm", 5)
    two.calls(two.shield.run("ann"), "rm", 5)
    settled(one, two)
    assert boss.notices() == ()
    settled(one)
    assert (
        boss.notices() == ()
    )  # it has counted nothing since, and looks again with the next that it counts
    one.calls(ann, "ls", 1)
    settled(one)
    assert len(boss.notices()) == 1
    assert one.kinds == []


def test_what_another_process_is_about_to_write_is_entered_later(tmp_path: Path) -> None:
    one = Watched(tmp_path)
    held = attempt(tmp_path / HELD, create=True)
    assert held is not None
    one.calls(one.shield.run("ann"), "rm", 10)
    settled(one)
    assert one.told == []
    os.close(held)
    settled(one)
    assert one.kinds == [Kind.HIGH_BLOCK_RATE]


@pytest.mark.parametrize(
    "text", [b"", b"{", b'{"version":2,"windows":[]}', b'{"version":1,"windows":[["nothing"]]}']
)
def test_a_broken_file_begins_anew(tmp_path: Path, text: bytes) -> None:
    (tmp_path / FILE).write_bytes(text)
    found = looked_together(tmp_path, [FreshEvents(START, Kind.BYPASS_ABUSE, "t", "ann", 6)], START)
    assert found is not None
    assert len(found.begun) == 1


def test_a_process_that_ends_waits_for_one_that_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Held(tmp_path / HELD, monkeypatch, times=200)
    six = [FreshEvents(START, Kind.BYPASS_ABUSE, "t", "ann", 6)]
    with ThreadPoolExecutor(1) as pool:
        looking = pool.submit(looked_together, tmp_path, six, START, last=True)
        looking.add_done_callback(lambda _: other.asked.set())
        assert other.asked.wait(60)
        other.let_go()
        found = looking.result()
    assert found is not None
    assert len(found.begun) == 1


def test_a_process_that_ends_enters_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANCHION_METRICS_DIR", str(tmp_path / "metrics"))
    told: list[Occurrence] = []
    for _ in range(2):
        with Shield.load(POLICY, store="memory:", journal="memory:", clock=lambda: START) as shield:
            shield.occurrences.subscribe(told.append)
            run = shield.run("ann")
            for _ in range(5):
                run.check("rm", {})
    assert [one.kind for one in told if one.kind in RULES] == [Kind.HIGH_BLOCK_RATE]


BLOCKED = """
import json, sys
from stanchion import Shield

with Shield.load(json.loads(sys.argv[1]), store="memory:", journal="memory:") as shield:
    run = shield.run("ann")
    for _ in range(5):
        run.check("rm", {})
"""


def test_eight_processes_that_end_at_once_lose_nothing_and_tell_once(tmp_path: Path) -> None:
    environment = {**os.environ, "STANCHION_METRICS_DIR": str(tmp_path / "metrics")}
    command = [sys.executable, "-c", BLOCKED, json.dumps(POLICY)]
    started = [subprocess.Popen(command, env=environment, cwd=tmp_path) for _ in range(8)]
    assert [one.wait() for one in started] == [0] * 8
    figures = collect(tmp_path / "metrics").figures.figures()
    told = {
        one.labels: one.values[0] for one in figures if one.metric == "stanchion_occurrences_total"
    }
    assert told == {("alert.high_block_rate",): 1}
    (no_rm,) = [one for one in states(figures, {}) if one.guardrail_id == "no-rm"]
    assert (no_rm.invocation_count, no_rm.block_count) == (40, 40)
    kept = looked_together(tmp_path / "metrics", [], time.time_ns() // 1_000_000)
    assert kept is not None
    assert [(one.about, one.events, one.amount) for one in kept.windows] == [("ann", 40, 40)]


def test_windows_are_bounded_and_those_that_last_stay() -> None:
    lasting = AlertWindow(Kind.BYPASS_ABUSE, "t", "bad", True, ((START // MINUTE, 9, 0),))
    fresh = [
        FreshEvents(START, Kind.BYPASS_ABUSE, "t", f"a{number}", 1) for number in range(2 * MOST)
    ]
    found = looked((lasting,), fresh, START)
    assert len(found.windows) == MOST
    assert lasting in found.windows
    assert all(len(one.slots) <= SLOTS + 1 for one in found.windows)


@given(
    st.lists(st.tuples(st.integers(0, 400_000), st.integers(0, 4), st.integers(0, 4)), max_size=40)
)
def test_the_windows_are_those_of_a_plain_list(steps: list[tuple[int, int, int]]) -> None:
    """An alert lasts exactly while it would by a list of all that has occurred, judged after each
    step."""
    rule = RULES[Kind.HIGH_BLOCK_RATE]
    windows: tuple[AlertWindow, ...] = ()
    every: list[tuple[int, int, int]] = []
    now, on, begun = START, False, 0
    for wait, passed, blocked in steps:
        now += wait
        fresh = (
            [FreshEvents(now, Kind.HIGH_BLOCK_RATE, "t", "ann", passed + blocked, blocked)]
            if passed + blocked
            else []
        )
        every.append((now // rule.slot_ms, passed + blocked, blocked))
        recent = [one for one in every if one[0] >= now // rule.slot_ms - SLOTS]
        events, stopped = sum([one[1] for one in recent]), sum([one[2] for one in recent])
        share = stopped / events if events else 0.0
        was, on = on, share > rule.until if on else share > rule.above and events >= rule.least
        begun += on and not was
        found = looked(windows, fresh, now)
        windows = found.windows
        begun -= len(found.begun)
        assert any(one.on for one in windows) == on
    assert begun == 0


def test_one_agent_that_is_blocked_costs_no_more_where_there_are_many() -> None:
    """A block enters what its own agent has done, and looks at no other window."""
    one = Watched()
    for number in range(300):
        one.shield.run(f"a{number}").check("ls", {})
    alerts = one.shield.telemetry.alerts
    assert alerts is not None
    asked: list[str] = []
    name = alerts._name
    alerts._name = lambda text: asked.append(text) or name(text)  # type: ignore[func-returns-value]
    one.shield.run("a7").check("rm", {})
    assert asked == ["default", "a7"]


def test_agents_that_do_nothing_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alerts_module, "MOST_AGENTS", 10)
    one = Watched()
    for number in range(60):
        one.later(MINUTE)
        one.calls(one.shield.run(f"a{number}"), "ls", 1)
        bypasses(one, f"a{number}", 1)
    one.calls(one.shield.run("late"), "rm", 10)
    bypasses(one, "late", 6)
    assert [(told.kind, told.agent) for told in one.told] == [
        (Kind.HIGH_BLOCK_RATE, "late"),
        (Kind.BYPASS_ABUSE, "late"),
    ]


def test_what_waits_for_a_folder_that_cannot_be_written_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alerts_module, "MOST_UNSETTLED", 5)
    (tmp_path / "file").write_text("", "utf-8")
    one = Watched(tmp_path / "file" / "folder")
    run = one.shield.run("ann")
    for _ in range(20):
        one.calls(run, "ls", 1)
        settled(one)
    alerts = one.shield.telemetry.alerts
    assert alerts is not None
    assert len(alerts._unsettled) == 5
