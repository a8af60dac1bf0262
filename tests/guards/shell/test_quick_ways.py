"""Quick ways: a text of plain words is followed as the general way would follow it."""

from __future__ import annotations

from typing import Final

from hypothesis import given, strategies as st

from stanchion.guards.shell.places import roots_of
from stanchion.guards.shell.rules import BY_NAME, MODULES, own, rules_for
from stanchion.readings.shell import analyse
from stanchion.readings.shell.analysis import PLAIN, Analysis, analysed
from stanchion.readings.shell.limits import Meter
from stanchion.readings.shell.unfolding import UNFOLD
from stanchion.readings.shell.walking import Walker

KNOWN: Final = tuple(dict.fromkeys([text for one in (own, *MODULES) for text in (*one.HITS, *one.MISSES)]))
WORDS: Final = sorted({word for text in KNOWN for word in text.split() if PLAIN.fullmatch(word) is not None})
FIRST: Final = sorted(name for name in UNFOLD if PLAIN.fullmatch(name) is not None)


def _generally(text: str) -> Analysis:
    walker = Walker(Meter(len(text)))
    walker.whole(text)
    return Analysis(
        tuple(walker.commands), "", walker.broken, 0, walker.reasoned, walker.meter.noise, tuple(walker.wrote)
    )


def _quickly(text: str) -> Analysis:
    found = analysed(text)
    return Analysis(found.commands, found.unclear, found.broken, 0, found.reasoned, found.noise, found.wrote)


@given(
    first=st.sampled_from(FIRST),
    folder=st.sampled_from(("", "/usr/bin/", "./")),
    words=st.lists(st.sampled_from((*WORDS, *FIRST, "-c", "-m", "-", "--", "if", "done", "time")), max_size=6),
    between=st.sampled_from((" ", "  ")),
)
def test_plain_words_are_followed_as_any_text_is(first: str, folder: str, words: list[str], between: str) -> None:
    text = between.join((folder + first, *words))
    assert _quickly(text) == _generally(text)


def test_every_rule_that_a_command_breaks_is_found_for_it() -> None:
    roots = roots_of((".",))
    for text in KNOWN:
        for command in analyse(text):
            broken = [rule for _, rule in BY_NAME.get(command.name, ()) if rule.holds(command, roots)]
            assert [rule for _, rule in rules_for(command) if rule.holds(command, roots)] == broken, text
