"""Playing the demo: one shield, one policy, one run for each hazard; then the books are checked."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from msgspec import Struct

from stanchion.approvals.operators import Operator
from stanchion.audit.verifying.verify import verify
from stanchion.kernel.actions import Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.stages import Stage
from stanchion.ops.demo.agent import ScriptedAgent
from stanchion.ops.demo.hazard import DemoTally, Hazard, HazardOutcome, HazardStep
from stanchion.ops.demo.tap import START_MS, Tap
from stanchion.ops.demo.tools import DemoTools
from stanchion.policy.load import load_policy, read_policy
from stanchion.policy.said import beyond_defaults, said_of
from stanchion.policy.schema import PolicyFile
from stanchion.runtime.shield import Shield


def forged_copy(trail: Path, copy: Path, record: int) -> Path:
    """Copy a trail and turn one bit over in the middle of a record's body, its first segment's line
    `record`."""
    shutil.copytree(trail, copy)
    segment = next(copy.glob("*/00000001.jsonl"))
    lines = segment.read_bytes().splitlines(keepends=True)
    line = bytearray(lines[record])
    line[-len(line) // 4] ^= 1
    lines[record] = bytes(line)
    segment.write_bytes(b"".join(lines))
    return copy


APART: Final = frozenset({"id", "deadline_ms"})
"""What is shown elsewhere or explains nothing."""


def excerpt(policy: PolicyFile, path: str) -> str:
    """The guard with that id, or the entry at `agents.NAME` or `tools.NAME`, written in one line;
    else empty."""
    room, _, name = path.partition(".")
    if name:
        entry = getattr(policy, room).get(name)
        return "" if entry is None else f"{room}: {{{name}: {_flow(beyond_defaults(entry))}}}"
    said = {name: value for name, value in said_of(policy, path).items() if name not in APART}
    return _flow(said) if said else ""


def _flow(value: Any) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{name}: {_flow(item)}" for name, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_flow, value)) + "]"
        case str() if re.fullmatch(r"[A-Za-z][\w.:-]*", value):
            return value
        case _:
            return json.dumps(value)


POLICY: Final = Path(__file__).with_name("policy.yaml")
STARTS: Final = (Stage.TOOL_CALL, Stage.MODEL_CALL)


class Books(Struct, frozen=True):
    """What the independent verifier says of the trail at the end, and of a copy with one record
    forged."""

    records: int
    head: str
    faults: tuple[str, ...]
    forged: int
    """The record of which one bit was turned over in the copy."""
    noticed: str
    """What the verifier says of the copy."""

    @property
    def verifies(self) -> bool:
        """Whether the trail is whole, and the forged copy is not."""
        return not self.faults and f"record {self.forged} was " in self.noticed


class Demo:
    """A shield under which hazards are played; nothing in it knows what the verdicts should be."""

    def __init__(self, policy: str | Path = POLICY) -> None:
        self._policy = policy
        self._environments = frozenset(read_policy(policy).variants)
        self._folder = TemporaryDirectory(prefix="stanchion-demo-")
        self.tap = Tap(Path(self._folder.name) / "trail")
        self.tools = DemoTools()
        clock = itertools.count(START_MS, 7)
        self._clock = lambda: next(clock)
        self.shield = self._shield(None)

    def _shield(self, env: str | None, operators: tuple[Operator, ...] = ()) -> Shield:
        shield = Shield(
            load_policy(self._policy, env),
            journal=self.tap,
            clock=self._clock,
            safe_mode=False,
            nonces=lambda: "0",
            env=env,
            operators=operators,
        )
        shield.occurrences.mute()
        return shield

    def _shield_for(self, hazard: Hazard) -> Shield:
        env = hazard.env if hazard.env in self._environments else None
        return (
            self.shield
            if env is None and not hazard.operators
            else self._shield(env, hazard.operators)
        )

    def play(self, hazards: Sequence[Hazard]) -> Iterator[HazardOutcome]:
        """Play hazards one by one, each in a run of its own."""
        for number, hazard in enumerate(hazards, 1):
            steps: list[HazardStep] = []
            shield = self._shield_for(hazard)
            with shield.run("scout", hazard.name, id=hazard.name) as run:
                proof = hazard.script(ScriptedAgent(shield, self.tap, self.tools, run, steps))
            last, head = self.tap.trail.head
            rule = (
                hazard.rule
                if hazard.rule
                else next((step.guard for step in reversed(steps) if step.guard), "")
            )
            yield HazardOutcome(
                number,
                len(hazards),
                hazard,
                tuple(steps),
                excerpt(shield.policy.file, rule),
                proof,
                self.tally(),
                last + 1,
                head,
            )

    def tally(self) -> DemoTally:
        """What has become of every action so far, by the decisions about them."""
        tally = DemoTally()
        last = {
            judged.action: judged.decision
            for judged in self.tap.decisions
            if judged.stage in STARTS
        }
        for decision in last.values():
            _count(tally, decision)
        return tally

    def books(self) -> Books:
        """End the trail and let the verifier read its files; then do the same with a forged
        copy."""
        seq, head = self.tap.trail.head
        self.tap.close()
        report = verify(self.tap.trail.folder)
        forged = seq // 2
        copy = forged_copy(self.tap.trail.folder, Path(self._folder.name) / "copy", forged)
        noticed = verify(copy)
        return Books(
            sum(chain.records for chain in report.chains),
            head,
            tuple(fault.sentence for fault in report.faults),
            forged,
            "; ".join(fault.sentence for fault in noticed.faults),
        )

    def close(self) -> None:
        """Remove the trail."""
        self.tap.close()
        self._folder.cleanup()


def _count(tally: DemoTally, decision: Decision) -> None:
    if decision.action in (Action.QUEUE, Action.ESCALATE):
        tally.waiting += 1
    elif not decision.proceeds:
        tally.refused += 1
    elif decision.patches:
        tally.changed += 1
    else:
        tally.went_ahead += 1
