"""Hooks that a policy can state: each gives the guards that stand for it at a boundary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

Entry = dict[str, Any]


class Stated(ABC):
    """A hook that needs no code of its own, because guards of Stanchion judge what it judges."""

    @abstractmethod
    def entries(self, boundary: str) -> list[Entry]:
        """The guards that stand for this hook at a boundary."""
