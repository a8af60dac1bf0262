"""Partial results: what a run has produced so far, bounded, so that ending it early loses nothing
that was done."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.kernel.shown import StanchionError
from stanchion.locks import Lock
from stanchion.runtime.values import Unreadable, project

MAX_CHUNKS: Final = 10_000
MAX_BYTES: Final = 10 * 1024 * 1024


class PartialOverflow(StanchionError):
    """There is no more room for partial results; `kept` is what has been kept until now."""

    def __init__(self, message: str, kept: tuple[Any, ...]) -> None:
        super().__init__(message)
        self.kept = kept


class PartialResults:
    """Chunks in the order they were produced, at most so many and so large. Safe to use from
    several threads."""

    def __init__(self, max_chunks: int = MAX_CHUNKS, max_bytes: int = MAX_BYTES) -> None:
        if max_chunks < 1 or max_bytes < 1:
            raise ValueError(
                "partial results need space: give a `max_chunks` and a `max_bytes` of at least 1"
            )
        self.max_chunks, self.max_bytes = max_chunks, max_bytes
        self.size_bytes = 0
        self.left_out = 0
        """How many chunks found no room."""
        self.completed = False
        self._chunks: list[Any] = []
        self._lock = Lock()

    def append(self, chunk: Any) -> None:
        """Keep a chunk, as plain data. Raises `PartialOverflow` where there is no room,
        `ValueError` once complete."""
        with self._lock:
            if self.completed:
                raise ValueError(
                    "these partial results are complete: start new ones with another run"
                )
            if not self._keep(chunk):
                full = (
                    f"{len(self._chunks):,} chunks and {self.size_bytes:,} bytes are kept, and "
                    f"there is no room "
                    "for more"
                )
                raise PartialOverflow(
                    f"{full}: at most {self.max_chunks:,} and {self.max_bytes:,}",
                    tuple(self._chunks),
                )

    def offer(self, chunk: Any) -> bool:
        """Keep a chunk if there is room; otherwise it is counted, and work goes on."""
        with self._lock:
            kept = not self.completed and self._keep(chunk)
            self.left_out += not kept
            return kept

    def _keep(self, chunk: Any) -> bool:
        try:
            shown = project(chunk)
            size = len(
                shown.encode("utf-8", "surrogatepass")
                if type(shown) is str
                else msgspec.json.encode(shown)
            )
        except Unreadable:
            return False
        if len(self._chunks) >= self.max_chunks or self.size_bytes + size > self.max_bytes:
            return False
        self._chunks.append(shown)
        self.size_bytes += size
        return True

    def complete(self) -> None:
        """Say that nothing more comes."""
        with self._lock:
            self.completed = True

    @property
    def chunks(self) -> tuple[Any, ...]:
        """What is kept, oldest first."""
        with self._lock:
            return tuple(self._chunks)

    @property
    def text(self) -> str:
        """The texts among the chunks, joined."""
        return "".join([chunk for chunk in self.chunks if isinstance(chunk, str)])

    def __len__(self) -> int:
        return len(self._chunks)
