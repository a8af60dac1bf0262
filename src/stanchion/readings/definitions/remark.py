"""Remarks: what a definition says that it need not say, where, and how telling that is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from stanchion.kernel.shown import brief, visible

KINDS: Final = {
    "instructs": "it gives the agent orders beyond its own use",
    "hidden": "it has text that people do not see",
    "others": "it speaks against other tools or gives orders about them",
    "demands": "it asks for files, secrets or the conversation",
    "imitates": "it passes for something that it is not",
    "unread": "it is too long to be read",
}
"""The kinds of remarks, in words."""
STRONG: Final = 2
"""From this weight on a tool is suspect; honest definitions have no such sentence."""
LONGEST: Final = 240
"""How much of a sentence is kept."""


class Remark(msgspec.Struct, frozen=True, gc=False):
    """One sentence of a definition: its kind, where it stands, its words, and its weight: a hint
    weighs one."""

    kind: str
    place: str
    words: str
    weight: int

    def __str__(self) -> str:
        """For people: what it is, where, and the sentence, safe to be shown."""
        quoted = f": {brief(self.words)}" if self.words else ""
        return f"{KINDS[self.kind]}, in its {visible(self.place)}{quoted}"


def kinds_of(remarks: Iterable[Remark]) -> str:
    """What remarks say, without a word of the definition itself: for an agent, which must not read
    it once more."""
    return ", and ".join(dict.fromkeys([KINDS[one.kind] for one in remarks]))


def strongest(remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    """The remarks that make a tool suspect: strong ones, and hints that stand in one sentence; the
    heaviest first."""
    given = list(remarks)
    sums: dict[tuple[str, str], int] = {}
    for one in given:
        sums[one.place, one.words] = sums.get((one.place, one.words), 0) + one.weight
    strong = [one for one in given if sums[one.place, one.words] >= STRONG]
    return tuple(sorted(strong, key=lambda one: -one.weight))
