"""Words of other tools, and mistakes in the shape of a value: the author is told what to write
here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion import PolicyError
from stanchion.policy.lint import lint
from stanchion.policy.load import load_policy
from stanchion.policy.nearest import hint, meant_by, opposed


def faults(policy: dict[str, Any]) -> list[str]:
    with pytest.raises(PolicyError) as error:
        load_policy({"name": "p", **policy})
    return [fault.message for fault in error.value.faults]


@pytest.mark.parametrize(
    ("entry", "meant"),
    [
        ({"use": "tool_denylist", "tools": ["x"], "action": "deny"}, "block"),
        ({"use": "tool_denylist", "tools": ["x"], "action": "Require-Approval"}, "escalate"),
        ({"use": "tool_denylist", "tools": ["x"], "mode": "dry-run"}, "shadow"),
        ({"use": "rule", "if": "event.tool == 'x'"}, "when"),
        ({"use": "rule", "condition": "event.tool == 'x'"}, "when"),
        ({"use": "budget", "usd": 5}, "cost_usd"),
        ({"use": "rate_limit"}, "budget"),
        ({"use": "blacklist", "tools": ["x"]}, "tool_denylist"),
    ],
)
def test_a_word_of_another_tool_is_answered_with_ours(entry: dict[str, Any], meant: str) -> None:
    assert any(f"did you mean `{meant}`?" in said for said in faults({"guards": [entry]}))


def test_only_a_word_that_is_valid_there_is_offered() -> None:
    assert meant_by("deny", ["allow", "warn"]) is None
    assert meant_by("deny", ["tool_denylist"]) == "tool_denylist"
    assert meant_by("deny", ["tool_denylist", "block"]) == "block"


@pytest.mark.parametrize("key", ["denied_tools", "deny_tools", "blocked_tools", "disallowed_tools"])
def test_who_denies_is_never_told_to_allow(key: str) -> None:
    said = faults({"roles": {"r": {key: ["rm"]}}})
    assert not any("`allowed_tools`" in one for one in said)
    assert any("`use: tool_denylist`" in one for one in said)
    assert "did you mean" not in hint("denied_hosts", ["allowed_hosts"])
    assert opposed("blocked", "allowed")
    assert not opposed("alowed", "allowed")


@pytest.mark.parametrize(
    ("text", "number"), [("80%", "80"), ("80 %", "80"), ("$5", "5"), ("1,000.5", "1000.5")]
)
def test_a_number_is_found_in_what_it_counts(text: str, number: str) -> None:
    (said,) = faults({"guards": [{"use": "time_limit", "max_s": text}]})
    assert f"write the number alone: `{number}`" in said


def test_what_is_no_number_is_not_made_one() -> None:
    (said,) = faults({"guards": [{"use": "time_limit", "max_s": "5 or 6"}]})
    assert "number alone" not in said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("guards:\n  use: shell\n", "begin each entry with `- `"),
        ("guards:\n  - shell\n", "write `use: shell`"),
        (
            "guards:\n- use: tool_denylist\ntools: [rm]\n",
            "indent it further if it belongs to `guards` above",
        ),
        (
            "guards:\n  - use: rule\n    when: !has(event.args.x)\n",
            "put it into quotes, or write `not`",
        ),
        ("agents:\n  *: {role: x}\n", '`"*"`'),
        ("extends: defualt\n", "did you mean the pack `default`?"),
    ],
)
def test_a_mistake_in_the_shape_is_told_with_what_to_write(
    tmp_path: Path, body: str, said: str
) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(f"name: p\n{body}", encoding="utf-8")
    with pytest.raises(PolicyError) as error:
        load_policy(file)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("event.tool == pay", "as `'pay'`"),
        ("tool == 'pay'", "did you mean `event.tool`?"),
        ("len(event.args) > 1", "did you mean `size`?"),
        ("event.tool not in ['a']", "write `not (x in [...])`"),
        ("agent.role is 'x'", "compare with `==`"),
        ("event.tool ~ 'x'", "matches(r'pattern')"),
    ],
)
def test_a_condition_of_another_language_is_told_in_this_one(when: str, said: str) -> None:
    (fault,) = faults({"guards": [{"use": "rule", "when": when}]})
    assert said in fault
    assert ("in quotes" in fault) == ("'pay'`" in said)


@pytest.mark.parametrize(
    ("pattern", "instead"),
    [
        ("admin_.*", "write `admin_*`"),
        (".*_read", "write `*_read`"),
        ("rm|dd", "write each one separately: `rm`, `dd`"),
        ("^fs_", "write `fs_*`"),
        ("_read$", "write `*_read`"),
    ],
)
def test_a_pattern_without_anchors_is_one_too(pattern: str, instead: str) -> None:
    policy = {"name": "p", "guards": [{"use": "tool_denylist", "tools": [pattern]}]}
    (remark,) = lint(policy).remarks
    assert (remark.code, remark.advice) == ("pattern", instead)
