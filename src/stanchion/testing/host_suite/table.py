"""Where scenes are set and played, and what was seen is written down. Traffic, the events that a
host reports, can be judged again where its framework is not installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from stanchion import typed
from stanchion.kernel.actions import NAMES, Category
from stanchion.kernel.guard import Kind
from stanchion.kernel.stages import Stage
from stanchion.runtime.shield import Shield
from stanchion.testing.host_suite.scene import Driver, Ended, FailingClock, Scene, Seen, Turn
from stanchion.testing.shields import shield_for

OWN: Final = frozenset(
    {"id", "at", "run", "call", "risk", "traits", "cleared", "duration_ms", "fault"}
)
"""What an event has beside what its host reports."""

HEARD: Final = frozenset(
    {
        Stage.PROMPT,
        Stage.MODEL_CALL,
        Stage.MODEL_REPLY,
        Stage.TOOL_CALL,
        Stage.TOOL_RESULT,
        Stage.ERROR,
        Stage.HANDOFF,
    }
)


class ReportedEvent(msgspec.Struct, frozen=True):
    """One event as it was reported, and what was decided: the action, and the code of what
    determined it."""

    stage: str
    id: str
    call: str
    fields: dict[str, Any]
    action: str = ""
    code: str = ""


class Traffic(msgspec.Struct, frozen=True):
    """The events of one scene in their order, with the policy that judged them and what the host
    could carry out."""

    behaviour: str
    policy: dict[str, Any]
    can: tuple[str, ...]
    heard: tuple[ReportedEvent, ...]


class Hearing(msgspec.Struct, frozen=True):
    """A guard that has no objection to anything, and remembers what it was shown."""

    kind: ClassVar[Kind] = Kind.PURE
    heard: list[Any]
    id: str = "hearing"
    stages: frozenset[Stage] = HEARD
    priority: int = 0
    category: Category = Category.SAFETY
    mode: str = "enforce"

    def judge(self, reading: Any, /) -> None:
        """Remember the event."""
        self.heard.append(reading.event)


def traffic_of(
    behaviour: str, policy: dict[str, Any], can: Iterable[Any], events: list[Any], shield: Shield
) -> Traffic:
    """What was heard of a scene, with the decisions that its shield has recorded."""
    kept = {one.id: one for one in (entry.read() for entry in shield.journal.kept())}
    first = {event.id: event for event in reversed(events)}  # what was changed is judged once more
    order = dict.fromkeys([event.id for event in events if event.id in kept])
    heard = {name: _heard(first[name], kept[name]) for name in order}
    return Traffic(
        behaviour, policy, tuple([NAMES[one].lower() for one in can]), tuple(heard.values())
    )


def _heard(event: Any, kept: Any) -> ReportedEvent:
    said = msgspec.to_builtins(event, enc_hook=str)
    fields = {name: value for name, value in said.items() if name not in OWN and value is not None}
    if not event.tool:
        del fields["tool"]
    code = kept.findings[0].code if kept.findings else ""
    return ReportedEvent(event.stage.value, event.id, event.call, fields, kept.action, code)


ANOTHER = "stanchion.testing.host_suite.another_process"
LONGEST_S = 120


class Table:
    """Plays scenes with one driver, one way."""

    def __init__(
        self, driver: Driver, way: str, folder: Path, behaviour: str = "", records: bool = False
    ) -> None:
        self.driver, self.way, self.folder = driver, way, folder
        self.recorded: list[Traffic] = []
        self._behaviour, self._records = behaviour, records
        self.clock = FailingClock()
        self.shield: Shield | None = None
        self._scenes = 0

    def play(
        self,
        policy: dict[str, Any],
        turns: Iterable[Turn],
        *,
        guards: Iterable[Any] = (),
        streams: bool = False,
        others: tuple[str, ...] = (),
        watch: Callable[[], None] | None = None,
    ) -> Seen:
        """Play one scene from its beginning, on a new shield."""
        self.clock = FailingClock()
        events: list[Any] = []
        hearing = [Hearing(events)] if self._records else []
        self.shield = shield_for(policy, clock=self.clock, guards=[*hearing, *guards])
        self._scenes += 1
        folder = self.folder / f"scene-{self._scenes}"
        folder.mkdir()
        scene = Scene(
            self.shield, turns, self.way, folder, streams=streams, others=others, watch=watch
        )
        seen = played(self.driver, scene)
        if self._records:
            self.recorded.append(
                traffic_of(self._behaviour, policy, self.driver.host.can, events, self.shield)
            )
        return seen

    def used(self, measure: str) -> int:
        """What the budgets of the scene have counted."""
        assert self.shield is not None
        self.clock.broken = False
        return sum([one.number for one in self.shield.store.look() if f":{measure}:" in one.key])

    def go_on(self, given: dict[str, Any]) -> Seen:
        """Play a scene on in another process, which loads the driver from where it is."""
        given = {"driver": self.driver.where, "way": self.way, "folder": str(self.folder), **given}
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([one for one in sys.path if one]),
        }
        done = subprocess.run(
            [sys.executable, "-m", ANOTHER],
            input=json.dumps(given),
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return typed.decode(done.stdout.splitlines()[-1], Seen)


def played(driver: Driver, scene: Scene) -> Seen:
    """What is seen of a scene as a driver plays it; what its host raises is part of that."""
    raised = ""
    try:
        ended = driver.play(scene)
    except Exception as error:  # noqa: BLE001 - whatever comes out of the host is judged by the suite
        ended, raised = Ended(), "".join(traceback.format_exception(error))
    pieces = tuple([str(one) for one in ended.pieces])
    return Seen(
        scene.ran,
        scene.asked,
        str(ended.answer),
        pieces,
        ended.state,
        raised,
        decided(scene.shield),
    )


def decided(shield: Shield) -> list[tuple[str, str, str]]:
    """The decisions of a shield: stage, tool or agent, action."""
    kept = [one.read() for one in shield.journal.kept()]
    return [
        (one.stage, one.tool if one.tool else str(one.beside.get("to", "")), one.action)
        for one in kept
    ]
