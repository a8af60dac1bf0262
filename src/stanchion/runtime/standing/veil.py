"""Veiling: what is written down and told bears names as they are shown, with the secrets in them
hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from stanchion.audit.errors import AuditLost
from stanchion.audit.journal import Fact
from stanchion.kernel.chain import Plans
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.findings import Finding
from stanchion.kernel.regex import regex
from stanchion.kernel.state import STANDING, Batch, Reply, key
from stanchion.policy.veil import (
    MOST_SECRETS,
    NAMED,
    Pairs,
    Veil,
    renamed,
    stored_word,
    texts_in,
    together,
)
from stanchion.runtime.standing.occurring import tell_fact, trail_lost
from stanchion.stores.protocol import at_once, ends_here
from stanchion.stores.seen import Hold, SeenCell
from stanchion.stores.wrapped import Wrapped
from stanchion.telemetry.kinds import AskedNotice

if TYPE_CHECKING:
    from stanchion.runtime.shield import Shield

NO_VEIL: Final = Veil()
DIGEST: Final = "digest"
"""How the names of what is no name end in a fact's data."""


def hidden_names(plans: Plans, event: Event) -> Pairs:
    """What is hidden in the names of an event under the policy that judges it."""
    veil: Veil = getattr(plans.policy, "veil", NO_VEIL)
    return veil.of(event)


def hidden_in(plans: Plans, event: Event, decision: Decision) -> Pairs:
    """What is hidden in the names of a decision: those of its event, what broke, and the tools,
    agents and runs that are in a state of their own."""
    return hidden_by(getattr(plans.policy, "veil", NO_VEIL), event, decision)


def hidden_by(veil: Veil, event: Event, decision: Decision) -> Pairs:
    """The same by a veil. A guard of a program's own may say anything."""
    more: list[str] = []
    for finding in (*decision.findings, *decision.shadow):
        said = (finding.text, finding.guidance, finding.about, *finding.args, *finding.effects)
        more += [word for word in said if isinstance(word, str)]
    for _, answer in decision.inputs.answers:
        more += texts_in(answer)
    for _, _, value in decision.inputs.records:
        if isinstance(value, dict) and isinstance(marks := value.get("marks"), dict):
            more += marks
    pairs = veil.of(event)
    return together(pairs, veil.pairs(more)) if more else pairs


def veiled(moment: Moment, decision: Decision, pairs: Pairs) -> tuple[Moment, Decision]:
    """A moment and its decision as they are written down. Content is left to the guards that redact
    it: their patches fit it only as it is."""
    new = msgspec.structs.replace(
        moment,
        events=tuple([_event(event, pairs) for event in moment.events]),
        settles=renamed(moment.settles, pairs),
        late=_findings(moment.late, pairs),
        stakes=renamed(moment.stakes, pairs),
    )
    said = msgspec.structs.replace(
        decision,
        id=renamed(decision.id, pairs),
        findings=_findings(decision.findings, pairs),
        shadow=_findings(decision.shadow, pairs),
        inputs=renamed(decision.inputs, pairs),
        effects=renamed(decision.effects, pairs),
    )
    return new, said


def _event(event: Any, pairs: Pairs) -> Any:
    names = ("id", "call", "tool", "run", *NAMED.get(event.stage, ()))
    return msgspec.structs.replace(
        event, **{name: renamed(getattr(event, name), pairs) for name in names}
    )


def _findings(findings: tuple[Finding, ...], pairs: Pairs) -> tuple[Finding, ...]:
    return tuple(
        [
            msgspec.structs.replace(
                one,
                args=renamed(one.args, pairs),
                text=renamed(one.text, pairs),
                patches=tuple(
                    [
                        msgspec.structs.replace(each, value=renamed(each.value, pairs))
                        for each in one.patches
                    ]
                ),
            )
            for one in findings
        ]
    )


def tell(shield: Shield, fact: Fact, tool: str = "", asked: AskedNotice | None = None) -> None:
    """Write a fact down, and tell operators of it where they have to hear of it; `tool` is the one
    it is about, and `asked` what those are told besides who may answer."""
    shown, tool = fact_veiled(shield.policy.veil, fact), shield.policy.veil.name(tool)
    try:
        shield.journal.tell(shown)
    except AuditLost as lost:
        tell_fact(shield, shown, tool, stands=False, asked=asked)
        trail_lost(shield, lost)
        raise
    tell_fact(shield, shown, tool, asked=asked)
    shield.telemetry.happened(
        shown.what, about=shown.about, tenant=shown.tenant, run=shown.run, by=shown.by
    )


def fact_veiled(veil: Veil, fact: Fact) -> Fact:
    """A fact as it is written down."""
    names = [fact.about, fact.tenant, fact.run, fact.by]
    names += [
        value
        for name, value in fact.data.items()
        if not name.endswith(DIGEST) and isinstance(value, str)
    ]
    return renamed(fact, veil.pairs(names))._replace(why=veil.words(fact.why))


T = TypeVar("T")

MOST: Final = 4_096
"""How many keys are remembered that were looked at."""

_PARTS: Final = regex(r"[^{}:~]+")


class VeiledStore(Wrapped):
    """A store around another that never gets the secrets which a policy's guards find in names. In
    keys, ids and records a digest stands for each. Whoever asks by a name knows the name, so that
    it is found by the same digest, and what comes back has the names that this process knows."""

    def __init__(self, store: Any, shield: Shield) -> None:
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

    def look(self, prefix: str = "") -> Iterator[SeenCell]:
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


def veil_store(store: Any, shield: Shield) -> Any:
    """A store that gets no secrets; itself where it ends with this process."""
    return store if ends_here(store) else VeiledStore(store, shield)
