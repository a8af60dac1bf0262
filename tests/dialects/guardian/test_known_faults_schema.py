"""Fault 5 of GuardianLayer's validation layer, as cases that must not come back."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import Shield
from stanchion.testing import shield_for

POLICY: dict[str, Any] = {"name": "x", "guards": [{"use": "schema", "hook_deadline_ms": 60_000}]}
QUERY: dict[str, Any] = {
    "name": "query",
    "inputSchema": {
        "type": "object",
        "properties": {
            "sql": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "mode": {"enum": ["read", "write"]},
        },
        "required": ["sql"],
        "additionalProperties": False,
    },
}


def shield() -> Shield:
    """A shield that knows one tool."""
    made = shield_for(POLICY)
    made.ingest({"tools": [QUERY]})
    return made


def test_fault_5_a_hook_that_is_registered_later_is_not_passed_over() -> None:
    """An equal call that had been found valid before was let through from the cache there, and no
    hook was asked."""
    one = shield()
    run = one.run("a")
    call = {"sql": "DROP TABLE users"}
    assert run.check("query", call).proceeds
    assert run.check("query", call).proceeds
    assert one.validation_stats().cache_hits == 1
    one.hook("query", lambda call: "no" if "DROP" in call.args["sql"] else None)
    assert run.check("query", call).code == "schema.hook"
    assert run.check("query", {"sql": "SELECT 1"}).proceeds
    one.hook("query", lambda call: "nothing at all")
    assert run.check("query", {"sql": "SELECT 1"}).message.endswith("nothing at all")


def test_fault_5_a_hook_that_raises_refuses() -> None:
    """Its exception was swallowed there, and the call went ahead."""

    def hook(_call: Any) -> None:
        raise ConnectionError("the registry cannot be reached: password hunter2")

    one = shield()
    one.hook("query", hook)
    for _ in range(2):
        refused = one.run("a").check("query", {"sql": "SELECT 1"})
        assert (refused.code, refused.proceeds) == ("kernel.lookup_failed", False)
        assert "hunter2" not in refused.message


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"sql": 5}, "schema.type"),
        ({"sql": None}, "schema.type"),
        ({"sql": "x", "limit": "10"}, "schema.type"),
        ({"sql": "x", "limit": True}, "schema.type"),
        ({"sql": "x", "limit": 0}, "schema.value"),
        ({"sql": "x", "limit": 101}, "schema.value"),
        ({"sql": "x", "mode": "drop"}, "schema.value"),
        ({"sql": "x", "force": True}, "schema.extra"),
        ({}, "schema.missing"),
    ],
)
def test_fault_5_types_enums_ranges_and_extra_arguments_are_checked(
    args: dict[str, Any], code: str
) -> None:
    """Only names of required parameters were looked at there."""
    refused = shield().run("a").check("query", args)
    assert (refused.code, refused.proceeds) == (code, False)


def test_fault_5_a_changed_schema_is_not_passed_over() -> None:
    one = shield()
    run = one.run("a")
    assert run.check("query", {"sql": "x", "limit": 50}).proceeds
    properties = {**QUERY["inputSchema"]["properties"], "limit": {"type": "integer", "maximum": 10}}
    one.ingest(
        [{**QUERY, "inputSchema": {**QUERY["inputSchema"], "properties": properties}}], repin=True
    )
    assert run.check("query", {"sql": "x", "limit": 50}).code == "schema.value"
