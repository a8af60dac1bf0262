"""Calls: mappings with the name of a tool and its arguments; results, which are what was decided on
them; and what advice is made from, as resolvers are given it: plain texts and mappings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.dialects.errors import DialectError
from stanchion.experience import advice_context as own
from stanchion.experience.similarity import Difference, Similar
from stanchion.kernel.guardian_result import GuardianResult
from stanchion.kernel.shown import brief

TOOL: Final = ("tool", "name")
ARGUMENTS: Final = ("arguments", "params")
BESIDE: Final = frozenset({"id", "type", "call_id"})
"""What a call may have beside its tool and its arguments, and nothing reads."""
HEALTHY: Final = 100
"""The health of a tool that nothing is known of."""


def read_call(tool_call: Any) -> tuple[str, dict[str, Any]]:
    """The tool of a call, and its arguments: those under `arguments` or `params`, or else all that
    stands beside the tool. `DialectError` where it is no call, so that no two calls look alike that
    are not."""
    if not isinstance(tool_call, Mapping):
        said = f"a tool call is `{type(tool_call).__name__}`"
        raise DialectError(f"{said}: give a mapping with `tool` and `arguments`")
    tool = _one_of(tool_call, TOOL, "")
    if not isinstance(tool, str) or not tool:
        raise DialectError("a tool call names no tool: give its name as `tool` or `name`")
    rest = [
        key for key in tool_call if key not in TOOL and key not in ARGUMENTS and key not in BESIDE
    ]
    if not any(key in tool_call for key in ARGUMENTS):
        return tool, {key: tool_call[key] for key in rest}
    if rest:
        said = f"the call of `{brief(tool)}` has `{brief(str(rest[0]))}` beside its arguments"
        raise DialectError(f"{said}: put it into `arguments`, or leave it out")
    args = _one_of(tool_call, ARGUMENTS, None)
    if args is None:
        return tool, {}
    if not isinstance(args, Mapping):
        said = f"`arguments` of `{brief(tool)}` is `{type(args).__name__}`"
        raise DialectError(f"{said}: give a mapping of names to values")
    return tool, args if type(args) is dict else dict(args)


def _one_of(call: Mapping[str, Any], names: tuple[str, str], nothing: Any) -> Any:
    """What a call has under one of two names; both may say the same."""
    first, second = names
    if first not in call:
        return call.get(second, nothing)
    if second in call and call[second] != call[first]:
        raise DialectError(
            f"a tool call has `{first}` and `{second}`, and they differ: give one of them"
        )
    return call[first]


def call_of(tool: str, args: dict[str, Any]) -> dict[str, Any]:
    """A call as hooks are given it: by all names that there are for its parts."""
    return {"tool": tool, "name": tool, "arguments": args, "params": args}


class _Kept(msgspec.Struct):
    """A call as it is kept: its arguments are JSON already."""

    tool: str
    arguments: msgspec.Raw


def call_text(tool: str, arguments: str | None) -> str | None:
    """The JSON of a call, by that of its arguments."""
    if not arguments:
        return None
    return msgspec.json.encode(_Kept(tool, msgspec.Raw(arguments.encode()))).decode()


def args_text(call: str) -> str:
    """The JSON of the arguments of a call, by its own."""
    return bytes(typed.decode(call, _Kept).arguments).decode()


def said(result: GuardianResult) -> dict[str, Any]:
    """A result in the fields of a check."""
    allowed, reason, suggestion, advice, score, probe = result
    return {
        "allowed": allowed,
        "reason": reason if reason else None,
        "suggestion": suggestion if suggestion else None,
        "advice": advice,
        "health_score": HEALTHY if score is None else score,
        "is_probe": probe,
    }


KINDS = ("missing", "type", "value", "extra")
CONTEXT_FIELDS: Final[tuple[tuple[str, Any, str], ...]] = (
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
        for name, kinds, wanted in CONTEXT_FIELDS:
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
