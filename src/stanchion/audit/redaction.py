"""Redaction before writing: values under names that promise a secret never reach a record."""

from __future__ import annotations

from typing import Any, Final

from stanchion.kernel.secret_names import KNOWN, promises_secret

MASK: Final = "[redacted]"

_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def masked(value: Any) -> Any:
    """Data with the values under secret names masked; what has none is given back as it is."""
    if type(value) is dict:
        changed: dict[Any, Any] | None = None
        for name, item in value.items():
            if type(name) is str and (KNOWN[name] if name in KNOWN else promises_secret(name)):
                new = MASK if item is not None and not isinstance(item, bool) else item
            elif type(item) is str or type(item) is int:
                continue
            else:
                new = masked(item)
            if new is not item:
                changed = dict(value) if changed is None else changed
                changed[name] = new
        return value if changed is None else changed
    if type(value) is list or type(value) is tuple:
        if _SCALARS.issuperset(map(type, value)):
            return value
        items = [masked(item) for item in value]
        return value if all(new is item for new, item in zip(items, value, strict=True)) else items
    return value
