"""Whichever engine scans, the same is found, in the same order and under the same names."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from hypothesis import given, strategies as st

from stanchion.guards.secrets.finder import SecretFinder, Sought
from stanchion.guards.secrets.pieces import cuts
from stanchion.guards.secrets.told import fingerprint
from stanchion.readings.disguise.views import LONGEST
from stanchion.readings.joined import JoinedTexts
from stanchion.readings.texts import TextSpan
from stanchion.runtime.operating.allowances import Allowances
from stanchion.testing import shield_for
from tests.properties.examples import sample
from tests.sampling import some
from tools.secret_rules import files, read_rule

TOKEN = "i89mdugQIkFxtfdUrwU7Bk5Dh8j1x2rD"
TIED = f"ADAFRUIT_API_TOKEN={TOKEN}"
"""What two rules find as one and the same."""


class Beside:
    """Keeps nothing, and compiles when it is told to."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def get(self, _name: str) -> bytes | None:
        return None

    def put(self, _name: str, _made: bytes) -> None:
        """Forget it."""

    def later(self, work: Callable[[], None]) -> None:
        self.waiting.append(work)


class Changed(NamedTuple):
    """A finder whose engine changed, and what it said of a text before."""

    finder: SecretFinder
    engines: tuple[str, str]
    text: str
    before: list[list[TextSpan]]


@cache
def changed() -> Changed:
    """All shipped rules, first by one engine, then by the other; to compile for that one takes
    seconds."""
    pytest.importorskip("hyperscan")
    finder, kept = SecretFinder(Sought()), Beside()
    finder.use(kept)
    text = f"{TIED}\n" + "x " * 8_192
    first, before = finder.scanner.engine, finder.find([text], True)
    (work,) = kept.waiting
    work()
    return Changed(finder, (first, finder.scanner.engine), text, before)


@cache
def both() -> tuple[SecretFinder, SecretFinder]:
    """All shipped rules, by each engine."""
    slow, fast = SecretFinder(Sought()), changed().finder
    assert (slow.scanner.engine, fast.scanner.engine) == ("re2", "hyperscan")
    return slow, fast


@cache
def hits() -> tuple[tuple[str, str], ...]:
    """What every shipped rule says it finds, with its kind."""
    rules = [read_rule(text) for _, text in sorted(files().items())]
    assert len(rules) >= 422
    return tuple([(rule.kind, hit) for rule in rules for hit in rule.hits])


def agreed(text: str) -> None:
    """Fail where the engines differ about a text, whole or in pieces."""
    slow, fast = both()
    assert slow.scanner.scan(text) == fast.scanner.scan(text)
    assert slow.find([text], True) == fast.find([text], True)
    assert slow.find([text], True, LONGEST) == fast.find([text], True, LONGEST)
    assert cuts(slow, text, True)(len(text)) == cuts(fast, text, True)(len(text))


def test_the_engine_changes_under_a_run_and_the_answer_does_not() -> None:
    finder, engines, text, before = changed()
    assert engines == ("re2", "hyperscan")
    assert finder.find([text], True) == before
    assert [span.kind for span in before[0]] == [
        "adafruit-api-key",
        "generic-token",
        "likely-secret",
    ]


def test_every_hit_of_every_rule_is_the_same_by_both() -> None:
    """In prose, in JSON, behind one encoding, and cut at its edges."""
    slow, fast = both()
    for number, (_, hit) in enumerate(some(hits(), 42, "alone")):
        prose, written = f"look: {hit} and so on", json.dumps({"said": hit})
        coded = b64encode(hit.encode()).decode()
        texts = [hit, prose, written, f"{hit}{hit}", hit[1:], hit[:-1], coded]
        assert slow.find(texts, True) == fast.find(texts, True)
        if number % 8 == 0:
            agreed(prose)


def test_all_hits_together_are_the_same_by_both() -> None:
    slow, fast = both()
    texts = [hit for _, hit in some(hits(), 60, "together")]
    assert slow.find(texts, True) == fast.find(texts, True)
    assert slow.scanner.scan_joined(JoinedTexts(texts)) == fast.scanner.scan_joined(
        JoinedTexts(texts)
    )
    agreed("\n".join(texts[::7]))


def pieces() -> st.SearchStrategy[str]:
    """Hits, parts of hits and what may stand between them."""
    hit = st.sampled_from([hit for _, hit in hits()])
    part = st.builds(
        lambda text, a, b: text[a % (len(text) + 1) :][: b + 1],
        hit,
        st.integers(0, 80),
        st.integers(0, 80),
    )
    between = st.sampled_from(
        [
            " ",
            "\n",
            "",
            '"',
            "'",
            "=",
            ": ",
            ",",
            "\\n",
            "token = ",
            "password: ",
            "\x1f",
            "ä",
            "%20",
        ]
    )
    return st.one_of(hit, part, between, st.text(max_size=12))


@sample(20)
@given(st.lists(pieces(), max_size=10), st.lists(st.lists(pieces(), max_size=3), max_size=4))
def test_drawn_texts_are_the_same_by_both(drawn: list[str], others: list[list[str]]) -> None:
    """Secrets beside each other, over each other, cut anywhere, with anything between."""
    agreed("".join(drawn))
    slow, fast = both()
    texts = ["".join(drawn), *["".join(other) for other in others]]
    assert slow.scanner.scan_joined(JoinedTexts(texts)) == fast.scanner.scan_joined(
        JoinedTexts(texts)
    )
    assert slow.find(texts, True) == fast.find(texts, True)


def test_what_several_rules_find_is_named_by_the_one_that_says_most() -> None:
    """A rule that knows whose a credential is comes before one that knows only how it is
    introduced, whatever their names and wherever their words stand."""
    finder, _ = both()
    broad = {rule.kind for rule in finder.rules if rule.broad}
    texts = [hit for _, hit in hits()]
    for hit, spans in zip(texts, finder.find(texts, True), strict=True):
        for one, other in pairwise(spans):
            assert (one.start, -one.end) <= (other.start, -other.end), hit
            if (one.start, one.end) == (other.start, other.end):
                assert (one.kind in broad) <= (other.kind in broad), hit


@pytest.mark.parametrize("kind", ["adafruit-api-key", "generic-token"])
def test_an_allowance_counts_under_each_name_of_what_is_allowed(kind: str) -> None:
    policy: dict[str, Any] = {"name": "p", "guards": [{"use": "secrets", "action": "block"}]}
    shield = shield_for(policy)
    assert not shield.run("a").check("t", {"text": TIED}).proceeds
    Allowances(shield).allow(fingerprint(kind, TOKEN))
    assert shield.run("a").check("t", {"text": TIED}).proceeds
    assert not shield.run("a").check("t", {"text": TIED[:-1] + "q"}).proceeds
