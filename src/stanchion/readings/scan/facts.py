"""What is known of a pattern before it is sought: how wide it is, and how it begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, assert_never

from stanchion.readings.scan.pattern_parser import (
    EMPTY,
    SPACE,
    UPPER,
    Chars,
    EdgeNode,
    GroupNode,
    Node,
    Or,
    Repeat,
    Seq,
    caseless,
)

NEAR: Final = 48
"""How far apart the bounds of a repetition may be so that counting it costs nothing."""
EDGES: Final = {"start": "(?m:^)", "end": "(?m:$)", "word": r"\b"}


def written(node: Node, captured: bool = True) -> str:
    """The expression of a tree, over bytes; with the part that counts as its group, where that is
    wanted."""
    match node:
        case Chars(mask):
            return _set(mask)
        case EdgeNode(kind):
            return EDGES[kind]
        case Seq(items):
            return "".join([_one(item, captured) for item in items])
        case Or(items):
            return "(?:" + "|".join([written(item, captured) for item in items]) + ")"
        case GroupNode(item):
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
        case EdgeNode():
            return EMPTY
        case GroupNode(item):
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


def changed(node: Node, change: Callable[[Node], Node]) -> Node:
    """A tree in which each part is changed, what is inside of it first."""
    match node:
        case Seq(items):
            node = Seq(tuple([changed(item, change) for item in items]))
        case Or(items):
            node = Or(tuple([changed(item, change) for item in items]))
        case GroupNode() | Repeat():
            node = node._replace(item=changed(node.item, change))
    return change(node)


def bare(node: Node) -> Node:
    """A part that is no edge and no group."""
    return (
        EMPTY if isinstance(node, EdgeNode) else node.item if isinstance(node, GroupNode) else node
    )


def plain(node: Node) -> Node:
    """A tree without its edges."""
    return changed(node, bare)


def loose(node: Node) -> Node:
    """A tree that matches wherever another does, and is cheaper to look for: long repetitions are
    not counted."""

    def uncounted(one: Node) -> Node:
        far = isinstance(one, Repeat) and one.high is not None and one.high - one.low > NEAR
        return one._replace(high=None) if far and isinstance(one, Repeat) else one

    return changed(node, uncounted)


MOST: Final = 128
"""How many literals are told apart."""
FEW: Final = 16
"""How many characters of a set are told apart."""
SHORTEST: Final = 2
WIDEST: Final = 96
"""Sets with more characters than this are nearly everything."""
FARTHEST: Final = 64
"""What stands farther from where a match begins tells nothing of where that is."""


def width(node: Node) -> tuple[int, int | None]:
    """The least and the greatest length of a match; `None` where it has no end."""
    match node:
        case Chars():
            return 1, 1
        case EdgeNode():
            return 0, 0
        case GroupNode(item):
            return width(item)
        case Seq(items) | Or(items):
            inner = [width(item) for item in items]
            lows, highs = [low for low, _ in inner], [high for _, high in inner if high is not None]
            if isinstance(node, Or):
                return min(lows), max(highs) if len(highs) == len(inner) else None
            return sum(lows), sum(highs) if len(highs) == len(inner) else None
        case Repeat(item, low, high, _):
            least, most = width(item)
            return (
                least * low,
                0 if most == 0 else None if most is None or high is None else most * high,
            )
        case _:
            assert_never(node)


def letters(node: Node) -> int:
    """The set of all characters that a match can hold."""
    match node:
        case Chars(mask):
            return mask
        case EdgeNode():
            return 0
        case GroupNode(item) | Repeat(item):
            return letters(item)
        case Seq(items) | Or(items):
            mask = 0
            for item in items:
                mask |= letters(item)
            return mask
        case _:
            assert_never(node)


class Head(NamedTuple):
    """Literals of which every match holds one, in lower case; what can stand before the end of it:
    how much, of what; and whether that is such that it stays within a word."""

    literals: frozenset[bytes]
    width: int
    letters: int
    narrow: bool


def head(node: Node) -> Head | None:
    """The best literals of a pattern; `None` where nothing is certain enough to look for."""
    items = flattened(node)
    found: list[Head] = []
    run: frozenset[bytes] = frozenset({b""})
    for at, item in enumerate(items):
        exact = exact_texts(item)
        grown = frozenset({a + b for a in run for b in exact}) if exact is not None else frozenset()
        if 0 < len(grown) <= MOST:
            run = grown
        else:
            inner = _inside(item)
            if inner is not None:
                found.append(_head(items[: at + 1], inner))
            run = exact if exact is not None else frozenset({b""})
        if min(map(len, run)) >= SHORTEST:
            found.append(_head(items[: at + 1], run))
    return max(found, key=_worth, default=None)


def _head(items: tuple[Node, ...], literals: frozenset[bytes]) -> Head:
    literals = frozenset(
        [one for one in literals if not any(other != one and other in one for other in literals)]
    )
    most = width(Seq(items))[1]
    held = letters(Seq(items))
    narrow = (
        most is not None and most <= FARTHEST and not held & SPACE and held.bit_count() <= WIDEST
    )
    return Head(literals, 0 if most is None else most, held, narrow)


def _worth(one: Head) -> tuple[bool, bool, int, int]:
    shortest = min(map(len, one.literals))
    return shortest > SHORTEST, one.narrow, min(shortest, 8), -one.width


def flattened(node: Node) -> tuple[Node, ...]:
    """What stands one after the other in a pattern, the insides of its groups included."""
    match node:
        case Seq(items):
            return tuple([one for item in items for one in flattened(item)])
        case GroupNode(item):
            return flattened(item)
        case Repeat(item, low, high, _) if low == high and low <= 8 and isinstance(item, Chars):
            return (item,) * low
        case _:
            return (node,)


def exact_texts(node: Node) -> frozenset[bytes] | None:
    """All texts that a node can be, in lower case; `None` where they are too many."""
    match node:
        case Chars(mask):
            folded = caseless(mask) & ~UPPER
            few = folded.bit_count() <= FEW
            return (
                frozenset([bytes([at]) for at in range(256) if folded >> at & 1]) if few else None
            )
        case EdgeNode():
            return frozenset({b""})
        case GroupNode(item):
            return exact_texts(item)
        case Or(items):
            each = [exact_texts(item) for item in items]
            known = [one for one in each if one is not None]
            joined = frozenset().union(*known)
            return joined if len(known) == len(each) and len(joined) <= MOST else None
        case Seq(items):
            made = frozenset({b""})
            for item in items:
                exact = exact_texts(item)
                if exact is None or len(exact) * len(made) > MOST:
                    return None
                made = frozenset({a + b for a in made for b in exact})
            return made
        case Repeat(item, 0, 1, _):
            inner = exact_texts(item)
            return None if inner is None else inner | {b""}
        case Repeat(item, 1, 1, _):
            return exact_texts(item)
        case Repeat():
            return None
        case _:
            assert_never(node)


def _inside(node: Node) -> frozenset[bytes] | None:
    """Literals of which every match of a node holds one, where it is not wholly known."""
    match node:
        case Or(items):
            each = [head(item) for item in items]
            known = [one.literals for one in each if one is not None]
            joined = frozenset().union(*known)
            return joined if len(known) == len(each) and len(joined) <= MOST else None
        case Repeat(item, low, _, _) if low > 0:
            inner = head(item)
            return None if inner is None else inner.literals
        case _:
            return None
