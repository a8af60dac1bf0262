"""Decoding once over: runs of a text that are base64 or percent-encoding, and where what they say stands in it."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final, NamedTuple

from stanchion.readings.joined import Joined

RUN: Final = "[0-9A-Za-z%+/_.~=-]"
"""What encoded text is made of."""
LETTERS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz%+/_.~=-"
SHORTEST: Final = 24
LONGEST: Final = 4_000
"""Longer runs are not decoded where a text may come in pieces."""

_HEX: Final = frozenset("0123456789abcdefABCDEF")
_PRINTED: Final = frozenset(range(32, 127)) | {9, 10, 13}


class Decoded(NamedTuple):
    """A run of a text that says something else: where it stands, what it says, and where each part of that stands."""

    start: int
    end: int
    text: str
    places: tuple[int, ...] = ()

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The part of the text that says these characters."""
        if self.places:
            return self.places[first], self.places[last]
        return self.start + first // 3 * 4, min(self.end, self.start + -(-last // 3) * 4)


@cache
def _expressions() -> tuple[Any, Any, Any]:
    """Runs, base64, and what a text has one of that has either."""
    import re2  # type: ignore[import-untyped]  # it ships no stubs

    long, base64 = f"{RUN}{{{SHORTEST},}}", f"[0-9A-Za-z+/_-]{{{SHORTEST},}}={{0,2}}"
    either = f"[0-9A-Za-z+/_-]{{{SHORTEST}}}|%[0-9A-Fa-f]{{2}}"
    return re2.compile(long.encode()), re2.compile(base64.encode()), re2.compile(either.encode())


def decoded_in(texts: Joined, most: int | None = None) -> list[tuple[int, Decoded]]:
    """What the encoded runs of several texts say, each with the number of its text."""
    if len(texts.text) < SHORTEST or _expressions()[2].search(texts.flat) is None:
        return []
    return [(at, run) for at, text in enumerate(texts.texts) for run in decoded(text, most)]


def decoded(text: str, most: int | None = None) -> Iterator[Decoded]:
    """What the runs of a text say that are encoded; of no run that is longer than `most`."""
    if len(text) < SHORTEST:
        return
    long, base64, _ = _expressions()
    flat = text.encode("latin-1", "replace")
    if "%" not in text and (most is None or len(text) <= most):
        # What base64 is made of is what runs are made of: without the rest of them it stands in the same places.
        yield from _said(text, base64.finditer(flat))
        return
    for run in long.finditer(flat):
        start, end = run.span()
        if most is not None and end - start > most:
            continue
        if "%" in text[start:end]:
            made = _unquoted(text, start, end)
            if made is not None:
                yield made
        yield from _said(text, base64.finditer(flat, start, end))


def _said(text: str, parts: Iterable[Any]) -> Iterator[Decoded]:
    """What parts of a text say that are base64 of text."""
    for part in parts:
        first, last = part.span()
        said = _plain(text[first:last])
        if said:
            yield Decoded(first, last, said)


def _plain(run: str) -> str:
    """What base64 says, where that is text; empty where it is not."""
    body = run.rstrip("=")
    body = body[:-1] if len(body) % 4 == 1 else body
    other = b"-_" if "-" in body or "_" in body else None
    try:
        said = b64decode(body + "=" * (-len(body) % 4), other, validate=True)
    except (Error, ValueError):
        return ""
    return said.decode("ascii") if said.isascii() and _PRINTED.issuperset(said) else ""


def _unquoted(text: str, start: int, end: int) -> Decoded | None:
    """What percent-encoding says, character by character."""
    said: list[str] = []
    places: list[int] = []
    at = start
    while at < end:
        places.append(at)
        code = text[at + 1 : at + 3]
        if text[at] == "%" and len(code) == 2 and at + 3 <= end and _HEX.issuperset(code):
            said.append(chr(int(code, 16)))
            at += 3
        else:
            said.append(text[at])
            at += 1
    if len(said) == end - start:
        return None
    return Decoded(start, end, "".join(said), (*places, end))


def runs(text: str) -> list[tuple[int, int]]:
    """Where runs stand that may be decoded."""
    return [run.span() for run in _expressions()[0].finditer(text.encode("latin-1", "replace"))]


def last_run(text: str) -> int:
    """Where the run at the end of a text begins."""
    return len(text.rstrip(LETTERS))
