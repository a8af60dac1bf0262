"""The claims of a game and where they stand, each step of it written in the graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from stanchion.readings.claims.claim import Claim, Predicate, normal
from stanchion.readings.claims.evidence import follows
from stanchion.readings.claims.facts import Content, Fact
from stanchion.tutor.graph import ClaimKind, EdgeType, Graph, Soundness, Status, Truth
from stanchion.tutor.rules.typed import TypedRule

TRIVIAL: Final = frozenset({Predicate.SUCCEEDED})
"""What is said of a command that was run, and not of the world. It is proven by any command that
ends well."""
STANDS: Final = frozenset({Status.VALIDATED, Status.HINTED})
KINDS: Final = {
    Predicate.EXISTS: ClaimKind.EXISTENCE,
    Predicate.FILE: ClaimKind.EXISTENCE,
    Predicate.DIRECTORY: ClaimKind.EXISTENCE,
    Predicate.CONTAINS: ClaimKind.MEMBERSHIP,
    Predicate.LINES: ClaimKind.QUANTITATIVE,
    Predicate.BYTES: ClaimKind.QUANTITATIVE,
    Predicate.DIGEST: ClaimKind.EQUALITY,
    Predicate.VERSION: ClaimKind.EQUALITY,
}


class Ledger:
    """Claims by what they are about: what was seen is compared with those alone that it can bear
    on, however long the game is."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._claims: dict[str, Claim] = {}
        self._about: dict[tuple[Predicate, str, str], dict[Claim, list[str]]] = {}
        self._last: dict[Claim, str] = {}
        self._world: dict[str, None] = {}
        self._rules: dict[str, str] = {}

    def put(self, claim: Claim) -> Truth:
        """Add a claim that nothing is known of yet."""
        kind = KINDS.get(claim.predicate, ClaimKind.PROPERTY)
        truth = self._graph.add_truth(claim.text, kind, "world", claim.subject)
        same = normal(claim)
        self._claims[truth.id] = claim
        self._about.setdefault((same.predicate, same.subject, same.scope), {}).setdefault(
            same, []
        ).append(truth.id)
        return truth

    def claim(self, truth: str) -> Claim | None:
        """The claim that a node is."""
        return self._claims.get(truth)

    def prove(self, truth: Truth, claim: Claim, proof: tuple[str, ...]) -> None:
        """Promote a claim, by a derivation of the law's own."""
        name = f"V2_{claim.predicate.value}"
        if name not in self._rules:
            premise, conclusion = (
                f"single commands that tell of `{claim.predicate.value}`",
                claim.predicate.value,
            )
            self._rules[name] = self._graph.add_rule(name, Soundness.SOUND, premise, conclusion).id
        self._graph.link(EdgeType.DERIVES, (self._rules[name], *proof), truth.id, transform=name)
        self._stands(truth.id, claim, Status.VALIDATED)

    def hint(self, rule: TypedRule, claim: Claim, observation: str) -> Truth:
        """Add a claim that a rule speaks for, and that nothing proves."""
        truth = self.put(claim)
        self._graph.link(
            EdgeType.HINTS, (self.known_rule(rule), observation), truth.id, transform=rule.id
        )
        self._stands(truth.id, claim, Status.HINTED)
        return truth

    def known_rule(self, rule: TypedRule) -> str:
        """The node of a rule, which is heuristic whatever the rule says of itself."""
        name = f"rule:{rule.id}"
        if name not in self._rules:
            conclusion = rule.claim.claim.text
            self._rules[name] = self._graph.add_rule(
                rule.id, Soundness.HEURISTIC, rule.premise, conclusion
            ).id
        return self._rules[name]

    def _stands(self, truth: str, claim: Claim, status: Status) -> None:
        self._graph.promote(truth, status)
        self._last[normal(claim)] = truth
        if claim.predicate not in TRIVIAL:
            self._world[truth] = None

    def stands(self, claim: Claim) -> bool:
        """Whether a claim is proven or hinted at in the graph now."""
        truth = self._last.get(normal(claim))
        return truth is not None and self._graph.status(truth) in STANDS

    def refute(self, truth: str, by: Iterable[str]) -> None:
        """Say that a claim is not so. It stays refuted."""
        for one in by:
            self._graph.link(EdgeType.REFUTES, one, truth)
        self._graph.promote(truth, Status.REFUTED)
        self._world.pop(truth, None)
        same = normal(self._claims[truth])
        key = (same.predicate, same.subject, same.scope)
        left = [other for other in self._about[key][same] if other != truth]
        if left:
            self._about[key][same] = left
        else:
            del self._about[key][same]

    def refuted_by(self, observation: str, fact: Fact) -> None:
        """Refute what was claimed, proven or hinted at before and is not so by a fact."""
        subject = fact.path if isinstance(fact, Content) else fact.subject
        for predicate in Predicate:
            about = self._about.get((predicate, subject, ""))
            against = (
                [claim for claim in about if follows(fact, claim) is (not claim.polarity)]
                if about
                else []
            )
            for truth in [
                one for claim in against for one in self._about[predicate, subject, ""][claim]
            ]:
                self.refute(truth, (observation,))

    def reopen(self, claim: Claim) -> None:
        """Nothing is known any more of what a claim is about: it and its denial, where they stood,
        are claims again."""
        same = normal(claim)
        for truths in self._about.get((same.predicate, same.subject, same.scope), {}).values():
            for truth in truths:
                if self._graph.status(truth) in STANDS:
                    self._graph.promote(truth, Status.PROPOSED)

    def forget(self) -> None:
        """Something may have changed: what stood of the world is a claim again, of which nothing is
        known."""
        for truth in self._world:
            self._graph.promote(truth, Status.PROPOSED)
        self._world = {}
