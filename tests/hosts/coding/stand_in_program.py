"""A stand-in for the program of Claude Code or Codex: it asks its model for calls, has its hooks
judge them, carries them out, and tells the model what came of it.

It is run as `python stand_in_program.py AGENT WAYS WORDS…`. Its ways say what is wrong with it:
`deaf` calls no hook, `careless` goes on where a hook fails, `old` is an old version, `untrusting`
trusts no hook, `blind` reads no settings of hooks where it lists them, `mute` makes no call.
"""

import json
import os
import subprocess
import sys
import tomllib
import urllib.request
from pathlib import Path
from typing import Any

AGENT, WAYS, WORDS = sys.argv[1], sys.argv[2].split(","), sys.argv[3:]
FOLDER = Path(os.environ.get("CLAUDE_CONFIG_DIR" if AGENT == "claude" else "CODEX_HOME", "/none"))
FILE = FOLDER / ("settings.json" if AGENT == "claude" else "hooks.json")


def hooks(event: str) -> list[dict[str, Any]]:
    try:
        settings = json.loads(FILE.read_text())
    except (OSError, ValueError):  # a file with an error is passed over as a whole
        return []
    return [hook for group in settings["hooks"].get(event, []) for hook in group["hooks"]]


def refused(hook: dict[str, Any], said: bytes) -> bool:
    try:
        if hook["type"] == "http":
            asked = urllib.request.Request(hook["url"], said, hook["headers"])
            status, out = 0, urllib.request.urlopen(asked, timeout=10).read()
        else:
            done = subprocess.run(
                ["/bin/sh", "-c", hook["command"]], input=said, capture_output=True
            )
            status, out = done.returncode, done.stdout
        if status == 2:
            return True
        if status:
            raise OSError(status)
        return b'"deny"' in out
    except OSError:
        return hook.get("onFailure") == "block" and "careless" not in WAYS


def carried_out(command: str) -> str:
    said = {"hook_event_name": "PreToolUse", "tool_name": "Bash"}
    body = json.dumps({**said, "tool_input": {"command": command}}).encode()
    if "deaf" not in WAYS and any(refused(hook, body) for hook in hooks("PreToolUse")):
        return "PreToolUse hook refused it"
    return subprocess.run(["/bin/sh", "-c", command], capture_output=True).stdout.decode()


def ask(url: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    head = {"Content-Type": "application/json"}
    said = urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), head))
    return [json.loads(line[6:]) for line in said.read().decode().splitlines() if line[:1] == "d"]


def serve_codex() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        found: dict[str, Any] = {}
        if asked["method"] == "hooks/list":
            trust = "untrusted" if "untrusting" in WAYS else "trusted"
            hook = {"sourcePath": str(FILE), "trustStatus": trust}
            listed = [{**hook, "command": one["command"]} for one in hooks("PreToolUse")]
            found = {"data": [{"hooks": [] if "blind" in WAYS else listed}]}
        if "id" in asked:
            print(json.dumps({"id": asked["id"], "result": found}), flush=True)


def main() -> None:
    if WORDS == ["--version"]:
        return print("2.1.100" if "old" in WAYS else "2.1.328")
    if WORDS == ["app-server"]:
        return serve_codex()
    if "mute" in WAYS:
        return print("not logged in")
    if AGENT == "claude":
        url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
        offered: dict[str, Any] = {
            "tools": [{"name": "Bash"}],
            "messages": [{"role": "user", "content": "go"}],
        }
        start, part = ask(url, offered)[1:3]
        given = json.loads(part["delta"]["partial_json"])
        result = {"type": "tool_result", "content": carried_out(given["command"])}
        offered["messages"] += [
            {"role": "assistant", "content": [start["content_block"]]},
            {"role": "user", "content": [result]},
        ]
        return print(ask(url, offered)[2]["delta"]["text"])
    config = tomllib.loads((FOLDER / "config.toml").read_text())
    url = config["model_providers"]["loopback"]["base_url"] + "/responses"
    call = ask(url, {"tools": [{}], "input": []})[1]["item"]
    came = carried_out(json.loads(call["arguments"])["cmd"])
    output = {"type": "function_call_output", "output": came}
    return print(ask(url, {"tools": [{}], "input": [call, output]})[1]["item"]["content"])


main()
