"""`stanchion install` and `stanchion uninstall`: what they ask, write and say."""

from __future__ import annotations

import io
import json
import os
import socket
import sys
from pathlib import Path

import pytest

from stanchion.cli.main import main
from stanchion.hosts.coding.settings import PORT, AgentsConfig, is_ours, read_config
from stanchion.hosts.json_text import read_json

CODEX = """\
#!{python}
# Stands in for Codex: says its version, lists hooks and writes down which of them are trusted.
import hashlib, json, os, sys
if sys.argv[1] == "--version":
    sys.exit(print("codex-cli 0.169.0"))
home = os.environ["CODEX_HOME"]
notes = os.path.join(home, "config.toml")
trusted = lambda: open(notes).read() if os.path.exists(notes) else ""
def listed(folder):
    for file in (os.path.join(home, "hooks.json"), os.path.join(folder, ".codex", "hooks.json")):
        if "SWITCHED_OFF" in os.environ or not os.path.exists(file):
            continue
        if file.startswith(folder) and "TRUSTED" not in os.environ:
            continue
        for event, groups in json.load(open(file))["hooks"].items():
            for at, group in enumerate(groups):
                for hook in group["hooks"]:
                    key = f"{{file}}:{{event}}:{{at}}:0"
                    mark = hashlib.sha256(json.dumps(hook).encode()).hexdigest()
                    yield dict(key=key, sourcePath=file, command=hook["command"], currentHash=mark,
                               trustStatus="trusted" if mark in trusted() else "untrusted")
for line in sys.stdin:
    said = json.loads(line)
    if "id" not in said:
        continue
    params, result = said["params"], {{}}
    if said["method"] == "hooks/list":
        result = dict(data=[dict(cwd=one, hooks=list(listed(one))) for one in params["cwds"]])
    if said["method"] == "config/batchWrite":
        with open(notes, "a") as file:
            for edit in params["edits"]:
                for key, value in edit["value"].items():
                    file.write(f"# {{key}} {{value['trusted_hash']}}\\n")
    print(json.dumps(dict(method="some/notice")), flush=True)
    print(json.dumps(dict(id=said["id"], result=result)), flush=True)
"""


class Home:
    """A user's home, with hosts on the path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin, self.state = folder / "bin", folder / "state"
        self.claude, self.codex = folder / "home/.claude", folder / "home/.codex"
        self.project = folder / "home/project"
        for path in (self.bin, self.claude, self.codex, self.project):
            path.mkdir(parents=True)
        self.has("claude", "#!/bin/sh\necho '2.1.328 (Claude Code)'\n")
        self.has("codex", CODEX.format(python=sys.executable))

    def has(self, program: str, text: str) -> None:
        (self.bin / program).write_text(text)
        (self.bin / program).chmod(0o755)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    made = Home(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(made.bin))
    monkeypatch.setenv("CODEX_HOME", str(made.codex))
    monkeypatch.setenv("STANCHION_STATE_DIR", str(made.state))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(made.project)
    return made


class Keyboard(io.StringIO):
    """A terminal at which somebody types."""

    def isatty(self) -> bool:
        return True


def hooks_in(path: Path) -> list[dict[str, object]]:
    groups = [group for each in read_json(path.read_text())["hooks"].values() for group in each]
    return [hook for group in groups for hook in group["hooks"]]


def test_one_minute(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    settings = home.claude / "settings.json"
    assert main(["install", "claude", "--yes"]) == 0
    out = capsys.readouterr().out
    assert f"{settings} (user settings of claude)" in out
    assert "  new: 12 hooks, SessionStart, UserPromptSubmit, PreToolUse" in out
    assert "+++" not in out
    assert "switch these hooks off" in out
    assert "--managed" in out
    kept = [home.state, home.state / "installed", home.state / "agents.json"]
    assert [path.stat().st_mode & 0o077 for path in kept] == [0, 0, 0]
    config = read_config(home.state)
    assert config is not None
    assert config.python == sys.executable
    ports = {hook["url"] for hook in hooks_in(settings) if hook["type"] == "http"}
    assert ports == {f"http://127.0.0.1:{config.port}/claude"}
    assert main(["install", "claude", "--yes"]) == 0
    assert "nothing to change" in capsys.readouterr().out
    assert main(["uninstall", "claude", "--yes"]) == 0
    assert not settings.exists()
    assert main(["uninstall", "claude", "--yes"]) == 0
    assert "nothing to change" in capsys.readouterr().out


@pytest.mark.parametrize("answer", ["y", "n", ""])
def test_a_person_is_asked(
    answer: str, home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed, screen = Keyboard(f"{answer}\n"), Keyboard()
    monkeypatch.setattr(sys, "stdin", typed)
    monkeypatch.setattr(sys, "stderr", screen)
    assert main(["install", "claude", "--project"]) == (0 if answer == "y" else 1)
    assert "[y/N]" in screen.getvalue()
    assert (home.project / ".claude/settings.json").exists() == (answer == "y")
    assert (home.state / "agents.json").exists() == (answer == "y")


def test_where_nobody_can_be_asked_nothing_is_written(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert main(["install", "claude"]) == 2
    assert "`--yes`" in capsys.readouterr().err
    assert main(["install", "claude", "--diff", "--dry-run"]) == 0
    assert "+++" in capsys.readouterr().out
    assert main(["install", "codex", "--managed", "--dry-run"]) == 0
    assert sorted(os.listdir(home.folder / "home/.claude")) == []
    assert not home.state.exists()


def test_an_old_host_is_refused(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    home.has("claude", "#!/bin/sh\necho '2.1.197 (Claude Code)'\n")
    assert main(["install", "claude", "--yes"]) == 2
    assert "claude 2.1.197 goes on where a hook fails" in capsys.readouterr().err
    assert not (home.claude / "settings.json").exists()
    assert main(["install", "claude", "--yes", "--anyway"]) == 0
    (home.bin / "claude").unlink()
    assert main(["install", "claude", "--yes"]) == 0
    assert "not on PATH" in capsys.readouterr().err


def test_the_port_is_one_that_is_free_and_stays(home: Home) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", PORT))
            taken.listen()
        except OSError:
            pass  # somebody else has it, which is the same
        assert main(["install", "claude", "--yes"]) == 0
        config = read_config(home.state)
        assert config is not None
        assert config.port > PORT
    assert main(["install", "claude", "--yes", "--policy", "default"]) == 0
    assert read_config(home.state) == AgentsConfig(config.port, "default", sys.executable)
    assert main(["install", "claude", "--yes"]) == 0
    assert read_config(home.state) == AgentsConfig(config.port, "default", sys.executable)


@pytest.mark.parametrize("text", ["{", '{"port": "x"}', '{"port": 1, "policy": 3}'])
def test_a_configuration_that_cannot_be_read_is_named(
    text: str, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    home.state.mkdir()
    (home.state / "agents.json").write_text(text)
    assert main(["install", "claude", "--yes"]) == 2
    assert "agents.json" in capsys.readouterr().err


def test_a_policy_that_does_not_load_is_refused(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", "claude", "--yes", "--policy", "nothing.yaml"]) == 2
    assert "nothing.yaml" in capsys.readouterr().err
    assert not (home.claude / "settings.json").exists()


def test_every_hook_can_be_a_command(home: Home) -> None:
    assert main(["install", "claude", "--yes", "--command-hooks"]) == 0
    found = hooks_in(home.claude / "settings.json")
    assert {hook["type"] for hook in found} == {"command"}
    assert all(map(is_ours, found))
    assert all(f"state={home.state}" in str(hook["command"]) for hook in found)


def test_settings_for_everybody_need_root(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert main(["install", "claude", "--managed", "--yes"]) == 2
    assert "`sudo`" in capsys.readouterr().err


def test_programs_that_others_can_change_are_not_for_everybody(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loose = home.folder / "loose"
    loose.mkdir()
    (loose / "python").symlink_to(sys.executable)
    loose.chmod(0o777)
    monkeypatch.setattr(sys, "executable", str(loose / "python"))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert main(["install", "claude", "--managed", "--yes"]) == 2
    assert "can be changed by others than root" in capsys.readouterr().err


def test_what_switches_them_off_is_said(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    local = home.project / ".claude/settings.local.json"
    local.parent.mkdir()
    local.write_text('{"disableAllHooks": true}')
    assert main(["install", "claude", "--project", "--yes"]) == 1
    assert f"`{local}` has `disableAllHooks`: no hooks are called" in capsys.readouterr().out


def test_codex_trusts_what_its_user_agreed_to(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = home.codex / "config.toml"
    notes.write_text('model = "x"\n')
    assert main(["install", "codex", "--yes"]) == 0
    assert "Codex trusts them" in capsys.readouterr().out
    trusted = notes.read_text()
    assert trusted.count("hooks.json:") == len(hooks_in(home.codex / "hooks.json"))
    assert main(["install", "codex", "--yes"]) == 0
    assert notes.read_text() == trusted
    assert main(["uninstall", "codex", "--yes"]) == 0
    assert notes.read_text() == 'model = "x"\n'
    assert not (home.codex / "hooks.json").exists()


def test_what_others_have_written_there_since_stays(home: Home) -> None:
    notes = home.codex / "config.toml"
    assert main(["install", "codex", "--yes"]) == 0
    notes.write_text(notes.read_text() + 'model = "y"\n')
    assert main(["uninstall", "codex", "--yes"]) == 0
    assert notes.read_text().endswith('model = "y"\n')
    assert not list((home.state / "installed").iterdir())


def test_codex_that_cannot_be_asked_is_no_silence(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in (
        "#!/bin/sh\nexit 1\n",
        "#!/bin/sh\necho rubbish; cat\n",
        "#!/bin/sh\necho {}; cat\n",
    ):
        home.has("codex", text)
        assert main(["install", "codex", "--yes"]) == 1
        assert "`/hooks`" in capsys.readouterr().out
    (home.bin / "codex").unlink()
    assert main(["install", "codex", "--yes"]) == 1
    assert "`codex` is not on PATH" in capsys.readouterr().out
    assert main(["uninstall", "codex", "--yes"]) == 0


def test_codex_does_not_read_a_folder_that_it_does_not_trust(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["install", "codex", "--project", "--yes"]) == 1
    assert "does not trust this folder" in capsys.readouterr().out
    monkeypatch.setenv("TRUSTED", "1")
    assert main(["install", "codex", "--project", "--yes"]) == 0
    assert "Codex trusts them" in capsys.readouterr().out


def test_codex_that_calls_no_hooks_is_no_success(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SWITCHED_OFF", "1")
    assert main(["install", "codex", "--yes"]) == 1
    out = capsys.readouterr().out
    assert "`hooks = false`" in out
    assert "folder" not in out


def test_its_servers_go_behind_the_proxy_and_come_back(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    servers = home.project / ".mcp.json"
    assert main(["install", "claude", "--project", "--mcp", "--yes"]) == 2
    assert "there is no" in capsys.readouterr().err
    before = '{"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"]}} /* mine */}'
    servers.write_text(before)
    assert main(["install", "claude", "--project", "--mcp", "--yes"]) == 0
    assert json.loads(servers.read_text().replace("/* mine */", ""))["mcpServers"]["a"]["args"][
        :3
    ] == [
        "-m",
        "stanchion",
        "mcp",
    ]
    assert main(["uninstall", "claude", "--project", "--yes"]) == 0
    assert servers.read_text() == before
    assert not (home.project / ".claude").exists()


def test_servers_of_codex_go_behind_the_proxy_in_the_file_of_its_trust(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    notes, before = home.codex / "config.toml", '[mcp_servers.a_b]\ncommand = "x"  # mine\n'
    assert main(["install", "codex", "--mcp", "--yes"]) == 2
    assert f"there is no `{notes}`" in capsys.readouterr().err
    notes.write_text(before + '[mcp_servers.b]\nurl = "https://x/sse"\n')
    assert main(["install", "codex", "--mcp", "--dry-run"]) == 0
    assert "b: left as it is, and nothing guards it: it speaks SSE" in capsys.readouterr().out
    notes.write_text(before)
    assert main(["install", "codex", "--mcp", "--yes"]) == 0
    assert "  new: 1 guarded server, a_b" in capsys.readouterr().out
    assert '"--name", "a_b", "--", "x"]' in notes.read_text()
    assert "hooks.json:" in notes.read_text()
    assert main(["install", "codex", "--mcp", "--yes"]) == 0
    notes.write_text('model = "y"\n' + notes.read_text())
    assert main(["uninstall", "codex", "--yes"]) == 0
    left = notes.read_text()
    assert left.startswith(f'model = "y"\n{before}')
    notes.write_text(before)
    assert main(["install", "codex", "--mcp", "--yes"]) == 0
    assert main(["uninstall", "codex", "--yes"]) == 0
    assert notes.read_text() == before
    assert main(["install", "codex", "--managed", "--mcp", "--dry-run"]) == 2


def test_what_others_have_is_not_shown_unless_asked_for(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    (home.claude / "settings.json").write_text('{\n  "model": "opus"\n}\n')
    for words in ([], ["--diff"]):
        assert main(["install", "claude", "--dry-run", *words]) == 0
        out = capsys.readouterr().out
        assert "can switch these hooks off" in out
        assert ('+  "hooks": {' in out, len(out.splitlines()) > 8) == (bool(words), bool(words))


def test_settings_that_are_no_json_are_left(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    (home.claude / "settings.json").write_text("model: opus\n")
    assert main(["install", "claude", "--yes"]) == 2
    assert "is left as it is: it is not JSON" in capsys.readouterr().err
    assert (home.claude / "settings.json").read_text() == "model: opus\n"
    assert not home.state.exists()


def test_settings_that_cannot_be_read_are_named(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    (home.claude / "settings.json").mkdir()
    assert main(["install", "claude", "--yes"]) == 2
    said = capsys.readouterr().err
    assert f"`{home.claude / 'settings.json'}` cannot be read: Is a directory" in said
