"""Conditions compared: whether a rule acts wherever it acted before, by the shape of what it says.

A condition is true, false, or fails. Two comparisons of one thing with two numbers of one type fail
on the same events, so only their numbers matter. Parts that are joined are compared part by part,
as three-valued logic has it: a part that decides makes the failure of another one of no matter.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.policy.conditions.parser import parse
from stanchion.policy.conditions.syntax import Binary, Call, Literal, Logic, Node, Spot, Unary

MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The same comparison with its sides exchanged."""

LOOPS: Final = frozenset({"exists", "exists_one", "all", "filter", "map"})
"""What may take more steps than an evaluation has. Nothing absorbs that failure, so it is not
compared."""


def rule_keeps(old: Any, new: Any, option: str, fails_closed: bool) -> bool:
    """Whether a rule with another `when` or `check` is known to act on every event on which it
    acted.

    1. Where both are one comparison with a number, they fail alike, and only where they are true
       counts.
    2. Otherwise failing and acting have to come to the same: both block, and neither fails open.
    3. `when` is wider if it is false nowhere else; with a `check` behind it, failing and being true
       are two things.
    4. `check` is narrower if it is true nowhere else; without one the rule acts wherever `when` is
       true.
    """
    blocks = fails_closed and old.action == "block" and new.action == "block"
    if option == "when":
        before, after = parse(old.when), parse(new.when)
        if _compared(before) is not None and _compared(after) is not None:
            return _implies(before, after)
        return blocks and new.check is None and _plain(before, after) and _falls(after, before)
    if old.check is None or new.check is None:
        return blocks and new.check is None
    before, after = parse(old.check), parse(new.check)
    if _compared(before) is not None and _compared(after) is not None:
        return _implies(after, before)
    return blocks and _plain(before, after) and _implies(after, before)


def _implies(one: Node, other: Node) -> bool:
    """Whether the other is known to be true wherever the one is."""
    if _same(one, other) or _reaches(one, other):
        return True
    if isinstance(one, Unary) and isinstance(other, Unary) and one.op == other.op == "!":
        return _falls(one.of, other.of)
    return _by_parts(one, other, "&&", "||", _implies)


def _falls(one: Node, other: Node) -> bool:
    """Whether the other is known to be false wherever the one is."""
    if _same(one, other) or _reaches(other, one):
        return True
    if isinstance(one, Unary) and isinstance(other, Unary) and one.op == other.op == "!":
        return _implies(one.of, other.of)
    return _by_parts(one, other, "||", "&&", _falls)


def _by_parts(one: Node, other: Node, every: str, some: str, known: Any) -> bool:
    """The same of parts: with `every`, all have a value where the whole has it; with `some`, one of
    them has."""
    if isinstance(other, Logic) and other.op == every:
        return all(known(one, part) for part in other.parts)
    if isinstance(one, Logic) and one.op == some:
        return all(known(part, other) for part in one.parts)
    if isinstance(one, Logic) and any(known(part, other) for part in one.parts):
        return True
    return isinstance(other, Logic) and any(known(one, part) for part in other.parts)


def _reaches(one: Node, other: Node) -> bool:
    """Whether both compare one thing with a number, in one direction, and the other number is
    passed no later."""
    left, right = _compared(one), _compared(other)
    if left is None or right is None:
        return False
    (thing, op, limit), (same, over, bound) = left, right
    if op[0] != over[0] or type(limit) is not type(bound) or not _same(thing, same):
        return False
    if limit == bound:
        return op == over or len(over) > len(op)
    return bool(bound < limit) == (op[0] == ">")


def _compared(node: Node) -> tuple[Node, str, Any] | None:
    """What is compared with which number, the number on the right; nothing where it is something
    else."""
    if not isinstance(node, Binary) or node.op not in MIRRORED:
        return None
    left, right = _number(node.left), _number(node.right)
    if (left is None) == (right is None):
        return None
    return (node.left, node.op, right) if left is None else (node.right, MIRRORED[node.op], left)


def _number(node: Node) -> Any:
    if isinstance(node, Unary) and node.op == "-":
        value = _number(node.of)
        return None if value is None else -value
    return node.value if isinstance(node, Literal) and type(node.value) in (int, float) else None


def _same(one: Any, other: Any) -> bool:
    """Whether two parts say the same, wherever they stand."""
    if isinstance(one, Spot):
        return type(one) is type(other) and all(
            _same(getattr(one, name), getattr(other, name))
            for name in one.__struct_fields__[len(_PLACE) :]
        )
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and bool(one == other)


_PLACE: Final = Spot.__struct_fields__


def _plain(*nodes: Any) -> bool:
    """Whether nothing in them goes through a list or a map."""
    for node in nodes:
        if isinstance(node, Call) and node.name in LOOPS:
            return False
        if isinstance(node, msgspec.Struct) and not _plain(
            *[getattr(node, name) for name in node.__struct_fields__]
        ):
            return False
        if isinstance(node, tuple) and not _plain(*node):
            return False
    return True
