"""An undertaking: what a host does under a decision, and whose failure it is where something fails.

What a tool or a model raises is the host's own, and goes on to it. Everything else that fails is
ours: nobody has judged the action then, or what came of it, and the host gets a refusal in its own
words.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from stanchion.kernel.shown import StanchionError
from stanchion.runtime.calling.tool import Shape, shape_of
from stanchion.runtime.values.anatomy import awaits


class Undertaking:
    """Remembers whether something was begun, and what it has raised."""

    __slots__ = ("_raised", "begun")

    def __init__(self) -> None:
        self.begun = False
        self._raised: BaseException | None = None

    def of(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """The function, watched; one that is async stays so."""

        @functools.wraps(fn, updated=())
        def done(*args: Any, **kwargs: Any) -> Any:
            made = self._tried(fn, args, kwargs)
            return self._awaited(made) if awaits(made) else made

        @functools.wraps(fn, updated=())
        async def adone(*args: Any, **kwargs: Any) -> Any:
            return await self._awaited(self._tried(fn, args, kwargs))

        return adone if shape_of(fn) is Shape.ASYNC else done

    def is_ours(self, error: Exception) -> bool:
        """Whether an error is ours and not meant to be raised. A generator cannot let a
        `StopIteration` out: a host whose tool raises one gets another error in its place."""
        if isinstance(error, StanchionError) or error is self._raised:
            return False
        return not isinstance(self._raised, StopIteration | StopAsyncIteration)

    def _tried(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.begun, self._raised = True, None
        try:
            return fn(*args, **kwargs)
        except BaseException as error:
            self._raised = error
            raise

    async def _awaited(self, made: Any) -> Any:
        try:
            return await made
        except BaseException as error:
            self._raised = error
            raise
