"""What the doctor says of programs that do and do not do what their hooks say."""

import json
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from stanchion.cli.doctor import STYLES
from stanchion.cli.terminal import Terminal
from stanchion.hosts.coding import AGENTS
from stanchion.hosts.coding.doctor import Outcome, _leaving_nothing, examine
from stanchion.hosts.coding.program import ProgramFailed
from stanchion.hosts.coding.rehearsal import _last_words
from stanchion.hosts.coding.settings import (
    CLIENT,
    LEVELS,
    AgentsConfig,
    BadSettings,
    HookCaller,
    HostPlaces,
    hooks_of,
    write_config,
)
from stanchion.runtime.standing.places import PROJECTS, claim, state_name

STAND_IN = Path(__file__).with_name("stand_in_program.py")
STAND_IN_CLIENT = """\
import json, sys
heard = json.load(sys.stdin)
danger = ".ssh" in heard["tool_input"]["command"] and {strict} or {lame}
print(json.dumps({{"hookSpecificOutput": {{"permissionDecision": "deny"}}}} if danger else {{}}))
"""


@pytest.fixture
def at(tmp_path: Path) -> HostPlaces:
    for name in ("project", "home", "bin", "hosts/coding"):
        (tmp_path / name).mkdir(parents=True)
    folders = {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude"), "CODEX_HOME": str(tmp_path / "codex")}
    environ = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", **folders}
    return HostPlaces(tmp_path / "project", tmp_path / "home", environ)


def installed(
    at: HostPlaces, agent: str, *ways: str, strict: bool = True, lame: bool = False
) -> Path:
    """A program with these ways, and our hooks in the settings of its user, whose client refuses
    what is dangerous (strict), or everything (lame)."""
    top = at.home.parent
    program = top / "bin" / agent
    program.write_text(
        f'#!/bin/sh\nexec {sys.executable} {STAND_IN} {agent} "{",".join(ways)}" "$@"\n'
    )
    program.chmod(0o755)
    client = top / "hosts" / "coding" / "client.py"
    client.write_text(STAND_IN_CLIENT.format(strict=strict, lame=lame))
    made = hooks_of(agent, HookCaller(sys.executable, str(top / "state")))
    for event in made.values():
        for hook in event["hooks"]:
            hook["command"] = hook["command"].replace(str(CLIENT), str(client))
    path = LEVELS[agent]["user"].path(at)
    path.parent.mkdir()
    path.write_text(json.dumps({"hooks": {event: [one] for event, one in made.items()}}))
    return path


def failures(at: HostPlaces, agent: str) -> list[str]:
    return [f"{one.about}: {one.why}" for one in examine(agent, at) if one.outcome == "fails"]


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_program_that_minds_its_hooks_holds(at: HostPlaces, agent: str) -> None:
    installed(at, agent)
    found = [*examine(agent, at)]
    assert [one for one in found if one.outcome == "fails"] == []
    held = [one.about for one in found if one.outcome == "holds"]
    assert "a call with our end dead" in held
    assert any(about.startswith("a call that is refused") for about in held)
    assert any(about.startswith("an honest call") for about in held)
    assert any(one.outcome == "open" for one in found)


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_a_program_that_calls_no_hook_is_named(at: HostPlaces, agent: str) -> None:
    installed(at, agent, "deaf")
    found = failures(at, agent)
    assert any("does not call the hooks that it has" in one for one in found), found


def test_a_program_that_goes_on_where_a_hook_fails_is_named(at: HostPlaces) -> None:
    installed(at, "claude", "careless")
    assert failures(at, "claude") == [
        "a call with our end dead: it ran: claude goes on where a hook fails"
    ]


def test_an_old_version_is_named(at: HostPlaces) -> None:
    installed(at, "claude", "old")
    [found] = failures(at, "claude")
    assert found.startswith("version: 2.1.100 goes on where a hook fails")


def test_hooks_that_codex_does_not_trust_are_named(at: HostPlaces) -> None:
    installed(at, "codex", "untrusting")
    [found] = failures(at, "codex")
    assert found.startswith("trust in user settings: Codex passes them over")


def test_hooks_that_codex_does_not_read_are_named(at: HostPlaces) -> None:
    installed(at, "codex", "blind")
    [found] = failures(at, "codex")
    assert found.startswith("trust in user settings: Codex does not read them")


def test_a_policy_that_lets_danger_go_is_told_from_hooks_that_are_not_called(
    at: HostPlaces,
) -> None:
    installed(at, "claude", strict=False)
    [found] = failures(at, "claude")
    assert "the policy lets it go" in found


def test_hooks_that_refuse_everything_are_no_guard(at: HostPlaces) -> None:
    installed(at, "claude", lame=True)
    [found] = failures(at, "claude")
    assert found.startswith("an honest call (`touch honest.txt`): it did not run")


def test_a_program_that_makes_no_call_proves_nothing(at: HostPlaces) -> None:
    installed(at, "claude", "mute")
    found = failures(at, "claude")
    assert len(found) == 3
    assert all("not logged in" in one for one in found)


def test_settings_that_switch_hooks_off_are_named(at: HostPlaces) -> None:
    path = installed(at, "claude")
    path.write_text(json.dumps({**json.loads(path.read_text()), "disableAllHooks": True}))
    assert any("disableAllHooks" in one for one in failures(at, "claude"))


def test_settings_that_claude_skips_are_named(at: HostPlaces) -> None:
    """It reads no comments, and none of the hooks beside one."""
    path = installed(at, "claude")
    path.write_text(f"{{ // ours\n{path.read_text()[1:]}")
    found = failures(at, "claude")
    assert "Claude skips" in found[0]
    assert "line 1, column 3" in found[0]
    assert any("does not call the hooks that it has" in one for one in found), found


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model", 5),
        ("permissions", "x"),
        ("permissions", {"defaultMode": "nope"}),
        ("permissions", {"defaultMode": ["plan"]}),
        ("env", []),
    ],
)
def test_a_value_for_which_claude_skips_its_settings_is_named(
    at: HostPlaces, key: str, value: Any
) -> None:
    path = installed(at, "claude")
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, key: value}))
    assert any(
        f"`{key}` has a value that it does not take" in one for one in failures(at, "claude")
    )
    path.write_text(json.dumps({**data, "permissions": {"allow": []}, "model": "opus"}))
    assert not any("Claude skips" in one for one in failures(at, "claude"))


def test_a_hook_for_which_claude_skips_its_settings_is_named(at: HostPlaces) -> None:
    path = installed(at, "claude")
    data = json.loads(path.read_text())
    data["hooks"]["Stop"].append({"hooks": [{"type": "nope"}]})
    path.write_text(json.dumps(data))
    assert any("`hooks` has a value" in one for one in failures(at, "claude"))


def test_an_event_without_a_hook_is_named(at: HostPlaces) -> None:
    path = installed(at, "claude")
    data = json.loads(path.read_text())
    assert AGENTS["claude"].says.keys() == data["hooks"].keys()
    del data["hooks"]["PostToolUse"]
    path.write_text(json.dumps(data))
    assert any("no hook for PostToolUse" in one for one in failures(at, "claude"))


def test_without_hooks_nothing_is_tried(at: HostPlaces) -> None:
    installed(at, "claude").unlink()
    assert failures(at, "claude") == ["hooks: there are none: `stanchion install claude`"]


def test_hooks_of_others_are_not_called_by_a_trial(at: HostPlaces) -> None:
    path = installed(at, "claude")
    data = json.loads(path.read_text())
    theirs = {"type": "command", "command": f"touch {at.home}/theirs"}
    data["hooks"]["PreToolUse"].append({"hooks": [theirs]})
    path.write_text(json.dumps(data))
    assert failures(at, "claude") == []
    assert not (at.home / "theirs").exists()


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_programs_that_were_moved_are_named_and_nothing_is_tried(
    at: HostPlaces, agent: str
) -> None:
    path = installed(at, agent)
    path.write_text(path.read_text().replace(sys.executable, "/gone/python"))
    assert failures(at, agent) == [
        "programs: `/gone/python` is not there any more: "
        f"`stanchion install {agent} --user` writes where Stanchion is now"
    ]


def test_a_policy_that_cannot_be_used_is_named_and_nothing_is_tried(at: HostPlaces) -> None:
    installed(at, "claude")
    policy = at.home / "policy.yaml"
    policy.write_text("name: p\nguards: [{use: nope}]\n")
    write_config(at.home.parent / "state", AgentsConfig(policy=str(policy)))
    (found,) = failures(at, "claude")
    assert found.startswith(f"policy `{policy}`: {policy}:2:16: `nope` is not a value of `use`")
    assert f"`stanchion policy lint {policy}`, then `stanchion hook stop`" in found


def test_a_config_that_codex_cannot_read_is_no_matter_of_trust(at: HostPlaces) -> None:
    installed(at, "codex", "untrusting")
    config = at.folder_of("codex") / "config.toml"
    config.write_text("model = \n")
    with pytest.raises(BadSettings, match=r"config\.toml` cannot be read: Invalid value"):
        [*examine("codex", at)]


def test_of_trials_nothing_is_kept(at: HostPlaces) -> None:
    state = at.home.parent / "state"
    folders = [state / PROJECTS / state_name(root) for root in (at.project, at.home)]
    for folder, root in zip(folders, (at.project, at.home), strict=True):
        claim(folder, root)
    with _leaving_nothing({state}) as roots:
        roots.append(at.project)
        assert all(folder.exists() for folder in folders)
    assert [folder.exists() for folder in folders] == [False, True]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ('x\n{"type":"result","result":"blocked:\\nwhy\\n\\nOriginal prompt: go"}', "blocked: why"),
        ('{"type":"error","message":"no"}\n{"type":"end"}', "no"),
        ('{"type":"turn.failed","error":{"message":"no"}}', "no"),
        ("[1]\nnot logged in\n", "[1] not logged in"),
        ("x" * 999, "x" * 400),
    ],
)
def test_the_last_words_of_a_host_are_those_that_people_read(said: str, words: str) -> None:
    assert _last_words(said) == words


def test_every_outcome_has_its_colour() -> None:
    for outcome in get_args(Outcome):
        assert Terminal(colour=True).paint(outcome, STYLES[outcome]).endswith("\x1b[0m")


def test_what_cannot_be_tried_is_an_error_that_says_what_to_do(at: HostPlaces) -> None:
    with pytest.raises(ProgramFailed, match="not on PATH"):
        [*examine("claude", at)]
    path = installed(at, "claude")
    for text in ("{", '{"hooks": []}', '{"hooks": {"PreToolUse": [{"command": "true"}]}}'):
        path.write_text(text)
        with pytest.raises(BadSettings, match="correct that first"):
            [*examine("claude", at)]
