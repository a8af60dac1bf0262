"""Messages about conditions: how a type is called, and an error that says which part it is
about."""

from __future__ import annotations

from stanchion.policy.conditions import syntax
from stanchion.policy.conditions.errors import ConditionError
from stanchion.policy.conditions.kinds import Type


def article(known: Type) -> str:
    """A type with its article, for messages."""
    return a_kind(known.kind, str(known))


def a_kind(kind: str, shown: str = "") -> str:
    """A kind with its article; `shown` is what stands for it where there is more to say of the
    type."""
    return {"null": "null", "dyn": "a value", "names": "a set of names"}.get(
        kind, f"{'an' if kind == 'int' else 'a'} {shown if shown else kind}"
    )


def error(node: syntax.Node, message: str) -> ConditionError:
    """An error about one part of a condition."""
    return ConditionError(message, node.start, node.end)
