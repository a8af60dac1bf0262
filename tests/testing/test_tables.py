"""The table runner complains about everything that is not as expected, and about tables that are
none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, Decision
from stanchion.testing import Driver, read_table, run_case, run_table

DENY = {"name": "deny", "guards": [{"use": "tool_denylist", "tools": ["rm"]}]}
RM = {"stage": "tool_call", "tool": "rm", "args": {}}


def complaints(event: dict[str, Any], driver: Driver = "sync", **case: Any) -> tuple[str, ...]:
    """What a case of one event complains about."""
    table = read_table({"policy": DENY, "cases": [{"name": "c", "events": [event], **case}]})
    return run_case(table.cases[0], driver=driver).complaints


DETERMINED = "; determined by `tool-denylist` (tool.denied): tool `rm` is on the denylist"
"""How a complaint ends: with the finding that determined what came."""


@pytest.mark.parametrize("driver", ["sync", "async"])
@pytest.mark.parametrize(
    ("expect", "complaint"),
    [
        ({"action": "allow"}, "event 1 (tool_call): action is `block`, expected `allow`"),
        ({"code": "tool.deny"}, "event 1 (tool_call): code is `tool.denied`, expected `tool.deny`"),
        ({"guard": "x"}, "event 1 (tool_call): guard is `tool-denylist`, expected `x`"),
        ({"proceeds": True}, "event 1 (tool_call): proceeds is `False`, expected `True`"),
        (
            {"message": "is not"},
            "event 1 (tool_call): message is `tool `rm` is on the denylist`, expected `is not`",
        ),
        (
            {"advice": "give up"},
            "event 1 (tool_call): advice is `do the step with another tool`, expected `give up`",
        ),
        ({"content": {"a": 1}}, "event 1 (tool_call): content is `{}`, expected `{'a': 1}`"),
        ({"content": None}, "event 1 (tool_call): content is `{}`, expected `None`"),
        ({"findings": []}, "event 1 (tool_call): findings is `('tool.denied',)`, expected `()`"),
        ({"shadow": ["x"]}, "event 1 (tool_call): shadow is `()`, expected `('x',)`"),
        ({"skipped": ["x"]}, "event 1 (tool_call): skipped is `()`, expected `('x',)`"),
        (
            {"error": "x"},
            "event 1 (tool_call): the event is judged (block), expected an error with `x`",
        ),
    ],
)
def test_every_expectation_can_fail(expect: dict[str, Any], complaint: str, driver: Driver) -> None:
    why = "" if "error" in expect else DETERMINED
    assert complaints({**RM, "expect": expect}, driver) == (complaint + why,)


def test_what_is_as_expected_is_not_complained_about() -> None:
    expect = {
        "action": "block",
        "code": "tool.denied",
        "guard": "tool-denylist",
        "proceeds": False,
        "message": "on the denylist",
        "advice": "another tool",
        "content": {},
        "findings": ["tool.denied"],
        "shadow": [],
        "skipped": [],
    }
    assert complaints({**RM, "expect": expect}) == ()


def test_an_event_without_an_expectation_must_go_ahead() -> None:
    complaint = f"event 1 (tool_call): proceeds is `False`, expected `True`{DETERMINED}"
    assert complaints(RM) == (complaint,)
    assert complaints({**RM, "tool": "ls"}) == ()


def test_an_event_that_cannot_be_read_is_complained_about_unless_expected() -> None:
    bad = {"stage": "tool_call", "tool": 7, "args": {}}
    (said,) = complaints(bad)
    assert said.startswith(
        "event 1 (tool_call): the event cannot be read: `tool_call`: expected `str`, got `int`"
    )
    (said,) = complaints({**bad, "expect": {"error": "expected `bool`"}})
    assert said.endswith("; expected `expected `bool`` in it")
    assert complaints({**bad, "expect": {"error": "expected `str`"}}) == ()


def test_a_repeated_event_is_judged_each_time() -> None:
    table = read_table({"policy": DENY, "cases": [{"name": "c", "events": [{**RM, "times": 2}]}]})
    ran = run_case(table.cases[0])
    assert [complaint.partition(" (")[0] for complaint in ran.complaints] == [
        "event 1, time 1",
        "event 1, time 2",
    ]
    assert [outcome.action for outcome in ran.outcomes if isinstance(outcome, Decision)] == [
        Action.BLOCK
    ] * 2


@pytest.mark.parametrize(
    ("case", "complaint"),
    [
        ({"refused": "x"}, "the policy loads, expected an error with `x`"),
        ({"policy": {"nam": "x"}, "refused": "nme"}, "expected `nme` in it"),
        ({"policy": {"nam": "x"}, "events": [RM]}, "the policy does not load: policy: "),
    ],
)
def test_policies_that_should_or_should_not_load(case: dict[str, Any], complaint: str) -> None:
    (said,) = run_case(
        read_table({"policy": DENY, "cases": [{"name": "c", **case}]}).cases[0]
    ).complaints
    assert complaint in said


def test_a_lost_batch_refuses_and_time_passes_between_events() -> None:
    events = [
        {**RM, "tool": "ls"},
        {**RM, "tool": "ls", "advance_ms": 1_001, "expect": {"code": "kernel.store_lost"}},
    ]
    table = read_table(
        {
            "policy": DENY,
            "cases": [{"name": "c", "lost": [2], "safe_mode": False, "events": events}],
        }
    )
    assert run_case(table.cases[0]).complaints == ()


def test_run_table_raises_with_every_complaint_and_gives_what_came_of_it(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(
        "name: file\nguards: [{use: tool_denylist, tools: [rm]}]\n", encoding="utf-8"
    )
    file = tmp_path / "table.yaml"
    case = "  - {name: NAME, events: [{stage: tool_call, tool: TOOL, args: {}}]}\n"
    bad = "".join(case.replace("NAME", name).replace("TOOL", "rm") for name in ("one", "two"))
    file.write_text(f"policy: policy.yaml\ncases:\n{bad}", encoding="utf-8")
    with pytest.raises(
        AssertionError, match=r"(?s)^the table does not hold:\none: event 1 .*\ntwo: event 1 "
    ):
        run_table(file)
    file.write_text(f"policy: policy.yaml\ncases:\n{case}".replace("TOOL", "ls"), encoding="utf-8")
    sync, looped = run_table(file), run_table(file, driver="async")
    assert sync == looped
    assert sync[0].outcomes[0].id == "run.n1.1"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"cases": [{"name": "c", "events": [RM]}]}, "case `c` has no policy"),
        ({"policy": DENY, "cases": [{"name": "c"}]}, "give either `events` or `refused`"),
        (
            {"policy": DENY, "cases": [{"name": "c", "refused": "x", "events": [RM]}]},
            "either `events` or `refused`",
        ),
        (
            {
                "policy": DENY,
                "cases": [{"name": "c", "run": {}, "runs": {"a": {}}, "events": [RM]}],
            },
            "`run` or `runs`",
        ),
        (
            {"policy": DENY, "cases": [{"name": "c", "runs": {"a": {}}, "events": [RM]}]},
            "names the run ``",
        ),
        (
            {
                "policy": DENY,
                "cases": [{"name": "c", "events": [{**RM, "expect": {"acton": "x"}}]}],
            },
            "acton",
        ),
        (
            {
                "policy": DENY,
                "cases": [{"name": "c", "events": [{**RM, "expect": {"action": "blok"}}]}],
            },
            "`blok`.*`block`",
        ),
        (
            {"policy": DENY, "cases": [{"name": "c", "events": [{**RM, "times": 0}]}]},
            "times: `0` is out of bounds",
        ),
        (
            {"policy": DENY, "cases": [{"name": "c", "events": [{"tool": "rm"}]}]},
            "event 1: `stage` is missing",
        ),
        (
            {"policy": DENY, "cases": [{"name": "c", "evnts": []}]},
            r"cases\[0\].evnts: .* did you mean `events`",
        ),
        (
            {"policy": DENY, "cases": [{"name": "c", "run": {"agnt": "a"}, "events": [RM]}]},
            "did you mean `agent`",
        ),
        (
            {"policy": DENY, "cases": [{"name": "c", "events": [RM, {**RM, "exepct": {}}]}]},
            "event 2: .* `expect`",
        ),
        (
            {"policy": DENY, "cases": [{"name": "c", "events": [{**RM, "expect": {"cod": "x"}}]}]},
            "did you mean `code`",
        ),
        ({"policy": DENY, "case": []}, "case"),
    ],
)
def test_what_is_no_table_is_an_error(table: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        read_table(table)


def test_an_error_in_a_file_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "table.yaml"
    file.write_text("cases: {}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"table\.yaml:1:8: .*list"):
        read_table(file)
    file.write_text("cases:\n  - name: c\n    evnts: []\n", encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"table\.yaml:3:5: the key `evnts` is not known: did you mean `events`"
    ):
        read_table(file)
