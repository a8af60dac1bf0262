"""The shipped guards, by the name a policy uses them under: each is the module of that name in this
room.

Nothing lists them. The room is looked through when names are asked for, and a guard is imported
when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

ROOM: Final = "stanchion.guards"


class ShippedGuards(Mapping[str, type[Any]]):
    """The guards of a room, each imported when somebody asks for it."""

    def __init__(self, room: str) -> None:
        self._room = room
        self._names: tuple[str, ...] = ()
        self._known: dict[str, type[Any]] = {}

    def __getitem__(self, name: str) -> type[Any]:
        """The class of a guard; `KeyError` where there is none of that name."""
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._loaded(name)
        return found

    def _loaded(self, name: str) -> type[Any]:
        """A guard that nobody has asked for yet. It is tried by its name first: looking through the
        room takes longer than loading one guard. Only where that gives nothing is the room asked
        whether there is such a guard at all."""
        if not name.isidentifier() or name.startswith("_"):
            raise KeyError(name)
        try:
            return guard_in(f"{self._room}.{name}", name)
        except (AttributeError, ImportError):
            if name in self.names():
                raise
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def names(self) -> tuple[str, ...]:
        """The names of all guards, in order; nothing is imported for them."""
        if not self._names:
            from pkgutil import iter_modules, resolve_name

            modules = iter_modules(resolve_name(self._room).__path__)
            self._names = tuple(
                sorted([module.name for module in modules if not module.name.startswith("_")])
            )
        return self._names


def guard_in(module: str, name: str) -> type[Any]:
    """The guard that a module has: the class that says the module's name is its own."""
    from pkgutil import resolve_name

    for found in vars(resolve_name(module)).values():
        if (
            isinstance(found, type)
            and getattr(found, "name", None) == name
            and hasattr(found, "kind")
        ):
            return found
    said = (
        f"`{module}` has no guard: write a class with `name: ClassVar[str] = {name!r}` and a "
        f"`kind` into it"
    )
    raise TypeError(f"{said}, or begin the module's name with `_`")


SHIPPED: Final = ShippedGuards(ROOM)
