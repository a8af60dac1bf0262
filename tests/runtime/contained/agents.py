"""A real coding agent in a contained run, with a model that has it make one call:

    unshare --net --mount --uts --ipc python -m tests.runtime.contained.agents claude|codex FOLDER

The agent's program is in the folder. What came of it is printed as JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from stanchion.hosts.coding.rehearsal import LoopbackModel

POLICY: Final = """\
name: agents
guards:
  - use: egress
    allowed_hosts: ["{place}"]
    internal_hosts: ["{place}"]
"""
SCRIPT: Final = (
    "echo made >made.txt; curl -s -o got.txt -w '%{http_code}' http://other.example/ >code.txt"
)
CALLS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "claude": ("Bash", {"command": SCRIPT}),
    "codex": ("exec_command", {"cmd": SCRIPT}),
}
WORDS: Final = {
    "claude": ["-p", "do it", "--dangerously-skip-permissions"],
    "codex": [
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "do it",
    ],
}
CODEX: Final = """\
model = "fake"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
"""


def main(agent: str, programs: Path) -> None:
    """Have the agent make its call."""
    base = Path(tempfile.mkdtemp(prefix="stanchion-agents-"))
    project, home = base / "project", base / "home"
    for folder in (project, home / ".codex"):
        folder.mkdir(parents=True)
    hosts = base / "hosts"
    hosts.write_text("127.0.0.1 localhost service.example other.example\n")
    subprocess.run(["mount", "--bind", str(hosts), "/etc/hosts"], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    try:
        with LoopbackModel(CALLS[agent]) as model:
            url = model.url.replace("127.0.0.1", "service.example")
            (home / ".codex/config.toml").write_text(CODEX.format(url=url))
            (base / "policy.yaml").write_text(POLICY.format(place=url.partition("://")[2]))
            given = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}
            given |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
            run = [sys.executable, "-m", "stanchion", "run", "--require", "--home", str(home)]
            run += ["--policy", "../policy.yaml", "--show", str(programs.parent)]
            run += [word for name in given for word in ("--pass", name)]
            done = subprocess.run(
                [*run, "--", str(programs / agent), *WORDS[agent]],
                cwd=project,
                env={**os.environ, **given, "STANCHION_STATE_DIR": str(base / "state")},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=100,
                check=False,
            )
            made = {path.name: path.read_text() for path in project.glob("*.txt")}
            told = [done.returncode, made, model.results, done.stdout[-500:] + done.stderr[-1500:]]
            print(json.dumps(told))
    finally:
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
