"""The shipped guards, by the name a policy uses them under; they are loaded when somebody asks for
them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stanchion.guards._shipped import SHIPPED

__all__ = ["SHIPPED"]


def __getattr__(name: str) -> Any:
    if name != "SHIPPED":
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    from stanchion.guards._shipped import SHIPPED

    return SHIPPED
