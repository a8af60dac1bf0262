"""A guard in a process of its own: its deadline holds, it answers as it would otherwise, and
nothing of it is left."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from stanchion import Action, PolicyError, Shield
from stanchion.kernel.actions import Risk
from stanchion.kernel.context import Context, Said
from stanchion.kernel.events import (
    Egress,
    Event,
    Failure,
    ModelCall,
    Prompt,
    RunInfo,
    ToolCall,
    ToolResult,
)
from stanchion.kernel.names import names
from stanchion.runtime.answers.isolated.isolation import IsolatedGuard
from stanchion.runtime.answers.isolated.wire import event_received, event_sent
from stanchion.testing import shield_for
from tests.guards.house_rules import no_force
from tests.guards.isolated_rules import JUDGES, policy, process_of
from tests.interrupts import everywhere, files

ROOT: Final = Path(__file__).resolve().parents[2]
SOAK: Final = bool(os.environ.get("STANCHION_SOAK"))
LONG_MS: Final = 60_000
SHORT_MS: Final = 300
ENDLESS: Final = {"text": "a" * 60 + "b"}


def until(true: Callable[[], bool]) -> None:
    """Let others work until something is true."""
    limit = time.monotonic() + 60
    while not true():
        assert time.monotonic() < limit
        time.sleep(0)


def gone(pid: int) -> bool:
    """Whether there is no such process, not even one that nobody has waited for."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[Shield, Shield]]:
    """A shield that isolates a guard, and one that does not."""
    with (
        shield_for(policy("judges")) as apart,
        shield_for(policy("judges", isolated=False)) as beside,
    ):
        yield apart, beside


def test_a_call_that_holds_the_interpreter_ends_at_the_deadline_and_other_guards_count() -> None:
    own = policy("stuck", SHORT_MS)
    own["guards"].append(
        {"use": "tool_denylist", "id": "never", "tools": ["bomb"], "priority": 200}
    )
    own["guards"].append({"use": "python", "id": "beside", "call": ("tests.guards.isolated_rules:gr"
                                                                    "a"
                                                                   "ded"),
                          "deadline_ms": LONG_MS, "priority": 10})  # fmt: skip
    with shield_for(own) as shield:
        decision = shield.run("a").check("t", {**ENDLESS, "action": "warn"})
        assert (decision.action, decision.code) == (Action.BLOCK, "kernel.lookup_expired")
        assert [finding.guard for finding in decision.findings] == ["beside", "g"]


def test_an_event_loop_goes_on_meanwhile() -> None:
    async def story(shield: Shield) -> tuple[str, int]:
        judged = asyncio.ensure_future(shield.run("a").acheck("t", ENDLESS))
        turns = 0
        while not judged.done():
            await asyncio.sleep(0)
            turns += 1
        return judged.result().code, turns

    with shield_for(policy("stuck", SHORT_MS)) as shield:
        code, turns = asyncio.run(story(shield))
    assert code == "kernel.lookup_expired"
    assert turns > 3  # a loop that stands still would turn once; a busy machine gives few turns


def test_after_it_was_ended_it_answers_again_from_another_process() -> None:
    with shield_for(policy("stuck", 1_000)) as shield:
        run = shield.run("a")
        until(lambda: run.check("t", {}).proceeds)
        assert run.check("t", ENDLESS).code == "kernel.lookup_expired"
        until(lambda: run.check("t", {}).proceeds)
        assert run.check("t", {"refuse": True}).code == "python.refused"


def test_being_late_means_what_it_means_for_every_guard() -> None:
    with shield_for(policy("stuck", 100, deep=True)) as shield:
        low, high = (shield.run("a").check(tool, ENDLESS) for tool in ("t", "door"))
    assert (low.proceeds, [finding.code for finding in low.errors]) == (
        True,
        ["kernel.lookup_late"],
    )
    assert (high.proceeds, [finding.code for finding in high.errors]) == (
        False,
        ["kernel.lookup_undecided"],
    )


def test_a_process_that_does_not_answer_is_a_guard_that_failed() -> None:
    ways = {
        "exit": "ProcessDied",
        "kill": "ProcessDied",
        "raise": "SystemExit",
        "large": "AnswerTooLarge",
        "announced": "AnswerTooLarge",
        "garbage": "AnswerTooLarge",
        "forged": "AnswerForeign",
        "endless": "AnswerForeign",
        "close": "ProcessDied",
    }
    with shield_for(policy("dies")) as shield:
        run = shield.run("a")
        for how, error in ways.items():
            decision = run.check("t", {"how": how})
            assert (decision.action, decision.code) == (Action.BLOCK, "kernel.lookup_failed"), how
            assert f"`{error}`" in decision.message, how
            assert run.check("t", {}).proceeds, how


LEFT: Final = [
    "", "fork", "fork that raises", "fork that exits", "frame", "own answer", "late frame",
    "half a frame", "output",
]  # fmt: skip


@settings(max_examples=100 if SOAK else 4, deadline=None, suppress_health_check=list(HealthCheck))
@given(asked=st.lists(st.tuples(st.sampled_from(LEFT), st.booleans()), min_size=3, max_size=8))
def test_no_question_gets_the_answer_to_another_whatever_the_code_leaves_behind(
    asked: list[tuple[str, bool]],
) -> None:
    with shield_for(policy("strays", 2_000)) as shield:
        run = shield.run("a")
        for leaves, refuse in asked:
            decision = run.check("t", {"leaves": leaves, "refuse": refuse})
            if leaves != "own answer":  # that one has answered its own question twice
                assert decision.proceeds is (not refuse and not decision.errors), asked
        until(lambda: not run.check("t", {}).errors)
        assert run.check("t", {"refuse": True}).code == "python.refused"


@pytest.mark.parametrize("leaves", ["fork", "fork that raises", "fork that exits", "output"])
def test_a_fork_of_the_process_answers_nobody_and_costs_no_question(leaves: str) -> None:
    with shield_for(policy("strays")) as shield:
        run = shield.run("a")
        told = [
            run.check("t", {"leaves": leaves, "refuse": refuse})
            for refuse in (False, True, False, True)
        ]
        assert [decision.code for decision in told] == ["", "python.refused"] * 2


@pytest.mark.parametrize("leaves", ["frame", "own answer"])
def test_what_was_written_before_a_question_is_a_failure_and_the_process_begins_anew(
    leaves: str,
) -> None:
    with shield_for(policy("strays")) as shield:
        run = shield.run("a")
        run.check("t", {"leaves": leaves, "refuse": True})
        told = [run.check("t", {"refuse": refuse}) for refuse in (True, True, False)]
        codes = [decision.code for decision in told]
        assert codes[-2:] == ["python.refused", ""]
        assert codes[0] == ("python.refused" if leaves == "frame" else "kernel.lookup_failed")


@pytest.mark.parametrize("end", ["close", "exit"])
def test_what_the_process_has_started_ends_with_it(end: str) -> None:
    shield = shield_for(policy("breeds"))
    run = shield.run("a")
    left = int(run.check("t", {}).message)
    assert not _is_dead(left)
    if end == "exit":
        assert run.check("t", {"exit": True}).code == "kernel.lookup_failed"
    else:
        shield.close()
    until(lambda: _is_dead(left))
    shield.close()


def test_one_who_is_cut_off_while_it_asks_leaves_its_answer_to_nobody() -> None:
    guard = IsolatedGuard("g", "tests.guards.isolated_rules:strays", LONG_MS, heard_late=False)
    stop = threading.Event()

    def event(refuse: bool) -> Event:
        return ToolCall(
            id="e", at=0, run=RunInfo(id="r", agent="a"), tool="t", args={"refuse": refuse}
        )

    def next_one() -> None:
        assert guard(event(refuse=False), stop) is None
        assert guard(event(refuse=True), stop) == "refused"

    next_one()
    # Most cuts cost a process, which takes its time to start.
    cut = everywhere(
        lambda: guard(event(refuse=True), stop),
        next_one,
        files("runtime/answers/isolated"),
        every=40,
    )
    assert cut > 5
    guard.close()


def test_where_the_guard_fails_open_a_process_that_died_lets_the_call_proceed() -> None:
    with shield_for(policy("dies", fail_open=True)) as shield:
        assert shield.run("a").check("t", {"how": "exit"}).proceeds


def test_a_process_that_was_killed_between_two_questions_is_replaced() -> None:
    with shield_for(policy("tells")) as shield:
        run = shield.run("a")
        first = process_of(run)
        os.kill(first, signal.SIGKILL)
        os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
        assert process_of(run) != first


def test_it_stays_for_many_questions_sees_no_secret_and_ends_with_the_shield(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("API_KEY", "sk-12345")
    shield = shield_for(policy("tells"))
    told = shield.run("a").check("t", {}).message
    assert "API_KEY" not in told
    first, parent = (int(word) for word in told.split()[:2])
    assert parent == os.getpid()
    assert process_of(shield.run("b")) == first
    shield.close()
    assert gone(first)


def test_one_at_work_ends_with_the_shield_too() -> None:
    shield = shield_for(policy("stuck"))
    run = shield.run("a")
    assert run.check("t", {}).proceeds
    with ThreadPoolExecutor(1) as pool:
        judged = pool.submit(run.check, "t", ENDLESS)
        guard: Any = shield.answerer(shield.policy.hash, "g")
        until(lambda: guard._turn.locked)
        shield.close()
        assert not judged.result().proceeds
    assert guard._process is None


def test_one_who_is_cut_off_while_it_closes_keeps_nobody_from_closing() -> None:
    guard = IsolatedGuard("g", "tests.guards.isolated_rules:tells", LONG_MS, heard_late=False)
    assert everywhere(guard.close, guard.close, files("locks", "runtime/answers/isolated")) > 50


def test_a_shield_that_nobody_closed_leaves_nothing_either() -> None:
    shield = shield_for(policy("tells"))
    pid = process_of(shield.run("a"))
    program = (
        "import sys; from stanchion import Shield; from tests.guards.isolated_rules import policy, "
        "process_of; "
        "print(process_of(Shield.load(policy('tells'), store='memory:', "
        "journal='memory:').run('a')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert gone(int(done.stdout))
    assert "printed" in done.stderr
    assert not gone(pid)
    shield.close()


HOST = """
import os, sys
from stanchion import Shield
from tests.guards.isolated_rules import policy
shield = Shield.load(policy(sys.argv[1], int(sys.argv[2])), store="memory:", journal="memory:")
run = shield.run("a")
run.check("t", {})
print(shield.answerer(shield.policy.hash, "g")._process.pid, flush=True)
run.check("t", {"text": "a" * 60 + "b"})
sys.stdin.read()
"""


@pytest.mark.parametrize(
    "call", ["tells", pytest.param("stuck", marks=pytest.mark.skipif(not SOAK, reason="soak"))]
)
def test_it_does_not_outlive_a_host_that_was_killed(call: str) -> None:
    command = [sys.executable, "-c", HOST, call, str(LONG_MS if call == "tells" else 2_000)]
    host = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    with host:
        assert host.stdout is not None
        pid = int(host.stdout.readline())
        host.kill()
    until(lambda: gone(pid) or _is_dead(pid))


def _is_dead(pid: int) -> bool:
    """Whether a process has ended, and whoever took it over has not looked yet."""
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_fork_of_the_host_has_a_process_of_its_own() -> None:
    with shield_for(policy("tells")) as shield:
        run = shield.run("a")
        first = process_of(run)
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(writes, json.dumps(process_of(run)).encode())
                shield.close()
            finally:
                os._exit(0)
        os.close(writes)
        with os.fdopen(reads) as told:
            other = int(told.read())
        os.waitpid(child, 0)
        assert other != first
        assert gone(other)
        assert process_of(run) == first


@pytest.mark.skipif(not SOAK, reason="an interpreter that optimizes compiles everything anew")
@pytest.mark.parametrize(
    ("flags", "code"), [([], "kernel.lookup_failed"), (["-O"], "python.refused")]
)
def test_it_is_started_as_its_host_was(flags: list[str], code: str) -> None:
    program = (
        "from stanchion import Shield; from tests.guards.isolated_rules import policy; "
        "shield = Shield.load(policy('asserts'), store='memory:', journal='memory:'); "
        "print(shield.run('a').check('t', {}).code)"
    )
    command = [sys.executable, *flags, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == f"{code}\n"


def test_many_threads_each_get_their_own_answer(pair: tuple[Shield, Shield]) -> None:
    shield = pair[0]
    with ThreadPoolExecutor(8) as pool:
        asked = ["allow", "warn", "block", "escalate"] * 20

        def said(number: int) -> list[str]:
            decision = shield.run("a", task=f"task-{number}").check(
                "graded", {"action": asked[number]}
            )
            return [finding.text for finding in decision.findings]

        assert list(pool.map(said, range(len(asked)))) == [
            [f"the house says {name}"] for name in asked
        ]


def test_a_reload_keeps_the_process_and_a_guard_that_is_gone_loses_it() -> None:
    with shield_for(policy("tells")) as shield:
        first = process_of(shield.run("a"))
        shield.reload({**policy("tells"), "version": "2"})
        assert process_of(shield.run("a")) == first
        for number in range(17):
            shield.reload({"name": f"bare-{number}"})
        assert gone(first)


def test_what_cannot_be_isolated_is_an_error_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["__main__"], "rule", no_force, raising=False)
    entry = {"use": "python", "id": "g", "call": "__main__:rule", "isolated": True}
    with pytest.raises(PolicyError, match="move it into a module that can be imported"):
        shield_for({"name": "x", "guards": [entry]})

    def handed_in(_event: Any) -> None: ...

    handed_in.isolated = True  # type: ignore[attr-defined]
    with pytest.raises(PolicyError, match="name it in the policy"):
        shield_for({"name": "x"}, guards=[handed_in])


WORDS = st.sampled_from(
    ["--force", "warn", "block", "redact", "allow", "/house/x", "***", "\ud800", "né\u202e", ""]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
ARGS = st.fixed_dictionaries(
    {},
    optional={
        "command": WORDS,
        "action": st.sampled_from(["warn", "block", "redact", "allow", "escalate", "retry"]),
        "password": WORDS,
        "reason": WORDS,
        "answer": VALUES,
        "path": WORDS,
    },
)


@settings(
    max_examples=2_000 if SOAK else 15, deadline=None, suppress_health_check=list(HealthCheck)
)
@given(args=ARGS, name=st.sampled_from(sorted(JUDGES)))
def test_the_answer_is_the_same_isolated_or_not(
    pair: tuple[Shield, Shield], args: dict[str, Any], name: str
) -> None:
    apart, beside = (shield.run("a").check(name, args) for shield in pair)
    assert (apart.action, apart.findings, apart.errors) == (
        beside.action,
        beside.findings,
        beside.errors,
    )


RUNS = st.builds(
    RunInfo,
    id=st.text(max_size=3),
    agent=st.text(max_size=3),
    parents=st.lists(st.text(max_size=3), max_size=2).map(tuple),
    allowed_tools=st.none()
    | st.lists(st.text("ab*?", min_size=1, max_size=3), max_size=3).map(names),
    allotment=st.none() | st.tuples(*[st.integers(-1, 1 << 70)] * 5),
)
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        ToolCall, id=st.just("e"), at=st.integers(), run=RUNS, args=st.dictionaries(WORDS, VALUES)
    ),
    st.builds(
        ToolResult,
        id=st.just("e"),
        at=st.just(0),
        run=RUNS,
        result=VALUES,
        risk=st.sampled_from(Risk),
    ),
    st.builds(
        Prompt, id=st.just("e"), at=st.just(0), run=RUNS, text=WORDS, traits=st.just(("a", "b"))
    ),
    st.builds(
        ModelCall, id=st.just("e"), at=st.just(0), run=RUNS, messages=st.lists(VALUES, max_size=2)
    ),
    st.builds(Egress, id=st.just("e"), at=st.just(0), run=RUNS, url=WORDS, payload=VALUES),
    st.builds(
        Failure,
        id=st.just("e"),
        at=st.just(0),
        run=RUNS,
        error=WORDS,
        status=st.none() | st.integers(),
    ),
)


@settings(max_examples=20_000 if SOAK else 40, deadline=None)
@given(event=EVENTS)
def test_an_event_arrives_as_it_was_sent(event: Event) -> None:
    assert event_received(event_sent(event)) == (event, None)
    context = Context(str(event.tool), conversation_history=(Said("user", "\ud800"),))
    assert event_received(event_sent(event, context)) == (event, context)


@pytest.mark.parametrize("call", ["tells_context", "tells_context_later"])
def test_it_is_given_the_same_context_isolated_or_not(call: str) -> None:
    said = []
    for isolated in (True, False):
        with shield_for(policy(call, isolated=isolated)) as shield:
            run = shield.run("a")
            run.prompt("Write the report.")
            run.result("web", {}, "Sunny.")
            said.append(run.check("door", {"a": 1}).message)
    assert said[0] == said[1]
    assert "Write the report." in said[0]
    assert "Sunny." in said[0]


def test_a_finding_that_holds_no_data_is_of_another_shape() -> None:
    with shield_for(policy("misfits")) as shield:
        decision = shield.run("a").check("t", {})
    assert (decision.action, decision.code) == (Action.BLOCK, "kernel.guard_error")
