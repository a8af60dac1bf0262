"""Guidance: all that whoever was refused can do about it, as one object for code and as one text
for an agent."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.experience.again import Again, again_of, again_text, at_ms_of
from stanchion.experience.helping import what_differs
from stanchion.experience.quoting import marked
from stanchion.experience.similarity import Similar
from stanchion.kernel.decision import Decision


class Beside(msgspec.Struct, frozen=True):
    """What is known beside a decision: the tools that the policy names as alternatives, and the
    nearest call of the tool that worked."""

    alternatives: tuple[str, ...] = ()
    similar: Similar | None = None

    def __bool__(self) -> bool:
        return bool(self.alternatives) or self.similar is not None

    @property
    def text(self) -> str:
        """The same in words for an agent; empty where nothing helps."""
        said = []
        if self.alternatives:
            said.append(
                f"the policy names an alternative: "
                f"{', '.join([marked(tool) for tool in self.alternatives])}"
            )
        differs = what_differs(self.similar)
        said += [f"beside a call that worked: {differs}"] if differs else []
        return "; ".join(said)


NOTHING: Final = Beside()

USUAL: Final[dict[Again, str]] = {
    "no": "report what is done so far",
    "changed": "do it in another way, or ask the user",
    "approved": "do something else in the meantime",
    "later": "do something else in the meantime",
}
"""What to do instead where whoever refused has not said it."""


class Guidance(msgspec.Struct, frozen=True):
    """What was wrong, what to do instead, whether to try again and from when on (`at_ms`, where it
    is known), and what is known to work. It is made from a decision and is no part of it."""

    wrong: str
    instead: str
    again: Again
    at_ms: int | None = None
    beside: Beside = NOTHING

    @property
    def text(self) -> str:
        """All of it in words for an agent."""
        again = again_text(self.again, self.at_ms) if self.wrong else ""
        return "; ".join(
            [said for said in (self.wrong, self.instead, again, self.beside.text) if said]
        )


def guidance_of(decision: Decision, beside: Beside = NOTHING) -> Guidance:
    """The guidance for a decision that refuses. What has happened has no alternative."""
    again = again_of(decision)
    helps = beside if again in ("changed", "later") else NOTHING
    advice = decision.advice
    instead = USUAL.get(again, "") if decision.message and not advice else advice
    return Guidance(decision.message, instead, again, at_ms_of(decision), helps)
