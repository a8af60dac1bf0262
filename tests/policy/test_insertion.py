"""What a policy shall say besides is written into its text: comments stay, and it says that."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.policy.composed import read_text
from stanchion.policy.insertion import inserted, yaml_of

TEXT = """\
# My policy.
name: p   # its name

guards:
  # hosts
  - use: egress
    allowed_hosts: [a.example, 'b.example']   # ours
    ports:
      - 443
      # and
      - 8443
  # files
  - {use: files, id: f}
  - id: sh
    use: shell
tools:
  pay: {ask: {above: 100}}  # money
  send:
    # all of it
    ask: true
"""


@pytest.mark.parametrize(
    ("said", "line"),
    [
        (
            {"guards": [{"use": "egress", "allowed_hosts+": ["c.example:443"]}]},
            "    allowed_hosts: [a.example, 'b.example', 'c.example:443']   # ours",
        ),
        ({"guards": [{"use": "egress", "ports+": [80]}]}, "      - 80"),
        (
            {"guards": [{"use": "egress", "internal_hosts+": ["10.0.0.1"]}]},
            "    internal_hosts+: [10.0.0.1]",
        ),
        (
            {"guards": [{"id": "f", "root+": ["/srv/x y"]}]},
            "  - {use: files, id: f, root+: [/srv/x y]}",
        ),
        (
            {"guards": [{"id": "sh", "families": {"git": "escalate"}}]},
            "    families: {git: escalate}",
        ),
        (
            {"guards": [{"use": "sql", "destructive": "escalate"}]},
            "  - {use: sql, destructive: escalate}",
        ),
        ({"tools": {"pay": {"ask": {"above": 250}}}}, "  pay: {ask: {above: 250}}  # money"),
        ({"tools": {"send": {"result": "trusted"}}}, "    result: trusted"),
        ({"tools": {"find": {"result": "trusted"}}}, "  find: {result: trusted}"),
        ({"approved": {"a-1": {"tool": "x", "args": {"c": "a: b\n# c"}}}}, "  a-1:"),
    ],
)
def test_the_line_is_there_and_everything_else_stays(said: dict[str, Any], line: str) -> None:
    new = inserted(TEXT, said)
    assert line in new.splitlines()
    assert [one for one in comments(new) if one in comments(TEXT)] == comments(TEXT)
    old = values(read(TEXT)) - ({"/tools/pay/ask/above=100"} if "pay" in str(said) else set())
    assert values(read(new)) == old | values(said)


def comments(text: str) -> list[str]:
    return [line[line.index("# ") :] for line in text.splitlines() if "# " in line]


def read(text: str) -> dict[str, Any]:
    data: dict[str, Any] = read_text(text, "policy").root.data()
    return data


def values(data: Any, path: str = "") -> set[str]:
    """Every value with the keys that lead to it; entries of guards by their id or use."""
    if isinstance(data, dict):
        below = [(f"{path}/{key.removesuffix('+')}", value) for key, value in data.items()]
    elif isinstance(data, list):
        names = [one.get("id", one.get("use")) if isinstance(one, dict) else "" for one in data]
        below = [(f"{path}/{name}", one) for name, one in zip(names, data, strict=True)]
    else:
        return {f"{path}={data}"}
    return {word for inner, value in below for word in values(value, inner)}


def test_an_empty_policy_and_empty_lists_take_it() -> None:
    assert inserted("", {"name": "p"}).strip() == "name: p"
    assert inserted("name: p\ncases: []", {"cases": [{"name": "x"}]}) == (
        "name: p\ncases: [{name: x}]\n"
    )
    assert inserted('{"name": "p"}', {"a": {"b": 1}}) == '{"name": "p", a: {b: 1}}\n'
    assert yaml_of({"a": {"b": [1]}}) == "a:\n  b: [1]\n"
