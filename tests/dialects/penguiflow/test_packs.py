"""Packs: what is wrong in a file is told with its line when it is read, and a rule may wait for its
pack."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion.dialects.penguiflow import (
    ContextSnapshotBuilder,
    DialectError,
    GuardrailContext,
    GuardrailGateway,
    GuardrailPolicyPack,
    ToolAllowlistRule,
    apply_policy_config,
    load_policy_pack,
)
from stanchion.policy.errors import PolicyError
from tests.dialects.penguiflow.planner import Rule, call, gateway_of, judged

HEAD = "policy_pack: own\nversion: '1'\n"
TWICE = {
    "in one list": (
        "sync_rules:\n  - id: injection-patterns\n  - id: injection-patterns\n    enabled: false\n"
    ),
    "a rule of one's own": "sync_rules:\n  - id: mine\n  - id: mine\n",
    "in both lists": "sync_rules:\n  - id: mine\nasync_rules: [{id: mine}]\n",
    "of deep rules": "async_rules:\n  - id: scope-classifier\n  - id: scope-classifier\n",
}
PATTERNS = {
    "broken, of secrets": (
        "secret-redaction",
        "J: 'j[0-9]{9}'\n        K: '('",
        "`(` that is never closed",
    ),
    "unbounded, of secrets": (
        "secret-redaction",
        "J: 'j[0-9]{9}'\n        K: 'a+'",
        "`a+` have no end",
    ),
    "broken, of injections": (
        "injection-patterns",
        "- pattern: 'j'\n        - pattern: '('",
        "not RE2",
    ),
}


def pack_at(folder: Path, text: str) -> Path:
    path = folder / "pack.yaml"
    path.write_text(HEAD + text)
    return path


def put(gateway: GuardrailGateway, pack: GuardrailPolicyPack) -> None:
    apply_policy_config(
        gateway.registry, gateway, gateway.context_builder, gateway.risk_router, pack
    )


def packed(*entries: dict[str, Any]) -> GuardrailPolicyPack:
    return GuardrailPolicyPack("own", "1", {"policy_pack": "own", "sync_rules": list(entries)})


@pytest.mark.parametrize("case", TWICE)
def test_a_rule_has_one_entry(case: str, tmp_path: Path) -> None:
    path = pack_at(tmp_path, TWICE[case])
    with pytest.raises(PolicyError) as raised:
        load_policy_pack(path)
    assert f"{path}:5:" in str(raised.value)
    assert "has an entry already" in str(raised.value)


def test_a_pack_of_data_has_one_entry_for_a_rule_as_well() -> None:
    gateway = gateway_of(Rule("mine"))
    with pytest.raises(DialectError, match="the rule `mine` has an entry already"):
        put(gateway, packed({"id": "mine"}, {"id": "mine", "enabled": False}))
    gateway.close()


@pytest.mark.parametrize("case", PATTERNS)
def test_a_pattern_that_cannot_be_used_is_told_with_its_line(case: str, tmp_path: Path) -> None:
    rule, patterns, word = PATTERNS[case]
    path = pack_at(
        tmp_path, f"sync_rules:\n  - id: {rule}\n    config:\n      patterns:\n        {patterns}\n"
    )
    with pytest.raises(PolicyError) as raised:
        load_policy_pack(path)
    assert f"{path}:8:" in str(raised.value)
    assert word in str(raised.value)


def test_a_pack_is_read_without_the_code_that_it_names(tmp_path: Path) -> None:
    text = "sync_rules:\n  - id: mine\n    config: {call: 'no_such_module_at_all:judge'}\n"
    assert load_policy_pack(pack_at(tmp_path, text)).policy_id == "own"


def test_an_allowlist_waits_for_its_pack() -> None:
    gateway = gateway_of(ToolAllowlistRule())
    assert judged(gateway, call("rm")).action == "ALLOW"
    put(gateway, packed({"id": "tool-allowlist", "config": {"allowed_tools": ["look"]}}))
    assert judged(gateway, call("look")).action == "ALLOW"
    assert judged(gateway, call("rm")).action == "STOP"
    gateway.close()


@pytest.mark.parametrize(
    "entries", [(), ({"id": "tool-allowlist", "enabled": True},)], ids=["no entry", "an empty one"]
)
def test_an_allowlist_that_says_nothing_after_its_pack_is_told(entries: Any) -> None:
    gateway = gateway_of(ToolAllowlistRule())
    with pytest.raises(
        DialectError,
        match="`tool-allowlist` still says nothing after the pack: give `allowed_tools`",
    ):
        put(gateway, packed(*entries))
    gateway.close()


def test_an_allowlist_that_is_switched_off_stays_so_where_a_pack_says_its_tools() -> None:
    gateway = gateway_of(ToolAllowlistRule(enabled=False))
    put(gateway, packed())
    put(gateway, packed({"id": "tool-allowlist", "config": {"allowed_tools": ["look"]}}))
    assert judged(gateway, call("rm")).action == "ALLOW"
    put(
        gateway,
        packed({"id": "tool-allowlist", "enabled": True, "config": {"allowed_tools": ["look"]}}),
    )
    assert judged(gateway, call("rm")).action == "STOP"
    gateway.close()


def test_a_snapshot_has_the_tools_that_a_context_offers_and_no_others() -> None:
    rule = Rule("own")
    gateway = gateway_of(
        rule, context_builder=ContextSnapshotBuilder({"rm": "critical", "look": "low"})
    )
    gateway.evaluate_sync(
        GuardrailContext("r", tool_context={"available_tools": ["write", "look"]}), call("rm")
    )
    gateway.evaluate_sync(GuardrailContext("r"), call("look"))
    offered, known = [snapshot for _, snapshot in rule.seen]
    assert [(one.name, one.risk_tier) for one in offered.available_tools] == [
        ("write", "medium"),
        ("look", "low"),
    ]
    assert (offered.current_tool.name, offered.max_tool_risk) == ("rm", "critical")
    assert {"rm", "look"} <= {one.name for one in known.available_tools}
    gateway.close()
