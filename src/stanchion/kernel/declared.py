"""What a tool does, as its policy, its code or its server declares it: whoever wants to know asks
this before a name is read for verbs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Literal, get_args

from stanchion.kernel.actions import Risk
from stanchion.kernel.tuples import NamedTuple

EffectName = Literal["read", "local", "outward", "privilege", "irreversible"]
"""What a call does: it only looks, changes something here, reaches others, changes who may do what,
or cannot be taken back."""

ResultName = Literal["user", "trusted", "records", "content"]
"""What a result counts as: the user's own words, words that are trusted, records whose fields name
things, or words that anybody may have written."""

EFFECTS: Final[tuple[EffectName, ...]] = get_args(EffectName)
RESULTS: Final[tuple[ResultName, ...]] = get_args(ResultName)
"""Both have the mildest first: among several declarations of one tool the strictest word holds."""

READ: Final = "read"
CONTENT: Final = "content"
TRUSTED: Final = frozenset({"user", "trusted"})
"""Results whose words count as nobody else's."""
LASTING: Final = frozenset({"privilege", "irreversible"})
"""Effects that a later no does not end: a yes is for one call, and none goes ahead unanswered."""

FORMER: Final = {
    "read_only": READ,
    "destructive": "irreversible",
    "untrusted": CONTENT,
    "web": CONTENT,
}
"""Words that are known no more, with those in their place: a policy that has one must not load, or
what it guards would go unguarded."""


class Declared(NamedTuple):
    """What somebody says of a tool, if anything."""

    risk: Risk | None = None
    effect: str | None = None
    result: str | None = None
    sinks: tuple[str, ...] = ()
    records: str | None = None
    identity_fields: tuple[str, ...] = ()

    def is_in(self, facts: ToolKnown) -> bool:
        """Whether facts have all of it already."""
        return (
            (self.risk is None or self.risk <= facts.risk)
            and {self.effect, self.result} <= {None, "", *facts.traits}
            and {*self.sinks} <= {*facts.sinks}
            and (self.records or facts.records) == facts.records
            and (self.identity_fields or facts.identity_fields) == facts.identity_fields
        )


class ToolKnown(NamedTuple):
    """What is known of a tool: how much harm it can do, the words that every event of it carries,
    the arguments that say whom or what it acts on, and what its results name things by."""

    risk: Risk
    traits: tuple[str, ...]
    sinks: tuple[str, ...]
    result: str = ""
    """What somebody says that its results count as; empty where nobody does. Then what is
    structured are records, and everything else is content."""
    records: str | None = None
    """The line that begins a record in a text of its results."""
    identity_fields: tuple[str, ...] = ()
    """The fields of its records that name things, in place of the usual ones."""


UNDECLARED: Final = Declared()


def strictest(order: tuple[str, ...], said: Iterable[str | None]) -> str:
    """The strictest of the words that were said, in an order with the mildest first; empty where
    nothing was."""
    return max([word for word in said if word], key=order.index, default="")


def effect_of(traits: tuple[str, ...]) -> str:
    """What a tool does by the traits of its events; empty where nobody declares it."""
    return next((word for word in traits if word in EFFECTS), "")


def result_of(traits: tuple[str, ...]) -> str:
    """What a tool's results count as by the traits of its events."""
    return next((word for word in traits if word in RESULTS), CONTENT)


ELEMENT: Final = "@element"
"""Where a call's arguments have what it acts on in a page, as its host says it: role, text, where a
link leads, where a form goes, and what acting on it does. The tool itself does not get it."""


def element_effect(args: Any) -> str:
    """What acting on an element does; empty where nobody says it."""
    said = args.get(ELEMENT) if isinstance(args, dict) else None
    effect = said.get("effect") if isinstance(said, dict) else None
    return effect if effect in EFFECTS else ""


def acting(traits: tuple[str, ...], args: Any) -> tuple[str, ...]:
    """A tool's traits in a call that acts on an element: the stricter effect holds."""
    effect = strictest(EFFECTS, (effect_of(traits), element_effect(args)))
    return (*([effect] if effect else ()), *[one for one in traits if one not in EFFECTS])


def sink_values(sinks: Iterable[str], args: Any) -> dict[str, Any]:
    """Whom or what a call acts on: the value of each sink, `None` where the call lacks it."""
    found = {}
    for sink in sinks:
        value = args
        for part in sink.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        found[sink] = value
    return found
