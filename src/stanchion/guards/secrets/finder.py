"""The finder: what looks like a secret in texts, by rules, by names, and behind one encoding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from stanchion.guards.secrets.index import SecretRule, indexed
from stanchion.guards.secrets.likeness import entropy, redactions, stands_in
from stanchion.guards.secrets.told import fingerprint
from stanchion.kernel.findings import PathStep
from stanchion.kernel.names import names
from stanchion.kernel.secret_names import KNOWN, plain_name, promises_secret
from stanchion.kernel.sizes import LIMITS
from stanchion.readings import Reading
from stanchion.readings.cover import Cover
from stanchion.readings.disguise.escapes import UnfoldedText, may_be_escaped, odd, unescaped_run
from stanchion.readings.disguise.views import SHORTEST as SHORTEST_RUN, views_of
from stanchion.readings.joined import JoinedTexts
from stanchion.readings.scan import Hit, Hits, Pattern, Scanner, Seek
from stanchion.readings.texts import TextLeaf, TextSpan
from stanchion.readings.word_lists import in_order, listed

SHORTEST: Final = 10
"""What is shorter may stand somewhere by chance."""
LEAST: Final = 2.8
"""How many bits a character tells of what is no word that somebody chose."""
MOST: Final = 32
"""How many secrets are looked for again."""


def copied(given: JoinedTexts, found: list[list[TextSpan]]) -> list[list[TextSpan]]:
    """What was found in texts, and every copy of it in them that stands in nothing else."""
    values: dict[str, str] = {}
    places: list[tuple[int, int]] = []
    for begin, text, spans in zip(given.begins, given.texts, found, strict=False):
        for span in spans:
            places.append((begin + span.start, begin + span.end))
            value = text[span.start : span.end]
            if value not in values and _telling(value):
                values[value] = span.kind
    known, reach = Cover(places), 0
    copies = [copy for value in list(values)[:MOST] for copy in _copies(given.text, value)]
    for start, end in sorted(copies, key=lambda copy: (copy[0], -copy[1])):
        if end <= reach or known.holds(start, end):
            continue
        reach, at = end, given.which(start)
        begin = given.begins[at]
        found[at].append(TextSpan(start - begin, end - begin, values[given.text[start:end]]))
    return found


def _telling(value: str) -> bool:
    """Whether nothing else is likely to be the same."""
    return (
        len(value) >= SHORTEST
        and any(char.isalpha() for char in value)
        and not value.isalpha()
        and entropy(value) >= LEAST
    )


def _copies(text: str, value: str) -> Iterator[tuple[int, int]]:
    """Where a value stands in a text."""
    at = text.find(value)
    while at >= 0:
        yield at, at + len(value)
        at = text.find(value, at + len(value))


NAMED: Final = "named-secret"
"""The kind of what is a secret only by its name."""
SHORTEST_NAMED: Final = 8
NAMED_BEFORE: Final = 24
"""So many characters before a match say more about what it found."""
WEIGHED_NAMED: Final = "likely-secret"
"""The kind of what is weighed with its name."""
LONGEST_WEIGHED: Final = 400
KEYS: Final = in_order("key secret token pass pwd cred auth")
"""What a name has of which a value is weighed."""
UNLESS_BEFORE: Final = 64
"""The same for rules with words that say that it is something else."""
LONGEST_NAMED: Final = 16_384
WORDY: Final = listed(
    "authorization connectionstring cookie credential credentials passphrase privatekey "
    "proxyauthorization setcookie"
)  # fmt: skip
"""Names of secrets that may have spaces in them."""
SCHEMES: Final = ("bearer ", "basic ", "token ", "digest ", "negotiate ", "apikey ")


class Sought(NamedTuple):
    """What is looked for: which shipped kinds, and rules of the policy's own."""

    kinds: tuple[str, ...] | None = None
    without: tuple[str, ...] = ()
    own: tuple[SecretRule, ...] = ()


class SecretFinder:
    """Finds secrets in texts. What is found in one place depends on little more than what stands
    there."""

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
        self.told = frozenset([rule.kind for rule in self.rules if rule.broad])
        """Kinds that are known by how they are introduced, and not by whose they are."""
        self.weighs = WEIGHED_NAMED in self.told
        """Whether values of other names are weighed with them."""
        self.seek = Seek([pattern for _, pattern in pairs])
        self._own = len(sought.own)
        self._ranks = _ranks(pairs, self._own)
        self.named = (wanted is None or NAMED in wanted) and NAMED not in unwanted
        self.shortest = min(
            self.seek.shortest, SHORTEST_RUN, SHORTEST_NAMED if self.named else SHORTEST_RUN
        )
        """Texts that are shorter, all of them together, have no secret."""

    @property
    def scanner(self) -> Scanner:
        """What scans for all rules together."""
        return self.seek.scanner

    def find(
        self, texts: Sequence[str], decode: bool, most: int | None = None
    ) -> list[list[TextSpan]]:
        """The secrets of each text, in order; of no encoded run that is longer than `most`.

        What begins first comes first, of what begins in one place the longest, and of rules that
        find the very same the one that says most about it.
        """
        found = self.look(texts, decode, most)
        return [[] for _ in texts] if found is None else found

    def look(
        self,
        texts: Sequence[str],
        decode: bool,
        most: int | None = None,
        whole: bool = True,
        a_kb: int = LIMITS.matches_a_kb,
    ) -> list[list[TextSpan]] | None:
        """The same; `None` where there are none at all. Of what is not `whole`, as more may follow,
        only what stands in one run is decoded, and what was found once is not looked for again."""
        given = JoinedTexts(texts)
        hits = self.scanner.scan_joined(given, a_kb)
        return self._found(given, hits, decode, most, whole, a_kb) if texts else None

    def _found(
        self,
        given: JoinedTexts,
        hits: Hits | None,
        decode: bool,
        most: int | None,
        whole: bool,
        a_kb: int,
    ) -> list[list[TextSpan]] | None:
        """The secrets of each text, given what patterns have found in it."""
        texts = given.texts
        every = len(self.rules)
        views = self._seen(views_of(given, whole, most), every, a_kb) if decode else []
        if decode and whole and self._own:
            views += self._in_escaped(texts, most, a_kb)
        if hits is None and not views:
            return None
        found: list[list[TextSpan]] = [[] for _ in texts]
        for at, here in enumerate(hits if hits is not None else ()):
            if here:
                found[at] = self._judged(texts[at], here)
        known = {(at, *span[:3]) for at, here in enumerate(found) for span in here}
        for at, span in views:
            if (at, *span[:3]) not in known:
                known.add((at, *span[:3]))
                found[at].append(span)
        if not any(found):
            return None
        ranks = self._ranks
        for at, spans in enumerate(copied(given, found) if whole else found):
            spans.sort(key=lambda span: (span.start, -span.end, ranks[span.kind]))
            found[at] = spans
        return found

    def look_at(
        self, reading: Reading[Any], decode: bool, most: int | None = None
    ) -> list[list[TextSpan]] | None:
        """The same for the content of an event, whose texts are scanned once for all guards, and
        where names tell more."""
        given = reading.joined
        if len(given.text) < self.shortest:
            return None
        hits, a_kb = reading.of(self.seek), reading.reader.limits.matches_a_kb
        return self._named(reading.leaves, self._found(given, hits, decode, most, True, a_kb))

    def _named(
        self, leaves: Sequence[TextLeaf], found: list[list[TextSpan]] | None
    ) -> list[list[TextSpan]] | None:
        """What was found, and values that are secrets because of their names."""
        if not self.named:
            return found
        for at, leaf in enumerate(leaves):
            path, text, named, number = leaf
            if (
                len(text) < SHORTEST_NAMED
                or named
                or number
                or not path
                or (found is not None and found[at])
            ):
                continue
            span = _by_name(path, text, self.weighs)
            if span is not None:
                found = [[] for _ in leaves] if found is None else found
                found[at].append(span)
        return found

    def _judged(
        self, text: str, hits: list[Hit], view: UnfoldedText | None = None
    ) -> list[TextSpan]:
        """What of the hits in a text is a secret. What begins in a placeholder is introduced by
        words of ours; what was put together of pieces counts where it is known by its looks and
        none of them is it alone."""
        taken = Cover(redactions(text))
        spans: list[TextSpan] = []
        for hit in hits:
            rule = self.rules[hit.pattern]
            if taken.touches(hit.start, hit.end) or taken.touches(hit.first, hit.first + 1):
                continue
            put_together = view is not None and bool(view.cuts) and not view.whole
            if (
                view is not None
                and put_together
                and (rule.broad or not view.across(hit.start, hit.end))
            ):
                continue
            near = UNLESS_BEFORE if rule.unless else NAMED_BEFORE
            if rule.accepts(text[hit.start : hit.end], text[max(0, hit.first - near) : hit.start]):
                spans.append(TextSpan(hit.start, hit.end, rule.kind))
        return spans

    def _seen(
        self, views: list[tuple[int, UnfoldedText]], first: int, a_kb: int
    ) -> list[tuple[int, TextSpan]]:
        """What the first so many rules find in other forms of the texts."""
        if not views:
            return []
        hits = self.scanner.scan_joined(JoinedTexts([view.text for _, view in views]), a_kb)
        if hits is None:
            return []
        found: list[tuple[int, TextSpan]] = []
        for (at, view), here in zip(views, hits, strict=True):
            for span in (
                self._judged(view.text, [hit for hit in here if hit.pattern < first], view)
                if here
                else ()
            ):
                start, end = view.span(span.start, span.end)
                called = fingerprint(span.kind, view.text[span.start : span.end])
                found.append((at, TextSpan(start, end, span.kind, called)))
        return found

    def _in_escaped(
        self, texts: Sequence[str], most: int | None, a_kb: int
    ) -> list[tuple[int, TextSpan]]:
        """What the policy's own rules find in texts whose escapes are undone, twice deep. Their
        secrets may be shorter than any run that is decoded for the kinds that are shipped."""
        views = [(at, view) for at, text in enumerate(texts) for view in _unescaped(text, most)]
        return self._seen(views, self._own, a_kb)


def _unescaped(text: str, most: int | None) -> list[UnfoldedText]:
    """A text with its escapes undone, and what that is again; of no text that is longer than
    `most`."""
    if (most is not None and len(text) > most) or not (may_be_escaped(text) or odd(text)):
        return []
    once = unescaped_run(text, 0)
    again = None if once is None else unescaped_run(once.text, 0)
    return [
        made
        for made in (once, None if again is None or once is None else again.inside(once))
        if made is not None
    ]


def _by_name(path: tuple[PathStep, ...], value: str, weighs: bool) -> TextSpan | None:
    """A whole value that is a secret because its name says so, or weighs enough with it."""
    name = path[-1]
    if not isinstance(name, str):
        name = next((step for step in reversed(path) if isinstance(step, str)), "")
    if len(value) > LONGEST_NAMED:
        return None
    if not (KNOWN[name] if name in KNOWN else promises_secret(name)):
        likely = (
            weighs and _is_weighed(name) and len(value) <= LONGEST_WEIGHED and _weighs(name, value)
        )
        return TextSpan(0, len(value), WEIGHED_NAMED) if likely else None
    start = next((len(scheme) for scheme in SCHEMES if value[: len(scheme)].lower() == scheme), 0)
    spaced = any(char.isspace() for char in value[start:].strip())
    if (
        len(value) - start < SHORTEST_NAMED
        or (spaced and plain_name(name) not in WORDY)
        or stands_in(value[start:])
    ):
        return None
    return None if redactions(value) else TextSpan(start, len(value), NAMED)


@lru_cache(4_096)
def _is_weighed(name: str) -> bool:
    """Whether values of a name are weighed with it."""
    lowered = name.lower()
    return any(word in lowered for word in KEYS)


def _weighs(name: str, value: str) -> bool:
    """Whether a whole value without blanks is likely to be a secret because of its name."""
    if any(char.isspace() for char in value) or redactions(value):
        return False
    from stanchion.guards.secrets.published import everybodys
    from stanchion.guards.secrets.weighing import weighed

    return weighed(f"{name}: ", value) and not everybodys(value)


def _ranks(pairs: Sequence[tuple[SecretRule, Pattern]], own: int) -> dict[str, int]:
    """Which rule names what several find, by kind: the policy's own in their order, then those that
    know whose a credential is before those that know only how it is introduced, of these the one
    whose matches differ least in length, and at last by name."""
    shipped = sorted(
        pairs[own:],
        key=lambda pair: (pair[0].broad, pair[1].reach - pair[1].shortest, pair[0].kind),
    )
    return {rule.kind: rank for rank, (rule, _) in enumerate([*pairs[:own], *shipped])}


@lru_cache(64)
def finder(sought: Sought) -> SecretFinder:
    """The finder of what is sought: the same for the same."""
    return SecretFinder(sought)
