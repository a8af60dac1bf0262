"""What is used as a context manager for the run that it belongs to."""

from __future__ import annotations

from typing import Any, Self


class Entered:
    """Is entered, left and closed as its run is, in sync and in async code."""

    run: Any

    def close(self) -> None:
        """End the run: nothing of it proceeds any more."""
        self.run.close()

    async def aclose(self) -> None:
        """`close` for async code."""
        await self.run.aclose()

    def __enter__(self) -> Self:
        self.run.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.run.__exit__(*error)

    async def __aenter__(self) -> Self:
        await self.run.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self.run.__aexit__(*error)
