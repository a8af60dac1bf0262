"""Every hazard of the demo, in the order in which it is played."""

from __future__ import annotations

from typing import Final

from stanchion.demo.hazard import Hazard
from stanchion.demo.hazards import (
    content,
    failures,
    limits,
    operators,
    people,
    runaway,
    scope,
    tools,
    traffic,
    user_code,
)

HAZARDS: Final[tuple[Hazard, ...]] = (
    *tools.HAZARDS,
    *content.HAZARDS,
    *traffic.HAZARDS,
    *scope.HAZARDS,
    *limits.HAZARDS,
    *user_code.HAZARDS,
    *people.HAZARDS,
    *operators.HAZARDS,
    *failures.HAZARDS,
    *runaway.HAZARDS,
)
