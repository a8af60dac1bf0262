"""Methods whose module is loaded when they are first asked for: a program pays for those that it
uses."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from stanchion.runtime.keywords import answering


class later:  # noqa: N801  # it is written where a method would be
    """A method that is a function of the module `home`, by its own name or by the `name` given.
    From the first use on the class has the function itself, so that later calls cost nothing
    more."""

    def __init__(self, home: str, name: str = "") -> None:
        self._home = home
        self._name = name

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._method = owner, name

    def __get__(self, held: Any, owner: type | None = None) -> Any:
        made = answering(
            getattr(import_module(self._home), self._name if self._name else self._method)
        )
        setattr(self._owner, self._method, made)
        return made if held is None else made.__get__(held, owner)
