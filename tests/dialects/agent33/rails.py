"""What tests of the dialect share: guardrails with a clock that stands still, and tools that note
what they did."""

from __future__ import annotations

import re
from typing import Any

import yaml

from stanchion.dialects.agent33 import Guardrails
from stanchion.dialects.agent33.guardrails import policy_for
from stanchion.testing import FakeClock, shield_for
from tests.dialects.listed import text

HOLDS, FAILS = "event.stage != 'prompt'", "event.stage == 'prompt'"
"""A check that everything meets, and one that nothing does."""
ALTERNATIVE = re.compile(r"(\[\w+\] \| \"\*\")")
WHY = "the nightly job fills the disk and has to end"


def block(line: int) -> Any:
    """A block of the specification, as data; an alternative such as `[agent_id] | "*"` is a
    text."""
    return yaml.safe_load(ALTERNATIVE.sub(r"'\1'", text("agent33", line)))


def only(line: int) -> Any:
    """What stands below the one key of a block."""
    (said,) = block(line).values()
    return said


def rails(
    source: Any = None,
    clock: FakeClock | None = None,
    guards: Any = (),
    known: Any = (),
    **settings: Any,
) -> Guardrails:
    """Guardrails with everything in memory; without a source the four that are built in."""
    source = block(431) if source is None else source
    said = policy_for(source, **settings)
    return Guardrails(
        shield_for(
            said, clock=FakeClock() if clock is None else clock, guards=guards, operators=known
        )
    )


def rail(
    check: str, action: str = "block", hook: str = "pre_execution", **more: Any
) -> dict[str, Any]:
    """One guardrail, written out in full."""
    said = {
        "id": "safety-050",
        "name": "own",
        "type": hook,
        "priority": 10,
        "category": "safety",
        **more,
    }
    return {**said, "validation": {"check": check, "action_on_fail": action}}


class Refusing:
    """A guard of the program's own that is asked beside the engine, and says no."""

    id = "refusing"

    def __init__(self, stage: str) -> None:
        self.stages = (stage,)
        self.asked = 0

    def judge(self, event: Any) -> str:
        self.asked += 1
        return "not today"


class Deeds:
    """Tools that note what they did."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def deploy(self, where: str = "here") -> str:
        """Deploy something."""
        self.done.append(where)
        return f"deployed {where}"
