"""Recorded traffic of adapters: written where a framework is installed, judged again where it is
not.

`python -m tests.hosts.traffic NAME` records an adapter's traffic in its own environment.
"""

from __future__ import annotations

import importlib
import re
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec

from stanchion.hosts import Host
from stanchion.kernel.actions import NAMES, Category
from stanchion.kernel.guard import Kind
from stanchion.kernel.stages import Stage
from stanchion.runtime.shield import Shield
from stanchion.testing import shield_for
from stanchion.testing.host_suite import Driver, Seen, Turn
from stanchion.testing.host_suite.behaviours import JUDGES, Capped
from stanchion.testing.host_suite.table import HostTable
from tests.hosts.results import HERE, ROOT

REPLAYED: Final = ("allow", "block", "modify", "redact", "error", "handoff", "parallel")
"""Behaviours whose decisions follow from what is reported alone: nothing crashes or waits, and
nobody is paid."""
GUARDS: Final[dict[str, tuple[Any, ...]]] = {"modify": (Capped(),)}
"""The guards of behaviours that no policy can ask for."""
DRAWN: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
STARTS: Final = frozenset({"tool_call", "model_call", "handoff"})


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


class RecordingTable(HostTable):
    """Plays scenes, and keeps what the host has reported in them."""

    def __init__(self, driver: Driver, way: str, folder: Path, behaviour: str) -> None:
        super().__init__(driver, way, folder)
        self.recorded: list[Traffic] = []
        self._behaviour = behaviour

    def play(
        self,
        policy: dict[str, Any],
        turns: Iterable[Turn],
        *,
        guards: Iterable[Any] = (),
        **rest: Any,
    ) -> Seen:
        """Play one scene with a guard that hears everything."""
        events: list[Any] = []
        seen = super().play(policy, turns, guards=[Hearing(events), *guards], **rest)
        assert self.shield is not None
        self.recorded.append(
            traffic_of(self._behaviour, policy, self.driver.host.can, events, self.shield)
        )
        return seen


def recorded(driver: Driver, behaviour: str, way: str, folder: Path) -> list[Traffic]:
    """Check a behaviour, and give what the host has reported in its scenes."""
    if behaviour in driver.beyond:
        return []
    table = RecordingTable(driver, way, folder, behaviour)
    JUDGES[behaviour](table)
    return table.recorded


def file_of(adapter: str) -> Path:
    """Where an adapter's traffic is kept."""
    return ROOT / HERE / adapter / "traffic.json"


def kept(adapter: str) -> list[Traffic]:
    """An adapter's traffic."""
    return msgspec.json.decode(file_of(adapter).read_bytes(), type=list[Traffic])


def record(adapter: str) -> None:
    """Play the scenes, and write down what was reported and decided."""
    driver = importlib.import_module(f"tests.hosts.{adapter}.driver").DRIVER
    found: list[Traffic] = []
    for behaviour in REPLAYED:
        with tempfile.TemporaryDirectory() as folder:
            found += recorded(driver, behaviour, driver.ways[0], Path(folder))
    text = msgspec.json.format(msgspec.json.encode(found, order="sorted"), indent=1)
    file_of(adapter).write_text(steady(text.decode()) + "\n", encoding="utf-8")


def steady(text: str) -> str:
    """The text with ids that were drawn at random numbered in their order, so that recording anew
    changes little."""
    known = {
        name: f"00000000-0000-0000-0000-{at:012}"
        for at, name in enumerate(dict.fromkeys(DRAWN.findall(text)))
    }
    return DRAWN.sub(lambda found: known[found[0]], text)


def judged_again(traffic: Traffic) -> list[tuple[str, str, str]]:
    """What is decided about recorded events now: stage, action and code of each."""
    host = Host("replay", can=traffic.can, refused=str, ended=str)
    guards = GUARDS.get(traffic.behaviour, ())
    with host.run(
        shield_for(traffic.policy, guards=guards), agent="helper", task="suite"
    ) as hosted:
        return [_again(hosted, one) for one in traffic.heard]


def _again(hosted: Any, heard: ReportedEvent) -> tuple[str, str, str]:
    told = hosted.report(
        heard.stage, key=heard.id if heard.stage in STARTS else heard.call, **heard.fields
    )
    findings = told.decision.findings
    return heard.stage, told.decision.action.name, findings[0].code if findings else ""


if __name__ == "__main__":
    record(sys.argv[1])
