"""Policy files: packs, extends, environments, roles, tools, and what they do at run time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, PolicyError, Refused, Shield, Stage
from stanchion.policy.load import load_policy, packs
from tests.runtime.guards import says

undone: list[str] = []


def take_back(name: str) -> None:
    """What a policy names as the undo of a tool."""
    undone.append(name)


@pytest.mark.parametrize("pack", packs())
def test_every_pack_loads(pack: str) -> None:
    """By name, without configuration."""
    assert Shield.load(pack).run().check("read_file", {"path": "x"}).proceeds or pack != "default"


def test_version_may_be_written_without_quotes(tmp_path: Path) -> None:
    """`1.0` is kept as it is written; `true` where a number belongs is not taken for one."""
    file = tmp_path / "p.yaml"
    file.write_text("name: p\nversion: 1.0\n", "utf-8")
    assert load_policy(file).file.version == "1.0"
    file.write_text(
        "name: p\nguards:\n  - {use: python, call: 'a:b', deadline_ms: true}\n", "utf-8"
    )
    with pytest.raises(
        PolicyError, match=r"p\.yaml:3:\d+: `true` was found where a whole number is expected"
    ):
        load_policy(file)


def test_all_mistakes_are_told_at_once_with_their_places(tmp_path: Path) -> None:
    """Not the first alone, and each with file, line, column and the nearest word."""
    file = tmp_path / "p.yaml"
    file.write_text(
        "name: p\n"
        "mode: enforc\n"
        "tols: {}\n"
        "guards:\n"
        "  - use: step_limt\n"
        "  - use: tool_denylist\n"
        "    tools: rm\n"
        "  - use: rule\n"
        "    when: agent.rol == 'x'\n",
        "utf-8",
    )
    with pytest.raises(PolicyError) as refused:
        load_policy(file)
    text = str(refused.value)
    for place, word in (
        (":2:", "enforce"),
        (":3:", "tools"),
        (":5:", "step_limit"),
        (":7:", "[rm]"),
    ):
        assert any(place in line and word in line for line in text.splitlines()), (place, text)


def test_mistakes_that_only_compiling_finds_are_told_with_the_others(tmp_path: Path) -> None:
    """A taken id, a senseless action, an inert list: beside a misspelt key, not after it is
    mended."""
    file = tmp_path / "p.yaml"
    file.write_text(
        "name: p\n"
        "tols: {}\n"
        "agents: {a: {allowed_tools: [x]}}\n"
        "guards:\n"
        "  - {use: step_limit, id: one}\n"
        "  - {use: tool_denylist, id: one, tools: [x]}\n"
        "  - {use: step_limit, id: two, stages: [charge], action: retry}\n",
        "utf-8",
    )
    with pytest.raises(PolicyError) as refused:
        load_policy(file)
    lines = str(refused.value).splitlines()
    assert [line.removeprefix(str(file)).split(":")[1] for line in lines] == ["2", "3", "6", "7"], (
        lines
    )
    file.write_text(
        file.read_text("utf-8").replace("{use: step_limit, id: one}", "{use: tool_allowlst}"),
        "utf-8",
    )
    with pytest.raises(PolicyError) as refused:
        load_policy(file)
    assert "nothing acts on" not in str(refused.value), (
        "the guard that acts on it may be the misspelt one"
    )


def test_an_environment_changes_what_it_names_and_no_more(tmp_path: Path) -> None:
    """Mappings merge, guards merge by id, and an unknown environment is an error."""
    file = tmp_path / "p.yaml"
    file.write_text(
        """
name: p
guards:
  - {use: step_limit, id: steps, max_steps: 5}
  - {use: tool_denylist, tools: [rm]}
environments:
  dev:
    guards:
      - {id: steps, max_steps: 1}
  prod:
    mode: shadow
""",
        "utf-8",
    )
    dev, prod = Shield.load(file, env="dev").run(), Shield.load(file, env="prod").run()
    assert [dev.check("t", {}).action for _ in range(2)] == [Action.ALLOW, Action.BLOCK]
    assert prod.check("rm", {}).proceeds
    assert not Shield.load(file).run().check("rm", {}).proceeds
    with pytest.raises(PolicyError, match="there is no environment `porduction`"):
        Shield.load(file, env="porduction")


def test_an_environment_nobody_asked_for_is_checked_too(tmp_path: Path) -> None:
    """A mistake in production is found on the developer's machine."""
    file = tmp_path / "p.yaml"
    file.write_text("name: p\nenvironments:\n  prod:\n    mode: enforc\n", "utf-8")
    with pytest.raises(PolicyError, match=r"p\.yaml:4:"):
        load_policy(file)


def test_a_policy_extends_a_pack_and_files(tmp_path: Path) -> None:
    """Later ones lie over earlier ones; a circle is an error."""
    (tmp_path / "more.yaml").write_text(
        "name: more\nguards:\n  - {use: tool_denylist, tools: [rm]}\n", "utf-8"
    )
    file = tmp_path / "p.yaml"
    file.write_text(
        "name: p\nextends: [default, more.yaml]\nguards:\n  - {use: step_limit, max_steps: 2}\n",
        "utf-8",
    )
    run = Shield.load(file).run()
    assert not run.check("rm", {}).proceeds
    assert [run.check("t", {}).proceeds for _ in range(3)] == [True, True, False]
    (tmp_path / "more.yaml").write_text("name: more\nextends: p.yaml\n", "utf-8")
    with pytest.raises(PolicyError):
        load_policy(file)


@pytest.mark.parametrize("source", [None, [], 7])
def test_what_can_be_no_policy_is_refused_in_one_line(source: Any) -> None:
    with pytest.raises(
        PolicyError,
        match=r"^policy: a `\w+` is no policy: give a pack's name, a file, or a `dict`$",
    ):
        load_policy(source)


def test_roles_give_their_agents_tools_and_capabilities() -> None:
    """An agent's own list beats its role's."""
    shield = Shield.load(
        {
            "name": "p",
            "roles": {"reader": {"allowed_tools": ["read"], "capabilities": ["search"]}},
            "agents": {
                "r-*": {"role": "reader"},
                "special": {"role": "reader", "allowed_tools": ["write"]},
            },
            "guards": [
                {"use": "tool_allowlist"},
                {"use": "rule", "id": "able", "check": "'search' in agent.capabilities"},
            ],
        }
    )
    assert shield.run("r-1").check("read", {}).proceeds
    assert shield.run("r-1").check("write", {}).code == "tool.not_allowed"
    assert shield.run("special").check("write", {}).proceeds
    assert shield.run("stranger").check("read", {}).code == "rule.broken"


def test_a_role_that_nobody_declared_is_an_error() -> None:
    """A misspelt role would silently have no tools."""
    policy = {"name": "p", "roles": {"reader": {}}, "agents": {"a": {"role": "raeder"}}}
    with pytest.raises(PolicyError, match="role `raeder` is not among `roles`"):
        load_policy(policy)


def test_the_closest_glob_says_what_an_agent_is_whatever_the_order() -> None:
    """Two files that say the same decide the same, because they have the same hash."""
    entries = {"a-*": {"allowed_tools": ["read"]}, "a-b-*": {"allowed_tools": ["write"]}}
    guards = [{"use": "tool_allowlist"}]
    one = load_policy({"name": "p", "agents": entries, "guards": guards})
    other = load_policy({"name": "p", "agents": dict(reversed(entries.items())), "guards": guards})
    assert one.hash == other.hash
    assert one.agent("a-b-c").allowed_tools == other.agent("a-b-c").allowed_tools == ("write",)


def test_rules_see_what_the_policy_says_of_a_tool() -> None:
    """Its effect, its annotations, what its results count as, its risk."""
    shield = Shield.load(
        {
            "name": "p",
            "tools": {
                "fetch": {"annotations": ["open_world"], "effect": "outward", "risk": "high"}
            },
            "guards": [
                {
                    "use": "rule",
                    "when": "['outward', 'open_world', 'content'].all(x, x in event.traits) "
                    "and event.risk == 'high'",
                }
            ],
        }
    )
    assert not shield.run().check("fetch", {}).proceeds
    assert shield.run().check("read", {}).proceeds


def test_a_policy_names_the_undo_of_a_tool() -> None:
    """It runs where a finished result is refused; code that cannot be found is an error at load."""
    policy = {"name": "p", "tools": {"make": {"undo": f"{__name__}:take_back"}}}
    shield = Shield.load(policy, guards=[says(Action.BLOCK, Stage.TOOL_RESULT)])

    def make(name: str) -> str:
        return name

    with shield.run() as run, pytest.raises(Refused):
        run.call(make, name="thing")
    assert undone == ["thing"]
    with pytest.raises(PolicyError, match="`nowhere:to_be` cannot be found"):
        load_policy({"name": "p", "tools": {"make": {"undo": "nowhere:to_be"}}})


def test_an_escalation_says_whom_to_ask() -> None:
    """The policy's roles, or reviewer, architect and human operator: the host reads it, the agent
    does not."""
    guards = [{"use": "tool_denylist", "tools": ["pay"], "action": "escalate"}]
    for said, asks in (
        ({}, ("reviewer", "architect", "human_operator")),
        ({"roles": ["boss"]}, ("boss",)),
    ):
        with Shield.load({"name": "p", "guards": guards, "escalation": said}).run() as run:

            def pay() -> None: ...

            with pytest.raises(Refused) as refused:
                run.call(pay)
        assert refused.value.approvers == asks
        assert not any(role in str(refused.value) for role in asks)
        assert refused.value.waits


def test_files_of_other_systems_are_known_by_sight() -> None:
    """The error says what the file is, not which keys a policy lacks."""
    with pytest.raises(PolicyError, match=r"`sync_rule` is not known.*`sync_rules`"):
        load_policy({"policy_pack": "default-guardrails", "version": "1.0", "sync_rule": []})
    with pytest.raises(PolicyError, match="`validation` is missing"):
        load_policy({"custom_guardrail": {"id": "custom-scope-001"}})


@pytest.mark.parametrize("kind", ["pipe", "device", "large"])
def test_only_a_file_that_ends_is_read(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody writes to the pipe, and the device has no end: neither is waited for."""
    file = tmp_path / "policy.yaml"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "device":
        file.symlink_to("/dev/zero")
    else:
        monkeypatch.setattr("stanchion.policy.load.MAX_BYTES", 8)
        file.write_text("name: large", encoding="utf-8")
    with pytest.raises(PolicyError, match="more than" if kind == "large" else "regular file"):
        load_policy(file)


def test_a_policy_has_only_so_many_guards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of an environment count as well: each is compiled."""
    monkeypatch.setattr("stanchion.policy.load.MOST_GUARDS", 2)
    two = [{"use": "step_limit", "id": f"g{number}"} for number in range(2)]
    three = [*two, {"use": "step_limit", "id": "g2"}]
    assert len(load_policy({"name": "x", "guards": two}).file.guards) == 2
    for policy in (
        {"name": "x", "guards": three},
        {"name": "x", "guards": two, "environments": {"prod": {"guards": three[2:]}}},
    ):
        with pytest.raises(PolicyError, match="3 guards, and a policy has at most 2"):
            load_policy(policy)


@pytest.mark.parametrize("env", [1, b"prod", ["prod"]])
def test_an_environment_that_is_no_name_is_a_fault(env: Any) -> None:
    with pytest.raises(PolicyError, match="`env` is of the type"):
        load_policy({"name": "x"}, env)
