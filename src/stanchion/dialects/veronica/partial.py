"""Partial results: what came of a piece of work before it was ended."""

from __future__ import annotations

from typing import Any

from stanchion.dialects.errors import DialectError
from stanchion.dialects.veronica.given import Named, whole
from stanchion.runtime.deciding.run_memory import PartialOverflow, PartialResults


class PartialBufferOverflow(DialectError):
    """There is no more room; `kept` is what was kept until then."""

    def __init__(self, message: str, kept: tuple[Any, ...]) -> None:
        super().__init__(message)
        self.kept = kept


class PartialResultBuffer(Named):
    """Keeps the chunks of a result as they come, at most so many and so large, so that an early end
    loses nothing."""

    def __init__(self, max_chunks: int = 10_000, max_bytes: int = 10 * 1024 * 1024) -> None:
        self._kept = PartialResults(
            whole("max_chunks", max_chunks, 1), whole("max_bytes", max_bytes, 1)
        )

    def append(self, chunk: Any) -> None:
        """Keep a chunk. `PartialBufferOverflow` where there is no room, `DialectError` once it is
        complete."""
        try:
            self._kept.append(chunk)
        except PartialOverflow as full:
            raise PartialBufferOverflow(str(full), full.kept) from None
        except ValueError:
            raise DialectError(
                "the buffer is complete: make another one for what comes next"
            ) from None

    def mark_complete(self) -> None:
        """Say that nothing more comes."""
        self._kept.complete()

    def get_partial(self) -> str:
        """The texts that came so far, joined."""
        return self._kept.text

    @property
    def chunks(self) -> tuple[Any, ...]:
        """What came so far, the oldest first."""
        return self._kept.chunks

    @property
    def chunk_count(self) -> int:
        """How many came."""
        return len(self._kept)

    @property
    def is_complete(self) -> bool:
        """Whether nothing more comes."""
        return self._kept.completed

    @property
    def is_partial(self) -> bool:
        """Whether something came, and more may come."""
        return not self.is_complete and self.chunk_count > 0
