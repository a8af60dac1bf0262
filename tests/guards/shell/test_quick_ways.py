"""Quick ways: a text of plain words is followed as the general way would follow it."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given, strategies as st

from stanchion.guards.shell.places import roots_of
from stanchion.guards.shell.rules import BY_NAME, rules_for
from stanchion.readings.shell import analyse
from stanchion.readings.shell.analysis import PLAIN, Analysis, analysed
from stanchion.readings.shell.parse import ShellReader, quickly
from stanchion.readings.shell.script import Walker
from stanchion.readings.shell.tree import Meter
from stanchion.readings.shell.unfold import UNFOLD
from tools.program_table import tables

KNOWN: Final = tuple(
    dict.fromkeys(
        [
            text
            for table in tables().values()
            for one in table.programs.values()
            for text in (*one.hits, *one.misses, *table.hits, *table.misses)
        ]
    )
)
WORDS: Final = sorted(
    {word for text in KNOWN for word in text.split() if PLAIN.fullmatch(word) is not None}
)
FIRST: Final = sorted(name for name in UNFOLD if PLAIN.fullmatch(name) is not None)

TOKENS: Final = (
    "a", "ls", "-l", "x=1", "1", "2", "12", ".", "/", "~", "*.py", "a?", "[b]", "{a,b}", "'a b'",
    "''", '"c d"', '""', '"$e"', "'", '"', "&&", "||", "|", "|&", ";", ";;", "&", "&>", ">", ">>",
    "2>", "2>&1", ">&2", "<", "<<", ">|", "(", ")", "!", "#", "if", "fi", "time", "in", "do", "{",
    "}", "[[", "]]", " ", "  ", "\t", "\n", "\r", "\\", "`", "$", "^", "=", "@", "%", ":", "é",
    "\u00a0", "\x0b",
)  # fmt: skip


def _generally(text: str) -> Analysis:
    walker = Walker(Meter(len(text)))
    walker.whole(text)
    return Analysis(
        tuple(walker.commands),
        "",
        walker.broken,
        0,
        walker.meter.noise,
        tuple(walker.wrote),
    )


def _quickly(text: str) -> Analysis:
    found = analysed(text)
    return Analysis(found.commands, found.unclear, found.broken, 0, found.noise, found.wrote)


@given(
    first=st.sampled_from(FIRST),
    folder=st.sampled_from(("", "/usr/bin/", "./")),
    words=st.lists(
        st.sampled_from((*WORDS, *FIRST, "-c", "-m", "-", "--", "if", "done", "time")), max_size=6
    ),
    between=st.sampled_from((" ", "  ")),
)
def test_plain_words_are_followed_as_any_text_is(
    first: str, folder: str, words: list[str], between: str
) -> None:
    text = between.join((folder + first, *words))
    assert _quickly(text) == _generally(text)


def _as_the_reader_does(text: str) -> bool:
    """Whether a text is read quickly, and then as the reader reads it: the same tree by the same
    number of steps."""
    quick, general = Meter(len(text)), Meter(len(text))
    script = quickly(text, quick)
    if script is None:
        assert quick.steps == 0
        return False
    reader = ShellReader(text, general)
    assert script == reader.read(), text
    assert (quick.steps, reader.broken) == (general.steps, ""), text
    return True


def test_known_texts_are_read_quickly_as_the_reader_reads_them() -> None:
    assert sum(_as_the_reader_does(text) for text in KNOWN) > len(KNOWN) // 3


@given(st.lists(st.sampled_from(TOKENS), max_size=12), st.sampled_from(("", " ")))
def test_drawn_texts_are_read_quickly_as_the_reader_reads_them(
    tokens: list[str], between: str
) -> None:
    _as_the_reader_does(between.join(tokens))


@pytest.mark.parametrize(
    "text",
    [
        "echo $HOME",
        "a (b)",
        "A=1 b",
        "if true",
        "> x",
        "a | ",
        "a &&",
        "a # b",
        "a <<E\nE",
        "a\nb",
        "'a'b",
        "a;;b",
    ],
)
def test_what_is_not_simple_is_left_to_the_reader(text: str) -> None:
    assert quickly(text, Meter(len(text))) is None


def test_a_text_over_its_limit_is_left_to_the_reader() -> None:
    meter = Meter(0)
    meter.steps = meter.left - 2
    assert quickly("ls -l a b", meter) is None


def test_every_rule_that_a_command_breaks_is_found_for_it() -> None:
    roots = roots_of((".",))
    for text in KNOWN:
        for command in analyse(text):
            broken = [rule for rule in BY_NAME.get(command.name, ()) if rule.holds(command, roots)]
            assert [rule for rule in rules_for(command) if rule.holds(command, roots)] == broken, (
                text
            )
