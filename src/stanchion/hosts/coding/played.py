"""Recorded sessions, played to a policy as if their hooks spoke now. Nothing is executed, and
nothing of this machine as it is now is asked: what a transcript cannot know stays unknown."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct, structs

from stanchion.audit.journal import Journal, MemoryJournal, Start
from stanchion.hosts import Host, Hosted
from stanchion.hosts.coding import AGENTS
from stanchion.hosts.coding.agent import BadHook, Heard
from stanchion.hosts.coding.transcripts import (
    RecordedSession,
    TranscriptEvent,
    TranscriptLines,
)
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.stages import Stage
from stanchion.policy.compiled import CompiledPolicy
from stanchion.runtime.shield import Shield
from stanchion.runtime.standing.places import project_of
from stanchion.stores.memory import MemoryStore

RESULTS: Final = frozenset({Stage.TOOL_RESULT, Stage.ERROR})
MOST_CHILDREN: Final = 1_000
"""How many sub-agents of a session are runs of their own; further ones are the session's."""


def _as_written(asked: Any) -> dict[str, Any]:
    """Paths as they are written: where links led then is not known."""
    start = asked.roots[0] if asked.roots else "/"
    return {
        "roots": list(asked.roots),
        "paths": [
            os.path.normpath(
                os.path.join(start, os.path.expanduser(base), os.path.expanduser(path))
            )
            for path, base in asked.paths
        ],
        "absent": [False] * len(asked.paths),
    }


def _unknown(_asked: Any) -> Any:
    raise LookupError("a transcript does not tell it")


def _not_asked(_asked: Any) -> dict[str, Any]:
    return {"not_asked": True}


def _no_states(asked: Any) -> dict[str, Any]:
    return {"repositories": [None] * len(asked.questions)}


def _no_branches(asked: Any) -> dict[str, Any]:
    return {"branches": [None] * len(asked.folders)}


ANSWERS: Final[Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    "stanchion.runtime.answers.real_paths:real_paths": ("", _as_written),
    "stanchion.runtime.answers.resolver:addresses": ("", _not_asked),
    "stanchion.runtime.answers.repository:states": ("what git had in it then", _no_states),
    "stanchion.runtime.answers.repository:checked_out": (
        "which branch was checked out then",
        _no_branches,
    ),
}
"""What is answered where a guard asks the world, by the code that would ask it, and what is not
known of a decision that rests on this answer. Any other question has no answer."""


def _answerer(calls: Mapping[str, str], _policy: str, guard: str) -> Callable[..., Any] | None:
    return ANSWERS.get(calls.get(guard, ""), ("", _unknown))[1]


class PlayedEvent(Struct, frozen=True):
    """An event of a recorded session, what was decided about it, and what that rests on that nobody
    knows any more. `skipped` says of a call that it is not judged: it comes behind the end of its
    run, or it is refused whatever the policy says, because what is typed into the program that it
    starts is told to nobody. `journal` has its record."""

    session: RecordedSession
    told: TranscriptEvent
    heard: Heard | None = None
    decision: Decision | None = None
    unknown: str = ""
    skipped: Literal["", "after_end", "unheard"] = ""
    journal: LastRecord | None = None


class LastRecord(MemoryJournal):
    """A journal that has the newest record at hand, and how its run began."""

    def __init__(self) -> None:
        super().__init__(capacity=1)
        self.start: Start | None = None

    def begin(self, start: Start) -> None:
        """Take a run's beginning."""
        self.start = start
        super().begin(start)


class PlayedSession:
    """One session under a policy: a run on a store of its own, whose clock is the transcript's."""

    def __init__(
        self,
        session: RecordedSession,
        policy: CompiledPolicy,
        journal: Journal | None = None,
        mark: str = "",
        source: str | None = None,
    ) -> None:
        self._session, self._policy, self._source = session, policy, source
        self._name = f"{mark}{session.agent}-{session.id}"
        self._agent = AGENTS[session.agent]
        self._last = LastRecord()
        self._journal = self._last if journal is None else journal
        self._now_ms = 0
        self._runs: dict[str, Hosted] = {}
        self._refused: set[str] = set()

    def play(
        self, events: Iterable[TranscriptEvent], met: TranscriptLines
    ) -> Iterator[PlayedEvent]:
        """Judge what is told, in order. The agent goes on as it did: what came of a call that would
        have been stopped is not judged. After a halt nothing is."""
        try:
            for told in events:
                try:
                    heard = None if told.body is None else self._agent.heard(told.body)
                except BadHook:
                    met.unreadable += 1
                    heard = None
                if heard is None:
                    yield PlayedEvent(self._session, told)
                else:
                    self._now_ms = max(self._now_ms, told.at_ms)
                    yield self._judged(told, heard)
        finally:
            if self._runs:
                self._runs[""].run.desk.shield.close()

    def _judged(self, told: TranscriptEvent, heard: Heard) -> PlayedEvent:
        run = self._run(heard)
        plain = PlayedEvent(self._session, told, heard)
        if run.run.desk.ended or self._runs[""].run.desk.ended:
            late = heard.stage is Stage.TOOL_CALL
            return structs.replace(plain, skipped="after_end") if late else plain
        if heard.says == "call" and self._agent.fed(heard):
            self._refused.add(heard.key)
            return structs.replace(plain, skipped="unheard")
        if heard.stage is None or (heard.stage in RESULTS and heard.key in self._refused):
            return plain
        fields = dict(heard.fields)
        if heard.stage is Stage.PROMPT:
            fields["trusted"] = heard.typed and not heard.child
        decision = run.report(heard.stage, key=heard.key, **fields).decision
        if heard.stage is Stage.TOOL_CALL and not decision.proceeds:
            self._refused.add(heard.key)
        unknown = unknown_in(decision, run.run.desk.shield.policy.calls)
        return PlayedEvent(self._session, told, heard, decision, unknown, journal=self._last)

    def _run(self, heard: Heard) -> Hosted:
        """The run of the session, which begins with its first event, because that says where it
        works; or that of the sub-agent that speaks."""
        if not self._runs:
            self._runs[""] = self._begun(heard)
        if heard.child not in self._runs and len(self._runs) <= MOST_CHILDREN:
            self._runs[heard.child] = self._runs[""].child(heard.kind or "subagent")
        return self._runs.get(heard.child, self._runs[""])

    def _begun(self, heard: Heard) -> Hosted:
        shield = Shield(
            self._policy,
            folder=project_of(Path(heard.cwd), Path.home()),
            store=MemoryStore(lambda: self._now_ms),
            journal=self._journal,
            clock=lambda: self._now_ms,
            awake_ns=lambda: self._now_ms * 1_000_000,
            safe_mode=False,
            metrics=False,
            source=self._source,
        )
        shield.occurrences.mute()
        shield.answerer = partial(_answerer, shield.policy.calls)
        host = Host(self._agent.name, can=["warn", "redact", "escalate"], refused=str, ended=str)
        return host.run(shield, self._agent.name, id=self._name)


def unknown_in(decision: Decision, calls: Mapping[str, str]) -> str:
    """What a refusal rests on that is not known; empty where it stands without that, or where there
    is none. `calls` is what guards of the policy ask."""
    rests = [
        ANSWERS.get(calls.get(one.guard, ""), (f"what `{one.guard}` would have answered",))[0]
        if one.guard in calls or one.code.startswith("kernel.lookup")
        else ""
        for one in decision.findings
        if one.action >= Action.ESCALATE and not one.shadow
    ]
    return rests[0] if rests and all(rests) else ""
