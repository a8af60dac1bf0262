"""A text that is one command of literal words, and all that is not."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, strategies as st

from stanchion.readings.shell.parse import single


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("test -f config.yaml", ("test", "-f", "config.yaml")),
        (" ls  -la ", ("ls", "-la")),
        ("grep -F -- 'a b' \"c d\"", ("grep", "-F", "--", "a b", "c d")),
        ("echo '*' \\*", ("echo", "*", "*")),
        ("[ -f a ]", ("[", "-f", "a", "]")),
        ("test -f 'a b'", ("test", "-f", "a b")),
        ("echo 'test -f ghost.txt'", ("echo", "test -f ghost.txt")),
        ("ls; ls", None),
        ("ls;", None),
        ("ls &", None),
        ("test -f a && echo b || echo c", None),
        ("grep x f || true", None),
        ("ls | wc -l", None),
        ("wc -l < f", None),
        ("true > out.txt", None),
        ("cat *.txt", None),
        ("cat ~/a", None),
        ("cat {a,b}", None),
        ("cat $HOME", None),
        ("cat `ls`", None),
        ("cat $(ls)", None),
        ("A=1 ls", None),
        ("A=1", None),
        ("! ls", None),
        ("time ls", ("time", "ls")),
        ("(ls)", None),
        ("if true; then ls; fi", None),
        ("ls 'a", None),
        ("ls\nls", None),
        ("", None),
        ("cat a\0b", None),
        ("cat <<E\nx\nE", None),
    ],
)
def test_a_text_is_one_command_or_none(text: str, words: tuple[str, ...] | None) -> None:
    assert single(text) == words


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12),
        min_size=1,
        max_size=5,
    )
)
def test_words_that_are_quoted_come_back_as_they_were(words: list[str]) -> None:
    found = single(shlex.join(words))
    assert found is None or found == tuple(words)
    if (
        all(word.isascii() and word.isprintable() and word for word in words)
        and "=" not in words[0]
    ):
        assert found == tuple(words)
