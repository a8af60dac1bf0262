"""What the options of guards that ask others mean, in words for editors and for the reference."""

from __future__ import annotations

from typing import Final

WAITS: Final = (
    "How many milliseconds a call waits for the answer, by its risk (`low`, `medium`, `high`, `critical`); never "
    "longer than `deadline_ms`. If absent, as the policy's `deep` says."
)

ASKING: Final[dict[str, str]] = {
    "python.call": "The code that judges, as `module:name`: a function or an object, not a class; imported when the "
    "policy loads.",
    "python.deadline_ms": "A call is refused if the code gives no answer within this many milliseconds.",
    "python.deep": "If `true`, a call waits by its risk, and goes ahead at low and medium risk when the answer is "
    "late.",
    "python.isolated": "If `true`, the code runs in its own process, which is stopped at the deadline.",
    "python.waits": WAITS,
    "python.cache": "If `true`, the answer to an event is used again for one that says the same, for the same agent "
    "and task.",
}
"""Options by the name of their guard."""
