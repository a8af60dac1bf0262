"""Texts of which only a part is known, and programs that a pattern may stand for."""

from __future__ import annotations

from stanchion.readings.word_lists import Strings


class OpenText(str):
    """A text with unknown parts, written as the shell writes them (`$NAME`, `$(…)`); `origin` names
    the programs that made it and, behind `<`, the files they read."""

    origin: Strings

    def __new__(cls, text: str, origin: Strings = ()) -> OpenText:
        """The text, marked."""
        made = super().__new__(cls, text)
        made.origin = origin
        return made


def origin_of(text: str | None) -> Strings:
    """Where a text's unknown parts come from."""
    return text.origin if isinstance(text, OpenText) else ()


def joined(texts: list[str]) -> str:
    """The texts as one; open where one of them is."""
    if len(texts) == 1:
        return texts[0]
    text = "".join(texts)
    origins: Strings = ()
    is_open = False
    for each in texts:
        if isinstance(each, OpenText):
            is_open = True
            origins += each.origin
    return OpenText(text, tuple(dict.fromkeys(origins))) if is_open else text


def like(text: str, *sources: str) -> str:
    """The text, open where one of those it was made of is."""
    found = [source for source in sources if isinstance(source, OpenText)]
    return (
        OpenText(text, tuple(dict.fromkeys([each for one in found for each in one.origin])))
        if found
        else text
    )
