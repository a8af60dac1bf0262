"""Ageing: when a chain begins its next segment because of its age, and when records of a trail may
have to leave."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from stanchion.audit.chain import Chain, Heads
from stanchion.audit.retention import Copier, Keep, is_due, retire


class Ageing:
    """Sees to it that what need not be kept leaves a trail in time."""

    def __init__(self, folder: Path, keep: Keep, clock: Callable[[], int]) -> None:
        self._folder, self._keep, self._clock = folder, keep, clock
        self._parted = False

    def outlived(self, chain: Chain) -> bool:
        """Whether the present segment began so long ago that the next should begin."""
        return self._keep.covers(chain.began, self._clock())

    def parted(self, chain: Chain, heads: Callable[[Chain], Heads]) -> int:
        """Begin a segment before a chain is gone on with, where the present one began long ago:
        what was written then does not stay for the sake of what comes. Gives how many records that
        takes."""
        if not self.outlived(chain):
            return 0
        before = chain.seq
        chain.rotate(heads(chain))
        self._parted = True
        return chain.seq - before

    def is_due(self) -> bool:
        """Whether records may have to leave."""
        return bool(self._keep) and (
            self._parted or is_due(self._folder, self._keep, self._clock())
        )

    def leave(
        self, chain: Chain, lock: AbstractContextManager[object], copier: Copier | None
    ) -> None:
        """Let leave what need not be kept; `lock` is what guards the chain."""
        self._parted = False
        if self._keep:
            retire(self._folder, chain, self._keep, self._clock(), lock, copier)
