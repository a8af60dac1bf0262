"""Clamp: what comes out fits, keeps its shape, and is not cut a second time."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, strategies as st

from stanchion import Shield
from stanchion.guards.clamp import Clamp, _measure
from stanchion.kernel.actions import Action
from stanchion.kernel.events import RunInfo, ToolResult
from stanchion.kernel.patches import apply
from stanchion.readings import read
from tests.properties.examples import sample

RUN = RunInfo("r1")
SMALL = Clamp(max_chars=400, max_field=200)

texts = st.text("abc ", max_size=20) | st.integers(0, 900).map(lambda n: "x" * n)
contents = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: (
        st.lists(inner, max_size=40) | st.dictionaries(st.text("kl", max_size=3), inner, max_size=5)
    ),
    max_leaves=60,
)


def clamped(guard: Clamp, result: Any) -> Any:
    finding = guard.judge(read(ToolResult(id="e", at=0, run=RUN, tool="read", result=result)))
    if finding is None:
        return result
    assert finding.action is Action.REDACT
    return apply(result, finding.patches)


def cannot(guard: Clamp, result: Any) -> bool:
    finding = guard.judge(read(ToolResult(id="e", at=0, run=RUN, tool="read", result=result)))
    return finding is not None and finding.action is Action.BLOCK


def alike(before: Any, after: Any) -> bool:
    """Whether objects have the same names, lists no more items, and everything else its type."""
    if isinstance(before, dict):
        return list(before) == list(after) and all(
            alike(before[name], after[name]) for name in before
        )
    if isinstance(before, list):
        return isinstance(after, list) and len(after) <= len(before)
    return type(before) is type(after)


@sample(50)
@given(contents)
def test_what_comes_out_fits_and_is_left_alone_the_second_time(content: Any) -> None:
    guard = Clamp(max_chars=400, max_field=200)
    if cannot(guard, content):
        return
    once = clamped(guard, content)
    size, longest = _measure(once)
    assert size <= 400
    assert longest <= 200
    assert alike(content, once)
    assert json.loads(json.dumps(once)) == once
    assert clamped(guard, once) is once


def test_small_results_are_handed_on_as_they_are() -> None:
    assert (
        SMALL.judge(
            read(ToolResult(id="e", at=0, run=RUN, tool="read", result={"a": ["x" * 200, 1]}))
        )
        is None
    )


def test_a_text_keeps_its_beginning_and_its_end() -> None:
    made = clamped(Clamp(), "begin " + "x" * 60_000 + " end")
    assert made.startswith("begin xxx")
    assert made.endswith("xxx end")
    assert "… 51,058 characters left out …" in made
    assert len(made) < 10_000


def test_a_long_list_loses_items_in_the_middle() -> None:
    made = clamped(SMALL, [f"row {number:04}" for number in range(1_000)])
    assert made[0] == "row 0000"
    assert made[-1] == "row 0999"
    assert [item for item in made if "left out" in item] == [
        f"… {1_001 - len(made):,} items left out …"
    ]


def test_small_fields_stay_whole_beside_a_large_one() -> None:
    made = clamped(SMALL, {"title": "Report", "pages": 12, "text": "x" * 5_000})
    assert made["title"] == "Report"
    assert made["pages"] == 12
    assert len(made["text"]) <= 200


def test_what_only_has_names_cannot_be_cut() -> None:
    assert cannot(SMALL, {f"name {number}": number for number in range(100)})


def test_a_coding_agent_gets_its_files_whole() -> None:
    """One that edits by exact match has no use for a file with a hole in it."""
    source = "".join(
        [f"def step_{number}() -> int:\n    return {number}\n\n\n" for number in range(900)]
    )
    with Shield.load("coding-agent") as shield, shield.run(agent="a", task="t") as run:
        call = run.check("read_file", {"path": "src/steps.py"})
        assert run.result("read_file", {"path": "src/steps.py"}, source, call=call.id).patches == ()
