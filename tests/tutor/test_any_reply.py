"""No reply of a model raises, whatever is in it: halves of characters, deep nesting, fields of any
type."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from stanchion.tutor.envelope.schema.moves import FIRST, SECOND
from stanchion.tutor.envelope.schema.reading import MoveReading, read_move
from stanchion.tutor.envelope.schema.shape import tools
from stanchion.tutor.law.v2 import Outcome, TutorV2
from stanchion.tutor.law.verdicts import MoveResult
from stanchion.tutor.moves.legacy import parse_move
from stanchion.tutor.moves.typed import ACTIONS, Misread, UnreadReply, read
from tests.tutor.second import begun

ANY = st.text(st.characters(categories=None), max_size=12)
"""Texts with halves of characters in them, too."""
NAMES = st.one_of(
    st.sampled_from(
        ["action", "argv", "claim", "command", "falsified_by", "intent", "message", "original", "predicate", "question",  # noqa: E501
         "rule", "scope", "subject", "targets", "text", "value", "write", "id", "kind", "tool", "arguments"]  # noqa: E501
    ),
    ANY,
)  # fmt: skip
WORDS = st.one_of(
    st.sampled_from([*ACTIONS, "lines", "contains", "exists", "wc -l a.txt", "cat", "T1", "Q1"]),
    ANY,
)
PLAIN = st.one_of(
    WORDS, st.none(), st.booleans(), st.integers(), st.integers(-(10**400), 10**400), st.floats()
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    PLAIN,
    lambda one: st.one_of(st.lists(one, max_size=3), st.dictionaries(NAMES, one, max_size=4)),
    max_leaves=12,
)
MOVES = st.builds(
    lambda action, more: {**more, "action": action},
    WORDS,
    st.dictionaries(NAMES, VALUES, max_size=4),
)
CLAIMS = st.fixed_dictionaries(
    {"predicate": WORDS, "subject": WORDS}, optional={"value": PLAIN, "scope": ANY}
)
TYPED = st.one_of(
    st.fixed_dictionaries(
        {"action": st.just("PROPOSE")}, optional={"command": WORDS, "argv": st.lists(WORDS)}
    ),
    st.fixed_dictionaries({"action": st.just("ASSERT"), "claim": CLAIMS}),
    st.fixed_dictionaries({"action": st.just("CHALLENGE"), "text": ANY, "falsified_by": CLAIMS}),
    st.fixed_dictionaries({"action": st.just("RESOLVE"), "question": WORDS, "claim": CLAIMS}),
    st.fixed_dictionaries({"action": st.just("REFORMULATE"), "original": WORDS, "claim": CLAIMS}),
    st.fixed_dictionaries(
        {"action": st.just("ASK"), "text": ANY}, optional={"targets": st.lists(WORDS)}
    ),
)
WRITTEN = st.builds(json.dumps, st.one_of(MOVES, TYPED, VALUES), ensure_ascii=st.booleans())
REPLIES = st.one_of(
    WRITTEN,
    st.builds("{}{}{}".format, ANY, WRITTEN, ANY),
    st.builds("```json\n{}\n```{}".format, WRITTEN, ANY),
    st.builds(lambda text, at: text[:at], WRITTEN, st.integers(0, 60)),
    st.builds("{}: {}".format, WORDS, ANY),
    st.builds(str, st.one_of(MOVES, TYPED)),
    st.text(st.characters(categories=None)),
)
HALF = '{"action": "PROPOSE", "command": "ls", "\\ud800": 1}'


@pytest.mark.parametrize(
    "reply",
    [
        HALF,
        '{"action": "ASSERT", "claim": {"predicate": "exists", "subject": "a", "\\udfff": 1}}',
        '{"action": "ASSERT", "claim": {"predicate": "\\ud800", "subject": "a"}}',
    ],
)
def test_half_a_character_in_a_name_is_a_bad_field(reply: str) -> None:
    found = read(reply)
    assert isinstance(found, UnreadReply)
    assert found.what is Misread.BAD_FIELD
    found.why.encode()
    tutor = begun()
    assert tutor.play(reply).verdict.value == "illegal"


@given(REPLIES)
@example(HALF)
@example('{"action":"PROPOSE","command":"ls"}\x0c')
def test_every_reply_is_read(reply: str) -> None:
    read(reply)
    for shape in (FIRST, SECOND, tools(["search", "fetch"])):
        for mode in ("strict", "lenient"):
            assert isinstance(read_move(reply, mode, shape), MoveReading)
    assert isinstance(read_move(reply, "off", SECOND), MoveReading)


@given(REPLIES)
def test_off_reads_as_the_first_law_does(reply: str) -> None:
    try:
        known = parse_move(reply)
    except AttributeError:  # as published, on an action that is no text
        with pytest.raises(AttributeError):
            read_move(reply, "off", FIRST)
    else:
        assert read_move(reply, "off", FIRST).moves == tuple(known)


class Strict:
    """Runs what a system could be given, and prints it."""

    def refused(self, argv: tuple[str, ...], write: bool) -> str:
        """Nothing."""
        return ""

    def run(self, argv: tuple[str, ...], write: bool) -> Outcome:
        """Print the words."""
        return Outcome(True, 0, b"\n".join(word.encode() for word in argv).decode(), changes=write)


@given(st.lists(REPLIES, min_size=1, max_size=4))
@example([HALF])
@example(['{"action": "PROPOSE", "argv": ["cat", "\\ud800"]}'])
@example(['{"action": "PROPOSE", "command": "cat \\udc80"}'])
def test_every_reply_is_played(replies: list[str]) -> None:
    tutor = TutorV2("any", Strict(), "goal", writes=True)
    tutor.next_turn()
    for reply in replies:
        assert isinstance(tutor.play(reply), MoveResult)
        tutor.next_turn()
    tutor.check_goal_satisfaction()
