"""What a trail finds changed by others while it is opened or written, told to whoever listens."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeGuard
from weakref import WeakKeyDictionary

from stanchion.locks import Lock

if TYPE_CHECKING:
    from stanchion.audit.chain import Lost

MOST: Final = 100
"""How much of what was found is kept for those who listen later."""


class Tampering:
    """Remembers what was found, and tells it: at once to those who listen, and to those who begin
    to."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: deque[str] = deque(maxlen=MOST)
        self._listeners: WeakKeyDictionary[object, Callable[[str], None]] = WeakKeyDictionary()

    def hear(self, owner: object, listener: Callable[[str], None]) -> None:
        """Have somebody hear of it, as long as its owner is there."""
        with self._lock:
            self._listeners[owner] = listener
            found = list(self._found)
        for words in found:
            listener(words)

    def opened(self, unfit: Mapping[str, str], doubted: Lost) -> tuple[str, ...]:
        """A trail was opened: chains that nobody goes on with, each with why, and what the store
        misses in others. Gives the names of the chains."""
        said = {name: why for name, _, _, why in doubted}
        self._tell([f"chain `{name}`: {said.get(name, why)}" for name, why in unfit.items()])
        return tuple(unfit)

    def strayed(self, chain: str, why: str) -> None:
        """A chain was changed while it was written."""
        self._tell([f"chain `{chain}`: {why} while it was written"])

    def _tell(self, several: Iterable[str]) -> None:
        for words in several:
            with self._lock:
                if words in self._found:
                    continue
                self._found.append(words)
                listeners = list(self._listeners.values())
            for listener in listeners:
                listener(words)


class Telling(Protocol):
    """A journal that says what it finds changed."""

    @property
    def tampering(self) -> Tampering:
        """What it has found."""


def is_telling(journal: Any) -> TypeGuard[Telling]:
    """Whether a journal says what it finds changed, or passes the question on to one that does."""
    return hasattr(journal, "tampering")
