"""The JSON Schema for editors says of a file what the loader says of it."""

from random import Random
from typing import Any

import pytest
import yaml
from msgspec import inspect

from stanchion.policy.document import read_data
from stanchion.policy.errors import PolicyError
from stanchion.policy.json_schema import policy_schema
from stanchion.policy.load import PolicyReading, packs, read_policy
from stanchion.policy.schema import ENTRIES, GUARDS, any_file
from stanchion.policy.starter import starter
from stanchion.policy.struct_check import check
from tests.policy.drawn_policies import draw
from tests.policy.json_schema_reader import conforms

SCHEMA = policy_schema()


def fits(data: Any) -> bool:
    """Whether the schema accepts data."""
    return conforms(data, SCHEMA, SCHEMA)


@pytest.mark.parametrize("pack", packs())
def test_packs_conform(pack: str) -> None:
    assert fits(PolicyReading().first(pack).root.data())


def test_the_starter_conforms() -> None:
    assert fits(yaml.safe_load(starter()))


def test_every_guard_is_told_apart_by_its_use() -> None:
    uses = {
        definition["properties"]["use"]["const"]
        for name, definition in SCHEMA["$defs"].items()
        if "use" in str(definition.get("required", ()))
    }
    assert uses == set(GUARDS)
    for name, entry in ENTRIES.items():
        assert SCHEMA["$defs"][entry.__name__]["title"] == name


def descriptions(schema: Any, path: str = "") -> list[str]:
    """The places of properties that have no description."""
    if not isinstance(schema, dict):
        return []
    bare = [
        f"{path}.{name}"
        for name, each in schema.get("properties", {}).items()
        if not each.get("description")
    ]
    return bare + [
        place for key, each in schema.items() for place in descriptions(each, f"{path}.{key}")
    ]


def test_every_property_is_described() -> None:
    assert descriptions(SCHEMA) == []


def test_what_the_checker_says_of_drawn_policies_the_schema_says_too() -> None:
    kind = inspect.type_info(any_file())
    verdicts = set()
    for seed in range(1_500):
        data = draw(kind, Random(seed), wrong=0.03 if seed % 3 else 0.0)
        right = isinstance(data, dict) and not check(read_data(data), any_file())
        verdicts.add(right)
        assert fits(data) is right, f"seed {seed}: {data}"
    assert verdicts == {True, False}


OVERLAYS: list[dict[str, Any]] = [
    {"extends": "default"},
    {"extends": ["default"], "name": "x", "agents": {"a": {"allowed_tools": ["t"]}}},
    {"extends": "default", "guards": [{"id": "step-limit", "max_steps": 3}]},
    {
        "extends": "default",
        "guards": [{"use": "step_limit", "warn_after": None, "max_steps": None}],
    },
    {"extends": "default", "guards": [{"use": "tool_denylist", "tools": ["rm"]}], "version": None},
    {"name": "x", "environments": None},
    {"name": "x", "environments": {"prod": None}},
    {
        "name": "x",
        "limits": {"warnings": 2},
        "tools": {"a": {"risk": "low"}},
        "guards": [{"use": "step_limit"}],
        "environments": {
            "prod": {
                "mode": "shadow",
                "limits": {"warnings": None},
                "tools": {"a": None},
                "guards": [{"id": "step-limit", "max_steps": 3, "applies_to": {"tools": ["a"]}}],
            }
        },
    },
]


@pytest.mark.parametrize("data", OVERLAYS, ids=str)
def test_overlays_conform(data: dict[str, Any]) -> None:
    read_policy(data)
    assert fits(data)


@pytest.mark.parametrize(
    "data",
    [
        {"guards": []},
        {"name": "x", "extends": None},
        {"name": "x", "extends": 5},
        {"name": "x", "nmae": "y"},
        {"name": "x", "environments": {"prod": {"extends": "default"}}},
        {"name": "x", "environments": {"prod": {"environments": {}}}},
        {"name": "x", "environments": {"prod": {"guard": []}}},
        {"name": "x", "environments": {"prod": {"mode": "shadowy"}}},
        {"extends": "default", "guards": [{"use": "step_limt"}]},
        {"extends": "default", "guards": [{"id": "step-limit", "max_step": 3}]},
        {"name": "x", "guards": [{"use": "rule", "tools": ["x"]}]},
        {"name": "x", "guards": [{"id": "x"}]},
        {"name": "x", "guards": [{"use": "step_limit", "max_steps": -1}]},
    ],
    ids=str,
)
def test_mistakes_do_not_conform(data: dict[str, Any]) -> None:
    with pytest.raises(PolicyError):
        read_policy(data)
    assert not fits(data)
