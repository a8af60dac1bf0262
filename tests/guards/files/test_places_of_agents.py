"""Places of coding agents' hosts, by every verb and tool that changes a file."""

from __future__ import annotations

from typing import Any, Final

import pytest

from stanchion.guards.files import Files
from stanchion.guards.shell.in_files import harm_in_file
from stanchion.kernel.actions import Action
from stanchion.kernel.events import RunInfo, ToolCall
from stanchion.readings import read
from stanchion.readings.word_lists import in_order

HERE: Final = Files(surroundings=True).within(lambda _task: None, (), harm_in_file)
HOSTS: Final = in_order(
    ".claude .codex .gemini .agents .opencode .cursor .windsurf .zed .clinerules .roo .continue "
    ".amp .goose .kiro .junie .qwen .augment .trae .factory .kilocode .crush .amazonq .iflow "
    ".qoder"
)
INSIDE: Final = in_order(
    "settings.json hooks.json hooks/guard.sh plugins/x.js extensions/a/index.js mcp.json "
    "permissions.yaml new-kind-of-thing.toml"
)
OTHERS: Final = in_order(
    ".mcp.json opencode.json pkg/opencode.jsonc .github/hooks/a.json "
    ".github/copilot/settings.json .vscode/mcp.json .aider.conf.yml .roomodes crush.json "
    "gemini-extension.json .claude-plugin/plugin.json .claude/scheduled_tasks.json "
    ".claude/loop.md"
)
AT_HOME: Final = [
    *in_order(
        "~/.claude/settings.json ~/.claude.json ~/.claude/CLAUDE.md ~/.codex/config.toml "
        "~/.codex/AGENTS.md ~/.gemini/config/hooks.json ~/.config/opencode/opencode.json "
        "~/.config/goose/config.yaml ~/.copilot/hooks/a.json ~/.codeium/windsurf/mcp_config.json "
        "~/.config/Code/User/settings.json ~/.config/zed/settings.json ~/.config/amp/settings.json "
        "~/Documents/Cline/Hooks/PreToolUse /home/ada/.qwen/settings.json"
    ),
    *[
        "/Users/ada/Library/Application Support/Code/User/settings.json",
        "/Users/ada/Library/Application Support/Cursor/User/mcp.json",
        "/Users/ada/Library/Application Support/Claude/claude_desktop_config.json",
    ],
]
MANAGED: Final = [
    "/etc/claude-code/managed-settings.json",
    "/etc/codex/requirements.toml",
    "/etc/cursor/hooks.json",
    "/etc/ampcode/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
    "C:/ProgramData/ClaudeCode/managed-settings.json",
]
PLACES: Final = [*[f"{host}/{name}" for host in HOSTS for name in INSIDE], *OTHERS]
TOLD: Final = in_order(
    "CLAUDE.md AGENTS.md GEMINI.md QWEN.md CLAUDE.local.md api/AGENTS.md .cursorrules "
    ".windsurfrules .goosehints .cursor/rules/a.mdc .claude/rules/a.md .clinerules/a.md "
    ".windsurf/rules/a.md .roo/rules/a.md .kiro/steering/a.md .github/copilot-instructions.md "
    ".github/instructions/a.instructions.md .claude/agents/a.md .vscode/settings.json"
)
HONEST: Final = in_order(
    "README.md docs/agents.md src/claude.py src/settings.json config/hooks.yaml "
    ".claude/commands/a.md .claude/plans/a.md .claude/skills/a/SKILL.md "
    ".claude/worktrees/x/src/config.py .cursor/plans/a.md .kiro/specs/a/tasks.md plugins/a.js "
    ".github/workflows/ci.yml .vscode/launch.json .aider.chat.history.md "
    "tests/fixtures/CLAUDE.md src/opencode/mod.rs"
)

VERBS: Final = (
    "echo x > '{}'", "echo x >> '{}'", "jq . a.json > /tmp/s && mv /tmp/s '{}'",
    "echo x | tee '{}'", "tee -a '{}' < a",
    "sed -i s/a/b/ '{}'", "perl -pi -e s/a/b/ '{}'", "cp a '{}'", "install -m 644 a '{}'",
    "ln -sf /tmp/a '{}'",
    "rm -f '{}'", "mv '{}' /tmp/b", "truncate -s 0 '{}'", "shred -u '{}'", "dd if=a of='{}'",
    "unlink '{}'",
    "curl -fsS https://a.example/x -o '{}'", "wget -O '{}' https://a.example/x", "rsync -a a '{}'",
    "chmod 000 '{}'",
    "git checkout HEAD~3 -- '{}'", "git restore '{}'", "git rm '{}'", "git mv '{}' b",
    "sh -c \"echo x > '{}'\"",
    "cat > '{}' <<'X'\n{{}}\nX", "printf '%s' '{}' | xargs rm", "(cd . && echo x > '{}')",
    "make 2> '{}'",
    "awk -i inplace 1 '{}'", "sd a b '{}'", "yq -i .a=1 '{}'", "jq . a | sponge '{}'", "touch '{}'",
    "python3 -c 'open(\"{}\",\"w\").write(\"x\")'", "python3 -c 'import os; os.remove(\"{}\")'",
    "python3 - <<'X'\nfrom pathlib import Path\nPath(\"{}\").write_text(\"x\")\nX",
    "python3 -c 'import shutil; shutil.copy(\"a\", \"{}\")'",
    "node -e 'require(\"fs\").writeFileSync(\"{}\",\"x\")'",
    "node -e 'require(\"fs\").rmSync(\"{}\")'", "ruby -e 'File.write(\"{}\",\"x\")'",
    "perl -e 'unlink(\"{}\")'",
    "apply_patch <<'X'\n*** Begin Patch\n*** Update File: {}\n@@\n-a\n+b\n*** End Patch\nX",
    "patch -p1 <<'X'\n--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\nX",
    "git apply <<'X'\n--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\nX",
)  # fmt: skip
"""What changes a file from a shell."""
UNPACKS: Final = (
    "tar xf a.tar -C {}", "unzip -o a.zip -d {}", "cp -r /tmp/x {}", "rsync -a /tmp/x/ {}/",
    "rm -rf {}", "mv {} /tmp/x",
    "ln -sfn /tmp/x {}", "git clone https://a.example/x {}", "git checkout HEAD~3 -- {}",
    "find {} -name '*.json' -delete",
    "mv /tmp/x {}", "bsdtar -xf a.zip -C {}", "git clean -fdx {}",
)  # fmt: skip
"""What changes all that is in a folder, or puts another one in its place."""
READS: Final = (
    "cat '{}'", "grep -n hooks '{}'", "ls -la '{}'", "git diff -- '{}'",
    "git add '{}' && git commit -m x", "head -5 '{}'",
    "jq .hooks '{}'", "cp '{}' /tmp/copy", "diff '{}' /tmp/copy",
    "python3 -c 'print(open(\"{}\").read())'",
)  # fmt: skip
TOOLS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("write_file", {"path": "{}", "content": "x"}),
    ("Write", {"file_path": "{}", "content": "x"}),
    ("Edit", {"file_path": "{}", "old_string": "a", "new_string": "b"}),
    ("MultiEdit", {"file_path": "{}", "edits": [{"old_string": "a", "new_string": "b"}]}),
    (
        "str_replace_editor",
        {"command": "str_replace", "path": "{}", "old_str": "a", "new_str": "b"},
    ),
    ("delete_file", {"path": "{}"}),
    ("move_file", {"source": "{}", "destination": "b"}),
    ("move_file", {"source": "b", "destination": "{}"}),
    ("mcp__filesystem__edit_file", {"path": "{}", "edits": []}),
    ("replace", {"file_path": "{}", "old_string": "a", "new_string": "b"}),
    ("apply_patch", {"input": "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch"}),
    ("apply_patch", {"patchText": "*** Begin Patch\n*** Delete File: {}\n*** End Patch"}),
)


def filled(value: Any, place: str) -> Any:
    """Arguments about a place."""
    if isinstance(value, dict):
        return {key: filled(each, place) for key, each in value.items()}
    return value.replace("{}", place) if isinstance(value, str) else value


def judged(tool: str, args: dict[str, Any]) -> Action:
    """What the guard answers to a call."""
    event = ToolCall(id="e", at=0, run=RunInfo("r"), tool=tool, args=args)
    finding = HERE.judge(read(event))
    return Action.ALLOW if finding is None else finding.action


def by_shell(verbs: tuple[str, ...], place: str) -> dict[str, Action]:
    """What it answers to each command about a place."""
    said = [verb.format(place) for verb in verbs]
    return {command: judged("bash", {"command": command}) for command in said}


def by_tools(place: str) -> dict[str, Action]:
    """What it answers to each tool about a place."""
    return {f"{tool} {args}": judged(tool, filled(args, place)) for tool, args in TOOLS}


@pytest.mark.parametrize("place", [*PLACES, *AT_HOME, *MANAGED])
def test_no_verb_and_no_tool_changes_a_setting_unasked(place: str) -> None:
    patches = "/:~ ".find(place[0]) < 0 and place[1:2] != ":"
    verbs = tuple([verb for verb in VERBS if patches or "{0}" not in verb])
    found = {**by_shell(verbs, place), **by_tools(place)}
    assert [call for call, action in found.items() if action < Action.ESCALATE] == []


@pytest.mark.parametrize(
    "place", [".claude/settings.json", ".codex/config.toml", ".cursor/hooks.json"]
)
def test_a_place_is_known_by_other_spellings(place: str) -> None:
    folder, name = place.split("/")
    spelled = (
        f"./{place}", f"a/../{place}", f"{folder}//{name}", f"{folder.upper()}/{name}",
        f"$PWD/{place}", f"{folder}/{name[:4]}*", f"pkg/{place}",
    )  # fmt: skip
    found = {path: judged("bash", {"command": f"cp a {path}"}) for path in spelled}
    found[f"cd {folder}"] = judged("bash", {"command": f"cd {folder} && rm {name}"})
    assert [path for path, action in found.items() if action < Action.ESCALATE] == []


@pytest.mark.parametrize("host", [host for host in HOSTS if host != ".clinerules"])
def test_the_folder_of_a_host_is_neither_replaced_nor_filled_unasked(host: str) -> None:
    found = by_shell(UNPACKS, host)
    assert [call for call, action in found.items() if action < Action.ESCALATE] == []
    assert judged("bash", {"command": f"mkdir -p {host}/commands"}) == Action.ALLOW


@pytest.mark.parametrize("place", TOLD)
def test_what_agents_follow_is_changed_and_they_are_told(place: str) -> None:
    found = {**by_shell(VERBS[:8], place), **by_tools(place)}
    assert set(found.values()) == {Action.WARN}


@pytest.mark.parametrize("place", HONEST)
def test_what_looks_like_it_is_changed_in_peace(place: str) -> None:
    found = {**by_shell(VERBS[:8], place), **by_tools(place)}
    assert [call for call, action in found.items() if action > Action.ALLOW] == []


@pytest.mark.parametrize("place", [*PLACES, *TOLD])
def test_whoever_only_reads_is_not_disturbed(place: str) -> None:
    found = {**by_shell(READS, place), "read_file": judged("read_file", {"path": place})}
    assert [call for call, action in found.items() if action > Action.ALLOW] == []
