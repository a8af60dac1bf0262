"""Types that guards' options share."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from stanchion.kernel.actions import Action

ActionName = Literal[
    "allow",
    "warn",
    "redact",
    "degrade",
    "retry",
    "queue",
    "escalate",
    "block",
    "quarantine",
    "halt",
]
"""An action as policy files write it."""

PlainActionName = Literal[
    "allow", "warn", "retry", "queue", "escalate", "block", "quarantine", "halt"
]
"""An action of a guard that has nothing to patch; `allow` only records."""

GLOB: Final = msgspec.Meta(extra={"glob": True})
Glob = Annotated[str, GLOB]
"""A name that is exact unless it is written with `*` or `?`; the lint finds regular expressions
among them."""

ACTIONS: Final[dict[str, Action]] = {action.name.lower(): action for action in Action}
