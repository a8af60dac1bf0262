"""Lists in overlays: added to what is inherited, or in its place, and never silently less."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion import PolicyError
from stanchion.policy.found import find_policy
from stanchion.policy.lint import lint
from stanchion.policy.load import load_policy
from stanchion.testing import shield_for

BASE = """\
name: base
agents: {scout: {allowed_tools: [read, search]}}
guards:
  - {id: no-rm, use: tool_denylist, tools: [rm, dd]}
  - {use: tool_allowlist}
  - {use: egress, denied_hosts: [a.example]}
"""


def policy(tmp_path: Path, over: str, base: str = BASE) -> Path:
    (tmp_path / "base.yaml").write_text(base, encoding="utf-8")
    file = tmp_path / "over.yaml"
    file.write_text(f"name: over\nextends: base.yaml\n{over}", encoding="utf-8")
    return file


def tools(source: Any, env: str | None = None) -> list[str]:
    entry: Any = next(one for one in load_policy(source, env).file.guards if one.id == "no-rm")
    return list(entry.tools)


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("tools+: [mkfs]", ["rm", "dd", "mkfs"]),
        ("tools+: [dd, mkfs]", ["rm", "dd", "mkfs"]),
        ("tools+: []", ["rm", "dd"]),
        ("tools=: [mkfs]", ["mkfs"]),
        ("tools: [mkfs]", ["mkfs"]),
    ],
)
def test_a_mark_says_what_becomes_of_the_inherited_list(
    tmp_path: Path, written: str, means: list[str]
) -> None:
    file = policy(tmp_path, f"guards:\n  - {{id: no-rm, {written}}}\n")
    assert tools(file) == means
    body = BASE + f"environments:\n  trial:\n    guards:\n      - {{id: no-rm, {written}}}\n"
    (tmp_path / "envs.yaml").write_text(body, encoding="utf-8")
    assert tools(tmp_path / "envs.yaml", "trial") == means
    assert tools(tmp_path / "envs.yaml") == ["rm", "dd"]


def test_tables_take_marks_too(tmp_path: Path) -> None:
    file = policy(tmp_path, "agents: {scout: {allowed_tools+: [list]}}\n")
    assert load_policy(file).file.agents["scout"].allowed_tools == ("read", "search", "list")


def test_three_layers_add_up(tmp_path: Path) -> None:
    policy(tmp_path, "guards:\n  - {id: no-rm, tools+: [mkfs]}\n")
    top = tmp_path / "top.yaml"
    top.write_text(
        "name: top\nextends: over.yaml\nguards:\n  - {id: no-rm, tools+: [shred]}\n",
        encoding="utf-8",
    )
    assert tools(top) == ["rm", "dd", "mkfs", "shred"]


def test_where_nothing_is_inherited_it_is_the_list_itself(tmp_path: Path) -> None:
    assert tools(
        {"name": "p", "guards": [{"id": "no-rm", "use": "tool_denylist", "tools+": ["rm"]}]}
    ) == ["rm"]
    file = policy(tmp_path, "guards:\n  - {use: egress, allowed_hosts+: [b.example]}\n")
    entry: Any = load_policy(file).file.guards[2]
    assert (entry.denied_hosts, entry.allowed_hosts) == (("a.example",), ("b.example",))


def test_what_a_guard_has_by_itself_is_added_to() -> None:
    (entry,) = load_policy(
        {"name": "p", "guards": [{"use": "shell", "roots+": ["/srv"]}]}
    ).file.guards
    assert entry.roots == (".", "/workspace", "/srv")


def test_two_layers_that_add_add_up_before_they_lie_over_a_third(tmp_path: Path) -> None:
    """A project's policy is read by itself, and lies over the user's: what it adds is not lost on
    the way."""
    own = tmp_path / "own.yaml"
    own.write_text(BASE, encoding="utf-8")
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / ".stanchion").mkdir()
    (project / ".stanchion" / "policy.yaml").write_text(
        "name: project\nguards:\n  - {id: no-rm, use: tool_denylist, tools+: [mkfs]}\n",
        encoding="utf-8",
    )
    found = find_policy(project, own=own)
    assert [file.left_out for file in found.files] == [()]
    (entry,) = [one for one in found.policy().file.guards if one.id == "no-rm"]
    assert entry.tools == ("rm", "dd", "mkfs")


@pytest.mark.parametrize(
    ("over", "said"),
    [
        (
            "guards:\n  - {id: no-rm, tools: [a], tools+: [b]}\n",
            "`tools` appears here a second time, as `tools+`",
        ),
        (
            "guards:\n  - {id: no-rm, tools=: [a], tools+: [b]}\n",
            "`tools` appears here a second time, as `tools+`",
        ),
        ("guards:\n  - {id: no-rm, tolls+: [a]}\n", "`tolls+` is not known"),
        ("guards:\n  - {id: no-rm, action+: [a]}\n", "`action+` is not known"),
    ],
)
def test_a_mark_that_means_nothing_is_a_fault_of_the_overlay(
    tmp_path: Path, over: str, said: str
) -> None:
    with pytest.raises(PolicyError) as error:
        load_policy(policy(tmp_path, over))
    (fault, *_) = error.value.faults
    assert said in fault.message
    assert "over.yaml:" in fault.place


def test_a_tool_may_be_called_like_a_list_with_a_mark() -> None:
    named = load_policy(
        {"name": "p", "tools": {"c++": {"risk": "high"}, "tools+": {"risk": "low"}}}
    )
    assert set(named.file.tools) == {"c++", "tools+"}


REPLACING = [
    ("guards:\n  - {id: no-rm, tools: [mkfs]}\n", "likely", "`rm`, `dd` are no longer in it"),
    ("guards:\n  - {id: no-rm, tools: [dd]}\n", "likely", "`rm` is no longer in it"),
    (
        "guards:\n  - {use: egress, denied_hosts: [b.example]}\n",
        "likely",
        "`a.example` is no longer in it",
    ),
    ("agents: {scout: {allowed_tools: [read]}}\n", "info", "`search` is no longer in it"),
]


@pytest.mark.parametrize(("over", "sure", "said"), REPLACING)
def test_a_list_that_drops_something_without_saying_so_is_remarked(
    tmp_path: Path, over: str, sure: str, said: str
) -> None:
    file = policy(tmp_path, over)
    (remark,) = lint(file).remarks
    assert (remark.code, remark.sure) == ("replaces", sure)
    assert said in remark.message
    assert remark.place.startswith(f"{file}:")
    key = remark.message.partition("`")[2].partition("`")[0]
    assert f"`{key}+:`" in remark.advice
    for mark in "+=":
        assert lint(policy(tmp_path, over.replace(f"{key}:", f"{key}{mark}:"))).remarks == ()


@pytest.mark.parametrize(
    "over",
    [
        "guards:\n  - {id: no-rm, tools: [rm, dd, mkfs]}\n",
        "guards:\n  - {id: no-rm, action: escalate}\n",
        "guards:\n  - {id: other, use: tool_denylist, tools: [mkfs]}\n",
        "guards:\n  - {id: no-rm, tools: [dd, rm]}\n",
    ],
)
def test_one_that_drops_nothing_is_not(tmp_path: Path, over: str) -> None:
    assert lint(policy(tmp_path, over)).remarks == ()


NAMES = st.lists(st.sampled_from(["a", "b", "c", "d*", "7"]), unique=True)


@given(NAMES, NAMES)
def test_adding_refuses_what_either_refuses(below: list[str], above: list[str]) -> None:
    """And nothing else, in the order in which they stand."""
    over = {"guards": [{"id": "no-rm", "tools+": above}]}
    base = {
        "name": "p",
        "guards": [{"id": "no-rm", "use": "tool_denylist", "tools": below}],
        "environments": {"e": over},
    }
    assert tools(base, "e") == [*below, *[one for one in above if one not in below]]


def test_a_decision_names_the_overlay_where_its_value_stands(tmp_path: Path) -> None:
    file = policy(tmp_path, "guards:\n  - id: no-rm\n    action: halt\n    tools+: [mkfs]\n")
    shield = shield_for(file)
    assert shield.run("a").check("mkfs", {}).code == "tool.denied"
    seat = shield.policy.seat("no-rm")
    assert seat is not None
    base = tmp_path / "base.yaml"
    assert seat.place == f"{base}:4:5; `action` at {file}:5:5; `tools+` at {file}:6:5"


def replacing(file: Path) -> list[tuple[str, str]]:
    return [(one.sure, one.message) for one in lint(file).remarks if one.code == "replaces"]


@pytest.mark.parametrize(
    "written", ["guards:\n", "guards: []\n", "guards:\n  # - use: step_limit\n"]
)
def test_an_empty_list_of_guards_is_never_taken_for_no_change(tmp_path: Path, written: str) -> None:
    file = policy(tmp_path, f"{written}agents: null\n")
    assert load_policy(file).file.guards == ()
    ((sure, said),) = replacing(file)
    assert sure == "likely"
    assert "`no-rm`, `tool-allowlist`, `egress`" in said


@pytest.mark.parametrize("written", ["guards: null\n", "guards: ~\n", "guards=: []\n", ""])
def test_guards_that_are_meant_to_go_are_let_go(tmp_path: Path, written: str) -> None:
    assert replacing(policy(tmp_path, f"{written}agents: null\n")) == []


def test_a_key_with_nothing_behind_it_takes_a_table_or_an_option_away(tmp_path: Path) -> None:
    ((sure, said),) = replacing(policy(tmp_path, "agents:\n"))
    assert (sure, "`scout`" in said) == ("likely", True)
    ((sure, said),) = replacing(policy(tmp_path, "guards:\n  - use: egress\n    denied_hosts:\n"))
    assert (sure, "`a.example`" in said) == ("likely", True)
