"""What advice is made from, as resolvers are given it: plain texts and mappings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from stanchion.dialects.errors import DialectError
from stanchion.experience import advice_context as own
from stanchion.experience.similarity import Difference, Similar

KINDS = ("missing", "type", "value", "extra")
FIELDS: Final[tuple[tuple[str, Any, str], ...]] = (
    ("tool_name", str, "the name of a tool"),
    ("failure_count", int, "a whole number"),
    ("last_error", str | None, "a text, or None"),
    ("similar_success", Mapping | None, "what `find_similar_success` gives, or None"),
    ("tool_reliability", int | float | None, "a number from 0 to 1, or None"),
)
"""What a context has, and as what."""


class AdviceContext(msgspec.Struct, frozen=True):
    """What is known of a tool when advice is given. A resolver gets `last_error` quoted: a tool's
    words are data. `similar_success` is as `find_similar_success` gives it."""

    tool_name: str
    failure_count: int = 0
    last_error: str | None = None
    similar_success: dict[str, Any] | None = None
    tool_reliability: float | None = None

    def __post_init__(self) -> None:
        for name, kinds, wanted in FIELDS:
            value = getattr(self, name)
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise DialectError(
                    f"`{name}` of an `AdviceContext` is `{type(value).__name__}`: give {wanted}"
                )


def resolving(resolver: Callable[[AdviceContext], str]) -> Callable[[own.AdviceContext], str]:
    """A resolver of these contexts as one of Stanchion's."""
    return lambda context: resolver(told(context))


def told(context: own.AdviceContext) -> AdviceContext:
    """What is known, in plain texts and mappings."""
    return AdviceContext(
        context.tool_name,
        context.failure_count,
        None if context.last_error is None else str(context.last_error),
        similar(context.similar_success),
        context.tool_reliability,
    )


def similar(found: Similar | None) -> dict[str, Any] | None:
    """A call that worked, and what differs from it."""
    if found is None:
        return None
    differ = [
        {"argument": one.name, "how": one.how, "worked": one.worked} for one in found.differences
    ]
    return {"tool": found.tool_name, "arguments": found.args, "differences": differ}


def known(context: Any) -> own.AdviceContext:
    """A context that a program has made itself. Words of a tool are data wherever they come
    from."""
    if not isinstance(context, AdviceContext):
        raise DialectError(
            f"advice is made from an `AdviceContext`, and this is `{type(context).__name__}`"
        )
    return own.AdviceContext(
        context.tool_name,
        context.failure_count,
        None if context.last_error is None else own.ToolText(str(context.last_error)),
        _similar(context.tool_name, context.similar_success),
        context.tool_reliability,
    )


def _similar(tool: str, found: Any) -> Similar | None:
    """What differs from a call that worked, where that is said."""
    if not isinstance(found, Mapping):
        return None
    differ = [
        one
        for one in found.get("differences", ())
        if isinstance(one, Mapping) and one.get("how") in KINDS
    ]
    made = [
        Difference(str(one.get("argument", "")), one["how"], str(one.get("worked", "")))
        for one in differ
    ]
    return Similar(tool, "", 0, 0, 0.0, tuple(made))
