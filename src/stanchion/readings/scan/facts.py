"""What is known of a pattern without running it: how long its matches are, and texts that all of
them hold."""

from __future__ import annotations

from typing import Final, NamedTuple, assert_never

from stanchion.readings.scan.tree import (
    SPACE,
    UPPER,
    Chars,
    Edge,
    Group,
    Node,
    Or,
    Repeat,
    Seq,
    caseless,
)

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
        case Edge():
            return 0, 0
        case Group(item):
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
        case Edge():
            return 0
        case Group(item) | Repeat(item):
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
        case Group(item):
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
        case Edge():
            return frozenset({b""})
        case Group(item):
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
