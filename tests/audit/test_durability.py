"""Durability by risk: what can do much harm waits for the disk; what cannot be recorded does not
happen."""

from __future__ import annotations

import asyncio
import errno
import threading
from pathlib import Path
from typing import Any

import pytest

from stanchion import Decision, Refused, Shield
from stanchion.audit.errors import AuditLost
from stanchion.audit.options import TrailOptions
from stanchion.audit.trail import Trail
from stanchion.kernel.state import key
from stanchion.runtime.deciding.under_way import NOT_BEGUN
from stanchion_lab.bench.guards import Tokens
from tests.audit.disks import Disk
from tests.audit.written import allowed, ids, moment, of_kind, one, whole

POLICY: dict[str, Any] = {
    "name": "tiers",
    "tools": {name: {"risk": name} for name in ("low", "medium", "high", "critical")},
    "guards": [{"use": "step_limit", "max_steps": 100, "per": "run"}],
}
HELD = key("default", "tokens", "r1")
QUICK = TrailOptions(sync_ms=0.1, wait_s=60)


def shielded(folder: Path, options: TrailOptions = QUICK, **given: Any) -> Shield:
    """A shield on a trail, with a guard that holds what a call uses until it is over."""
    return Shield.load(
        POLICY, journal=Trail(folder, options), guards=[Tokens("tokens", 1_000)], **given
    )


def segment(folder: Path) -> Path:
    """The only segment of a trail."""
    (found,) = folder.rglob("*.jsonl")
    return found


@pytest.mark.parametrize("risk", ["high", "critical"])
def test_a_risky_tool_does_not_start_before_its_record_is_on_the_disk(
    tmp_path: Path, disk: Disk, risk: str
) -> None:
    """All of it, as the tool itself can see."""
    seen: list[tuple[int, int]] = []

    def tool(number: int) -> int:
        whole = segment(tmp_path).read_bytes()
        assert b'"content":{"number":%d}' % number in whole
        seen.append((disk.has(segment(tmp_path)), len(whole)))
        return number

    shield = shielded(tmp_path)
    with shield.run(id="r1") as run:
        for number in range(20):
            run.call(shield.tool(name=risk)(tool), number)
    shield.close()
    assert len(seen) == 20
    assert all(synced == written for synced, written in seen)


def test_a_risky_tool_waits_as_long_as_the_disk_hangs(tmp_path: Path, disk: Disk) -> None:
    """And starts as soon as it does not."""
    shield = shielded(tmp_path)
    run = shield.run(id="r1")
    run.check("low", {})
    ran: list[str] = []
    with disk.hangs():
        calling = threading.Thread(
            target=lambda: run.call(shield.tool(name="high")(lambda: ran.append("high")))
        )
        calling.start()
        disk.wait_until_it_hangs()
        assert ran == []
    calling.join()
    shield.close()
    assert ran == ["high"]


@pytest.mark.parametrize("risk", ["low", "medium"])
def test_other_tools_do_not_wait_for_the_disk(tmp_path: Path, disk: Disk, risk: str) -> None:
    """They run, and their results come back, while no sync does."""
    shield = shielded(tmp_path)
    with shield.run(id="r1") as run:
        run.check("low", {})
        with disk.hangs():
            disk.wait_until_it_hangs()
            assert [run.call(shield.tool(name=risk)(lambda: "done")) for _ in range(5)] == [
                "done"
            ] * 5
    shield.close()
    assert len(of_kind(one(tmp_path), "outcome")) == 5


def test_what_came_of_a_risky_call_does_not_wait_nor_does_one_that_is_refused(
    tmp_path: Path, disk: Disk
) -> None:
    """Only what is about to happen does."""
    shield = shielded(tmp_path)
    with shield.run(id="r1") as run:
        judged = run.check("high", {"n": 1})
        with disk.hangs():
            run.result("high", {"n": 1}, "done", call=judged.id)
            assert not run.check("high", {}, tokens=2_000).proceeds
    shield.close()


def test_waiting_for_the_disk_does_not_hold_up_the_event_loop(tmp_path: Path, disk: Disk) -> None:
    """Something else on the loop lets the disk go on."""
    shield = shielded(tmp_path)

    async def main() -> Decision:
        run = shield.run(id="r1")
        await run.acheck("low", {})
        with disk.hangs():
            waiting = asyncio.ensure_future(run.acheck("high", {}))
            await asyncio.to_thread(disk.wait_until_it_hangs)
            assert not waiting.done()
        return await waiting

    assert asyncio.run(main()).proceeds
    shield.close()


def tokens(shield: Shield) -> int:
    """What the guard that holds has counted."""
    return int(shield.store.read(HELD)[0])


def test_a_risky_call_whose_sync_fails_is_refused_and_gives_back_what_it_held(
    tmp_path: Path, disk: Disk
) -> None:
    """It says why; and as soon as the disk is well again, calls go ahead without anybody's help."""
    shield = shielded(tmp_path)
    ran: list[int] = []
    tool = shield.tool(name="high")(lambda: ran.append(1))
    with shield.run(id="r1") as run:
        run.call(tool)
        disk.fails = errno.EIO
        before = tokens(shield)
        with pytest.raises(Refused) as refused:
            run.call(tool)
        assert refused.value.decision.code == "kernel.audit_lost"
        assert "the disk reports an error" in refused.value.decision.findings[0].detail
        assert not refused.value.decision.held
        assert tokens(shield) == before
        assert list(shield.store.holds()) == []
        with pytest.raises(Refused):
            run.call(tool)
        disk.fails = 0
        run.call(tool)
        assert ran == [1, 1]
    shield.close()
    (found,) = whole(tmp_path).values()
    assert of_kind(found, "outcome")[-1]["call"] == of_kind(found, "intent")[-1]["id"]


def test_low_risk_calls_go_on_in_the_resumed_chain_after_a_failed_sync(
    tmp_path: Path, disk: Disk
) -> None:
    """What the failed sync was about is still there, its outcome says that it was not begun, and
    the chain that it was opened again."""
    shield = shielded(tmp_path)
    with shield.run(id="r1") as run:
        run.check("low", {"n": 1})
        disk.fails = errno.EIO
        assert not run.check("high", {"n": 2}).proceeds
        disk.fails = 0
        assert run.check("low", {"n": 3}).proceeds
    shield.close()
    (found,) = whole(tmp_path).values()
    assert [record["content"]["n"] for record in of_kind(found, "intent")] == [1, 2, 3]
    assert [record["notes"][0].split(":")[0] for record in of_kind(found, "outcome")] == [NOT_BEGUN]
    assert len(of_kind(found, "open")) >= 2


def test_a_disk_that_does_not_answer_in_time_is_a_refusal(tmp_path: Path, disk: Disk) -> None:
    """After the time that was given; the hold is given back, and the next call goes ahead when it
    answers."""
    shield = shielded(tmp_path, TrailOptions(sync_ms=0.1, wait_s=0.01))
    with shield.run(id="r1") as run:
        run.check("low", {})
        held = tokens(shield)
        with disk.hangs():
            decision = run.check("high", {}, tokens=5)
            assert decision.code == "kernel.audit_lost"
            assert "the disk did not answer within 0.01 s" in decision.findings[0].detail
            assert tokens(shield) == held
    shield.close()


def test_a_policy_that_only_watches_does_not_refuse_for_want_of_a_record(
    tmp_path: Path, disk: Disk
) -> None:
    """It says so, and that is all."""
    trail = Trail(tmp_path, TrailOptions(sync_ms=0.1, wait_s=0.01))
    shield = Shield.load({**POLICY, "mode": "shadow"}, journal=trail)
    with shield.run(id="r1") as run:
        run.check("low", {})
        with disk.hangs():
            decision = run.check("high", {})
            assert decision.proceeds
            assert [finding.code for finding in decision.shadow] == ["kernel.audit_lost"]
    shield.close()


def test_many_that_wait_share_one_sync(tmp_path: Path, disk: Disk) -> None:
    """Those who come while the disk is busy wait for the next sync, together."""
    trail = Trail(tmp_path, TrailOptions(sync_ms=0.1, wait_s=60, head_ms=60_000))
    about = moment("e0")
    trail.sync(trail.write(about, allowed(about), 0))
    marks: list[int] = []
    with disk.hangs():
        about = moment("first")
        trail.write(about, allowed(about), 0)
        disk.wait_until_it_hangs()
        before = disk.syncs
        for number in range(1, 21):
            about = moment(f"e{number}")
            marks.append(trail.write(about, allowed(about), 0))
        threads = [threading.Thread(target=trail.sync, args=(mark,)) for mark in marks]
        for thread in threads:
            thread.start()
    for thread in threads:
        thread.join()
    assert disk.syncs - before <= 4
    trail.close()
    assert len(ids(tmp_path)) == 22


def test_whoever_waits_is_told_what_became_of_their_own_record(tmp_path: Path, disk: Disk) -> None:
    """A failure is about what was written and not synced then; what comes later is not lost with
    it."""
    trail = Trail(tmp_path, QUICK)
    about = moment("e1")
    first = trail.write(about, allowed(about), 0)
    trail.sync(first)
    disk.fails = errno.ENOSPC
    about = moment("e2")
    second = trail.write(about, allowed(about), 0)
    with pytest.raises(AuditLost, match="the disk is full"):
        trail.sync(second)
    disk.fails = 0
    about = moment("e3")
    third = trail.write(about, allowed(about), 0)
    trail.sync(third)
    trail.sync(first)
    with pytest.raises(AuditLost, match="the disk is full"):
        trail.sync(second)
    trail.close()
