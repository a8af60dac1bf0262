"""The toolbox: the tools that a shield has met, and what was declared of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from weakref import WeakKeyDictionary

from stanchion.kernel.declared import Declared
from stanchion.runtime.calling.tool import MARK, Tool


class Toolbox:
    """Knows the tool that a function is; what it learns of a function goes with the function."""

    def __init__(self) -> None:
        self._met: WeakKeyDictionary[Any, Tool] = WeakKeyDictionary()
        self._registered: dict[str, dict[Declared, None]] = {}

    def register(self, tool: Tool) -> None:
        """Remember what is declared of a tool, for whoever names it."""
        self._registered.setdefault(tool.name, {})[tool.declared] = None

    def declared(self, tool: str) -> Iterable[Declared]:
        """What was declared of a tool whenever one of that name was registered."""
        return self._registered.get(tool, ())

    def tool_of(self, fn: Callable[..., Any] | Tool) -> Tool:
        """The tool that a function is: as it was registered, or as it looks."""
        if isinstance(fn, Tool):
            return fn
        made = getattr(fn, MARK, None)
        if isinstance(made, Tool):
            bound = getattr(fn, "__self__", None)
            return made if bound is None else made.of(bound)
        if not callable(fn):
            raise TypeError(
                f"`{fn!r}` cannot be called: give the function itself, `run.check` takes names"
            )
        try:
            known = self._met.get(fn)
            if known is None:
                known = self._met[fn] = Tool(fn)
            return known
        except TypeError:
            return Tool(fn)
