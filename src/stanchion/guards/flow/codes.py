"""The codes of the flow guard, and what each says to the agent."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.contract.values import Cure
from stanchion.kernel.words import Words, declare

INSTEAD: Final = "go on without it, or ask the user which one is meant"

CODES: Final = declare(
    {
        "flow.sink": Words("not run: `{}` comes from {}, and the user has not named it", INSTEAD),
        "flow.payload": Words(
            "not run: `{}` hands over what comes from {}, and the user has not named it", INSTEAD
        ),
        "flow.unasked": Words(
            "not run: the user's words do not speak of what `{}` does",
            "go on without it, or ask the user whether it is wanted",
        ),
        "flow.read_out": Words(
            "not run: `{}` would carry away something that was read",
            "open an address that the user gave or that a tool returned, just as it is",
        ),
        "flow.answer_link": Words(
            "an address in the answer would carry away what was read; it is left out"
        ),
    }
)

_SOURCE: Final = "/tools/{answer[tool]}/result"
_BELIEVED: Final = (
    "only where outsiders write nothing into its results: all of them are believed then"
)
_DECLARED: Final = (
    Cure(_SOURCE, "records", "value"),
    Cure(_SOURCE, "trusted", "value", _BELIEVED),
)
CURES: Final = {"flow.sink": _DECLARED, "flow.payload": _DECLARED, "flow.read_out": _DECLARED}
"""Lines that may cure what it says: what the results count as in which a value stands."""
