"""Fingerprints: what a finding is called without saying what it is, and which ones are no
secrets."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from stanchion.kernel.names import Names
from stanchion.readings.cover import Cover
from stanchion.readings.texts import Span

DIGITS: Final = 12


def fingerprint(kind: str, secret: str) -> str:
    """What a secret of a kind is called."""
    return sha256(f"{kind}\0{secret}".encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def not_allowed(text: str, spans: list[Span], allowed: Names, cleared: Iterable[str]) -> list[Span]:
    """The spans of a text that are not allowed: neither by fingerprint nor by value, nor inside of
    what is."""
    if not spans or not (allowed.exact or allowed.globs or cleared):
        return spans
    free = Cover(
        (span.start, span.end)
        for span in spans
        if _free(span.kind, text[span.start : span.end], allowed, cleared)
    )
    return [span for span in spans if not free.holds(span.start, span.end)]


def _free(kind: str, secret: str, allowed: Names, cleared: Iterable[str]) -> bool:
    called = fingerprint(kind, secret)
    return called in allowed.exact or called in cleared or secret in allowed
