"""A second agent that starts without what guards the first, by every way to start a program."""

from __future__ import annotations

from typing import Final

import pytest

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
    "tmux new-session -d '{}'", "screen -dmS a sh -c '{}'", "xargs -I% {} < list",
    "f() {{ {}; }}; f", "cat > a.sh <<'X'\n{}\nX\nsh a.sh", "A='{}'; $A",
    "python3 -c 'import os; os.system(\"\"\"{}\"\"\")'",
    "python3 -c 'import subprocess; subprocess.run(\"\"\"{}\"\"\", shell=True)'",
    "node -e 'require(\"child_process\").execSync(`{}`)'", "perl -e 'system(q({}))'",
    "echo '{}' | at now", "watch -n 9 '{}'",
)  # fmt: skip
STARTED: Final = (
    "/usr/local/bin/{}", "npx @x/{}", "npx -y {}", "bunx {}", "pnpm dlx {}", "sudo {}",
    "~/.local/bin/{}", "docker run --rm -v .:/w img {}", "docker exec box {}",
)  # fmt: skip
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
