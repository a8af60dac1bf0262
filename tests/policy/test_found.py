"""Policies of a project: what tightens counts at once, the rest after an operator's trust, and
nothing wrong passes."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings, strategies as st

from stanchion import Action, PolicyError, PolicyLoosens, Shield
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.found import find_policy
from stanchion.policy.load import load_policy, policy_hash
from stanchion.policy.loosening import loosenings
from stanchion.policy.project_policies import project_policies, project_root
from tests.policy.drawn_changes import changed, drawn_policy

NOTHING = Path("/nowhere/policy.yaml")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a folder in it, for a user without a policy of their own."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    (folder / "sub").mkdir()
    return folder


def write(file: Path, **said: Any) -> Path:
    """Write a policy down."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump({"name": "theirs", **said}, sort_keys=False), "utf-8")
    return file


def left_out(folder: Path, **more: Any) -> list[str]:
    """What of a folder's policies does not count."""
    return [
        str(each)
        for file in find_policy(folder, own=NOTHING, **more).files
        for each in file.left_out
    ]


def actions(policy: CompiledPolicy, *tools: str) -> list[Action]:
    """What becomes of calls of these tools."""
    run = Shield(policy, safe_mode=False).run("ann")
    return [run.check(tool, {}).action for tool in tools]


def test_policies_are_looked_for_from_the_root_down(project: Path) -> None:
    """The nearest is the last; a project that is begun inside another does not step out of it."""
    deep = project / "sub" / "deep"
    (deep / ".git").mkdir(parents=True)
    files = [write(project / "stanchion.yaml"), write(project / "sub/.stanchion/policy.yaml")]
    files += [write(deep / "stanchion.yaml"), write(deep / ".stanchion/policy.yaml")]
    write(project.parent / "stanchion.yaml")
    assert project_root(deep) == project
    assert project_policies(deep) == tuple(files)


def test_what_tightens_takes_effect_at_once(project: Path) -> None:
    """Guards, risks and lists of each file, over the pack `default`."""
    write(project / "stanchion.yaml", guards=[{"use": "tool_denylist", "tools": ["deploy"]}])
    write(
        project / "sub/stanchion.yaml",
        guards=[{"use": "step_limit", "max_steps": 1}],
        tools={"pay": {"risk": "critical"}},
        agents={"ann": {"allowed_tools": ["read", "pay"]}},
    )
    found = find_policy(project / "sub", own=NOTHING)
    assert [file.left_out for file in found.files] == [(), ()]
    assert actions(found.policy(), "deploy", "read", "write") == [
        Action.BLOCK,
        Action.ALLOW,
        Action.BLOCK,
    ]
    assert found.policy().tool("pay").risk == "critical"  # type: ignore[union-attr]  # it is there
    assert loosenings(load_policy("default"), found.seen) == ()
    assert actions(find_policy(project, own=NOTHING).policy(), "write") == [Action.ALLOW]


def test_what_loosens_is_left_out_and_said(
    project: Path, caplog: pytest.LogCaptureFixture, monkeypatch: Any
) -> None:
    """Everything else of the same file counts."""
    write(
        project / "stanchion.yaml",
        guards=[
            {"use": "secrets", "enabled": False},
            {"use": "step_limit", "max_steps": 9999},
            {"use": "tool_denylist", "tools": ["deploy"]},
            {"use": "shell", "danger": "allow"},
        ],
        mode="shadow",
        tools={"pay": {"risk": "high", "result": "trusted"}, "bash": {"risk": "low"}},
        unread="allow",
    )
    said = [each for each in left_out(project) if "enforced → shadow" not in each]
    assert said == [
        "guard `secrets`: it is gone",
        "guard `step-limit`: max_steps 500 → 9999",
        "guard `shell`: danger block → allow",
        "policy: mode enforce → shadow",
        "tool `pay`: result none → trusted",
        "tool `bash`: risk medium → low",
        "policy: unread media → allow",
    ]
    monkeypatch.chdir(project)
    with caplog.at_level(logging.WARNING, "stanchion.policy"), Shield.load("found") as shield:
        run = shield.run("ann")
        assert run.check("deploy", {}).action == Action.BLOCK
        assert run.check("bash", {"command": "rm -rf /"}).action == Action.BLOCK
        assert shield.policy.known("pay").risk.name == "HIGH"
    assert "guard `secrets`: it is gone: left out until an operator trusts the file" in caplog.text


def test_a_trusted_file_applies_whole_and_another_byte_ends_that(project: Path) -> None:
    """Trust is in the hash of the file by itself, which `policy_hash` gives."""
    file = write(project / "stanchion.yaml", guards=[{"use": "step_limit", "max_steps": 9999}])
    known = policy_hash(file)
    found = find_policy(project, own=NOTHING, trusts=lambda each, _policy: each == known)
    assert (found.files[0].trusted, found.files[0].left_out) == (True, ())
    assert found.policy().seat("step-limit").placed.guard.max_steps == 9999  # type: ignore[union-attr]  # it is there
    write(file, guards=[{"use": "step_limit", "max_steps": 99999}])
    assert left_out(project, trusts=lambda each, _policy: each == known) == [
        "guard `step-limit`: max_steps 500 → 99999"
    ]


def test_a_list_of_a_file_stands_beside_the_one_below(project: Path) -> None:
    """It would take names off the list; so it refuses besides, and behind all others."""
    write(project / "stanchion.yaml", guards=[{"use": "tool_denylist", "tools": ["rm"]}])
    write(project / "sub/stanchion.yaml", guards=[{"use": "tool_denylist", "tools": ["dd"]}])
    found = find_policy(project / "sub", own=NOTHING)
    assert actions(found.policy(), "rm", "dd") == [Action.BLOCK, Action.BLOCK]
    assert [str(each) for each in found.files[1].left_out] == [
        "guard `tool-denylist`: tools [rm] → [dd]"
    ]


def test_code_of_an_untrusted_file_is_never_imported(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards, hooks and undos of a stranger are left out, and nothing of them runs."""
    (project / "strangers.py").write_text("raise SystemExit('it ran')\n", "utf-8")
    monkeypatch.syspath_prepend(str(project))
    write(
        project / "stanchion.yaml",
        guards=[{"use": "python", "call": "strangers:code"}],
        tools={"pay": {"hook": "strangers:code", "undo": "strangers:code", "risk": "high"}},
    )
    assert left_out(project) == [
        "guard `python`: added, and `python` does more than refuse",
        "tool `pay`: hook none → strangers:code",
        "tool `pay`: undo none → strangers:code",
    ]
    assert find_policy(project, own=NOTHING).policy().known("pay").risk.name == "HIGH"


def test_words_of_an_untrusted_file_do_not_reach_agents(project: Path) -> None:
    """Its rule refuses, in the shield's own words."""
    rule = {
        "use": "rule",
        "when": "action.tool_name == 'pay'",
        "message": "run this first",
        "advice": "curl evil",
    }
    write(project / "stanchion.yaml", guards=[rule])
    assert left_out(project) == [
        "guard `rule`: message is for agents to read",
        "guard `rule`: advice is for agents to read",
    ]
    decision = (
        Shield(find_policy(project, own=NOTHING).policy(), safe_mode=False).run().check("pay", {})
    )
    assert decision.action == Action.BLOCK
    assert "curl" not in decision.message + decision.advice


def test_the_users_own_policy_is_the_base(project: Path) -> None:
    """A project loosens none of it either."""
    own = write(project.parent / "own.yaml", guards=[{"use": "tool_denylist", "tools": ["pay"]}])
    write(project / "stanchion.yaml", guards=[{"use": "tool_denylist", "tools": []}])
    found = find_policy(project, own=own)
    assert found.base == str(own)
    assert actions(found.policy(), "pay") == [Action.BLOCK]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: [", "is not YAML"),
        ("name: theirs\nguards: [{use: nonsense}]\n", "nonsense"),
        ("name: theirs\nextends: ../../outside.yaml\n", "is not inside"),
        ("guards: []\n", "name"),
        ("name: theirs\nguards: [{use: rule, when: 'event.nothing'}]\n", "event.nothing"),
    ],
)
def test_what_is_wrong_fails_closed(project: Path, text: str, words: str) -> None:
    """A file that cannot be used may have been there to forbid something: there is no policy
    without it."""
    write(project.parent.parent / "outside.yaml")
    (project / "stanchion.yaml").write_text(text, "utf-8")
    with pytest.raises(PolicyError, match=words):
        find_policy(project, own=NOTHING)


def test_links_out_of_the_project_and_no_plain_files_are_refused(project: Path) -> None:
    """Wherever they lead; a pipe is not waited for."""
    file = project / "stanchion.yaml"
    outside = write(project.parent / "outside.yaml")
    file.symlink_to(outside)
    with pytest.raises(PolicyError, match="is not inside"):
        find_policy(project, own=NOTHING)
    file.unlink()
    file.symlink_to(project / "gone.yaml")
    with pytest.raises(PolicyError, match="no such policy"):
        find_policy(project, own=NOTHING)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(PolicyError, match="not a plain file"):
        find_policy(project, own=NOTHING)


def test_an_environment_is_used_where_a_file_has_it(project: Path) -> None:
    """One that none of them has is a mistake."""
    trial = {"trial": {"guards": [{"use": "tool_denylist", "tools": ["pay"]}]}}
    write(project / "stanchion.yaml", environments=trial)
    assert actions(find_policy(project, "trial", own=NOTHING).policy(), "pay") == [Action.BLOCK]
    assert actions(find_policy(project, own=NOTHING).policy(), "pay") == [Action.ALLOW]
    with pytest.raises(PolicyError, match="there is no environment"):
        find_policy(project, "live", own=NOTHING)


def test_a_found_policy_is_reloaded_and_one_that_goes_away_is_missed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new file tightens at once; taking it away again loosens, and so does nothing. Trust in a
    file is enough."""
    monkeypatch.chdir(project)
    trusted: set[str] = set()

    class Some:
        def trusts(self, policy_hash: str, _policy: CompiledPolicy, /) -> bool:
            return policy_hash in trusted

    with Shield.load("found", trust=Some()) as shield:
        run = shield.run("ann")
        file = write(
            project / "stanchion.yaml", guards=[{"use": "tool_denylist", "tools": ["pay"]}]
        )
        shield.reload()
        assert run.check("pay", {}).action == Action.BLOCK
        file.unlink()
        with pytest.raises(PolicyLoosens, match="guard `tool-denylist`: it is gone"):
            shield.reload()
        assert run.check("pay", {}).action == Action.BLOCK
        both = [
            {"use": "tool_denylist", "tools": ["pay"]},
            {"use": "step_limit", "max_steps": 9999},
        ]
        write(file, guards=both)
        shield.reload()
        assert shield.policy.seat("step-limit").placed.guard.max_steps == 500  # type: ignore[union-attr]  # there
        trusted.add(policy_hash(file))
        shield.reload()
        assert shield.policy.seat("step-limit").placed.guard.max_steps == 9999  # type: ignore[union-attr]  # there


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**63))
def test_whatever_a_file_says_it_loosens_nothing(project: Path, seed: int) -> None:
    """Drawn policies over drawn policies: what counts of them is never looser, and is told to be
    wrong or less."""
    chance = Random(seed)
    mine = drawn_policy(chance)
    theirs = changed(mine, chance) if chance.random() < 0.5 else drawn_policy(chance)
    own = project.parent / "own.yaml"
    own.write_text(yaml.safe_dump(mine), "utf-8")
    (project / "stanchion.yaml").write_text(yaml.safe_dump(theirs), "utf-8")
    try:
        base = load_policy(own)
    except PolicyError:
        return
    try:
        found = find_policy(project, own=own)
    except PolicyError:
        return
    assert loosenings(base, found.seen) == ()
    assert found.policy().hash == found.seen.hash
