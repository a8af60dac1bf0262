"""Reading JSON from files that anybody may have written to."""

from __future__ import annotations

import json
import re
from typing import Any, Final

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_CHAIN: Final = re.compile(r"[0-9a-f]{16}")


class TooDeep(ValueError):
    """JSON that is nested deeper than this interpreter reads."""


def parsed(text: bytes) -> Any:
    """Parse JSON; raises `ValueError`. An object in which a name stands twice has the key None."""
    try:
        return _decode(text.decode())
    except RecursionError:
        raise TooDeep("it is nested too deeply to be read") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str | None, Any]:
    found: dict[str | None, Any] = dict(pairs)
    if len(found) != len(pairs):
        found[None] = True
    return found


def _integer(text: str) -> int | float:
    return int(text) if len(text) < 20 else float(text)


_decode = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer).decode


def is_hash(value: object) -> bool:
    """Whether a value is a hash as the format writes it."""
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def is_chain(value: object) -> bool:
    """Whether a value is the id of a chain."""
    return isinstance(value, str) and _CHAIN.fullmatch(value) is not None


def is_count(value: object) -> bool:
    """Whether a value is a whole number that is not negative."""
    return type(value) is int and value >= 0
