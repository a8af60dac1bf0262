"""Replies: a model's answer of any type, its words judged, the rest of it clean, and its type
kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from stanchion.kernel.findings import Finding, Patch
from stanchion.kernel.patches import PatchError, apply
from stanchion.kernel.stages import Stage
from stanchion.runtime.deciding.clean import hidden
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.discretion import WITHHELD
from stanchion.runtime.deciding.unread import NOTHING, against, unreadable
from stanchion.runtime.values import Read, Unreadable, read, restored
from stanchion.runtime.values.texts import MAX_CHARS
from stanchion.runtime.values.words import (
    LOGPROBS,
    Path,
    Words,
    at,
    fields_of,
    patches_for,
    texts_in,
    words_of,
)

SPELLED: Final = frozenset({LOGPROBS})
SHORTEST: Final = 6
"""Texts of an envelope that are shorter hold nothing that guards look for."""


class Reply(NamedTuple):
    """A reply as it was read: its words, what stands against it, and what has to be hidden besides
    its words."""

    seen: Read
    words: Words
    text: str
    refused: tuple[Finding, ...] = ()
    beside: tuple[Patch, ...] = ()

    def handed(self, patches: Sequence[Patch]) -> Any:
        """The reply as it goes on, with its words patched like that."""
        content = self.seen.content
        spoken = patches_for(self.words.spoken(content), patches)
        if spoken:
            spoken += tuple([Patch(place, None) for place in fields_of(content, SPELLED)])
        try:
            changed = apply(content, (*spoken, *self.beside))
        except PatchError:
            withheld = [Patch(patch.path, WITHHELD) for patch in self.beside]
            words = [Patch(path, WITHHELD) for path, _ in self.words.spoken(content)]
            changed = apply(content, (*words, *withheld))
        return restored(self.seen.handed, content, changed)


def reply_of(desk: Desk, value: Any) -> Reply:
    """A model's reply, read once. A text is its own words, halves of characters in it included."""
    if type(value) is str and len(value) <= MAX_CHARS:
        return Reply(Read(value, value), words_of(""), value)
    try:
        seen = read(value)
    except Unreadable as error:
        return Reply(NOTHING, words_of(""), "", unreadable(error))
    words = words_of(seen.content)
    spoken = words.spoken(seen.content)
    patches, refused = hidden(desk, others(seen.content, {path for path, _ in spoken}))
    unread = against(desk, Stage.MODEL_REPLY, "", seen) if seen.unread else ()
    return Reply(seen, words, words.text(seen.content), (*unread, *refused), patches)


def others(content: Any, words: set[Path], shortest: int = SHORTEST) -> list[tuple[Path, str]]:
    """The texts of a reply that are no words of it."""
    if type(content) is str:
        return []
    places = [(path, at(content, path)) for path in texts_in(content) if path not in words]
    return [(path, text) for path, text in places if len(text) >= shortest]
