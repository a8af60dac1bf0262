"""The terms on which a decision is carried out."""

from __future__ import annotations

from typing import TypeVar

from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Isolate, Retry, Wait

Named = TypeVar("Named", Wait, Retry, Isolate)


def terms_of(decision: Decision, default: Named) -> Named:
    """The terms of the determining finding, or the defaults where it has none of that kind."""
    determining = decision.determining
    terms = None if determining is None else determining.terms
    return terms if isinstance(terms, type(default)) else default
