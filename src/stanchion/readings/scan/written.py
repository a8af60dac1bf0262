"""Writing trees out again: as expressions of RE2 and Hyperscan alike, and as those of their
beginnings."""

from __future__ import annotations

from typing import Final, assert_never

from stanchion.readings.scan.tree import EMPTY, Chars, Edge, Group, Node, Or, Repeat, Seq

NEAR: Final = 48
"""How far apart the bounds of a repetition may be so that counting it costs nothing."""
EDGES: Final = {"start": "(?m:^)", "end": "(?m:$)", "word": r"\b"}


def written(node: Node, captured: bool = True) -> str:
    """The expression of a tree, over bytes; with the part that counts as its group, where that is
    wanted."""
    match node:
        case Chars(mask):
            return _set(mask)
        case Edge(kind):
            return EDGES[kind]
        case Seq(items):
            return "".join([_one(item, captured) for item in items])
        case Or(items):
            return "(?:" + "|".join([written(item, captured) for item in items]) + ")"
        case Group(item):
            inner = written(item, captured)
            return f"({inner})" if captured else f"(?:{inner})"
        case Repeat(item, low, high, lazy):
            inner = written(item, captured)
            inner = inner if isinstance(item, Chars) else f"(?:{inner})"
            return inner + _times(low, high) + ("?" if lazy else "")
        case _:
            assert_never(node)


def _one(node: Node, captured: bool) -> str:
    inner = written(node, captured)
    return f"(?:{inner})" if isinstance(node, Seq) else inner


def _times(low: int, high: int | None) -> str:
    if high is None:
        return "*" if low == 0 else f"{{{low},}}"
    return f"{{{low},{high}}}" if low != high else f"{{{low}}}"


def _set(mask: int) -> str:
    if mask & (mask - 1) == 0:
        return f"\\x{mask.bit_length() - 1:02x}"
    ranges: list[str] = []
    at = 0
    while mask >> at:
        if mask >> at & 1:
            end = at
            while mask >> (end + 1) & 1:
                end += 1
            ranges.append(f"\\x{at:02x}" + (f"-\\x{end:02x}" if end > at else ""))
            at = end
        at += 1
    return "[" + "".join(ranges) + "]"


def beginnings(node: Node) -> Node:
    """The tree of everything with which a match can begin, the empty text and whole matches
    included. Edges are taken to be there."""
    match node:
        case Chars():
            return Repeat(node, 0, 1, False)
        case Edge():
            return EMPTY
        case Group(item):
            return beginnings(item)
        case Or(items):
            return Or(tuple([beginnings(item) for item in items]))
        case Repeat(item, _, high, _):
            again = Repeat(
                plain(item),
                0,
                None if high is None else high if isinstance(item, Chars) else high - 1,
                False,
            )
            return again if isinstance(item, Chars) else Seq((again, beginnings(item)))
        case Seq(items):
            made: Node = EMPTY
            for item in reversed(items):
                rest = Seq((plain(item), made))
                made = (
                    Repeat(rest, 0, 1, False)
                    if isinstance(item, Chars)
                    else Or((rest, beginnings(item)))
                )
            return made
        case _:
            assert_never(node)


def plain(node: Node) -> Node:
    """A tree without its edges."""
    match node:
        case Chars():
            return node
        case Edge():
            return EMPTY
        case Group(item):
            return plain(item)
        case Or(items):
            return Or(tuple([plain(item) for item in items]))
        case Seq(items):
            return Seq(tuple([plain(item) for item in items]))
        case Repeat(item, low, high, lazy):
            return Repeat(plain(item), low, high, lazy)
        case _:
            assert_never(node)


def loose(node: Node) -> Node:
    """A tree that matches wherever another does, and is cheaper to look for: long repetitions are
    not counted."""
    match node:
        case Chars() | Edge():
            return node
        case Group(item):
            return Group(loose(item))
        case Or(items):
            return Or(tuple([loose(item) for item in items]))
        case Seq(items):
            return Seq(tuple([loose(item) for item in items]))
        case Repeat(item, low, high, lazy):
            far = high is not None and high - low > NEAR
            return Repeat(loose(item), low, None if far else high, lazy)
        case _:
            assert_never(node)
