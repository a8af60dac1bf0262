"""Answers that are over for a process: used, or taken back."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from stanchion.approvals.act import Answer

FIRST: Final = 1_024
"""How many are remembered before those are dropped whose time is over."""


class Spent:
    """What a process has seen used or taken back. A store that others can write to may say
    otherwise later; a process that starts anew does not know it any more."""

    def __init__(self) -> None:
        self._until: dict[bytes, int] = {}
        self._most = FIRST

    def add(self, answer: Answer, now: int) -> None:
        """Remember an answer until its time is over."""
        if len(self._until) >= self._most:
            self._until = {mark: until for mark, until in self._until.items() if now < until}
            self._most = max(FIRST, 2 * len(self._until))
        self._until[_mark(answer)] = answer.act.until

    def has(self, answer: Answer) -> bool:
        """Whether an answer is over."""
        return bool(self._until) and _mark(answer) in self._until


def _mark(answer: Answer) -> bytes:
    """What tells an answer from others, however it is encoded: what it says, and not its
    signature."""
    return sha256(answer.act.message).digest()
