"""A second agent that starts without what guards the first, by every way to start a program."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import assume, given, strategies as st

from stanchion.guards.shell import Shell
from stanchion.kernel.actions import Action
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.readings import read

GUARD: Final = Shell(counted=False)
UNGUARDED: Final = (
    "claude --bare -p go", "claude -p go --dangerously-skip-permissions", "claude --safe-mode go",
    "claude --setting-sources user -p go", "claude --permission-mode bypassPermissions -p go",
    "claude --settings={\"disableAllHooks\":true} -p go", "claude --settings /tmp/s.json -p go",
    "codex exec --dangerously-bypass-approvals-and-sandbox go", "codex exec --yolo go",
    "codex exec -s danger-full-access go", "codex exec -c features.hooks=false go",
    "codex exec -c hooks.PreToolUse=[] go", "codex exec --disable codex_hooks go",
    "codex exec --ignore-user-config go", "gemini --yolo -p go", "gemini -y -p go",
    "gemini --approval-mode yolo -p go", "qwen --yolo -p go", "copilot --allow-all-tools -p go",
    "amp --dangerously-allow-all -x go", "cursor-agent --force -p go", "opencode run --pure go",
    "droid exec --skip-permissions-unsafe go", "crush run --yolo go", "aider --yes-always a.py",
    "kiro-cli chat --trust-all-tools go",
)  # fmt: skip
ORDINARY: Final = (
    "claude -p go", "claude --model opus --resume 5f1d -p go", "claude --permission-mode plan go",
    "claude mcp list", "claude --version", "claude doctor", "codex exec go", "codex review",
    "codex exec -s workspace-write -m o5 go", "codex exec -c model_reasoning_effort=high go",
    "gemini -p go", "gemini --model pro -p go", "opencode run go", "copilot -p go", "aider a.py",
    "cursor-agent -p go", "amp -x go", "codex mcp list", "codex login status",
)  # fmt: skip
AROUND: Final = (
    "{}", "timeout 60 {}", "nohup {} > log.txt 2>&1 &", "env A=1 {}", "nice -n 5 {}", "cd s && {}",
    "echo hi | {}", "(cd sub; {})", "setsid {}", "time {}", "stdbuf -o0 {}", "if true; then {}; fi",
    "sh -c '{}'", "bash -lc '{}'", "script -qc '{}' /dev/null", "eval '{}'", "echo '{}' | sh",
    "xargs -I% {} < list", "nohup setsid {} &", "watch -n 9 '{}'",
    "f() {{ {}; }}; f", "cat > a.sh <<'X'\n{}\nX\nsh a.sh", "A='{}'; $A",
    "python3 -c 'import os; os.system(\"\"\"{}\"\"\")'",
    "python3 -c 'import subprocess; subprocess.run(\"\"\"{}\"\"\", shell=True)'",
    "node -e 'require(\"child_process\").execSync(`{}`)'", "perl -e 'system(q({}))'",
)  # fmt: skip
STARTED: Final = (
    "/usr/local/bin/{}", "npx @x/{}", "npx -y {}", "bunx {}", "pnpm dlx {}", "sudo {}",
    "~/.local/bin/{}", "docker run --rm -v .:/w img {}", "docker exec box {}",
)  # fmt: skip
APART: Final = (
    "tmux new-session -d '{}'", "tmux new -ds a {}", "tmux neww -t 0: {}", "tmux -L b splitw '{}'",
    "tmux send-keys -t 0 '{}' Enter", "tmux send -t a:1 '{}' C-m", "tmux run-shell -b '{}'",
    "tmux respawn-pane -k -t 0 {}", "tmux set-buffer '{}'", "byobu new-session -d '{}'",
    "echo 'new-window {}' | tmux -C attach", "screen -dmS a {}", "screen -d -m {}",
    "screen -dmS a sh -c '{}'", "screen -S a -X stuff '{}\\n'", "screen -S a -p 0 -X stuff '{}^M'",
    "screen -X eval 'stuff \"{}\\015\"'", "dtach -n /run/a {}", "echo '{}' | dtach -p /run/a",
    "abduco -n a {}", "zellij run -- {}", "zellij -s a action write-chars '{}\\n'",
    "zellij action new-pane -- {}", "wezterm cli spawn -- {}", "wezterm cli send-text '{}\\n'",
    "kitty @ launch {}", "kitten @ send-text '{}\\r'", "echo '{}' | at now", "at now <<< '{}'",
    "echo '{}' | batch", "/usr/bin/at 17:00 <<< '{}'", "cat > j.sh <<'X'\n{}\nX\nat -f j.sh now",
    "echo '0 3 * * * {}' | crontab -", "systemd-run --user {}", "systemd-run --scope -p X=1 {}",
    "run0 {}", "launchctl submit -l a -- {}", "pm2 start '{}'", "pueue add -- {}", "tsp {}",
    "xdotool type '{}\\n'", "gnome-terminal -- {}", "flatpak-spawn --host {}",
    "emacsclient -e '(shell-command \"{}\")'",
    "osascript -e 'tell application \"Terminal\" to do script \"{}\"'",
)  # fmt: skip
"""Ways by which a program that is no child of ours starts it, or one that may be there before."""
BEFORE: Final = (
    "{}", "nohup {} &", "sudo -n {}", "cd s && {}", "A=1 {}", "true; {}", "if true; then {}\nfi",
)  # fmt: skip
WITHIN: Final = ("{}", "nohup {}", "env A=1 {}", "npx -y {}", "/opt/bin/{}", "timeout 60 {}")
NAMED: Final = (
    "tmux new -s {}", "tmux attach -t {}", "tmux kill-session -t {}", "tmux ls -F {}",
    "tmux capture-pane -p -t {}", "tmux new -ds {} -c ~/src/{} 'npm test'",
    "tmux send-keys -t {} 'npm test' Enter", "tmux send-keys -t a 'cd ~/src/{} && ls' Enter",
    "tmux send-keys -t a \"git commit -m 'ask {}'\" Enter", "tmux send-keys -t a 'rg {} src' Enter",
    "tmux send-keys -t a 'tail -f {}.log' Enter", "screen -r {}", "screen -x {}",
    "screen -S {} -X quit",
    "screen -dmS {} npm start", "screen -S {} -X stuff 'npm test\\n'", "zellij attach {}",
    "zellij run -- tail -f {}.log", "pm2 logs {}", "systemctl --user status {}",
    "echo 'git fetch # {}' | at 17:00",
)  # fmt: skip
"""What has only the name of an agent."""
AGENTS: Final = ("claude", "codex", "gemini", "opencode", "copilot", "cursor-agent", "amp", "qwen")
ELSEWHERE: Final = (
    "HOME=/tmp/x {}", "env HOME=/tmp/x {}", "export HOME=/tmp/x; {}", "XDG_CONFIG_HOME=/tmp/x {}",
)  # fmt: skip


def judged(command: str) -> Action:
    """What the guard answers to a command."""
    args = {"command": command}
    event = ToolCall(id="e", at=0, run=RunInfo("r"), tool="bash", args=args)
    finding = GUARD.judge(read(event))
    return Action.ALLOW if finding is None else finding.action


@pytest.mark.parametrize("start", UNGUARDED)
def test_no_way_starts_an_agent_without_its_guards(start: str) -> None:
    ways = [around.format(start) for around in (*AROUND, *STARTED)]
    assert [way for way in ways if judged(way) < Action.ESCALATE] == []


@pytest.mark.parametrize("start", ORDINARY)
def test_an_agent_with_its_guards_starts_like_any_program(start: str) -> None:
    ways = [around.format(start) for around in AROUND]
    assert [way for way in ways if judged(way) > Action.ALLOW] == []


@given(
    st.sampled_from(BEFORE),
    st.sampled_from(APART),
    st.sampled_from(WITHIN),
    st.sampled_from(ORDINARY),
)
def test_nothing_that_stands_apart_starts_an_agent(
    before: str, apart: str, within: str, start: str
) -> None:
    assume(start != "claude --version")
    command = before.format(apart.format(within.format(start)))
    assert judged(command) >= Action.ESCALATE, command


@given(st.sampled_from(APART), st.sampled_from(AGENTS))
def test_a_name_alone_starts_an_agent_there(apart: str, agent: str) -> None:
    command = apart.format(agent)
    assert judged(command) >= Action.ESCALATE, command


@given(st.sampled_from(NAMED), st.sampled_from(AGENTS))
def test_a_window_may_be_called_as_an_agent(named: str, agent: str) -> None:
    command = named.replace("{}", agent)
    assert judged(command) == Action.ALLOW, command


@given(
    st.sampled_from(APART),
    st.sampled_from(("rm -rf /", "rm -fr ~", "sudo rm -r /etc", "mkfs.ext4 /dev/sda")),
)
def test_what_stands_apart_deletes_nothing(apart: str, text: str) -> None:
    command = apart.format(text)
    assert judged(command) >= Action.ESCALATE, command


@given(
    st.sampled_from(APART),
    st.sampled_from(("npm start", "make report", "tail -f x.log", "pytest -q")),
)
def test_ordinary_work_may_stand_apart(apart: str, text: str) -> None:
    command = apart.format(text)
    assume("crontab" not in apart and "launchctl" not in apart)
    assert judged(command) == Action.ALLOW, command


@pytest.mark.parametrize("start", ["claude -p go", "codex exec go", "gemini -p go", "amp -x go"])
def test_none_starts_from_another_home(start: str) -> None:
    own = {
        "claude": "CLAUDE_CONFIG_DIR=/tmp/x {}",
        "codex": "CODEX_HOME=/tmp/x {}",
        "gemini": "GEMINI_CLI_HOME=/tmp/x {}",
        "amp": "AMP_SETTINGS_FILE=/tmp/x {}",
    }[start.partition(" ")[0]]
    ways = [around.format(start) for around in (*ELSEWHERE, own, f"env {own}", "env -i {}")]
    assert [way for way in ways if judged(way) < Action.ESCALATE] == []


@pytest.mark.parametrize(
    "command",
    [
        "grep -rn -- '--dangerously-skip-permissions' docs",
        "git commit -m 'say what claude --bare does'",
        "echo 'never use claude --dangerously-skip-permissions' >> README.md",
        "gh pr create --title x --body 'codex exec --yolo is asked about'",
        "HOME=/tmp/x pytest -q",
        "cat claude.md | head",
        "npm test -- --grep codex",
        "docker build -t codex .",
        "pip install aider-chat",
        "npm i -D @anthropic-ai/sdk",
        "rg claude src",
        "ls ~/.claude/projects",
        "python3 claude.py --bare",
        "./scripts/codex.sh --disable cache",
    ],
)
def test_what_only_speaks_of_agents_is_let_pass(command: str) -> None:
    assert judged(command) == Action.ALLOW
