"""A store that holds no secret: what a name hides is written as a digest, and read as the name
again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any, Final, TypeVar

from stanchion.kernel.regex import regex
from stanchion.kernel.state import STANDING, Batch, Reply, key
from stanchion.policy.veil import Pairs, Veil, renamed
from stanchion.stores.protocol import ends_here
from stanchion.stores.seen import Hold, Seen
from stanchion.stores.wrapped import Wrapped

T = TypeVar("T")

MOST: Final = 4_096
"""How many keys are remembered that were looked at."""
DIGITS: Final = 32
"""How much of its hash stands for a secret: enough that no two of them share a counter."""

_PARTS: Final = regex(r"[^{}:~]+")


class VeiledStore(Wrapped):
    """A store around another that never gets the secrets which a policy's guards find in names. In
    keys, ids and records a digest stands for each. Whoever asks by a name knows the name, so that
    it is found by the same digest, and what comes back has the names that this process knows."""

    def __init__(self, store: Any, veil: Callable[[], Veil]) -> None:
        super().__init__(store)
        self.unveiled = store
        self._veil = veil
        self._looked_at: set[str] = set()
        self._words: dict[str, str] = {}
        self._hidden: Pairs = ()
        self._known: Pairs = ()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out."""
        return renamed(self._store.carry(self._veiled(batch)), self._known)

    async def acarry(self, batch: Batch) -> Reply:
        """The same without blocking the event loop."""
        return renamed(await self._store.acarry(self._veiled(batch)), self._known)

    def read(self, key: str) -> tuple[int, Any]:
        """A cell's number and value."""
        return renamed(self._store.read(self._hide(key)), self._known)

    def look(self, prefix: str = "") -> Iterator[Seen]:
        """Every cell whose key begins so."""
        for seen in self._store.look(self._hide(prefix)):
            yield renamed(seen, self._known)

    def holds(self) -> Iterator[Hold]:
        """Every hold that is not settled."""
        for hold in self._store.holds():
            yield renamed(hold, self._known)

    def held(self, tenant: str, hold_id: str) -> Hold | None:
        """One hold that is not settled."""
        found = self._store.held(self._hide(tenant), self._hide(hold_id))
        return renamed(found, self._known)

    def hide(self, value: T) -> T:
        """What is written elsewhere of what the store holds, without the secrets that it was not
        told."""
        return renamed(value, self._hidden)

    def _veiled(self, batch: Batch) -> Batch:
        """A batch as the store gets it. Names come in keys; who is halted is told in a record."""
        self._learn([one[0] for part in (batch.lines, batch.puts, batch.expects) for one in part])
        for name, value, *_ in batch.puts:
            if name.endswith(STANDING) and isinstance(value, dict):
                self._learn(value.get("marks", ()))
        return renamed(batch, self._hidden)

    def _hide(self, text: str) -> str:
        self._learn((text,))
        return renamed(text, self._hidden)

    def _learn(self, texts: Iterable[str]) -> None:
        """Have secrets found in what was not looked at before, and take over all that are known."""
        veil = self._veil()
        new = [text for text in texts if text not in self._looked_at]
        if new:
            veil.pairs([part for text in new for part in _PARTS.findall(text)])
            self._looked_at = {*(self._looked_at if len(self._looked_at) < MOST else ()), *new}
        if not self._words.keys() >= veil.secrets:
            # A key writes some characters otherwise, so that both ways of writing are hidden.
            told = [form for raw in veil.secrets for form in (raw, key("", raw)[2:])]
            self._words |= {form: _word(form) for form in told}
            pairs = sorted(self._words.items(), key=lambda pair: -len(pair[0]))
            self._hidden = tuple(pairs)
            self._known = tuple([(word, raw) for raw, word in pairs])


def _word(raw: str) -> str:
    return f"[{sha256(raw.encode('utf-8', 'surrogatepass')).hexdigest()[:DIGITS]}]"


def veiled(store: Any, veil: Callable[[], Veil]) -> Any:
    """A store that gets no secrets; itself where it ends with this process."""
    return store if ends_here(store) else VeiledStore(store, veil)
