"""Texts that are only partly known, and where their unknown parts come from."""

from __future__ import annotations


class Open(str):
    """A text with unknown parts, written as the shell writes them (`$NAME`, `$(…)`); `origin` names
    the programs that made it and, behind `<`, the files they read."""

    origin: tuple[str, ...]

    def __new__(cls, text: str, origin: tuple[str, ...] = ()) -> Open:
        """The text, marked."""
        made = super().__new__(cls, text)
        made.origin = origin
        return made


def origin_of(text: str | None) -> tuple[str, ...]:
    """Where a text's unknown parts come from."""
    return text.origin if isinstance(text, Open) else ()


def joined(texts: list[str]) -> str:
    """The texts as one; open where one of them is."""
    if len(texts) == 1:
        return texts[0]
    text = "".join(texts)
    origins: tuple[str, ...] = ()
    is_open = False
    for each in texts:
        if isinstance(each, Open):
            is_open = True
            origins += each.origin
    return Open(text, tuple(dict.fromkeys(origins))) if is_open else text


def like(text: str, *sources: str) -> str:
    """The text, open where one of those it was made of is."""
    found = [source for source in sources if isinstance(source, Open)]
    return (
        Open(text, tuple(dict.fromkeys([each for one in found for each in one.origin])))
        if found
        else text
    )
