"""What several rules find is named by the one that says most about it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from stanchion.guards.secrets.finder import SecretFinder, Sought
from stanchion.guards.secrets.told import fingerprint
from stanchion.runtime.operating.allowances import Allowances
from stanchion.testing import shield_for
from tools.secret_rules import files, read_rule

TOKEN = "i89mdugQIkFxtfdUrwU7Bk5Dh8j1x2rD"
TIED = f"ADAFRUIT_API_TOKEN={TOKEN}"
"""What two rules find as one and the same."""


def test_what_several_rules_find_is_named_by_the_one_that_says_most() -> None:
    """A rule that knows whose a credential is comes before one that knows only how it is
    introduced, whatever their names and wherever their words stand."""
    finder = SecretFinder(Sought())
    rules = [read_rule(text) for _, text in sorted(files().items())]
    assert len(rules) >= 422
    broad = {rule.kind for rule in finder.rules if rule.broad}
    texts = [hit for rule in rules for hit in rule.hits]
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
