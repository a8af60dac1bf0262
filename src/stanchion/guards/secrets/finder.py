"""The finder: what looks like a secret in texts, by rules, by names, and behind one encoding."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from stanchion.guards.secrets import decoding
from stanchion.guards.secrets.fingerprints import fingerprint
from stanchion.guards.secrets.index import indexed
from stanchion.guards.secrets.likeness import redactions, stands_in
from stanchion.guards.secrets.rule import Rule
from stanchion.kernel.findings import PathStep
from stanchion.kernel.names import names
from stanchion.kernel.secret_names import KNOWN, plain_name, promises_secret
from stanchion.readings import Reading
from stanchion.readings.joined import Joined
from stanchion.readings.scan import Hit, Hits, Kept, Pattern, Scanner, Seek
from stanchion.readings.texts import Leaf, Span

NAMED: Final = "named-secret"
"""The kind of what is a secret only by its name."""
SHORTEST_NAMED: Final = 8
LONGEST_NAMED: Final = 16_384
WORDY: Final = frozenset(
    {"authorization", "connectionstring", "cookie", "credential", "credentials", "passphrase", "privatekey",
     "proxyauthorization", "setcookie"}
)  # fmt: skip
"""Names of secrets that may have spaces in them."""
SCHEMES: Final = ("bearer ", "basic ", "token ", "digest ", "negotiate ", "apikey ")


class Sought(NamedTuple):
    """What is looked for: which shipped kinds, and rules of the policy's own."""

    kinds: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    own: tuple[Rule, ...] = ()


class Finder:
    """Finds secrets in texts. What is found in one place depends on little more than what stands there."""

    def __init__(self, sought: Sought) -> None:
        wanted = None if sought.kinds is None else names(sought.kinds)
        unwanted = names(sought.without)
        pairs = [(rule, Pattern(rule.pattern, rule.keywords)) for rule in sought.own]
        for _, pattern in pairs:
            pattern.check()
        pairs += [
            (rule, pattern)
            for rule, pattern in indexed()
            if (wanted is None or rule.kind in wanted) and rule.kind not in unwanted
        ]
        self.rules = tuple([rule for rule, _ in pairs])
        self.seek = Seek([pattern for _, pattern in pairs])
        self._ranks = _ranks(pairs, len(sought.own))
        self.named = (wanted is None or NAMED in wanted) and NAMED not in unwanted
        self.shortest = min(self.seek.shortest, decoding.SHORTEST, SHORTEST_NAMED if self.named else decoding.SHORTEST)
        """Texts that are shorter, all of them together, have no secret."""

    def use(self, kept: Kept) -> None:
        """Take compiled patterns from there, if they are not compiled yet."""
        self.seek.use(kept)

    @property
    def scanner(self) -> Scanner:
        """What scans for all rules together."""
        return self.seek.scanner

    def find(self, texts: Sequence[str], decode: bool, most: int | None = None) -> list[list[Span]]:
        """The secrets of each text, in order; of no encoded run that is longer than `most`.

        What begins first comes first, of what begins in one place the longest, and of rules that find the very same the
        one that says most about it.
        """
        found = self.look(texts, decode, most)
        return [[] for _ in texts] if found is None else found

    def look(self, texts: Sequence[str], decode: bool, most: int | None = None) -> list[list[Span]] | None:
        """The same; `None` where there are none at all."""
        return self._found(Joined(texts), self.scanner.scan_all(texts), decode, most) if texts else None

    def _found(self, given: Joined, hits: Hits | None, decode: bool, most: int | None) -> list[list[Span]] | None:
        """The secrets of each text, given what patterns have found in it."""
        texts = given.texts
        runs = self._runs(given, most) if decode else ()
        if hits is None and not runs:
            return None
        found: list[list[Span]] = [[] for _ in texts]
        for at, here in enumerate(hits if hits is not None else ()):
            if here:
                found[at] = self._judged(texts[at], here)
        for at, span in runs:
            found[at].append(span)
        ranks = self._ranks
        for spans in found:
            spans.sort(key=lambda span: (span.start, -span.end, ranks[span.kind]))
        return found if any(found) else None

    def look_in(self, leaves: Sequence[Leaf], decode: bool, most: int | None = None) -> list[list[Span]] | None:
        """The same for the texts of structured content, where names tell more."""
        return self._named(leaves, self.look([leaf.text for leaf in leaves], decode, most))

    def look_at(self, reading: Reading[Any], decode: bool, most: int | None = None) -> list[list[Span]] | None:
        """The same for the content of an event, whose texts are scanned once for all guards."""
        given = reading.joined
        if len(given.text) < self.shortest:
            return None
        return self._named(reading.leaves, self._found(given, reading.of(self.seek), decode, most))

    def _named(self, leaves: Sequence[Leaf], found: list[list[Span]] | None) -> list[list[Span]] | None:
        """What was found, and values that are secrets because of their names."""
        if not self.named:
            return found
        for at, leaf in enumerate(leaves):
            path, text, named, number = leaf
            if len(text) < SHORTEST_NAMED or named or number or not path or (found is not None and found[at]):
                continue
            span = _by_name(path, text)
            if span is not None:
                found = [[] for _ in leaves] if found is None else found
                found[at].append(span)
        return found

    def _judged(self, text: str, hits: list[Hit]) -> list[Span]:
        taken = redactions(text)
        spans: list[Span] = []
        for hit in hits:
            rule = self.rules[hit.pattern]
            if any(first < hit.end and hit.start < last for first, last in taken):
                continue
            if rule.accepts(text[hit.start : hit.end]):
                spans.append(Span(hit.start, hit.end, rule.kind))
        return spans

    def _runs(self, given: Joined, most: int | None) -> list[tuple[int, Span]]:
        """What encoded runs of the texts say that is a secret."""
        runs = decoding.decoded_in(given, most)
        hits = self.scanner.scan_all([run.text for _, run in runs]) if runs else None
        if hits is None:
            return []
        found: list[tuple[int, Span]] = []
        for (at, run), here in zip(runs, hits, strict=True):
            for span in self._judged(run.text, here) if here else ():
                start, end = run.span(span.start, span.end)
                called = fingerprint(span.kind, run.text[span.start : span.end])
                found.append((at, Span(start, end, span.kind, called)))
        return found


def _by_name(path: tuple[PathStep, ...], value: str) -> Span | None:
    """A whole value that is a secret because its name says so."""
    name = path[-1]
    if not isinstance(name, str):
        name = next((step for step in reversed(path) if isinstance(step, str)), "")
    if not (KNOWN[name] if name in KNOWN else promises_secret(name)) or len(value) > LONGEST_NAMED:
        return None
    start = next((len(scheme) for scheme in SCHEMES if value[: len(scheme)].lower() == scheme), 0)
    spaced = any(char.isspace() for char in value[start:].strip())
    if len(value) - start < SHORTEST_NAMED or (spaced and plain_name(name) not in WORDY) or stands_in(value[start:]):
        return None
    return None if redactions(value) else Span(start, len(value), NAMED)


def _ranks(pairs: Sequence[tuple[Rule, Pattern]], own: int) -> dict[str, int]:
    """Which rule names what several find, by kind: the policy's own in their order, then those that know whose a
    credential is before those that know only how it is introduced, of these the one whose matches differ least in
    length, and at last by name."""
    shipped = sorted(pairs[own:], key=lambda pair: (pair[0].broad, pair[1].reach - pair[1].shortest, pair[0].kind))
    return {rule.kind: rank for rank, (rule, _) in enumerate([*pairs[:own], *shipped])}


@lru_cache(64)
def finder(sought: Sought) -> Finder:
    """The finder of what is sought: the same for the same."""
    return Finder(sought)
