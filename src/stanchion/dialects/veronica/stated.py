"""Hooks that a policy can state: each gives the guards that stand for it at a boundary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

Entry = dict[str, Any]


class Stated(ABC):
    """A hook that needs no code of its own, because guards of Stanchion judge what it judges."""

    resolver: Callable[[str, int], Any] | None = None
    """What names of hosts are looked up with, in place of the system's."""

    @abstractmethod
    def entries(self, boundary: str) -> list[Entry]:
        """The guards that stand for this hook at a boundary."""
