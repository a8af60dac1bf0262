"""What real hosts have said in honest work, recorded from Claude Code 2.1.328 and Codex 0.169.0:
names, folders and numbers are nobody's."""

import json
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.hosts.coding import AGENTS
from stanchion.hosts.coding.sessions import CodingSessions
from stanchion.hosts.coding.speaker import Process, Speaker

TRAFFIC = Path(__file__).with_name("traffic")
HOST = Process(pid=4242, started=1)


def recorded(agent: str, home: str = "/home/dev") -> list[dict[str, Any]]:
    text = (TRAFFIC / f"{agent}.jsonl").read_text().replace("/home/dev", home)
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_honest_work_that_was_recorded_is_heard_and_goes_on(
    agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANCHION_STATE_DIR", str(tmp_path / "state"))
    sessions = CodingSessions(lambda _: Shield.load("coding-agent", project=str(tmp_path / "shop")))
    (tmp_path / "shop").mkdir()
    speaker = Speaker(host=HOST)
    try:
        stopped = []
        for body in recorded(agent, str(tmp_path)):
            # The replies are a loopback model's, which says of whatever it has changed: done.
            if AGENTS[agent].says.get(body["hook_event_name"], "reply") in ("reply", "child_reply"):
                continue
            came = sessions.hear(AGENTS[agent], json.dumps(body).encode(), speaker)
            answer = json.loads(came.stdout)
            if came.status or "deny" in came.stdout or answer.get("decision") == "block":
                stopped.append((body["hook_event_name"], body.get("tool_input"), came.stdout))
        assert stopped == []
    finally:
        sessions.close()


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_every_event_that_has_a_hook_was_recorded(agent: str) -> None:
    """The events that no run for a model on loopback brings about are named here."""
    there = {body["hook_event_name"] for body in recorded(agent)}
    rare = {"claude": {"ConfigChange"}, "codex": {"PermissionRequest"}}
    assert AGENTS[agent].says.keys() - there == rare[agent]
