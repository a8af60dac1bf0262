"""A store that holds no secret: what a name hides is written as a digest, and read as the name
again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from operator import itemgetter
from typing import Any, Final, Protocol, TypeVar

from stanchion.kernel.regex import regex
from stanchion.kernel.state import STANDING, Batch, Records, Reply, key
from stanchion.policy.veil import MOST_SECRETS, Pairs, renamed, stored_word
from stanchion.stores.protocol import at_once, ends_here
from stanchion.stores.seen import Hold, Seen
from stanchion.stores.wrapped import Wrapped

T = TypeVar("T")

MOST: Final = 4_096
"""How many keys are remembered that were looked at."""

_PARTS: Final = regex(r"[^{}:~]+")


class HasPolicy(Protocol):
    """A shield, as far as its policy says what is hidden, and it knows who is halted."""

    @property
    def policy(self) -> Any: ...

    @property
    def records(self) -> Records: ...


class VeiledStore(Wrapped):
    """A store around another that never gets the secrets which a policy's guards find in names. In
    keys, ids and records a digest stands for each. Whoever asks by a name knows the name, so that
    it is found by the same digest, and what comes back has the names that this process knows."""

    def __init__(self, store: Any, shield: HasPolicy) -> None:
        super().__init__(store)
        self.unveiled = store
        self._shield = shield
        self._looked_at: set[str] = set()
        self._found = 0
        self._words: dict[str, str] = {}
        self._hidden: Pairs = ()
        self._known: Pairs = ()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out."""
        reply: Reply = self._store.carry(self._veiled(batch))
        return renamed(reply, self._known) if self._known else reply

    async def acarry(self, batch: Batch) -> Reply:
        """The same without blocking the event loop."""
        reply: Reply = await self._store.acarry(self._veiled(batch))
        return renamed(reply, self._known) if self._known else reply

    @property
    def carry_at_once(self) -> Callable[[Batch], Reply | None] | None:
        """Carries out what need not be waited for; `None` where the store inside cannot."""
        inner = at_once(self._store)
        return None if inner is None else lambda batch: self._unveiled(inner(self._veiled(batch)))

    def _unveiled(self, reply: Reply | None) -> Reply | None:
        return renamed(reply, self._known) if self._known else reply

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
        names = [*map(itemgetter(0), chain(batch.lines, batch.puts, batch.expects))]
        for name, value, *_ in batch.puts:
            if type(value) is dict and name.endswith(STANDING):
                names += value.get("marks", ())
        found = len(self._shield.policy.veil.secrets)
        if found != self._found or not self._looked_at.issuperset(names):
            self._learn(names)
        return renamed(batch, self._hidden) if self._hidden else batch

    def _hide(self, text: str) -> str:
        self._learn((text,))
        return renamed(text, self._hidden)

    def _learn(self, keys: Iterable[str]) -> None:
        """Have secrets found in keys that were not looked at before."""
        if len(self._looked_at) >= MOST or len(self._words) >= MOST_SECRETS:
            # What is forgotten is found again with the next key that has it.
            self._looked_at.clear()
            self._words.clear()
        new = [text for text in keys if text not in self._looked_at]
        self._looked_at.update(new)
        self.meet([part for text in new for part in _PARTS.findall(text)])

    def meet(self, names: Iterable[str]) -> None:
        """Have secrets found in names before anything is judged under them: whether they are
        halted may have been read before they were known."""
        veil = self._shield.policy.veil
        found, before = veil.pairs(names), len(self._words)
        self._found = len(veil.secrets)
        for raw, shown in (*found, *veil.secrets.items()):
            if not raw.startswith(shown[:-1]):  # which stands in a store already
                word, coded = stored_word(raw, shown), key("", raw)[2:]
                # A key writes some characters otherwise: that is another text, to be read as such.
                self._words |= {coded: word if coded == raw else f"{word[:-1]}=]", raw: word}
        if len(self._words) != before:
            pairs = sorted(self._words.items(), key=lambda pair: -len(pair[0]))
            self._hidden = tuple(pairs)
            self._known = tuple([(word, raw) for raw, word in pairs])
            records = self._shield.records
            for name in [one for one in records if one.endswith(STANDING)]:
                records[name] = renamed(records[name], self._known)


def veiled(store: Any, shield: HasPolicy) -> Any:
    """A store that gets no secrets; itself where it ends with this process."""
    return store if ends_here(store) else VeiledStore(store, shield)
