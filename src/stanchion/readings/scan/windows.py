"""Windows: the most telling part of every match of a pattern, a literal and the characters that may
follow it."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum
from typing import Final, NamedTuple

from stanchion.kernel.regex import regex
from stanchion.readings.scan.facts import MOST, SHORTEST, exact_texts, flattened, written
from stanchion.readings.scan.pattern_parser import (
    BORDER,
    DIGITS,
    LOWER,
    UPPER,
    Chars,
    EdgeNode,
    Node,
    Or,
    Repeat,
    Seq,
    caseless,
    chars,
)

FOLLOWED: Final = 6
"""How many characters behind a literal are looked at."""
SMALL: Final = 3
"""A repetition that varies by more than this ends a window: counting it costs more than it
tells."""
LONE: Final = 16
"""The same where a literal is one character alone."""
DEEPEST: Final = 2
"""How many choices a window goes into, one inside of another."""
RARE: Final = 1e-9
"""What stands less often than this in honest texts costs nothing, so that the shorter window is the
better one."""
OFTEN: Final = 1e-4
"""What begins with one character alone and stands more often than this is not worth being looked
for."""

_PLAIN: Final = regex(r"\\x(3[0-9]|6[1-9a-f]|7[0-9a])")
"""Digits and letters, which stand for themselves in an expression."""
_SHARES: Final = ((LOWER, 0.65), (DIGITS, 0.08), (chars(" "), 0.13))
"""How much of a usual text in lower case is of these characters; the others share the rest."""
_OTHER: Final = 0.14 / 40


class Window(NamedTuple):
    """Something that stands in every match: a literal in lower case, and the expression of what
    follows it there."""

    literal: bytes
    follow: str = ""

    @property
    def expression(self) -> str:
        """What is looked for in a text in lower case."""
        return "".join([f"\\x{byte:02x}" for byte in self.literal]) + self.follow


class _Found(NamedTuple):
    """Windows of which every match has one, and how often a character of a usual text begins one of
    them."""

    windows: frozenset[Window]
    rate: float


class _Follow(NamedTuple):
    """The expression of how something begins, and how often a usual text does so."""

    expression: str
    rate: float


def windows(tree: Node) -> tuple[Window, ...]:
    """Windows of which every match of a pattern has one, the rarest that there are; none where
    nothing is certain."""
    items = flattened(tree)
    found = _rarest(items, (), SHORTEST)
    if found is None:
        lone = _rarest(items, (), 1)
        found = lone if lone is not None and lone.rate <= OFTEN else None
    return (
        ()
        if found is None
        else tuple(sorted([one for one in found.windows if not _within(one, found.windows)]))
    )


def _within(one: Window, all_windows: Iterable[Window]) -> bool:
    """Whether another window stands at the end of one, so that it is found there all the same."""
    return any(
        other != one and other.follow == one.follow and one.literal.endswith(other.literal)
        for other in all_windows
    )


def _rarest(items: tuple[Node, ...], after: tuple[Node, ...], shortest: int) -> _Found | None:
    """The best windows in what stands one after the other, and before something else; no literal is
    shorter than so many characters."""
    found: list[_Found] = []
    run: frozenset[bytes] = frozenset({b""})
    for at, item in enumerate(items):
        rest = items[at + 1 :] + after
        exact = exact_texts(item)
        grown = frozenset({a + b for a in run for b in exact}) if exact is not None else frozenset()
        if 0 < len(grown) <= MOST:
            run = grown
        else:
            inner = _inside(item, rest, shortest)
            if inner is not None:
                found.append(inner)
            run = exact if exact is not None else frozenset({b""})
        if min(map(len, run)) >= shortest:
            follow = _follow(rest, FOLLOWED if shortest > 1 else LONE, DEEPEST)
            rate = fsum([_rate_of(literal) for literal in run]) * follow.rate
            found.append(
                _Found(frozenset([Window(literal, follow.expression) for literal in run]), rate)
            )
    return min(found, key=_cost, default=None)


def _cost(one: _Found) -> tuple[float, int, int, int]:
    return (
        max(one.rate, RARE),
        len(one.windows),
        sum([len(window.expression) for window in one.windows]),
        -sum([len(window.literal) for window in one.windows]),
    )


def _inside(node: Node, after: tuple[Node, ...], shortest: int) -> _Found | None:
    """The windows inside of something that is not wholly known."""
    match node:
        case Or(items):
            each = [_rarest(flattened(item), after, shortest) for item in items]
            known = [one for one in each if one is not None]
            joined = frozenset[Window]().union(*[one.windows for one in known])
            whole = len(known) == len(each) and len(joined) <= MOST
            return _Found(joined, fsum([one.rate for one in known])) if whole else None
        case Repeat(item, low, _, _) if low > 0:
            return _rarest(flattened(item), (), shortest)
        case _:
            return None


def _follow(items: tuple[Node, ...], left: int, deep: int) -> _Follow:
    """How items begin that stand one after the other: no more than so many characters of them, as
    far as is certain."""
    made, rate = "", 1.0
    for at, item in enumerate(items):
        if left <= 0:
            break
        match item:
            case EdgeNode():
                continue
            case Chars(mask):
                made, rate, left = made + _class(mask), rate * _share(mask), left - 1
            case Repeat(Chars(mask), low, high, _):
                taken = min(low, left)
                made += _class(mask) + f"{{{taken}}}" if taken else ""
                rate, left = rate * _share(mask) ** taken, left - taken
                if taken < low or low == high:
                    continue
                if high is None or high - low > SMALL:
                    break
                made += _class(mask) + f"{{0,{high - low}}}"
            case Or(choices) if deep:
                return _choice(
                    made, rate, [(*flattened(one), *items[at + 1 :]) for one in choices], left, deep
                )
            case Repeat(inner, 0, 1, _) if deep:
                rest = items[at + 1 :]
                return _choice(made, rate, [(*flattened(inner), *rest), rest], left, deep)
            case Repeat(inner, low, _, _) if low > 0:
                begun = _follow(flattened(inner), left, deep)
                return _Follow(made + begun.expression, rate * begun.rate)
            case Seq():
                return _choice(made, rate, [(*flattened(item), *items[at + 1 :])], left, deep)
            case _:
                break
    return _Follow(made, rate)


def _choice(
    made: str, rate: float, choices: Iterable[tuple[Node, ...]], left: int, deep: int
) -> _Follow:
    each = [_follow(items, left, deep - 1) for items in choices]
    if not all(one.expression for one in each):
        return _Follow(made, rate)
    said = "|".join(dict.fromkeys([one.expression for one in each]))
    return _Follow(f"{made}(?:{said})", rate * min(1.0, fsum([one.rate for one in each])))


def _lower(mask: int) -> int:
    """A set of characters as they are in lower case."""
    return caseless(mask) & ~UPPER & ~(1 << BORDER)


def _class(mask: int) -> str:
    return _PLAIN.sub(lambda found: chr(int(found[1], 16)), written(Chars(_lower(mask))))


def _share(mask: int) -> float:
    """How many of the characters of a usual text are in a set."""
    lowered, share = _lower(mask), 0.0
    for some, part in _SHARES:
        share += part * (lowered & some).bit_count() / some.bit_count()
        lowered &= ~some
    return min(1.0, share + _OTHER * lowered.bit_count())


def _rate_of(literal: bytes) -> float:
    rate = 1.0
    for byte in literal:
        rate *= _share(1 << byte)
    return rate
