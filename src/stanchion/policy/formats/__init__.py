"""Foreign formats: files of other systems, recognised by their shape and translated into a policy document."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from stanchion.kernel.tuples import NamedTuple
from stanchion.policy.document import Document
from stanchion.policy.errors import Fault, PolicyError


class Format(NamedTuple):
    """One foreign format: its name, how its files are known, and how one becomes a policy document."""

    name: str
    recognises: Callable[[dict[str, Any]], bool]
    translate: Callable[[Document], Document] | None


def _has(*keys: str) -> Callable[[dict[str, Any]], bool]:
    return lambda data: any(key in data for key in keys)


FORMATS: Final[tuple[Format, ...]] = (
    Format("an AGENT-33 guardrail file", _has("guardrail", "guardrails", "custom_guardrail"), None),
    Format("a PenguiFlow policy pack", _has("policy_pack"), None),
)
"""The formats that are known by sight. One without a translator is named in the error, instead of a list of keys
that a policy does not have."""


def translated(document: Document) -> Document:
    """A document as a policy: itself, or what it says in the words of a policy."""
    data = document.root.data()
    if not isinstance(data, dict) or "name" in data:
        return document
    known = next((each for each in FORMATS if each.recognises(data)), None)
    if known is None:
        return document
    if known.translate is None:
        message = f"is {known.name}, which this version cannot read: write it as a policy with `name` and `guards`"
        raise PolicyError([Fault(document.where(), message)])
    return known.translate(document)
