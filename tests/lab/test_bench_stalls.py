"""Hostile texts: twice the text takes at most 2.4 times the steps, whatever stands in it."""

from contextlib import suppress

import pytest

from stanchion.runtime.errors import Refused
from stanchion.runtime.shield import Shield
from stanchion_lab.bench.hostile_texts import family, of_rules
from stanchion_lab.bench.sections import titles
from stanchion_lab.bench.stalls import PLAYS
from tests.guards.steps import steps_of
from tests.sampling import SOAK

SIZE = 2_048
STREAMED = "a stream"
"""It is held back by pieces: of a short text they are too few to tell."""
ONCE = 1_000
"""Steps that a call takes whatever its length."""

WORST = (
    ("default", "a result", "card numbers"),
    ("default", "a result", "card numbers, told"),
    ("default", "a result", "counted cards"),
    ("default", "a result", "placeholders and cards"),
    ("default", "a result", "secrets by name"),
    ("default", "a result", "tokens by name"),
    ("default", "a result", "keys of aws"),
    ("default", "a result", "numbers"),
    ("default", "a result", "joiners"),
    ("default", "a result, a list", "card numbers"),
    ("default", "a result, names", "keys of aws"),
    ("default", "a message", "github tokens"),
    ("default", "a stream", "keys of aws"),
    ("default", "a stream", "tokens by name"),
    ("strict", "a command", "logins"),
    ("strict", "a command", "jwt in commands"),
    ("coding-agent", "a command", "short lines"),
    ("coding-agent", "a command", "line comments"),
    ("coding-agent", "a command", "csv"),
    ("coding-agent", "an answer", "semicolons"),
    ("coding-agent", "an answer", "claims"),
    ("coding-agent", "a file", "python"),
)


@pytest.mark.parametrize(("pack", "how", "name"), WORST, ids=lambda said: str(said))
def test_twice_the_text_takes_twice_the_steps(pack: str, how: str, name: str) -> None:
    shield = Shield.load(pack, store="memory:", journal="memory:")
    make = family()[name]
    size = SIZE if SOAK or how == STREAMED else SIZE // 2

    def steps(text: str) -> int:
        run = shield.run(agent="a")

        def played() -> None:
            with suppress(Refused):
                PLAYS[how](run, text)

        return steps_of(played)

    steps(f"{make(size)}.")
    once, twice = steps(make(size)), steps(make(2 * size))
    assert twice <= 2.4 * once + ONCE


def test_every_rule_for_secrets_has_a_text_of_its_hits() -> None:
    assert len(of_rules()) > 400
    assert titles("meant to stall") == ["texts that are meant to stall"]
