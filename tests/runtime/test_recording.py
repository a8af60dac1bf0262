"""Recording: every decision is in the trail before it takes effect, and what came of it after."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, Refused, Shield, Stage
from stanchion.audit.errors import AuditLost, TrailError
from stanchion.audit.journal import MemoryJournal
from stanchion.audit.trail import Trail
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import Finding, Patch
from tests.audit.written import Record, of_kind, one, records, whole
from tests.new_threads import NewThreads
from tests.runtime.guards import says

BARE: dict[str, Any] = {"name": "bare"}
DECISIONS = ("intent", "outcome", "event")


def shielded(folder: Path, policy: dict[str, Any] = BARE, **options: Any) -> Shield:
    """A shield on a trail of its own."""
    return Shield.load(policy, journal=Trail(folder), **options)


def so_far(folder: Path) -> list[Record]:
    """What the only chain of a trail has at the moment."""
    (chain,) = [path for path in folder.iterdir() if path.is_dir()]
    return records(chain)


def test_a_call_is_recorded_before_the_tool_runs_and_its_result_after(tmp_path: Path) -> None:
    """The tool itself finds its intent; the outcome names it."""
    shield = shielded(tmp_path)
    seen: list[Record] = []

    def read(path: str) -> str:
        seen.extend(of_kind(so_far(tmp_path), *DECISIONS))
        return path.upper()

    with shield.run("ann", "t1") as run:
        assert run.call(read, "a.txt") == "A.TXT"
    shield.close()
    (intent,) = seen
    assert (intent["kind"], intent["tool"], intent["content"]) == (
        "intent",
        "read",
        {"path": "a.txt"},
    )
    outcome = of_kind(one(tmp_path), *DECISIONS)[1]
    assert (outcome["kind"], outcome["stage"], outcome["content"]) == (
        "outcome",
        "tool_result",
        "A.TXT",
    )
    assert outcome["call"] == intent["id"]


def test_a_tool_that_fails_leaves_its_error_as_the_outcome(tmp_path: Path) -> None:
    """With the type of the error, and its text as content."""
    shield = shielded(tmp_path)

    def fails() -> None:
        raise LookupError("not there")

    with shield.run() as run, pytest.raises(LookupError):
        run.call(fails)
    shield.close()
    intent, outcome = of_kind(one(tmp_path), *DECISIONS)
    assert (outcome["kind"], outcome["stage"], outcome["call"]) == (
        "outcome",
        "error",
        intent["id"],
    )
    assert (outcome["content"], outcome["beside"]["error"]) == ("not there", "LookupError")


def test_a_refused_call_has_an_intent_and_no_outcome(tmp_path: Path) -> None:
    """The record says who refused it and why."""
    shield = shielded(
        tmp_path, {"name": "x", "guards": [{"use": "tool_denylist", "tools": ["rm"]}]}
    )
    with shield.run() as run, pytest.raises(Refused):
        run.call(shield.tool(name="rm")(lambda path: None), "/")
    shield.close()
    (intent,) = of_kind(one(tmp_path), *DECISIONS)
    assert (intent["action"], intent["content"]) == ("BLOCK", {"path": "/"})
    (said,) = intent["findings"]
    assert (said["guard"], said["action"]) == ("tool-denylist", "BLOCK")


def test_an_interrupted_call_leaves_an_outcome_that_says_so(tmp_path: Path) -> None:
    """Nobody knows what came of it, and that is what is written."""
    shield = shielded(tmp_path)

    def stuck() -> None:
        raise KeyboardInterrupt

    with shield.run() as run:
        with pytest.raises(KeyboardInterrupt):
            run.call(stuck)
        assert run.call(lambda: "goes on") == "goes on"
    shield.close()
    intent, outcome, *_ = of_kind(one(tmp_path), *DECISIONS)
    assert (outcome["kind"], outcome["call"]) == ("outcome", intent["id"])
    assert outcome["beside"]["error"] == "KeyboardInterrupt"
    assert outcome["notes"] == ["it was interrupted: its outcome is not known"]


def test_a_cancelled_call_leaves_an_outcome_that_says_so(tmp_path: Path) -> None:
    """The same on an event loop, for a tool and for a model."""
    shield = shielded(tmp_path)

    async def main(call: Callable[[Any, Callable[..., Any]], Any]) -> None:
        started = asyncio.Event()

        async def forever(*_: Any) -> None:
            started.set()
            await asyncio.Event().wait()

        async with shield.run() as run:
            task = asyncio.ensure_future(call(run, forever))
            await started.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main(lambda run, forever: run.acall(forever)))
    asyncio.run(main(lambda run, forever: run.amodel(forever, [{"content": "hi"}])))
    shield.close()
    found = of_kind(one(tmp_path), "outcome")
    assert [record["beside"]["error"] for record in found] == ["CancelledError", "CancelledError"]
    assert [len(record["notes"]) for record in found] == [1, 1]


def numbers(count: int) -> Iterator[int]:
    yield from range(count)


def broken(_count: int) -> Iterator[int]:
    yield 0
    raise ValueError("broken")


@pytest.mark.parametrize(
    ("tool", "take", "parts", "error"),
    [(numbers, 9, 3, ""), (numbers, 2, 2, ""), (broken, 9, 1, "ValueError")],
    ids=["whole", "left early", "broken"],
)
def test_a_generator_tool_leaves_each_item_and_its_end(
    tmp_path: Path,
    tool: Callable[[int], Generator[int, None, None]],
    take: int,
    parts: int,
    error: str,
) -> None:
    """However it ends, the last outcome says after how many items."""
    shield = shielded(tmp_path)
    with shield.run() as run:
        items = run.call(tool, 3)
        try:
            for number, _ in enumerate(items, start=1):
                if number == take:
                    break
        except ValueError:
            assert error
        items.close()
    shield.close()
    intent, *outcomes = of_kind(one(tmp_path), *DECISIONS)
    assert {record["call"] for record in outcomes} == {intent["id"]}
    assert [
        record["beside"]["part"] for record in outcomes if "part" in record.get("beside", {})
    ] == [*range(1, parts + 1)]
    assert [record["beside"]["error"] for record in outcomes if record["stage"] == "error"] == (
        [error] if error else []
    )
    assert outcomes[-1]["notes"] == [f"it ended after {parts} items"]


def test_an_async_generator_tool_leaves_the_same(tmp_path: Path) -> None:
    """Each item and its end."""
    shield = shielded(tmp_path)

    async def items(count: int) -> AsyncIterator[int]:
        for number in range(count):
            yield number

    async def main() -> list[int]:
        async with shield.run() as run:
            return [number async for number in run.acall(items, 2)]

    assert asyncio.run(main()) == [0, 1]
    shield.close()
    outcomes = of_kind(one(tmp_path), "outcome")
    assert [record.get("content") for record in outcomes] == [0, 1, None]
    assert outcomes[-1]["notes"] == ["it ended after 2 items"]


def ends_badly(error: BaseException) -> Callable[[], Iterator[int]]:
    def tool() -> Iterator[int]:
        try:
            yield 0
            yield 1
        finally:
            raise error

    return tool


@pytest.mark.parametrize("take", [1, 9], ids=["left early", "whole"])
@pytest.mark.parametrize(
    "error",
    [ValueError(), KeyboardInterrupt(), GeneratorExit()],
    ids=lambda one: type(one).__name__,
)
def test_a_generator_that_raises_where_it_ends_leaves_an_outcome(
    tmp_path: Path, error: BaseException, take: int
) -> None:
    """In async code it works in threads, whose errors come back as those of whoever waits."""
    shield = shielded(tmp_path)

    async def main() -> None:
        items = shield.run().acall(ends_badly(error))
        for _ in range(take):
            await anext(items)
        await items.aclose()

    with suppress(BaseException):
        asyncio.run(main())
    shield.close()
    intent, *outcomes = of_kind(one(tmp_path), *DECISIONS)
    ended = [record for record in outcomes if "part" not in record.get("beside", {})]
    assert {record["call"] for record in ended} == {intent["id"]}


def test_what_is_under_way_when_its_shield_is_closed_has_an_outcome(tmp_path: Path) -> None:
    """A tool in a thread, the items of a generator, and a model's reply: their end comes when
    nobody can write it down any more."""
    shield, begun, close = shielded(tmp_path), threading.Event(), threading.Event()

    def slow() -> None:
        begun.set()
        close.wait(9)

    def call() -> None:
        with pytest.raises(Refused, match="the call was done"):
            run.call(slow)

    run = shield.run()
    thread = threading.Thread(target=call)
    thread.start()
    items, reply = run.call(numbers, 3), run.model(lambda _: iter("abc"), [{"content": "hi"}])
    assert [next(items), next(reply)] == [0, "a"]
    begun.wait(9)
    shield.close()
    close.set()
    thread.join(9)
    found = of_kind(one(tmp_path), *DECISIONS)
    intents = [record["id"] for record in found if record["kind"] == "intent"]
    said = "the shield was closed before it ended: its outcome is not known"
    ended = [record["call"] for record in found if record.get("notes") == [said]]
    assert len(intents) == 3
    assert sorted(ended) == sorted(intents)


def test_guards_that_passed_are_named_only_where_the_policy_asks_for_it(tmp_path: Path) -> None:
    """What warns, refuses, or watches is there in any case."""
    guards = [
        {"use": "tool_denylist", "id": "loud", "tools": ["rm"], "log_pass": True},
        {"use": "tool_denylist", "id": "quiet", "tools": ["dd"], "action": "warn"},
        {"use": "tool_denylist", "id": "watches", "tools": ["dd"], "mode": "shadow"},
        {"use": "step_limit", "id": "steps", "max_steps": 9, "log_pass": True},
    ]
    shield = shielded(tmp_path, {"name": "x", "guards": guards})
    with shield.run() as run:
        for tool in ("read", "rm", "dd"):
            run.check(tool, {})
    shield.close()
    read, rm, dd = of_kind(one(tmp_path), "intent")
    assert read["passed"] == ["loud", "steps"]
    assert "findings" not in read
    assert [said["guard"] for said in rm["findings"]] == ["loud"]
    assert "passed" not in rm
    assert [(said["guard"], said["action"]) for said in dd["findings"]] == [("quiet", "WARN")]
    assert [said["guard"] for said in dd["shadow"]] == ["watches"]
    assert dd["passed"] == ["loud", "steps"]


def test_a_warning_is_with_the_call_and_with_what_came_of_it(tmp_path: Path) -> None:
    """So that whoever reads the outcome knows."""
    shield = shielded(tmp_path, guards=[says(Action.WARN, Stage.TOOL_CALL)])
    with shield.run() as run:
        run.call(lambda: None)
    shield.close()
    intent, outcome = of_kind(one(tmp_path), *DECISIONS)
    assert intent["action"] == "WARN"
    assert outcome["notes"] == ["says says WARN"]


def test_a_run_begins_and_ends_in_the_trail_with_how_often_what_was_decided(tmp_path: Path) -> None:
    """Who, for what, under which policy; and one that did nothing says nothing."""
    policy = {
        "name": "x",
        "agents": {"ann": {"role": "lead"}},
        "guards": [{"use": "step_limit", "max_steps": 2}],
    }
    shield = shielded(tmp_path, policy)
    with shield.run("ann", "t1", id="r1", deadline_s=60, tenant="acme") as run:
        child = run.spawn("bob")
        for _ in range(3):
            run.check("read", {})
        child.prompt("hello")
        child.close()
    shield.run("cid").close()
    shield.close()
    found = one(tmp_path)
    begun, child_begun = of_kind(found, "run")
    assert (begun["run"]["id"], begun["run"]["agent"], begun["run"]["role"]) == (
        "r1",
        "ann",
        "lead",
    )
    assert (begun["run"]["task"], begun["run"]["tenant"]) == ("t1", "acme")
    assert begun["policy"] == shield.policy.hash
    assert of_kind(found, "intent")[0]["policy"] == shield.policy.hash[:16]
    assert begun["deadline_ms"] > begun["at"]
    assert child_begun["run"]["parents"] == ["r1"]
    child_end, end = of_kind(found, "end")
    assert end["decided"] == {"ALLOW": 2, "BLOCK": 1}
    assert (end["run"], end["code"], end["why"]) == ("r1", "kernel.ended", "it was closed")
    assert child_end["decided"] == {"ALLOW": 1}


def test_a_run_is_recorded_once_however_many_threads_it_has(tmp_path: Path) -> None:
    """And counts every decision of all of them."""
    shield = shielded(tmp_path)
    with shield.run(id="r1") as run:
        run.check("first", {})
        threads = [
            threading.Thread(target=lambda: [run.check("read", {}) for _ in range(50)])
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    shield.close()
    found = one(tmp_path)
    assert len(of_kind(found, "run")) == 1
    assert of_kind(found, "end")[0]["decided"] == {"ALLOW": 201}
    assert len({record["id"] for record in of_kind(found, "intent")}) == 201


def test_a_halted_run_ends_with_what_it_had_produced(tmp_path: Path) -> None:
    """In the record of its end, and in what the caller gets."""
    shield = shielded(
        tmp_path, guards=[says(Action.HALT, Stage.TOOL_CALL, tools=frozenset({"wipe"}))]
    )
    with shield.run(id="r1") as run:
        run.keep("a draft")
        run.keep({"pages": 3, "token": "abc"})
        assert run.call(lambda: [1, 2]) == [1, 2]
        assert run.partial == ("a draft", {"pages": 3, "token": "abc"}, [1, 2])
        with pytest.raises(Refused) as refused:
            run.call(shield.tool(name="wipe")(lambda: None))
        assert refused.value.ended
        assert refused.value.partial == ("a draft", {"pages": 3, "token": "abc"}, [1, 2])
        with pytest.raises(Refused) as again:
            run.call(lambda: None)
        assert again.value.partial == refused.value.partial
    shield.close()
    (end,) = of_kind(one(tmp_path), "end")
    assert end["produced"] == ["a draft", {"pages": 3, "token": "[redacted]"}, [1, 2]]
    assert (end["code"], end["why"]) == ("kernel.ended", "says says HALT")
    assert end["decided"] == {"ALLOW": 2, "HALT": 1}


def test_a_refusal_that_ends_nothing_brings_nothing_along() -> None:
    """The run goes on, and what it has produced is its own."""
    shield = Shield.load(BARE, guards=[says(Action.BLOCK, Stage.TOOL_CALL)])
    with shield.run() as run:
        run.keep("a draft")
        with pytest.raises(Refused) as refused:
            run.call(lambda: None)
        assert refused.value.partial == ()
        assert run.partial == ("a draft",)


def test_a_stream_that_is_stopped_has_what_was_passed_on(tmp_path: Path) -> None:
    """All chunks that the agent got before the whole was refused; and what a model said last."""

    def stop(event: Any) -> str | None:
        return "enough" if "three" in event.text else None

    stop.stages = [Stage.MODEL_REPLY]  # type: ignore[attr-defined] # how a guard says it
    shield = shielded(tmp_path, guards=[stop])
    with shield.run() as run:
        run.model(lambda _messages: "hello", [])
        with pytest.raises(Refused):
            list(run.stream(["one ", "two ", "three"]))
        assert run.partial == ("one ", "two ", "three", "hello")
    shield.close()
    assert of_kind(one(tmp_path), "end")[0]["produced"] == ["one ", "two ", "three", "hello"]


def test_what_a_guard_in_shadow_mode_would_redact_is_in_no_end(tmp_path: Path) -> None:
    """The run has it, for shadow mode changes nothing; its record counts what is left out."""
    watches = says(Action.REDACT, Stage.TOOL_RESULT, patches=(Patch((), "[gone]"),), mode="shadow")
    shield = shielded(tmp_path, guards=[watches])
    with shield.run() as run:
        assert run.call(lambda: "secret words") == "secret words"
        assert run.partial == ("secret words",)
    shield.close()
    (end,) = of_kind(one(tmp_path), "end")
    assert "produced" not in end
    assert end["left_out"] == 1


def test_a_reload_in_the_middle_of_a_run_is_written_down(tmp_path: Path) -> None:
    """The run goes on under another policy: a record says so before the first decision under it."""
    file = tmp_path / "policy.yaml"
    file.write_text("name: first\n")
    shield = Shield.load(file, journal=Trail(tmp_path / "trail"))
    with shield.run("ann", id="r1") as run:
        run.check("read", {})
        run.check("read", {})
        shield.reload({"name": "second", "agents": {"ann": {"role": "lead"}}})
        run.check("read", {})
    shield.close()
    found = one(tmp_path / "trail")
    kinds = [record["kind"] for record in found if record["kind"] in ("run", "end", *DECISIONS)]
    assert kinds == ["run", "intent", "intent", "run", "intent", "end"]
    first, second = of_kind(found, "run")
    assert first["policy"] != second["policy"]
    under = [first["policy"][:16]] * 2 + [second["policy"][:16]]
    assert [record["policy"] for record in of_kind(found, "intent")] == under
    assert (first["run"]["role"], second["run"]["role"]) == ("", "lead")
    assert (first["source"], second.get("source", "")) == (str(file), "")


def test_by_default_state_and_records_are_in_the_state_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two shields of one process share a chain; the next process finds both, and what was
    counted."""
    monkeypatch.delenv("STANCHION_STORE")
    monkeypatch.delenv("STANCHION_AUDIT")
    monkeypatch.setenv("STANCHION_STATE_DIR", str(tmp_path / "here"))
    policy = {"name": "x", "guards": [{"use": "step_limit", "max_steps": 2, "per": "task"}]}
    with Shield.load(policy) as first, Shield.load(policy) as second:
        assert first.run(task="t").check("read", {}).proceeds
        assert second.run(task="t").check("read", {}).proceeds
    with Shield.load(policy) as third:
        assert not third.run(task="t").check("read", {}).proceeds
    (found,) = whole(tmp_path / "here" / "trail").values()
    assert [record["action"] for record in of_kind(found, "intent")] == ["ALLOW", "ALLOW", "BLOCK"]
    assert (tmp_path / "here" / "state.db").exists()


def test_the_environment_says_where_records_go_how_long_they_stay_and_who_seals_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder, a key file and retention; and what makes no sense is an error."""
    (tmp_path / "key").write_bytes(bytes(range(32)))
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path / "there"))
    monkeypatch.setenv("STANCHION_AUDIT_KEY", str(tmp_path / "key"))
    with Shield.load(BARE) as shield:
        shield.run().check("read", {})
    assert len(one(tmp_path / "there", tmp_path / "key")) == 5
    monkeypatch.setenv("STANCHION_AUDIT_KEY", str(tmp_path / "gone"))
    with pytest.raises(TrailError, match="cannot be read"):
        Shield.load(BARE)
    for name in ("STANCHION_AUDIT_KEEP_DAYS", "STANCHION_AUDIT_KEEP_MB"):
        monkeypatch.setenv(name, "-3")
        with pytest.raises(ValueError, match=f"{name} is `-3`: give a positive number"):
            Shield.load(BARE)
        monkeypatch.delenv(name)
    monkeypatch.setenv("STANCHION_AUDIT", "memory:")
    with Shield.load(BARE) as shield:
        assert isinstance(shield.journal, MemoryJournal)


def test_closing_a_shield_twice_closes_nobody_elses_trail(tmp_path: Path) -> None:
    """A shield in a `with` that is also closed by hand counts once."""
    first, second = Shield.load(BARE, journal=tmp_path), Shield.load(BARE, journal=tmp_path)
    first.close()
    first.close()
    assert second.run().check("read", {}).proceeds
    second.close()
    assert len(of_kind(one(tmp_path), "intent")) == 1


class Broken(MemoryJournal):
    """A journal that takes nothing for a while."""

    def probe(self) -> None:
        if self.trouble:
            raise AuditLost(self.trouble)

    def write(
        self,
        moment: Moment,
        decision: Decision,
        took_ns: int,
        notes: tuple[str, ...] = (),
        hide: tuple[Patch, ...] = (),
    ) -> int:
        self.probe()
        return super().write(moment, decision, took_ns, notes)


def test_a_late_answer_is_not_lost_with_an_event_that_could_not_be_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It enters the next event that can be."""
    monkeypatch.setattr("stanchion.runtime.answers.pool.IDLE_S", 0.01)
    journal, asked, threads = Broken(), threading.Event(), NewThreads()

    def slow(_event: Event) -> Finding:
        asked.wait(60)
        return Finding(Action.ESCALATE, "test.late")

    slow.deadline_ms = 0  # type: ignore[attr-defined] # how a guard says it
    slow.deep = True  # type: ignore[attr-defined] # how a guard says it
    shield = Shield.load(BARE, journal=journal, guards=[slow])
    run = shield.run()
    assert run.check("read", {}).proceeds
    asked.set()
    for thread in threads.named("stanchion-slow"):
        thread.join()
    journal.trouble = "the disk is full"
    assert run.check("read", {}).code == "kernel.audit_lost"
    journal.trouble = ""
    late = run.check("read", {})
    assert (late.action, late.code) == (Action.ESCALATE, "kernel.late_answer")


def test_what_cannot_be_recorded_does_not_happen() -> None:
    """Neither tools, nor models, nor words; and the run can tell its agent."""
    journal = Broken()
    shield = Shield.load(BARE, journal=journal)
    ran: list[str] = []
    with shield.run() as run:
        run.prompt("hello")
        journal.trouble = "the disk is full"
        with pytest.raises(Refused, match="the audit trail cannot be written") as refused:
            run.call(lambda: ran.append("tool"))
        assert [finding.detail for finding in refused.value.decision.findings] == [
            "the disk is full"
        ]
        with pytest.raises(Refused, match="the audit trail cannot be written"):
            run.model(lambda _messages: ran.append("model"), [])
        assert not run.prompt("hello").proceeds
        assert not run.egress("https://example.org").proceeds
        assert ran == []
        journal.trouble = ""
        run.call(lambda: ran.append("tool"))
    assert ran == ["tool"]
