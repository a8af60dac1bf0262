"""Names that are most likely misspelt: not among those that are known, and one slip away from one
of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

SHORTEST: Final = 4
"""Shorter names are too often one letter apart on purpose."""


class Known:
    """Names that are known. A slip is found in the same time however many there are."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names: Final = dict.fromkeys(names)
        self._near: dict[str, str] = {}
        for name in self.names:
            for form in _forms(name):
                self._near.setdefault(form, name)

    def meant(self, name: str) -> str | None:
        """The known name that a wrong one was likely meant to be; `None` where it is known, or like
        none."""
        if name in self.names or len(name) < SHORTEST:
            return None
        return next(
            (known for form in _forms(name) if _is_slip(name, known := self._near.get(form))), None
        )


def _is_slip(name: str, known: str | None) -> bool:
    """Whether two names that look alike are hardly two names: `get_it` and `set_it`, `file` and
    `files`, `worker-1` and `worker-2` are."""
    if known is None:
        return False
    one, other = _plain(name), _plain(known)
    if one == other:
        return True
    apart = re.sub(r"\d", "", one) == re.sub(r"\d", "", other) or one.rstrip("s") == other.rstrip(
        "s"
    )
    return not apart and one[0] == other[0]


def _plain(name: str) -> str:
    return re.sub(r"[-_. ]", "", name.casefold())


def _forms(name: str) -> Iterator[str]:
    """What a name looks like without its case and hyphens, and with one character less."""
    plain = _plain(name)
    yield plain
    if len(plain) >= SHORTEST:
        yield from (plain[:at] + plain[at + 1 :] for at in range(len(plain)))
