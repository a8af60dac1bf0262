"""Batches: whatever comes in, every line gets one answer, and nothing unread is ever allowed."""

import io
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion import Shield, Stage
from stanchion.cli.batch import MAX_LINE_BYTES, answer_lines
from stanchion.cli.check_output import CommandRuns
from stanchion.cli.events import read
from stanchion.runtime.calling.reports import BadEvent

CALL = b'{"run": "r", "stage": "tool_call", "tool": "bash", "args": {}}'
STRICT: dict[str, Any] = {"name": "strict", "guards": [{"use": "tool_denylist", "tools": ["*"]}]}
PIECES = st.sampled_from(
    [
        '{"run": "r", ',
        '"stage": ',
        *[f'"{stage}"' for stage in Stage],
        ', "tool": "t"',
        ', "args": {}',
        ', "text": ""',
        "}",
    ]
)


def answered(source: bytes, policy: str | dict[str, Any] = "default") -> list[dict[str, Any]]:
    """The answers to a batch, after a check that the counts are theirs."""
    sink = io.BytesIO()
    lines, bad = answer_lines(io.BytesIO(source), sink, CommandRuns(Shield.load(policy)))
    answers = [json.loads(line) for line in sink.getvalue().splitlines()]
    assert (lines, bad) == (len(answers), len([answer for answer in answers if "error" in answer]))
    return answers


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_the_last_line_needs_no_end(end: bytes) -> None:
    assert [answer["action"] for answer in answered(CALL + b"\n" + CALL + end)] == [
        "ALLOW",
        "ALLOW",
    ]


def padded(length: int) -> bytes:
    """A call whose line has exactly that many bytes, its end included."""
    start = b'{"run": "r", "stage": "tool_call", "tool": "bash", "args": {"a": "'
    return start + b"a" * (length - len(start) - 4) + b'"}}\n'


def test_the_longest_line_is_judged() -> None:
    longest, after = answered(padded(MAX_LINE_BYTES) + CALL)
    assert longest["code"] == "size.too_long"
    assert after["action"] == "ALLOW"


@pytest.mark.parametrize(
    "length", [MAX_LINE_BYTES + 2, 2 * MAX_LINE_BYTES + 1, 3 * MAX_LINE_BYTES + 7]
)
def test_a_longer_line_is_one_bad_line(length: int) -> None:
    bad, after = answered(padded(length) + CALL)
    assert bad == {
        "line": 1,
        "error": "the line is longer than 8,388,608 bytes: send less, or a reference to it",
    }
    assert after["action"] == "ALLOW"


def test_a_longer_last_line_without_an_end_is_one_bad_line() -> None:
    (bad,) = answered(padded(MAX_LINE_BYTES + 100).rstrip(b"\n"))
    assert bad["line"] == 1


@given(
    st.lists(
        st.binary(max_size=40)
        | st.lists(PIECES, max_size=8).map(lambda pieces: "".join(pieces).encode())
    )
)
def test_every_line_is_answered_once_and_nothing_unread_is_allowed(lines: list[bytes]) -> None:
    source = b"".join(line.replace(b"\n", b" ") + b"\n" for line in lines)
    answers = answered(source, STRICT)
    assert len(answers) == len(lines)
    for number, (line, answer) in enumerate(zip(lines, answers, strict=True), start=1):
        if "error" in answer:
            assert answer["line"] == number
        else:
            assert isinstance(json.loads(line), dict)
            assert answer["proceeds"] is (json.loads(line)["stage"] != "tool_call")


def test_each_answer_is_out_before_the_next_line_is_read() -> None:
    out = io.BytesIO()
    sink = io.BufferedWriter(out)
    seen = []

    class Source(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            seen.append(len(out.getvalue().splitlines()))
            return super().readline(size)

    answer_lines(Source((CALL + b"\n") * 3), sink, CommandRuns(Shield.load()))
    assert seen == [0, 1, 2, 3]


def event(run: str, **fields: Any) -> Any:
    """A prompt in a run."""
    return read({"run": run, "stage": "prompt", "text": "hi", **fields})


def test_one_run_too_many_is_refused_and_known_ones_go_on() -> None:
    runs = CommandRuns(Shield.load(), max_runs=2)
    runs.judge(event("a"))
    runs.judge(event("b"))
    with pytest.raises(BadEvent, match="run `c` is one too many: at most 2 are judged at once"):
        runs.judge(event("c"))
    assert runs.judge(event("a")).decision.proceeds


def test_a_bad_first_event_begins_no_run() -> None:
    runs = CommandRuns(Shield.load())
    with pytest.raises(BadEvent, match="the parent `missing`"):
        runs.judge(event("a", agent="x", parent="missing"))
    assert runs.judge(event("a", agent="y")).run.agent == "y"


def test_a_child_takes_task_and_tenant_from_its_parent() -> None:
    runs = CommandRuns(Shield.load())
    runs.judge(event("a", task="t", tenant="x"))
    info = runs.judge(event("b", agent="worker", parent="a")).run.desk.info
    assert (info.agent, info.task, info.tenant, info.parents) == ("worker", "t", "x", ("a",))
