"""Masking of secrets by their names, or told as such in prose, in whatever is written down or shown
to others: records, tickets, prompts of a judge, experience. What guards redact is theirs."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.kernel.regex import finding
from stanchion.kernel.secret_names import KNOWN, SECRET_NAMES, promises_secret
from stanchion.kernel.told_secrets import HINTS, without_told

MASK: Final = "[redacted]"

_NUMBERS: Final = frozenset({int, float, bool, type(None)})
_LISTS: Final = frozenset({list, tuple})

_SPELLED: Final = tuple(map("[-_. ]*".join, sorted(SECRET_NAMES)))
_SIGNS: Final = "|".join((*_SPELLED, *HINTS)).replace("|pass|", "|pass[wpc]|")
"""What is in every name that promises a secret, and before every one that a text tells, in small
letters."""


def masked(value: Any, looked: bool = False) -> Any:
    """Data with the values under secret names masked, and secrets that its texts tell; what has
    none is given back as it is. With `looked` a list that it is in was looked at as a whole."""
    if type(value) is str:
        return without_told(value, MASK)
    if type(value) is dict:
        changed: dict[Any, Any] | None = None
        for name, item in value.items():
            if type(name) is str and (KNOWN[name] if name in KNOWN else promises_secret(name)):
                new = MASK if item is not None and not isinstance(item, bool) else item
            elif type(item) is int:
                continue
            elif type(item) is str:
                new = without_told(item, MASK) if " " in item else item
            else:
                new = masked(item, looked)
            if new is not item:
                changed = dict(value) if changed is None else changed
                changed[name] = new
        return value if changed is None else changed
    if type(value) in _LISTS:
        if _NUMBERS.issuperset(map(type, value)) or not (looked or _may_tell(value)):
            return value
        return _each_masked(value)
    return value


def _may_tell(values: Any) -> bool:
    """Whether anything in a list may have to be masked: a run's records are looked at again with
    each event, and most have nothing."""
    try:
        said = msgspec.json.encode(values).lower()
    except (TypeError, ValueError, RecursionError):
        return True
    return not said.isascii() or finding(_SIGNS)(said) is not None


def _each_masked(values: list[Any] | tuple[Any, ...]) -> list[Any] | tuple[Any, ...]:
    masks: list[Any] | None = None
    for at, item in enumerate(values):
        if type(item) is str:
            new = without_told(item, MASK) if " " in item else item
        else:
            new = item if type(item) in _NUMBERS else masked(item, True)
        if new is not item:
            masks = list(values) if masks is None else masks
            masks[at] = new
    return values if masks is None else masks
