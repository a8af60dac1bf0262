"""One rule: if an observation is so, something follows from it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, Literal

import msgspec

from stanchion.kernel.regex import regex

Operator = Literal[
    "eq",
    "neq",
    "in",
    "contains",
    "matches",
    "gt",
    "lt",
    "gte",
    "lte",
    "exists",
    "startswith",
    "endswith",
]
OBSERVED: Final = "obs."
_PLACE: Final = regex(r"\{(obs\.)?(\w+)\}")


class Condition(msgspec.Struct, frozen=True):
    """What has to hold of one field of an observation."""

    field: str
    operator: Operator
    value: Any


class Extract(msgspec.Struct, frozen=True):
    """A name for a part of a field: the first group of a pattern, or the whole match."""

    var: str
    regex: str
    source: str = "obs.stdout"


class Conclusion(msgspec.Struct, frozen=True):
    """What follows; its texts may name extracts (`{path}`) and fields (`{obs.command}`)."""

    type: str
    text: str
    kind: str = ""
    domain: str = ""
    scope: str = ""


class Rule(msgspec.Struct, frozen=True):
    """A rule. It concludes where all of its conditions hold."""

    id: str
    matches: tuple[Condition, ...]
    conclusions: tuple[Conclusion, ...]
    extracts: tuple[Extract, ...] = ()
    soundness: str = "sound"
    description: str = ""
    domain: str = ""
    lifetime: str = "permanent"
    game_id: str = ""
    turn: int = 0
    generated_by: str = ""
    rationale: str = ""

    def apply(self, observed: Mapping[str, Any]) -> tuple[Conclusion, ...]:
        """What follows from an observation; nothing where a condition does not hold. What an
        extract does not find stays in the text as it is written."""
        if not all(
            holds(one.operator, value_of(observed, one.field), one.value) for one in self.matches
        ):
            return ()
        bound = {}
        for one in self.extracts:
            value = value_of(observed, one.source)
            found = search(one.regex, str(value)) if value else None
            if found is not None:
                bound[one.var] = str(found.group(1) if found.groups() else found.group(0))

        def put(text: str) -> str:
            return _PLACE.sub(lambda place: _filled(place, bound, observed), text)

        return tuple(
            Conclusion(
                one.type,
                put(one.text),
                put(one.kind),
                put(one.domain) if one.domain else self.domain,
                put(one.scope),
            )
            for one in self.conclusions
        )


def _filled(place: re.Match[str], bound: Mapping[str, str], observed: Mapping[str, Any]) -> str:
    if place[1]:
        return str(observed.get(place[2], ""))
    return bound.get(place[2], place[0])


def value_of(observed: Mapping[str, Any], path: str) -> Any:
    """A field of an observation, by its path."""
    value: Any = observed
    for part in path.removeprefix(OBSERVED).split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(part)
    return value


def holds(operator: Operator, value: Any, expected: Any) -> bool:
    """Whether a condition holds. Of a text that is empty, and of what is no number, nothing is
    said."""
    match operator:
        case "eq":
            return bool(value == expected)
        case "neq":
            return bool(value != expected)
        case "in":
            return bool(value in expected)
        case "exists":
            return bool((value is not None) == expected)
        case "gt" | "lt" | "gte" | "lte":
            return _compared(operator, value, expected)
        case _:
            return bool(value) and _worded(operator, str(value), str(expected))


def _worded(operator: str, text: str, expected: str) -> bool:
    match operator:
        case "contains":
            return expected in text
        case "startswith":
            return text.startswith(expected)
        case "endswith":
            return text.endswith(expected)
        case _:
            return search(expected, text) is not None


def _compared(operator: str, value: Any, expected: Any) -> bool:
    try:
        left, right = float(value), float(expected)
    except (TypeError, ValueError):
        return False
    return {"gt": left > right, "lt": left < right, "gte": left >= right, "lte": left <= right}[
        operator
    ]


@lru_cache(maxsize=512)
def compiled(pattern: str) -> Any:
    """A pattern as RE2 reads it, in time that grows with the text alone; raises `ValueError` for
    what is none."""
    import re2  # type: ignore[import-untyped]  # it ships no stubs

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except re2.error as error:
        raise ValueError(f"`{pattern}` is no pattern of RE2: {error}") from error


def search(pattern: str, text: str) -> Any:
    """Where a pattern is found first in a text."""
    return compiled(pattern).search(text)
