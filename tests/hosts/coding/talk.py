"""A host that speaks: its bodies, and what it reads in the answers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from stanchion import Shield
from stanchion.audit.record import RecordEntry
from stanchion.hosts.coding import AGENTS, HostAnswer
from stanchion.hosts.coding.sessions import CodingSessions
from stanchion.hosts.coding.speaker import Process, Speaker
from stanchion.runtime.standing.presence import process_at

SECRET: Final = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


def own_process(pid: int | None = None) -> Process:
    """A process that is alive: this one, or another."""
    found = process_at(os.getpid() if pid is None else pid)
    assert found is not None
    return Process(found.pid, int(found.started))


def gone() -> Process:
    """A process that is not there any more."""
    return Process(2**22 - 7, 1)


class Answer:
    """An answer as its host reads it."""

    def __init__(self, agent: str, answer: HostAnswer) -> None:
        self.raw, self.said = answer, json.loads(answer.stdout)
        self.own: dict[str, Any] = self.said.get("hookSpecificOutput", {})
        self.agent = agent

    @property
    def refused(self) -> str:
        """The words by which something is refused; empty where it is not."""
        if self.agent == "codex" and self.raw.status == 2:
            return self.raw.stderr
        if self.own.get("permissionDecision") == "deny":
            return str(self.own["permissionDecisionReason"])
        if "decision" in self.own:
            return str(self.own["decision"]["message"])
        return str(self.said["reason"]) if self.said.get("decision") == "block" else ""

    @property
    def told(self) -> str:
        """The words for the agent."""
        return str(self.own.get("additionalContext", ""))


class Talk:
    """One session of a host with a project."""

    def __init__(
        self,
        agent: str,
        sessions: CodingSessions,
        folder: Path,
        speaker: Speaker,
        session: str = "s1",
    ) -> None:
        self.agent, self.sessions, self.folder, self.speaker = agent, sessions, folder, speaker
        self.session, self.number = session, 0

    def body(self, event: str, **more: Any) -> dict[str, Any]:
        """What a hook says."""
        common = {"hook_event_name": event, "session_id": self.session, "cwd": str(self.folder)}
        return {**common, "transcript_path": "/t.jsonl", "permission_mode": "default", **more}

    def say(self, event: str, **more: Any) -> Answer:
        """Say something, and read the answer."""
        return self.raw(json.dumps(self.body(event, **more)).encode())

    def raw(self, body: bytes) -> Answer:
        """Say bytes."""
        return Answer(self.agent, self.sessions.hear(AGENTS[self.agent], body, self.speaker))

    def call(self, command: str = "", tool: str = "Bash", **more: Any) -> Answer:
        """Be about to make a call."""
        self.number += 1
        given = more.pop("given", {"command": command})
        named = {"tool_use_id": f"t{self.number}", **more}
        return self.say("PreToolUse", tool_name=tool, tool_input=given, **named)

    def came(self, result: Any, command: str = "", tool: str = "Bash", **more: Any) -> Answer:
        """Say what came of the last call."""
        given = more.pop("given", {"command": command})
        named = {"tool_use_id": f"t{self.number}", **more}
        return self.say(
            "PostToolUse", tool_name=tool, tool_input=given, tool_response=result, **named
        )

    def prompt(self, text: str, **more: Any) -> Answer:
        """Pass a prompt on."""
        return self.say("UserPromptSubmit", prompt=text, **more)


class Desk:
    """Sessions with their shields, whose trails can be looked at."""

    def __init__(self, policy: Any = "coding-agent", **options: Any) -> None:
        self.policy, self.options = policy, options
        self.shields: list[Shield] = []
        self.sessions = CodingSessions(self.opened)

    def opened(self, root: str) -> Shield:
        """A shield for a project."""
        where = {"store": "memory:", "journal": "memory:", **self.options}
        shield = Shield.load(self.policy, project=root, folder=root, host_secret="x", **where)
        self.shields.append(shield)
        return shield

    def facts(self, what: str) -> list[str]:
        """Why something was written down."""
        return [
            one.why for shield in self.shields for one in shield.journal.facts() if one.what == what
        ]

    def records(self, stage: str) -> list[RecordEntry]:
        """What was written of a stage."""
        kept = [one.read() for shield in self.shields for one in shield.journal.kept()]
        return [one for one in kept if one.stage == stage]

    def users(self) -> list[bool]:
        """Of each prompt, whether it was the user's own words."""
        return [one.beside.get("trusted", True) is True for one in self.records("prompt")]

    def talk(self, agent: str, folder: Path, **more: Any) -> Talk:
        """A session of a host that is this process."""
        speaker = more.pop("speaker", Speaker(own_process(), why="known"))
        return Talk(agent, self.sessions, folder, speaker, **more)


@contextmanager
def desk(policy: Any = "coding-agent", **options: Any) -> Iterator[Desk]:
    """Sessions that are closed afterwards."""
    made = Desk(policy, **options)
    try:
        yield made
    finally:
        made.sessions.close()
