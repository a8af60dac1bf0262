"""Taking a policy that was parsed elsewhere: plain data, whose places are the paths in it."""

from __future__ import annotations

from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.policy.document import UNREADABLE, Budget, Document, Location, Node, shown
from stanchion.policy.errors import PolicyError
from stanchion.policy.scalars import MAX_NUMBER, number_trouble, text_trouble

_SIMPLE: Final = regex(r"[A-Za-z_][\w-]*")


def read_data(data: Any, origin: str = "policy") -> Document:
    """Take a mapping that was parsed elsewhere; its places are paths, its mistakes are in the
    document's faults."""
    copying = _Copying(origin)
    try:
        root = copying.node(data, "", 1)
    except PolicyError as stop:
        return Document(origin, Node(UNREADABLE, Location(origin)), (*copying.faults, *stop.faults))
    return Document(origin, root, tuple(copying.faults))


class _Copying(Budget):
    """Copies plain data, so that whoever made it may go on changing it."""

    def node(self, data: Any, path: str, depth: int) -> Node:
        place = Location(self.origin, path=path)
        self.spend(place, 1, depth)
        match data:
            case None | bool():
                return Node(data, place, place, {None: "null", True: "true", False: "false"}[data])
            case str():
                text = str.__str__(data)
                trouble = text_trouble(text)
                return Node(self.fault(place, trouble) if trouble else text, place, place, text)
            case int() | float():
                number = int(data) if isinstance(data, int) else float(data)
                trouble = number_trouble(number)
                text = repr(number) if not trouble else "this number"
                return Node(
                    self.fault(place, f"{text} {trouble}") if trouble else number,
                    place,
                    place,
                    text,
                )
            case list() | tuple():
                items = [
                    self.node(item, f"{path}[{at}]", depth + 1) for at, item in enumerate(data)
                ]
                return Node(items, place, place)
            case dict():
                return Node(self._entries(data, path, depth), place, place)
            case _:
                what = f"a value of type `{type(data).__name__}` has no place in a policy"
                return Node(
                    self.fault(place, f"{what}: give text, numbers, lists and mappings"),
                    place,
                    place,
                )

    def _entries(self, data: dict[Any, Any], path: str, depth: int) -> dict[str, Node]:
        entries: dict[str, Node] = {}
        for key, item in data.items():
            name = _name(key)
            step = name if _SIMPLE.fullmatch(name) else f"[{shown(name)[1:-1]}]"
            below = f"{path}.{step}" if path and step == name else f"{path}{step}"
            trouble = (
                text_trouble(name)
                if isinstance(key, str)
                else f"the key {shown(name)} is not text: put it in quotes"
            )
            if trouble:
                self.fault(Location(self.origin, path=below), trouble)
            entries[name] = self.node(item, below, depth + 1)
        return entries


def _name(key: object) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    small = (
        key is None or isinstance(key, float) or (isinstance(key, int) and abs(key) <= MAX_NUMBER)
    )
    return repr(key) if small else type(key).__name__
