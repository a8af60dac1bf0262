"""Requests: something other than a ticket that only an operator may have done."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.approvals.act import Purpose
from stanchion.approvals.digest import hashed


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Something that only an operator may have done: to what (`subject`), and how (`said`, plain
    data)."""

    purpose: Purpose
    tenant: str = "default"
    subject: str = ""
    said: dict[str, Any] = {}

    @property
    def digest(self) -> str:
        """The hash of all of it: what is signed."""
        return hashed(msgspec.to_builtins(self))
