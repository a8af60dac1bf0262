"""Lists of a configuration that has been read: whoever made something of it would not see a
change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from stanchion.dialects.errors import DialectError


class SealedList(list[str]):
    """A list that can be read, compared and copied like any other, and not be changed."""

    def __init__(self, name: str, items: Iterable[str] = ()) -> None:
        super().__init__(items)
        self._name = name

    def __reduce_ex__(self, _protocol: Any) -> tuple[Any, ...]:
        return type(self), (self._name, list(self))

    def _refuse(self, *_args: Any, **_named: Any) -> NoReturn:
        said = (
            f"`{self._name}` is changed after an integration or a hook was made of it, which "
            f"does not see it"
        )
        raise DialectError(f"{said}: make a new configuration")

    append = extend = insert = remove = pop = clear = sort = reverse = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
