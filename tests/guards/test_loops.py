"""Loops, where a table cannot reach: disguises, periods, cost, calls side by side, and other
stores."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from base64 import b64encode
from copy import deepcopy
from hashlib import sha256
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any, Final
from zlib import crc32

import pytest
from hypothesis import given, settings, strategies as st

from stanchion import Action, Refused
from stanchion.audit.redaction import masked
from stanchion.guards._outcome import DRAWN, result_digest, undrawn
from stanchion.guards.loops import Loops, Metrics, history_key, metrics
from stanchion.kernel.events import Failure, ModelCall, Prompt, RunInfo, ToolCall, ToolResult
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Ruling
from stanchion.readings import read
from stanchion.readings.canonical import plain
from stanchion.readings.fingerprint import (
    ALIKE,
    SKETCHED,
    alike,
    fingerprint,
    normal_form,
    print_of,
)
from stanchion.readings.history import LoopHistory
from stanchion.readings.past_call import LONG, CallMark, PastCall, begun
from stanchion.readings.repeating import is_a_look
from stanchion.stores.sqlite import SqliteStore
from stanchion.testing import FakeClock, ScriptedTool, shield_for
from tests.guards.loop_traces import HONEST, LOOPS, Step, traces
from tests.guards.steps import steps_of
from tests.properties.examples import sample

POLICY: Final[dict[str, Any]] = {"name": "loops", "guards": [{"use": "loops"}]}
RUN: Final = RunInfo("r")


class Played:
    """A run as the guard alone sees it: no shield, no store, a value handed from event to event.
    Each event is another process's, which has the text, unless one `goes_on`."""

    def __init__(
        self,
        guard: Loops | None = None,
        traits: tuple[str, ...] = (),
        goes_on: bool = False,
    ) -> None:
        self.guard = Loops() if guard is None else guard
        self.traits = traits
        self.goes_on = goes_on
        self.value: Any = None
        self.now = 0
        self._count = 0

    def begin(self, tool: str, args: dict[str, Any], call: str = "") -> tuple[str, Finding | None]:
        """A call is judged; gives its id and what was found."""
        self._count += 1
        event = ToolCall(
            id=f"e{self._count}",
            at=self.now,
            run=RUN,
            tool=tool,
            args=args,
            traits=self.traits,
            call=call,
        )
        return event.id, self._judged(event)

    def end(self, call: str, tool: str, args: dict[str, Any], result: Any, part: int = 0) -> None:
        """A result comes of it."""
        about: dict[str, Any] = {"id": "x", "at": 0, "run": RUN, "traits": self.traits}
        self._judged(ToolResult(**about, tool=tool, args=args, call=call, result=result, part=part))

    def fail(self, call: str, tool: str, args: dict[str, Any], text: str) -> None:
        """It fails."""
        self._judged(
            Failure(id="x", at=0, run=RUN, tool=tool, args=args, call=call, error="E", text=text)
        )

    def hear(self, text: str) -> None:
        """The user says something."""
        self._judged(Prompt(id="p", at=0, run=RUN, text=text))

    def call(self, tool: str, args: dict[str, Any], result: Any) -> str:
        """A call with its result; gives the code of what was found, empty where it goes ahead
        unheard."""
        call, finding = self.begin(tool, args)
        if finding is None or finding.proceeds:
            self.end(call, tool, args, result)
        return "" if finding is None else finding.code

    def _judged(self, event: Any) -> Finding | None:
        return self.heard(self.guard.judge(read(event), self.value, 0))

    def heard(self, ruling: Ruling | None) -> Finding | None:
        """Keep what the guard wants to be kept; gives what it found."""
        if ruling is None:
            return None
        if ruling.put is not None:
            self.value = ruling.put if self.goes_on else json.loads(json.dumps(ruling.put.text()))
        return ruling.finding


texts = st.text(
    st.characters(codec="utf-8", exclude_categories=["Zs", "Zl", "Zp", "Cc", "Cf"]), max_size=6
)
numbers = st.integers(-(10**6), 10**6)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def disguised(value: Any, draw: Any) -> Any:
    """The same data, written in another way."""
    match value:
        case bool() | None:
            return value
        case int():
            return float(value) if draw(st.booleans()) else value
        case str():
            return (
                draw(st.sampled_from(["", " ", "\t "]))
                + value.replace(" ", "  ")
                + draw(st.sampled_from(["", " "]))
            )
        case list():
            return [disguised(one, draw) for one in value]
        case _:
            keys = draw(st.permutations(list(value)))
            return {key: disguised(value[key], draw) for key in keys}


@given(st.data(), st.lists(st.dictionaries(texts, values, max_size=3), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_a_disguise_changes_no_verdict(data: Any, alphabet: list[dict[str, Any]]) -> None:
    plain, other = Played(), Played()
    for _ in range(data.draw(st.integers(3, 14))):
        args = data.draw(st.sampled_from(alphabet))
        result = data.draw(st.sampled_from(["a", "b"]))
        assert plain.call("t", args, result) == other.call("t", disguised(args, data.draw), result)


@pytest.mark.parametrize("period", range(1, 11))
def test_a_period_within_the_window_is_refused_when_its_third_round_begins(period: int) -> None:
    played = Played()
    calls = [f"tool-{chr(97 + number)}" for number in range(period)]
    refused = []
    for number in range(3 * period):
        tool = calls[number % period]
        code = played.call(tool, {}, f"result of {tool}")
        if code and code != "loops.stall":
            refused.append((number + 1, code))
    assert refused[0] == (2 * period + 1, "loops.repeat" if period == 1 else "loops.cycle")


@given(st.integers(2, 12), st.integers(1, 4), st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_any_period_within_any_window_is_refused_when_one_round_too_many_begins(
    window: int, rounds: int, period: int
) -> None:
    period, rounds = min(period, window), max(2, min(rounds, window))
    others: dict[str, Any] = {"max_errors": 1, "near_repeats": 1, "stall_after": window}
    played = Played(Loops(max_history=window, max_repeats=rounds, **others))
    stopped = [
        number
        for number in range(rounds * period + 1)
        if played.call(f"tool-{chr(97 + number % period)}", {}, number % period)
        in ("loops.repeat", "loops.cycle", "loops.excessive")
    ]
    assert stopped == [rounds * period]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), max_size=40))
@settings(max_examples=60, deadline=None)
def test_a_run_whose_results_all_differ_is_never_disturbed(calls: list[tuple[str, int]]) -> None:
    played = Played()
    for number, (tool, arg) in enumerate(calls):
        assert played.call(tool, {"q": arg}, f"result {number}") == ""


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(0, 1), st.sampled_from(["x", "y", None])),
        max_size=30,
    )
)
@settings(max_examples=40, deadline=None)
def test_to_judge_changes_nothing(calls: list[tuple[str, int, str | None]]) -> None:
    """A decision may be judged several times before it is written: the value it was judged on stays
    as it is."""
    played = Played(goes_on=True)
    for tool, arg, result in calls:
        before = deepcopy(played.value)
        event = ToolCall(id="again", at=0, run=RUN, tool=tool, args={"q": arg})
        assert played.guard.judge(read(event), played.value, 0) == played.guard.judge(
            read(event), played.value, 0
        )
        assert played.value == before
        played.call(tool, {"q": arg}, result)


def test_cost_and_size_are_bounded_by_the_window() -> None:
    def after(length: int) -> tuple[int, int]:
        played = Played()
        for number in range(length):
            played.call("read", {"path": f"file {number % 8}"}, f"text {number:06}")
        steps = steps_of(lambda: played.call("read", {"path": "file 3"}, "text 999999"))
        return steps, len(json.dumps(played.value))

    steps, size = after(32)
    later_steps, later_size = after(1_504)
    assert later_steps <= steps * 1.02
    assert later_size <= size + 60
    assert size <= 888


def test_a_record_is_one_short_text() -> None:
    """At its fullest, with everything that can be told and counted."""
    played = Played(Loops(action="warn", error_action="warn"))
    played.call("t", {}, "x")
    played.hear("something else")
    numbers_ = count()
    for _ in range(4):
        failing(played, ["no"] * 8)
        nearly(played, [SAID] * 5)
        for tool in ["a", "a", "a", "b", "c", "b", "c", "b", "c", "b"]:
            played.call(tool, {}, "same")
    for number in range(11):
        words = " ".join(
            [f"word{chr(97 + next(numbers_) % 26)}{chr(97 + each)}" for each in range(26)]
        )
        played.call("write" + str(number), {"path": f"file {number}", "content": words}, "done")
    assert isinstance(played.value, str)
    assert played.value.isascii()
    history = LoopHistory.of(played.value)
    assert history.asked
    assert len(history.found) >= 5
    assert len(json.dumps(played.value)) <= 908
    assert masked(played.value) is played.value


def test_short_arguments_take_less() -> None:
    played = Played()
    for number in range(20):
        played.call("read", {"path": f"src/part{number}.py", "limit": 100}, f"text {number}")
    assert len(played.value) / len(LoopHistory.of(played.value).calls) <= 58


def test_nothing_that_was_said_is_in_a_record() -> None:
    played = Played()
    for number in range(4):
        played.call("send_mail", {"to": "ada@example.org", "text": f"my word {number}"}, "hunter2")
        call, _ = played.begin("send_mail", {"to": "bob"})
        played.fail(call, "send_mail", {"to": "bob"}, "no such person")
    assert not re.search(r"ada|example|mail|my|word|hunter|bob|such|person", played.value)


OLD: Final[dict[str, Any]] = {
    "calls": [["e1", "5b", "1f", "2e", "", 2, 36, "=ab", ""]],
    "runs": [1],
    "told": {"repeat": "1f"},
    "asked": "",
    "checks": 3,
    "found": {"repeat": 1},
}
A_CALL: Final = "abcdefGHIJexactexaloosAEoutcomesAAAAB2AU"
NAMED: Final = "~0123456789abcdef|"


@pytest.mark.parametrize(
    "value",
    [
        OLD,
        [],
        7,
        "",
        "2",
        "1 3    ",
        "2 3     ",
        NAMED + "6|x||||||",
        NAMED + "6|3|z9|||||",
        NAMED + "6|3|r?|||||",
        NAMED + "6|3||1,x||||",
        NAMED + "6|3|||z||||",
        NAMED + "5|3|||||abcdefgh2|",
        NAMED + "6|3|||||abcdefghx|",
        NAMED + "6|3||||||abcdefghx",
        NAMED + "6|3|||||||short",
        NAMED + "6|3|||||||" + A_CALL + "odd",
        NAMED + "6|3|||||||" + A_CALL.replace("AE", "?!"),
        NAMED[1:] + "6|3||||||",
        NAMED[:-2] + "|6|3||||||",
        NAMED,
        NAMED[:-1],
    ],
)
def test_a_record_that_cannot_be_read_is_an_empty_history(value: Any) -> None:
    assert metrics(value) == Metrics()
    played = Played()
    played.value = value
    played.end("e1", "t", {}, "x")
    played.fail("e1", "t", {}, "x")
    assert played.value == value, "nothing is known that a result could belong to"
    assert [played.call("t", {}, "x") for _ in range(3)] == ["", "", "loops.repeat"]
    assert metrics(played.value).total_checks == 3


def test_a_record_that_can_be_read_is_read() -> None:
    assert metrics(NAMED + "6|3||||||") == Metrics(total_checks=3)
    assert LoopHistory.of(NAMED + "6|3|||||abcdefgh2,ijklmnop10|").refusals == {
        "abcdefgh": 2,
        "ijklmnop": 10,
    }
    assert LoopHistory.of(NAMED + "6|3||||||abcdefgh2,ijklmnop10").reasons == {
        "abcdefgh": 2,
        "ijklmnop": 10,
    }
    history = LoopHistory.of(text := f"{NAMED}6|3|r1||c|asked|||{A_CALL}")
    (call,) = history.calls
    assert (call.tool, call.exact, call.marks) == ("GHIJ", "exactexa", CallMark.FIRST)
    assert (call.outcome, call.text, call.at, call.since) == ("outcomes", A_CALL, 118, 98)
    assert (history.name, history.text()) == (NAMED[:-1], text)


@given(st.text(max_size=40) | st.text("4 ,rcxensf019AE-.", max_size=60))
@sample(25)
def test_no_text_breaks_it(text: str) -> None:
    played = Played()
    played.value = text
    played.call("t", {}, "x")
    assert len(LoopHistory.of(played.value).calls) >= 1


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 1), st.sampled_from(["x", "y", None])),
        max_size=30,
    )
)
@settings(max_examples=40, deadline=None)
def test_what_was_written_is_what_is_read(calls: list[tuple[str, int, str | None]]) -> None:
    """A history is written as it was read, whatever happened in it."""
    played = Played(Loops(action="warn"))
    for tool, arg, result in calls:
        played.call(tool, {"q": arg}, result)
        assert LoopHistory.of(played.value).text() == played.value


@given(
    st.lists(
        st.tuples(
            st.sampled_from("ab"),
            st.integers(0, 60),
            st.sampled_from(["x" * 80, "y", None, "fails"]),
        ),
        max_size=24,
    ),
    st.sampled_from([(), ("read",), ("poll",), ("idempotent",)]),
    st.integers(1, 3),
)
@sample(37)
def test_a_call_that_is_passed_at_a_glance_is_found_to_be_no_loop(
    calls: list[tuple[str, int, str | None]], traits: tuple[str, ...], least: int
) -> None:
    """Where a history is quiet for a call, nothing that looks for loops finds one."""
    guard = Loops(
        max_errors=least,
        near_repeats=least,
        stall_after=least + 1,
        near_action="allow",
        stall_action="allow",
    )
    played = Played(guard, traits)
    for tool, arg, result in calls:
        new = begun("", tool, {"q": f"one two three four five {arg}"})
        history = LoopHistory.of(played.value)
        if history.quiet(new, 10, least, least, least + 1):
            assert history.last(new, 10) is None
            assert history.failures(new.tool, 10) < least
            assert len(history.near(new, 10, least)) < least
            assert history.barren(10) < least + 1
        call, finding = played.begin(tool, {"q": f"one two three four five {arg}"})
        if result == "fails":
            played.fail(call, tool, {}, "it fails")
        elif result is not None and (finding is None or finding.proceeds):
            played.end(call, tool, {}, result)


def test_a_new_call_is_judged_without_taking_the_history_apart() -> None:
    played = Played(goes_on=True)
    for number in range(20):
        played.call("read", {"path": f"src/{number}.py"}, f"file {number}")
    reading = read(ToolCall(id="c", at=0, run=RUN, tool="read", args={"path": "docs/index.md"}))
    called: list[str] = []

    def note(frame: FrameType, kind: str, _arg: Any) -> None:
        if kind == "call":
            called.append(frame.f_code.co_qualname)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        played.guard.judge(reading, played.value, 0)
    finally:
        sys.setprofile(before)
    assert "PastCall.read" not in called
    assert len(called) <= 12, called


@pytest.mark.parametrize("read", [True, False])
def test_a_history_that_two_ask_for_is_one_for_each(read: bool) -> None:
    history = LoopHistory(checks=1)
    value = history.text() if read else history
    one, other = LoopHistory.of(value), LoopHistory.of(value)
    one.checks = 7
    assert other.checks == LoopHistory.of(value).checks == 1


def test_no_more_is_kept_of_a_call_than_there_is_room_for() -> None:
    for size in (LONG // 2, 2 * LONG, 100 * LONG):
        call = begun("c", "write", {"content": "word " * (size // 5)})
        assert len(call.form) <= LONG
        assert call.exact == fingerprint("write", {"content": "word " * (size // 5)}).exact


@given(st.text(max_size=9), st.dictionaries(texts | st.just("\0"), values, max_size=3))
@sample(60)
def test_a_fingerprint_is_made_of_the_normal_form(tool: str, args: dict[str, Any]) -> None:
    call = begun("c", tool, args)
    assert call.print_ == fingerprint(tool, args)
    assert call.form in (normal_form(tool, args), "\0=" + call.exact)


def test_a_new_call_that_is_no_loop_has_nothing_made_of_it() -> None:
    """Not before somebody asks for the text."""
    played = Played(goes_on=True)
    for number in range(20):
        played.call("read", {"path": f"src/{number}.py"}, f"file {number}")
    *_, last = played.value.calls
    assert (last.known, last.written) == (None, "")
    assert played.value.text().endswith(last.text)
    assert last.known == fingerprint("read", {"path": "src/19.py"})
    assert "src" not in repr(played.value) + repr(last)


STEPS: Final = st.tuples(
    st.sampled_from(["call", "open", "fail", "part", "again", "refuse", "hear"]),
    st.sampled_from(["a", "get"]),
    st.sampled_from(
        [
            {"q": 1},
            {"q": " one  two"},
            {"q": "one two three", "n": 2},
            {},
            {"q": ["\0", {"\0{": "1:a"}], "retry": 3},
            {"q": "one two " * LONG, "retry": 3},
        ]
    ),
    st.sampled_from(["x" * 80, "y", "z", None]),
    st.sampled_from([0, 25_000, 3_000_000]),
)


def step(
    played: Played, what: str, tool: str, args: dict[str, Any], came: str | None, wait_ms: int
) -> Any:
    """Something happens in a run after a while; gives what was said of it."""
    played.now += wait_ms
    if what == "hear":
        return played.hear(f"do {came}")
    if what == "refuse":
        event = ToolCall(id="no", at=0, run=RUN, tool=tool, args=args)
        finding = Finding(Action.BLOCK, "shell.rm", (), guard="shell", about=str(came))
        return played.heard(played.guard.refused(read(event), played.value, finding))
    call, found = played.begin(tool, args, call="e1" if what == "again" else "")
    if what == "fail":
        played.fail(call, tool, args, f"it fails: {came}")
    elif what == "part":
        played.end(call, tool, args, came, 1)
        played.end(call, tool, args, came, 2)
    elif what == "call":
        played.end(call, tool, args, came)
    return found


@given(st.lists(STEPS, max_size=30), st.sampled_from(["warn", "block"]))
@sample(60)
def test_who_takes_a_run_over_finds_what_was_left(steps: list[Any], action: Any) -> None:
    """A history and its text are the same, whatever happened in it."""
    guard = Loops(action=action, max_history=6)
    one, other = Played(guard, goes_on=True), Played(guard)
    for each in steps:
        assert step(one, *each) == step(other, *each)
        if one.value is not None:
            assert one.value.text() == other.value
            assert LoopHistory.of(other.value) == one.value
            assert LoopHistory.of(other.value).text() == other.value


@pytest.mark.parametrize("goes_on", [True, False])
@pytest.mark.parametrize(
    "same",
    [
        [{"q": "ls"}, {"q": "ls  "}, {"q": "ls\n"}],
        [{"q": "a  b"}, {"q": "a\tb"}, {"q": "a b"}],
        [{"a": "1", "b": "2"}, {"b": "2", "a": "1"}, {"a": "1", "b": "2"}],
        [{"q": "caf\u00e9"}, {"q": "cafe\u0301"}, {"q": "caf\u00e9 "}],
        [{"q": 1}, {"q": 1.0}, {"q": 1e0}],
        [{"q": {"n": [2]}}, {"q": {"n": [2.0]}}, {"q": {"n": [2]}}],
    ],
)
def test_what_is_the_same_in_another_form_is_repeated(goes_on: bool, same: list[Any]) -> None:
    played = Played(goes_on=goes_on)
    assert [played.call("t", args, "x") for args in same] == ["", "", "loops.repeat"]


@pytest.mark.parametrize("goes_on", [True, False])
def test_what_is_the_same_but_for_the_form_of_its_letters_is_near(goes_on: bool) -> None:
    played = Played(goes_on=goes_on)
    forms = ["file", "\ufb01le", "\uff46ile", "fil\uff45"]
    assert [played.call("t", {"q": form}, "x") for form in forms] == ["", "", "", "loops.near"]


def test_a_fingerprint_is_made_once_for_an_event() -> None:
    reading = read(ToolCall(id="c", at=0, run=RUN, tool="read", args={"path": "a"}))
    assert reading.fingerprint is reading.fingerprint
    assert reading.fingerprint == fingerprint("read", {"path": "a"})


def test_what_is_equal_but_not_the_same_has_another_fingerprint() -> None:
    for one, other in [(1, True), (0, False), (1, 1.5), (None, "None"), ("1", 1)]:
        assert fingerprint("t", {"n": one}).exact != fingerprint("t", {"n": other}).exact
    assert fingerprint("t", {"n": 1}) == fingerprint("t", {"n": 1.0})


def test_nothing_that_can_be_data_breaks_it() -> None:
    deep: Any = "bottom"
    for _ in range(5_000):
        deep = [deep]
    odd = [float("nan"), float("inf"), -0.0, 10**5_000, "\ud800", "\x00", deep, {"": {"": ""}}]
    for value in odd:
        played = Played()
        assert [played.call("t", {"v": value}, value) for _ in range(3)] == ["", "", "loops.repeat"]


def test_stages_it_does_not_judge_pass() -> None:
    played = Played()
    played.call("t", {}, 1)
    assert played.guard.judge(read(ModelCall(id="m", at=0, run=RUN)), played.value, 0) is None
    assert (
        played.guard.judge(read(Prompt(id="p", at=0, run=RUN, text="hi", trusted=False)), None, 0)
        is None
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"n": 1}, {"n": 1.0}),
        ({"n": 100}, {"n": 1e2}),
        ({"n": 0}, {"n": -0.0}),
        ({"a": 1, "b": [2, {"c": 3, "d": 4}]}, {"b": [2, {"d": 4, "c": 3}], "a": 1}),
        ({"q": "caf\u00e9"}, {"q": "cafe\u0301"}),
        ({"q": "two  words "}, {"q": "two words"}),
        ({"q": "a\nb"}, {"q": "a \r\nb\n"}),
    ],
)
def test_calls_that_mean_the_same_have_one_fingerprint(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert fingerprint("t", one) == fingerprint("t", other)


def test_fingerprints_begin_sha_256() -> None:
    """Of the tool and its arguments in their order; eight characters of it are kept."""
    whole = "\0".join(["find", "{", ":a", '"x', ":b", '"y', "}"])
    begins = b64encode(sha256(whole.encode()).digest())[:8].decode()
    assert fingerprint("find", {"b": "y", "a": "x"}).exact == begins


@pytest.mark.parametrize(("goes_on", "hashed"), [(True, 0), (False, 1)])
def test_hashes_of_calls_are_kept_and_not_made_again(goes_on: bool, hashed: int) -> None:
    """A call is hashed once, however many calls are before it, and only if these were read."""
    played = Played(goes_on=goes_on)
    for number in range(9):
        played.call("t", {"q": number % 3}, f"result {number}")
    reading = read(ToolCall(id="again", at=0, run=RUN, tool="t", args={"q": 1}))
    made: list[str] = []

    def note(frame: FrameType, what: str, _arg: object) -> None:
        if what == "call" and frame.f_code is print_of.__code__:
            made.append(what)

    sys.setprofile(note)
    try:
        played.guard.judge(reading, played.value, 0)
    finally:
        sys.setprofile(None)
    assert len(made) == hashed


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"n": 1}, {"n": "1"}),
        ({"n": 1}, {"n": True}),
        ({"n": None}, {"n": "None"}),
        ({"n": 1}, {"m": 1}),
        ({"n": 1}, {"n": 1.5}),
        ({"n": 10**400}, {"n": 10**400 + 1}),
        ({"l": []}, {"l": {}}),
        ({"l": ["a", "b"]}, {"l": ["ab"]}),
        ({"l": ["a", "b"]}, {"l": ["b", "a"]}),
        ({"l": [["a"], "b"]}, {"l": [["a", "b"]]}),
        ({"a": "b", "c": "d"}, {"a": "b c d"}),
        ({"code": "if a:\n    b\nc"}, {"code": "if a:\n    b\n    c"}),
        ({}, {"": ""}),
    ],
)
def test_calls_that_differ_have_two(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert fingerprint("t", one).exact != fingerprint("t", other).exact
    assert fingerprint("t", one).exact != fingerprint("u", one).exact


def test_texts_are_alike_by_their_words_whatever_their_numbers() -> None:
    words = [f"word{chr(97 + number)}" for number in range(10)]

    def sketch(*given_: str) -> str:
        return fingerprint("t", {"q": " ".join(given_)}).sketch

    assert alike(sketch(*words), sketch(*reversed(words)))
    assert alike(sketch(*words, "page 1"), sketch(*words, "page 23"))
    assert alike(sketch(*words), sketch(*words[:9])), f"nine of ten are more than {ALIKE}"
    assert not alike(sketch(*words), sketch(*words[:7]))
    assert not alike(sketch(), sketch())


VOCABULARY: Final = list(
    {
        crc32(word.encode()) & 0xFFF: word
        for word in [f"w{chr(97 + n // 9)}{chr(97 + n % 9)}" for n in range(99)]
    }.values()
)


@given(
    st.sets(st.sampled_from(VOCABULARY), min_size=1),
    st.sets(st.sampled_from(VOCABULARY), max_size=4),
    st.data(),
)
@sample(50)
def test_texts_are_alike_by_the_words_of_both_with_the_smallest_hashes(
    one: set[str], new: set[str], data: Any
) -> None:
    gone = data.draw(st.sets(st.sampled_from(sorted(one)), max_size=4))
    other = (one - gone) | new
    smallest = sorted(one | other, key=lambda word: crc32(word.encode()) & 0xFFFFFF)[:SKETCHED]
    share = len([word for word in smallest if word in one and word in other]) / len(smallest)
    sketches = [fingerprint("t", {"q": " ".join(words)}).sketch for words in (one, other)]
    assert alike(*sketches) is (share >= ALIKE)
    assert alike(*reversed(sketches)) is (share >= ALIKE)


def test_case_and_punctuation_make_calls_near_in_any_script() -> None:
    one = fingerprint("t", {"q": "Big House, No. 12", "n": True})
    for words in ("big house no 12", "BIG-HOUSE: no 12!", "\uff22\uff49\uff47 house (no 12)"):
        other = fingerprint("t", {"q": words, "n": True})
        assert other.exact != one.exact
        assert (other.loose, other.sketch) == (one.loose, one.sketch)
    for args in ({"q": "Big House, No. 13", "n": True}, {"q": "Big House, No. 12", "n": False}):
        assert fingerprint("t", args).loose != one.loose
    assert fingerprint("t", {"q": "Big House, No. 7", "n": True}).sketch == one.sketch


odd_spaces = st.text("ab  \t\r\n\x0b\x1c\u00e9\u00a0", max_size=16)


@given(odd_spaces)
@sample(50)
def test_spaces_mean_nothing_but_before_a_line(text: str) -> None:
    if "\n" not in text:
        assert plain(text) == re.sub(r"\s+", " ", text).strip()
        return
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    indents = [line[: len(line) - len(line.lstrip())] for line in lines]
    tidy = [
        indent + re.sub(r"\s+", " ", line.lstrip()) if line else ""
        for indent, line in zip(indents, lines, strict=True)
    ]
    assert plain(text) == "\n".join(tidy).strip("\n").rstrip()


drawn = st.sampled_from(
    [
        "6f1c2d3e-0000-4000-8000-000000000001",
        "6F1C2D3E-AAAA-4000-8000-0000000000A",
        "2026-01-02 10:00",
        "2026-01-02t10:00:07.25+01:00",
        "-02 10:0",
        "-aaaa-0000-",
        "0x7f00aa00",
        "0X7",
        *["-", " ", "T", "20", "a", "id=", "0000-"],
    ]
)


@given(st.lists(drawn, max_size=8).map("".join))
@sample(75)
def test_what_is_drawn_is_found_as_by_a_search_for_the_whole(text: str) -> None:
    assert undrawn(text) == DRAWN.sub("~", text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2026-01-01", "2026-01-02"),
        ("10:00", "10:01"),
        ("build-1234-5678-9", "build-1234-5678-8"),
        ("0x12", "0x13"),
        ("a-0000-0000-b", "b-0000-0000-b"),
    ],
)
def test_what_only_looks_drawn_is_another_result(one: str, other: str) -> None:
    assert result_digest(one) != result_digest(other)


def test_calls_side_by_side_get_their_own_outcomes() -> None:
    """Each result is entered with its own call, in whatever order results come."""
    same, other = Played(), Played()
    for played, results in ((same, ["x", "x"]), (other, ["x", "y"])):
        ids = [played.begin("t", {"q": "a"})[0] for _ in results]
        for call, result in reversed(list(zip(ids, results, strict=True))):
            played.end(call, "t", {"q": "a"}, result)
    assert same.begin("t", {"q": "a"})[1] is not None
    assert other.begin("t", {"q": "a"})[1] is None


def test_a_late_result_that_differs_ends_the_repetition_where_it_was() -> None:
    played = Played()
    first, _ = played.begin("t", {})
    late, _ = played.begin("t", {})
    played.end(first, "t", {}, "x")
    third, found = played.begin("t", {})
    assert found is None
    played.end(third, "t", {}, "y")
    played.end(late, "t", {}, "y")
    fourth = played.begin("t", {})[1]
    assert fourth is not None
    assert fourth.code == "loops.repeat", "the last two gave the same"
    assert fourth.args[0] == 3


@pytest.mark.parametrize("named", ["first", "last"])
def test_what_the_runtime_asks_for_again_is_one_call(named: str) -> None:
    """A call that is judged anew because it waited names its first event, one that is tried again
    the last."""
    played = Played()
    first, _ = played.begin("t", {})
    call = first
    for _ in range(20):
        call, found = played.begin("t", {}, call=first if named == "first" else call)
        assert found is None
    played.end(call, "t", {}, "x")
    assert len(LoopHistory.of(played.value).calls) == 1
    assert played.call("t", {}, "x") == ""
    assert played.call("t", {}, "x") == "loops.repeat"


def test_an_outcome_that_names_no_call_belongs_to_the_oldest_that_fits() -> None:
    played = Played()
    played.begin("t", {"q": 1})
    played.begin("t", {"q": 2})
    played.end("", "t", {"q": 2}, "two")
    played.fail("nobody knows it", "t", {}, "broken")
    played.end("", "u", {}, "three")
    calls = LoopHistory.of(played.value).calls
    assert [bool(call.marks & CallMark.FAILED) for call in calls] == [True, False]
    assert all(call.outcome for call in calls)


def test_results_in_parts_are_compared_as_a_whole() -> None:
    def parts(other: str) -> list[str]:
        played = Played()
        codes = []
        for number in range(3):
            call, finding = played.begin("tail", {})
            codes.append("" if finding is None else finding.code)
            for part, item in enumerate(["head", other if number == 1 else "body", "end"], 1):
                played.end(call, "tail", {}, item, part)
        return codes

    assert parts("body") == ["", "", "loops.repeat"]
    assert parts("another") == ["", "", ""]


def test_a_poll_ends_at_its_own_limit_however_short_the_window() -> None:
    played = Played(Loops(poll_repeats=30), traits=("poll",))
    codes = [played.call("status", {}, "running") for _ in range(31)]
    assert codes == [""] * 30 + ["loops.repeat"]


def test_what_only_warns_is_said_once_until_something_new_came() -> None:
    played = Played(Loops(action="warn"))
    codes = [played.call("t", {}, "x") for _ in range(6)]
    assert codes == ["", "", "loops.repeat", "", "", ""]
    played.call("u", {}, "new")
    assert [played.call("t", {}, "x") for _ in range(3)] == ["", "", "loops.repeat"]


@pytest.mark.parametrize(
    ("marks", "outcome", "fresh"),
    [
        (CallMark.FIRST, "", True),
        (CallMark.FIRST, "=x", True),
        (CallMark.FIRST | CallMark.READS, "", True),
        (CallMark.FIRST | CallMark.READS, "=x", False),
        (CallMark.FIRST | CallMark.FAILED, "!x", False),
        (CallMark.FIRST | CallMark.REFUSED, "", False),
        (CallMark.READS | CallMark.NEWS, "=x", True),
        (CallMark.FAILED | CallMark.NEWS, "!x", True),
        (0, "=x", False),
    ],
)
def test_what_is_a_gain(marks: int, outcome: str, fresh: bool) -> None:
    assert PastCall("c", "t", "", marks, outcome=outcome).fresh is fresh


@pytest.mark.parametrize("period", range(1, 11))
def test_a_circle_in_which_one_result_changes_every_time_is_never_refused(period: int) -> None:
    played = Played(Loops(stall_action="allow"))
    for number in range(6 * period):
        result = number if number % period == 0 else "same"
        assert played.call(f"tool-{chr(97 + number % period)}", {}, result) in ("", "loops.stall")


def test_a_result_that_goes_to_and_fro_is_no_circle() -> None:
    played = Played()
    codes = [played.call("status", {}, "up" if number % 2 else "down") for number in range(8)]
    assert codes == [""] * 6 + ["loops.stall", ""]


def test_where_no_repeat_is_allowed_a_call_may_still_come_back() -> None:
    played = Played(Loops(max_repeats=1))
    assert [played.call(tool, {}, tool) for tool in "aba"] == ["", "", ""]
    assert played.call("a", {}, "a") == "loops.repeat"


def test_what_is_not_known_of_an_earlier_call_is_not_the_same() -> None:
    """Of three calls two must be known to have given the same."""
    played = Played()
    played.begin("t", {})
    assert [played.call("t", {}, "x"), played.call("t", {}, "x")] == ["", ""]
    found = played.begin("t", {})[1]
    assert found is not None
    assert (found.code, found.args[0]) == ("loops.repeat", 4)


def test_a_result_that_comes_last_and_differs_is_no_repetition() -> None:
    played = Played()
    early, _ = played.begin("t", {})
    assert played.call("t", {}, "x") == ""
    played.end(early, "t", {}, "y")
    assert played.call("t", {}, "x") == ""
    assert played.call("t", {}, "x") == "loops.repeat"


def test_a_result_that_comes_last_is_counted_where_it_belongs() -> None:
    played = Played()
    early, _ = played.begin("t", {})
    assert [played.call("t", {}, "x"), played.call("t", {}, "x")] == ["", ""]
    played.end(early, "t", {}, "y")
    found = played.begin("t", {})[1]
    assert found is not None
    assert found.args[0] == 3, "the first one gave something else"


def test_calls_in_no_order_are_refused_by_what_is_known_of_them() -> None:
    known, open_ = Played(), Played()
    for tool in "ab ab":
        if tool == " ":
            known.begin("b", {})
        else:
            assert known.call(tool, {}, tool) == ""
    assert known.call("b", {}, "b") == "loops.excessive", (
        "two gave the same, and of the third nothing is known"
    )
    codes = [
        found.code if found else "" for found in [open_.begin(tool, {})[1] for tool in "abaababbaa"]
    ]
    assert codes == [""] * 9 + ["loops.excessive"], "the fifth since something new was tried"


def test_a_reader_is_not_counted_by_the_limit_of_what_stands_between() -> None:
    played = Played()
    for tool in ("turn", "look", "look", "turn", "look"):
        played.traits = ("read",) if tool == "look" else ()
        assert played.call(tool, {}, tool) == ""


def failing(played: Played, texts_: list[str], tool: str = "t") -> list[str]:
    """Calls with arguments of their own that all fail; gives the codes of what was found."""
    codes = []
    for number, text in enumerate(texts_):
        args = {"q": chr(97 + number) * 5}
        call, finding = played.begin(tool, args)
        codes.append("" if finding is None else finding.code)
        if finding is None or finding.proceeds:
            played.fail(call, tool, args, text)
    return codes


def test_failures_are_told_again_only_when_they_began_again() -> None:
    played = Played()
    assert failing(played, ["no"] * 4) == ["", "", "", "loops.errors"]
    played.call("u", {}, "news")
    assert failing(played, ["no"]) == [""], (
        "it was told, and what another tool brings does not change it"
    )
    played.call("t", {}, "at last")
    assert failing(played, ["no"] * 4) == ["", "", "", "loops.errors"]


def test_failures_that_only_warn_are_told_at_both_limits() -> None:
    played = Played(Loops(error_action="warn", stall_action="allow", stall_after=10))
    codes = failing(played, ["no"] * 8)
    assert [at for at, code in enumerate(codes) if code] == [3, 6]


def test_failures_are_the_same_whatever_they_count_and_quote() -> None:
    assert failing(Played(), [f"no row {n} in '{n}'" for n in range(4)])[-1] == "loops.errors"
    assert failing(Played(), ["no", "none", "no", "none"])[-1] == ""
    assert failing(Played(), [""] * 4)[-1] == "", (
        "without words other arguments are another failure"
    )


def test_a_poll_may_fail() -> None:
    played = Played(traits=("poll",))
    assert failing(played, ["not yet"] * 9) == [""] * 9


SAID: Final = "nothing was found for these words, so look for something else in another place"
ASKED: Final = "cheap hotel in Bern near the big old station"


def nearly(played: Played, results: list[str], words: str = ASKED, start: int = 0) -> list[str]:
    """Questions that differ in a number only."""
    return [
        played.call("search", {"q": f"{words} {number}"}, result)
        for number, result in enumerate(results, start)
    ]


def test_almost_the_same_with_another_result_is_not_the_same() -> None:
    assert nearly(Played(), [SAID] * 4)[-1] == "loops.near"
    assert nearly(Played(), [SAID, SAID, SAID + "!", SAID])[-1] == ""


def test_almost_the_same_after_something_new_is_worth_a_try() -> None:
    played = Played()
    nearly(played, [SAID] * 2)
    played.call("map", {}, "a map")
    assert nearly(played, [SAID] * 3, start=2) == ["", "", ""]


def test_what_is_almost_the_same_and_fails_is_a_failure() -> None:
    played = Played(Loops(max_errors=5))
    for end in ("", "!", "?", "."):
        args = {"q": ASKED + end}
        call, found = played.begin("search", args)
        assert found is None
        played.fail(call, "search", args, SAID)


def test_almost_the_same_is_told_again_only_when_it_began_again() -> None:
    played = Played(Loops(stall_action="allow"))
    assert nearly(played, [SAID] * 6) == ["", "", "", "loops.near", "", ""]
    played.call("search", {"q": "the weather of tomorrow"}, "sunny")
    assert (
        nearly(played, [SAID] * 4, "a very small boat for two on the lake of Thun")[-1]
        == "loops.near"
    )


def test_a_short_answer_says_enough_where_the_tool_only_reads() -> None:
    for tool, traits, code in (
        ("go", (), ""),
        ("go", ("read",), "loops.near"),
        ("search", (), "loops.near"),
    ):
        played = Played(traits=traits)
        assert [played.call(tool, {"q": f"{ASKED} {number}"}, "none") for number in range(4)][
            -1
        ] == code


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_drawn_loops_are_told_and_drawn_honest_work_is_not(seed: int) -> None:
    """Every kind of loop at the latest with its seventh call, and no honest run at all."""
    for kind, trace in traces(LOOPS, seed, 4):
        assert any(_heard(trace[:7])), kind
    for kind, trace in traces(HONEST, seed, 4):
        assert not any(_heard(trace)), kind


def _heard(trace: list[Step]) -> list[str]:
    """What is said of each call; the agent goes on whatever is said."""
    played = Played()
    codes = []
    for step in trace:
        call, finding = played.begin(step.tool, step.args)
        codes.append("" if finding is None else finding.code)
        if step.failed:
            played.fail(call, step.tool, step.args, step.result)
        else:
            played.end(call, step.tool, step.args, step.result)
    return codes


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"to": "ann", "attempt": 1}, {"to": "ann", "attempt": 2}, True),
        ({"to": "ann", "retryCount": "3"}, {"to": "ann", "retryCount": "4"}, True),
        ({"to": "ann", "idempotency_key": "a9"}, {"to": "ann", "idempotency_key": "b7"}, True),
        ({"to": "ann", "attempt": 1}, {"to": "bob", "attempt": 1}, False),
        (
            {"to": "ann", "attempt": "a long text of what was tried"},
            {"to": "ann", "attempt": "another one of it"},
            False,
        ),
        ({"page": 1}, {"page": 2}, False),
        ({"account_id": 1}, {"account_id": 2}, False),
    ],
    ids=str,
)
def test_what_numbers_a_try_is_no_part_of_what_is_asked(
    one: dict[str, Any], other: dict[str, Any], same: bool
) -> None:
    assert (fingerprint("send", one).loose == fingerprint("send", other).loose) is same
    assert fingerprint("send", one).exact != fingerprint("send", other).exact


def test_an_error_is_what_was_raised_and_not_the_way_there() -> None:
    played = Played()
    for number, frame in enumerate(("in a\n  x['k']", "in b\n  y = {}", 'in c\n  w("it\'s")')):
        call, finding = played.begin("python", {"code": frame})
        assert finding is None, number
        played.fail(
            call, "python", {"code": frame}, f"Traceback:\n File '{number}', {frame}\nKeyError: 'k'"
        )
    assert played.begin("python", {"code": "z"})[1] is not None


def test_a_call_that_is_tried_again_has_no_outcome_until_it_has() -> None:
    played = Played()
    call, _ = played.begin("t", {})
    played.fail(call, "t", {}, "no")
    played.begin("t", {}, call=call)
    (seen,) = LoopHistory.of(played.value).calls
    assert (seen.marks, seen.outcome) == (CallMark.FIRST, "")


def test_metrics() -> None:
    played = Played()
    assert metrics(None) == Metrics()
    for tool in "aaa":
        played.call(tool, {}, "x")
    for tool in "bcbcb":
        played.call(tool, {}, tool)
    assert metrics(played.value) == Metrics(8, 2, 1, 1, 25.0, {"cycle": 1, "repeat": 1})


def test_a_tool_is_kept_from_running_a_third_time() -> None:
    shield = shield_for(POLICY)
    tool = ScriptedTool("same", "same", "same", name="read")
    run = shield.run("a")
    read = shield.tool(tool)
    with run:
        read(path="x")
        read(path="x")
        with pytest.raises(Refused) as refused:
            read(path="x")
    assert refused.value.decision.code == "loops.repeat"
    assert tool.count == 2
    assert metrics(shield.store.read(history_key("default", run.id))[1]).immediate_repeats == 1


def test_a_child_has_a_history_of_its_own() -> None:
    parent = shield_for(POLICY).run("a")
    child = parent.spawn("b")
    for _ in range(2):
        parent.result("t", {}, 1, call=parent.check("t", {}).id)
    assert child.check("t", {}).proceeds
    assert parent.check("t", {}).code == "loops.repeat"


def test_two_processes_share_the_history_of_a_run(tmp_path: Path) -> None:
    """Two shields, as two processes have them, on one SQLite store."""
    clock = FakeClock()
    stores = [SqliteStore(tmp_path / "state.db", clock) for _ in range(2)]
    runs = [
        shield_for(POLICY, clock=clock, store=store, nonces=lambda name=name: name).run(
            "a", id="shared"
        )
        for name, store in zip("pq", stores, strict=True)
    ]
    for run in runs:
        decision = run.check("read", {"path": "x"})
        assert decision.proceeds
        run.result("read", {"path": "x"}, "same", call=decision.id)
    assert [run.check("read", {"path": "x"}).code for run in runs] == ["loops.repeat"] * 2
    assert metrics(stores[0].read(history_key("default", "shared"))[1]).total_checks == 4
    for store in stores:
        store.close()


def test_thirty_different_calls_at_once_all_go_ahead(tmp_path: Path) -> None:
    """They all write one record; whoever comes second judges again on what the first wrote."""
    clock = FakeClock()
    store = SqliteStore(tmp_path / "state.db", clock)
    run = shield_for(POLICY, clock=clock, store=store).run("a", id="r")

    async def fan_out() -> list[Action]:
        decisions = await asyncio.gather(
            *[run.acheck("get", {"id": chr(97 + number)}) for number in range(30)]
        )
        return [decision.action for decision in decisions]

    assert asyncio.run(fan_out()) == [Action.ALLOW] * 30
    assert metrics(store.read(history_key("default", "r"))[1]).total_checks == 30
    store.close()


@pytest.mark.parametrize("option", ["max_repeats", "max_errors", "near_repeats", "stall_after"])
def test_a_limit_that_is_never_reached_is_an_error(option: str) -> None:
    given_: dict[str, Any] = {option: 11}
    with pytest.raises(ValueError, match=f"`{option}: 11` is never reached"):
        Loops(**given_)


@pytest.mark.parametrize("option", ["idempotent_repeats", "poll_repeats", "unreported_repeats"])
def test_a_limit_that_is_counted_beyond_the_window_may_be_larger(option: str) -> None:
    given_: dict[str, Any] = {option: 11}
    assert getattr(Loops(**given_), option) == 11


def test_a_run_tells_its_metrics() -> None:
    run = shield_for({"name": "x", "guards": [{"use": "loops"}]}).run("a")
    assert run.loop_metrics().total_checks == 0
    for _ in range(3):
        decision = run.check("t", {"a": 1})
        run.result("t", {"a": 1}, "the same", call=decision.id)
    told = run.loop_metrics()
    assert (told.total_checks, told.loops_detected, told.immediate_repeats) == (3, 1, 1)
    assert told.detection_rate == 33.33


def test_a_call_is_counted_as_one_loop_however_often_it_is_refused() -> None:
    run = shield_for({"name": "x", "guards": [{"use": "loops", "refusals_halted": 0}]}).run("a")
    for _ in range(2):
        run.result("search", {}, "same", call=run.check("search", {}).id)
    for _ in range(8):
        assert not run.check("search", {}).proceeds
    found = run.loop_metrics()
    assert (found.total_checks, found.loops_detected, found.detection_rate) == (10, 8, 80.0)


SAME: Final = {"command": "gh run view 123"}


def polled(every_s: int, tool: str, args: dict[str, Any], results: list[Any]) -> list[str]:
    """The codes of calls that are made so many seconds apart."""
    played, codes = Played(), []
    for result in results:
        codes.append(played.call(tool, args, result))
        played.now += every_s * 1_000
    return codes


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("bash", SAME),
        ("bash", {"command": "sleep 30; kubectl get pods"}),
        ("bash", {"command": "curl -s localhost:8080/health"}),
        ("get_status", {}),
        ("wait", {"seconds": 30}),
    ],
)
def test_who_looks_again_after_a_while_waits(tool: str, args: dict[str, Any]) -> None:
    """For half an hour, and no sooner than after 20 seconds."""
    codes = polled(45, tool, args, ["no"] * 45)
    assert codes[:41] == [""] * 41
    assert codes[41:] == ["loops.repeat"] * 4
    assert polled(19, tool, args, ["no"] * 3)[2] == "loops.repeat"


def test_who_acts_again_after_a_while_does_not_wait() -> None:
    for command in ("gh run rerun 123", "make deploy", "curl -X POST localhost/jobs"):
        assert polled(45, "bash", {"command": command}, ["no"] * 3)[2] == "loops.repeat", command


def test_what_has_changed_is_waited_for_anew() -> None:
    """Half an hour is counted from the last change."""
    assert set(polled(45, "bash", SAME, ["no"] * 40 + ["soon"] * 40)) == {""}


def test_two_that_wait_in_turn_are_no_circle() -> None:
    played = Played()
    for _ in range(20):
        for command in ("sleep 30", "kubectl get pods"):
            assert played.call("bash", {"command": command}, "no") == ""
            played.now += 30_000


def test_a_look_that_fails_is_waited_for_as_well() -> None:
    played = Played()
    for _ in range(20):
        call, found = played.begin("bash", {"command": "curl -sf localhost:8080/health"})
        assert found is None
        played.fail(call, "bash", {}, "exit status 7")
        played.now += 30_000


@pytest.mark.parametrize(
    ("command", "looks"),
    [
        ("kubectl rollout status deploy/web", True),
        ("kubectl rollout restart deploy/web", False),
        ("docker compose ps && docker logs web 2>&1 | tail -3", True),
        ("docker run status", False),
        ("docker rm logs", False),
        ("aws ec2 describe-instances", True),
        ("aws logs delete-log-group x", False),
        ("gh pr checks 3", True),
        ("gh pr merge 3", False),
        ("until curl -sf localhost:80; do sleep 2; done", True),
        ("curl -d x localhost", False),
        ("curl -o page localhost", False),
        ("curl -I -X HEAD localhost", True),
        ("systemctl is-active web", True),
        ("systemctl restart web", False),
        ("ps aux | grep web", True),
        ("npm test", False),
        ("python -c 'print(1)'", False),
        ("kubectl", False),
    ],
)
def test_a_command_that_looks(command: str, looks: bool) -> None:
    call = ToolCall(id="c", at=0, run=RUN, tool="bash", args={"command": command})
    assert is_a_look(read(call)) is looks
