"""Entities: what a kind of personal data looks like, as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

Check = Callable[[str], bool]
"""Whether letters and digits, in capitals and without separators, can be the thing: check digits,
dates, prefixes."""
Reads = Callable[[str, bool], Sequence[int]]
"""How many leading characters of a text may be the thing, longest first, given whether a word
nearby says so."""


class Entity(msgspec.Struct, frozen=True):
    """One kind of personal data.

    A shape is written with `9` for a digit, `A` for a letter, `*` for either; everything else
    stands for itself. `shapes` are distinctive: with a right `check` they count anywhere. `told`
    are shapes that many things have: they count only where one of `words` (parted by `|`) stands
    shortly before, or names the field; `summed` says that the check is a check digit, which few
    other numbers have. What has no fixed shape has a `sieve`, a linear pattern that finds where it
    may begin, the characters it begins with (`heads`), a `pattern` for all of it, and `reads`,
    which says how much of that it is; `opens` matches its unfinished beginnings, where blanks may
    stand in it. `glued` are characters that may not stand directly before it. None is longer than
    `longest`. What is not `usual` is looked for only where a policy asks for it.
    """

    kind: str
    title: str
    shapes: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    check: Check | None = None
    summed: bool = True
    words: str = ""
    usual: bool = True
    sieve: str = ""
    pattern: str = ""
    heads: str = ""
    reads: Reads | None = None
    opens: str = ""
    longest: int = 48
    glued: str = "+@"
