"""What is enough to know that a pattern may match: less than a match, so that many are quickly
looked for at once."""

from __future__ import annotations

from typing import Final, assert_never

from stanchion.readings.scan.facts import flattened, head, width
from stanchion.readings.scan.tree import Chars, Edge, Group, Node, Or, Repeat, Seq

ENOUGH: Final = 12
"""So many characters of one set, behind a literal, are enough."""


def sieve(tree: Node) -> Node:
    """A tree that matches a part of every match of another: without what may be missing at both
    ends, and no more than the beginning of what follows its literals."""
    items = list(flattened(tree))
    while items and width(items[0])[0] == 0 and items[0] != Edge("word"):
        del items[0]
    known = head(tree)
    made: list[Node] = []
    passed = False
    for item in items:
        if isinstance(item, Repeat) and isinstance(item.item, Chars) and item.low >= ENOUGH:
            made.append(
                item._replace(low=ENOUGH, high=ENOUGH) if passed else item._replace(high=None)
            )
            if passed:
                break
            continue
        made.append(_uncounted(item))
        if known is not None and not passed:
            here = head(Seq(tuple(made)))
            passed = here is not None and here.literals == known.literals
    while made and width(made[-1])[0] == 0:
        del made[-1]
    return Seq(tuple(made))


def _uncounted(node: Node) -> Node:
    """A tree whose repetitions that begin at nothing have no end: counting them costs more than it
    tells."""
    match node:
        case Chars() | Edge():
            return node
        case Group(item):
            return _uncounted(item)
        case Or(items):
            return Or(tuple([_uncounted(item) for item in items]))
        case Seq(items):
            return Seq(tuple([_uncounted(item) for item in items]))
        case Repeat(item, low, high, _):
            far = high is None or (low <= 1 and high > 2)
            return Repeat(_uncounted(item), low, None if far else high, False)
        case _:
            assert_never(node)
