"""Hooks in settings of hosts: put there beside what others have, and taken out as if they had never
been there."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion.hosts.coding.settings import (
    CLIENT,
    LEVELS,
    BadSettings,
    HookCaller,
    HostPlaces,
    hooks_form,
    hooks_of,
    is_ours,
    kept_from,
    with_hooks,
)
from stanchion.hosts.foreign_file import FileChanged, TextForm, plan_change
from stanchion.hosts.json_text import read_json
from tests.golden.cli.play import same

FOLDER = Path(__file__).parent / "settings"
BEFORE = sorted(FOLDER.glob("*.before.*"))
CALLER = HookCaller("/opt/stanchion/bin/python", "/home/me/.local/state/stanchion", 7523)


def form_of(path: Path, name: str = "", caller: HookCaller = CALLER) -> TextForm:
    """What install puts into a file, by the name of its case."""
    name = name if name else path.name
    agent = "codex" if "codex" in name else "claude"
    return hooks_form(path, hooks_of(agent, caller), "managed" in name)


def install(path: Path, state: Path, name: str = "", caller: HookCaller = CALLER) -> bool:
    """Install into a file; whether that changed it."""
    change = plan_change(path, form_of(path, name, caller), state, puts=True)
    change.carry_out(state, 0o600)
    return change.changes


def uninstall(path: Path, state: Path, name: str = "") -> bool:
    """The way back."""
    change = plan_change(path, form_of(path, name), state, puts=False)
    change.carry_out(state, 0o600)
    return change.changes


def data_of(path: Path) -> dict[str, Any]:
    text = path.read_text()
    return tomllib.loads(text) if path.suffix == ".toml" else read_json(text)


def hooks_in(data: Any) -> Iterator[dict[str, Any]]:
    for groups in data.get("hooks", {}).values():
        for group in groups if isinstance(groups, list) else []:
            yield from group["hooks"]


@pytest.mark.parametrize("before", BEFORE, ids=lambda path: path.name.partition(".")[0])
def test_what_others_have_stays_and_ours_goes_again(
    before: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # How long the path is decides what fits into a line.
    monkeypatch.setattr(
        "stanchion.hosts.coding.settings.CLIENT", Path("/opt/hosts/coding/client.py")
    )
    monkeypatch.setattr("stanchion.hosts.coding.settings.FOLDER", "/opt/hosts/coding")
    path, state = tmp_path / f"settings{before.suffix}", tmp_path / "state"
    path.write_bytes(before.read_bytes())
    path.chmod(0o640)
    assert install(path, state, before.name)
    golden = before.with_name(before.name.replace(".before.", ".after."))
    same(golden, path.read_text())
    assert path.stat().st_mode & 0o777 == 0o640
    assert not install(path, state, before.name)
    assert uninstall(path, state, before.name)
    if "older" in before.name:
        assert [hook["command"] for hook in hooks_in(data_of(path))] == ["theirs"]
    else:
        assert path.read_bytes() == before.read_bytes()
    assert not list((state / "installed").iterdir())
    assert not uninstall(path, state, before.name)


@pytest.mark.parametrize("before", BEFORE, ids=lambda path: path.name.partition(".")[0])
def test_what_others_write_meanwhile_stays(before: Path, tmp_path: Path) -> None:
    path, state = tmp_path / f"settings{before.suffix}", tmp_path / "state"
    path.write_bytes(before.read_bytes())
    install(path, state, before.name)
    if path.suffix == ".toml":
        path.write_text(path.read_text() + '\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\nx = "later"\n')
    else:
        end = path.read_text().rstrip().removesuffix("}").rstrip().removesuffix(",")
        path.write_text(end + ', "later": {"hooks": 1} }\n')
    assert not install(path, state, before.name)
    assert uninstall(path, state, before.name)
    left = data_of(path)
    assert not any(map(is_ours, hooks_in(left)))
    assert left.pop("later", None) == (None if path.suffix == ".toml" else {"hooks": 1})
    if path.suffix == ".toml":
        assert left["hooks"]["Stop"].pop() == {"hooks": [{"x": "later"}]}
        assert left == data_of(before)
    else:
        assert left == with_hooks(data_of(before), {})


def test_a_file_that_was_not_there_is_not_there_again(tmp_path: Path) -> None:
    path, state = tmp_path / "new" / "settings.json", tmp_path / "state"
    assert install(path, state)
    assert path.stat().st_mode & 0o777 == 0o600
    assert uninstall(path, state)
    assert not path.parent.exists()
    install(path, state)
    path.write_text(path.read_text().replace('{\n  "hooks"', '{\n  "mine": 1,\n  "hooks"'))
    assert uninstall(path, state)
    assert json.loads(path.read_text()) == {"mine": 1}


@pytest.mark.parametrize(
    "raw", [b"{}\r\n", '\ufeff{\r\n\t"a": 1\r\n}'.encode(), b'{"a": "\xc3\xa9"}']
)
def test_line_ends_and_marks_stay(raw: bytes, tmp_path: Path) -> None:
    path, state = tmp_path / "settings.json", tmp_path / "state"
    path.write_bytes(raw)
    install(path, state)
    made = path.read_bytes()
    assert made.startswith(b"\xef\xbb\xbf") == raw.startswith(b"\xef\xbb\xbf")
    assert made.count(b"\r\n") == (made.count(b"\n") if b"\r" in raw else 0)
    uninstall(path, state)
    assert path.read_bytes() == raw


def test_what_it_was_is_known_after_many_changes(tmp_path: Path) -> None:
    """Another port, an edit of somebody else, another Python: the way back leads to what the file
    would be without any of ours."""
    path, state = tmp_path / "settings.json", tmp_path / "state"
    path.write_text('{ "a": 1 }')
    install(path, state)
    assert install(path, state, caller=HookCaller("/other/python", "/state", None))
    assert sum(map(is_ours, hooks_in(data_of(path)))) == len(hooks_of("claude", CALLER))
    path.write_text(path.read_text().replace('"a": 1', '"a": 2'))
    install(path, state)
    uninstall(path, state)
    assert path.read_text().split() == ["{", '"a":', "2", "}"]


def test_without_a_record_only_ours_goes(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"allowManagedHooksOnly": false}')
    install(path, tmp_path / "one", "managed-claude")
    assert data_of(path)["allowManagedHooksOnly"] is True
    uninstall(path, tmp_path / "two", "managed-claude")
    assert data_of(path) == {}
    path.write_text('{"allowManagedHooksOnly": true}')
    uninstall(path, tmp_path / "two", "managed-claude")
    assert data_of(path) == {"allowManagedHooksOnly": True}


def test_a_crash_between_record_and_file_loses_nothing(tmp_path: Path) -> None:
    path, state = tmp_path / "settings.json", tmp_path / "state"
    path.write_text('{"a": 1}')
    change = plan_change(path, form_of(path), state, puts=True)
    path.write_text('{"a": 2}')
    with pytest.raises(FileChanged):
        change.carry_out(state, 0o600)
    assert path.read_text() == '{"a": 2}'
    install(path, state)
    uninstall(path, state)
    assert path.read_text() == '{"a": 2}'


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("settings.json", "model = 1", "not JSON"),
        ("settings.json", "[]", "not a JSON object"),
        ("settings.json", '{ // mine\n "a": 1}', "not plain JSON.*line 1 column 3"),
        ("settings.json", '{"a": 1, /* b */ "b": 2}', "not plain JSON"),
        ("hooks.json", '{"hooks": {},}', "not plain JSON"),
        ("settings.json", '{"hooks": []}', "`hooks` is not an object"),
        (
            "settings.json",
            '{"hooks": {"PreToolUse": {"hooks": []}}}',
            "`PreToolUse` are not a list",
        ),
        ("requirements.toml", "a = ", "not TOML"),
        (
            "requirements.toml",
            "allow_managed_hooks_only = false",
            "allow_managed_hooks_only = true",
        ),
        ("requirements.toml", "[features]\nhooks = false", "`hooks = true`"),
        ("requirements.toml", "[features]\nx = 1", "`hooks = true`"),
        ("requirements.toml", "[hooks]\nx = 1", "managed_dir"),
        ("requirements.toml", "hooks = 1", "managed_dir"),
    ],
)
def test_what_is_not_understood_is_left(name: str, text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    case = "managed-codex" if path.suffix == ".toml" else "claude"
    with pytest.raises(BadSettings, match=why):
        install(path, tmp_path / "state", case)
    assert path.read_text() == text


def test_bytes_that_are_no_text_are_left(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(BadSettings, match="UTF-8"):
        install(path, tmp_path / "state")


OTHERS = st.sampled_from(
    [
        {"type": "command", "command": "stanchionhook claude"},
        {"type": "http", "url": "http://127.0.0.1:7523/other", "headers": {"Stanchion-Hook": "1"}},
        {"type": "http", "url": "http://127.0.0.1:7523/claude", "headers": {}},
        {"type": "prompt", "prompt": "stanchion hook claude"},
        {"command": 3},
        "text",
    ]
)


@given(
    st.dictionaries(
        st.sampled_from(["PreToolUse", "Stop", "X"]),
        st.lists(
            st.builds(
                lambda matcher, hooks: {"matcher": matcher, "hooks": hooks},
                st.sampled_from(["", "Bash"]),
                st.lists(OTHERS, max_size=3),
            ),
            max_size=3,
        ),
    )
)
def test_no_hook_of_others_is_taken_for_ours(hooks: dict[str, Any]) -> None:
    data = {"hooks": hooks, "x": 1}
    made = with_hooks(data, hooks_of("claude", CALLER))
    for event, groups in hooks.items():
        assert made["hooks"][event][: len(groups)] == groups
    assert with_hooks(made, hooks_of("claude", CALLER)) == made
    back = with_hooks(made, {})
    assert {name: one for name, one in back.get("hooks", {}).items() if one} == {
        name: one for name, one in hooks.items() if one
    }


def test_managed_hooks_name_nothing_of_one_user() -> None:
    text = json.dumps(hooks_of("claude", HookCaller("/opt/bin/python", "~", None)))
    assert "http" not in text
    assert str(Path.home()) not in text.replace(str(CLIENT), "")


def test_settings_for_everybody_are_read_by_everybody(tmp_path: Path) -> None:
    path, umask = tmp_path / "new" / "managed-settings.json", os.umask(0o077)
    try:
        plan_change(path, form_of(path, "managed-claude"), tmp_path, puts=True).carry_out(
            tmp_path, 0o644
        )
    finally:
        os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o644
    assert path.parent.stat().st_mode & 0o777 == 0o755


def test_what_keeps_hooks_from_being_called_is_named(tmp_path: Path) -> None:
    at = HostPlaces(tmp_path / "p", tmp_path, {}, "linux")
    user, project = (LEVELS["claude"][name].path(at) for name in ("user", "project"))
    local = project.with_name("settings.local.json")
    for path in (user, project):
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    assert list(kept_from("user", at)) == []
    local.write_text('{"disableAllHooks": true}')
    user.write_text('{"allowedHttpHookUrls": ["https://example.com/*"], "disableAllHooks": false}')
    project.write_text('{"disableAllHooks": true} // nonsense')
    lines = {level: "".join(kept_from(level, at)) for level in ("user", "project")}
    assert [str(path) in lines["user"] for path in (user, local, project)] == [True, True, False]
    assert f"`{project}` is skipped by Claude" in lines["project"]
