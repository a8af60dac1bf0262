"""Every hazard of the demo, in the order in which it is played, as `hazards.yaml` tells it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml
from msgspec import Struct

from stanchion.ops.demo.agent import ScriptedAgent
from stanchion.ops.demo.hazard import Hazard, Proof
from stanchion.ops.demo.operator import ANN, CAN_SIGN
from stanchion.ops.demo.scripts import SCRIPTS
from stanchion.typed import convert

SIGNED: Final = "approval"
"""The hazard in which an operator answers, where the demo can sign."""


class HazardRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A hazard as the file tells it. `ran` is how often the last of its `calls` really ran."""

    name: str
    title: str
    story: str
    expects: tuple[str, ...]
    rule: str = ""
    env: str = ""
    calls: tuple[dict[str, dict[str, Any]], ...] = ()
    ran: int = 0

    def play(self, agent: ScriptedAgent) -> Proof:
        """Make the calls, one by one."""
        name = ""
        for call in self.calls:
            for name, args in call.items():
                agent.tries(getattr(agent.tools, name), **args)
        return Proof(agent.ran(name), len(agent.reached(name)) == self.ran)


def _hazard(row: HazardRow) -> Hazard:
    signed = row.name == SIGNED
    expects = [verdict for said in row.expects for verdict in _each(said)]
    return Hazard(
        row.name,
        row.title,
        row.story,
        tuple(expects[:1] if signed and not CAN_SIGN else expects),
        SCRIPTS.get(row.name, row.play),
        row.rule,
        row.env,
        (ANN,) if signed else (),
    )


def _each(said: str) -> list[str]:
    """The verdicts that an entry stands for: `5 x ALLOW` for five."""
    times, several, verdict = said.partition(" x ")
    return [verdict] * int(times) if several else [said]


FILE: Final = Path(__file__).with_suffix(".yaml")
HAZARDS: Final = tuple(
    [_hazard(convert(row, HazardRow)) for row in yaml.safe_load(FILE.read_text("utf-8"))]
)
