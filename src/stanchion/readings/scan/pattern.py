"""One pattern that is looked for: its expression, its bounds, and where it matches in a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Final, NamedTuple

from stanchion.kernel.regex import MEMORY, linear
from stanchion.readings.scan.facts import (
    Head,
    beginnings,
    head,
    loose,
    width,
    written,
)
from stanchion.readings.scan.pattern_parser import (
    BORDER,
    Chars,
    GroupNode,
    Node,
    PatternError,
    Repeat,
    Seq,
    inverse,
    read,
)
from stanchion.readings.scan.windows import Window, windows

LONGEST: Final = 4_095
"""How long a match can be."""
LONGEST_BLOCK: Final = 16_384
"""How long a block can be, from its opening to its closing."""


class Match(NamedTuple):
    """Where a pattern matches, and the part of it that counts."""

    start: int
    end: int
    left: int
    right: int


class Facts(NamedTuple):
    """What is known of a pattern before it is compiled: the least length of a match, how far one
    can reach from where it begins (of a block: its opening), and what has to be in a text for it to
    match: soon after it begins, and the rarest (`None`: not looked for yet)."""

    shortest: int
    reach: int
    head: Head | None
    windows: tuple[Window, ...] | None = None


class Pattern:
    """A pattern in the syntax of RE2. A match counts where it holds one of the keywords, in
    whatever case; of a match counts its first group, where it has one.

    Every place where it can begin is tried for itself, so that what is found in one place depends
    on nothing but the characters there, and one before and behind. No match is longer than
    `LONGEST`. A `block` has an opening, any number of characters of one set (`[\\s\\S]*?`) and a
    closing, and may be longer.
    """

    def __init__(
        self,
        text: str,
        keywords: Iterable[str] = (),
        block: bool = False,
        facts: Facts | None = None,
    ) -> None:
        self.text = text
        self.keywords = tuple(
            [keyword.lower().encode("latin-1", "replace") for keyword in keywords]
        )
        self.block = block
        self.facts = self._learnt() if facts is None else facts
        self.shortest, self.reach, self.head, _ = self.facts

    def _learnt(self) -> Facts:
        whole = read(self.text)
        least, most = width(whole)
        if least == 0:
            raise PatternError(
                f"the pattern `{self.text}` matches the empty text: say what it has to hold"
            )
        if self._parts is None and (most is None or most > LONGEST):
            said = "have no end" if most is None else f"can have {most:,} characters"
            limit = f"the most is {LONGEST:,}: write `{{1,100}}` in place of `+`"
            raise PatternError(f"the matches of the pattern `{self.text}` {said}, {limit}")
        tree, _, _ = self._read
        return Facts(least, width(tree)[1] or 0, head(tree))

    @cached_property
    def _read(self) -> tuple[Node, int, Node | None]:
        """Its tree; that of a block is its opening, with the characters inside and its closing
        beside it."""
        tree = read(self.text)
        while isinstance(tree, GroupNode):  # what is all of a match need not be told apart in it
            tree = tree.item
        parts = _split(tree) if self.block and width(tree)[1] is None else None
        return (tree, 0, None) if parts is None else parts

    @property
    def _parts(self) -> Node | None:
        """The closing of a block; `None` where it is none."""
        return self._read[2] if self.block else None

    @property
    def _loose(self) -> Node:
        return loose(self._read[0])

    @cached_property
    def windows(self) -> tuple[Window, ...]:
        """What every match has one of; none where it may match anywhere."""
        known = self.facts.windows
        return windows(self._read[0]) if known is None else known

    @property
    def begins(self) -> str:
        """The expression of everything with which a match can begin."""
        return written(beginnings(self._loose), captured=False)

    @cached_property
    def _search(self) -> Any:
        """Finds where matches may begin. Groups cost a pass of their own: those of the match itself
        tell."""
        return compiled(written(self._loose, captured=self._match is None))

    @cached_property
    def _match(self) -> Any:
        """Says what the match is that begins at a place; `None` where that is known already."""
        tree = self._read[0]
        return None if self._loose == tree else compiled(written(tree))

    @cached_property
    def _beginning(self) -> Any:
        """Finds where the first match begins that a text ends within; at the end if there is
        none."""
        return compiled(f"(?:{self.begins})\\z")

    @cached_property
    def _closing(self) -> Any:
        assert self._parts is not None
        return compiled(written(self._parts, captured=False))

    @cached_property
    def _foreign(self) -> Any:
        """What cannot be inside of a block."""
        return compiled(written(Chars(inverse(self._read[1]) | 1 << BORDER), captured=False))

    def check(self) -> None:
        """Raise `PatternError` where the engine refuses the expression."""
        _ = self._search, self._match

    def matches(self, flat: bytes, first: int, last: int) -> Iterator[Match]:
        """All matches that begin and, unless it is a block, end in a part of a text."""
        blocks = _Blocks(flat, self._closing, self._foreign) if self._parts is not None else None
        while (seen := self._next(flat, first, last)) is not None:
            start, end = seen.span()
            first = start + 1
            if blocks is None:
                group = seen.span(1) if seen.re.groups else (-1, -1)
                one = Match(start, end, *(group if group[0] >= 0 else (start, end)))
            else:
                closed = blocks.closed(start, end)
                if closed is None:
                    continue
                one = Match(start, closed, start, closed)
            if one.left < one.right and self._spoken(flat[start : one.end]):
                yield one

    def _next(self, flat: bytes, first: int, last: int) -> Any:
        """The next match of the expression."""
        if self._match is None:
            return self._search.search(flat, first, last)
        far = self.reach
        while first < last:
            # Nothing is counted here, so that it is bounded how far is looked: as far as a match
            # can reach, and twice as far each time that nothing was found.
            seen = self._search.search(flat, first, min(last, first + far + self.reach))
            if seen is None:
                first, far = first + far, 2 * far
                continue
            exact = self._match.match(flat, seen.start(), last)
            if exact is not None:
                return exact
            first, far = seen.start() + 1, self.reach
        return None

    def _spoken(self, text: bytes) -> bool:
        if not self.keywords:
            return True
        lowered = text.lower()
        return any(keyword in lowered for keyword in self.keywords)

    def open_at(self, flat: bytes, needed: bool = True) -> int:
        """Where the first match begins that what follows the text may still make, unmake or change;
        `needed` says whether a literal that it needs is in the text."""
        size = len(flat)
        near = self.reach if needed or self.head is None else self.head.width
        begun = int(self._beginning.search(flat, max(0, size - near)).start())
        if self._parts is None:
            return begun
        first = max(0, size - LONGEST_BLOCK)
        blocks = _Blocks(flat, self._closing, self._foreign)
        while first < begun and (seen := self._search.search(flat, first)) is not None:
            start, opened = seen.span()
            if blocks.closed(start, opened) in (None, size) and blocks.foreign(opened) == size:
                return min(begun, int(start))
            first = start + 1
        return begun


class _Blocks:
    """Finds where blocks end, from left to right: what was found for one opening is not looked for
    again."""

    def __init__(self, flat: bytes, closing: Any, foreign: Any) -> None:
        self._flat = flat
        self._closing = closing
        self._foreign = foreign
        self._closed = self._strange = (-1, -1)

    def closed(self, start: int, opened: int) -> int | None:
        """Where the block ends that begins at `start`; `None` where it does not."""
        if self._closed[0] < opened:
            self._closed = self._next(self._closing, opened)
        begins, ends = self._closed
        return (
            ends
            if ends - start <= LONGEST_BLOCK and begins <= self.foreign(opened) and begins >= 0
            else None
        )

    def foreign(self, opened: int) -> int:
        """Where the first character stands that cannot be in the block."""
        if self._strange[0] < opened:
            self._strange = self._next(self._foreign, opened)
        return self._strange[0]

    def _next(self, expression: Any, first: int) -> tuple[int, int]:
        seen = expression.search(self._flat, first)
        size = len(self._flat)
        span: tuple[int, int] = (size, size + LONGEST_BLOCK + 1) if seen is None else seen.span()
        return span


def _split(tree: Node) -> tuple[Node, int, Node] | None:
    """The opening of a block, the characters inside, and its closing."""
    items = tree.items if isinstance(tree, Seq) else ()
    loops = [
        at for at, item in enumerate(items) if isinstance(item, Repeat) and width(item)[1] is None
    ]
    if len(loops) != 1:
        return None
    at = loops[0]
    loop = items[at]
    assert isinstance(loop, Repeat)
    opening, closing = Seq(items[:at]), Seq(items[at + 1 :])
    inside = loop.item.item if isinstance(loop.item, GroupNode) else loop.item
    if not isinstance(inside, Chars) or width(opening)[0] == 0 or width(closing)[0] == 0:
        return None
    return opening, inside.mask, closing


def compiled(expression: str, memory: int = MEMORY) -> Any:
    """An expression over bytes, compiled by RE2; its automaton takes no more than so many bytes."""
    try:
        return linear(expression, memory)
    except ValueError as error:
        raise PatternError(
            f"a pattern is too large to be looked for ({error}): make it shorter"
        ) from None
