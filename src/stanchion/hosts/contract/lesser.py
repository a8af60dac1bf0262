"""A model as a request is to be sent to it: another one, or with other limits, where that was
decided."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any


def lesser(model: Any, decided: Mapping[str, Any]) -> Any:
    """A copy of a framework's model with these attributes, for hosts that keep what they ask for in
    an object.

    It is the model itself where it has them already. Raises `AttributeError` where it has no such
    attribute: what was decided could not be carried out.
    """
    changed = {name: value for name, value in decided.items() if _of(model, name) != value}
    if not changed:
        return model
    made = copy.copy(model)
    vars(made).update(changed)
    return made


def _of(model: Any, name: str) -> Any:
    try:
        return getattr(model, name)
    except AttributeError:
        kind = type(model).__name__
        raise AttributeError(
            f"a model of the type `{kind}` has no `{name}`: it cannot be asked for less"
        ) from None
