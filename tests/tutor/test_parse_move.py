"""How the first law reads replies: what is well formed, and its table of what is not."""

from __future__ import annotations

import pytest

from stanchion.tutor.moves.legacy import (
    AskMove,
    AssertMove,
    ChallengeMove,
    Move,
    ProposeMove,
    ReformulateMove,
    RespondMove,
    parse_move,
)


def read(text: str) -> list[Move]:
    """The moves, without the reply that they all remember."""
    moves = parse_move(text)
    assert {move.raw_text for move in moves} == {text}
    return [
        type(move)(**{**{f: getattr(move, f) for f in move.__struct_fields__}, "raw_text": ""})
        for move in moves
    ]


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ('{"action": "assert", "claim": "a", "scope": "b"}', [AssertMove(text="a", scope="b")]),
        (
            '{"action": "ASK", "question": "a", "targets": ["T1"]}',
            [AskMove(text="a", targets=["T1"])],
        ),
        (
            '{"action": "BASH", "command": "ls"}',
            [ProposeMove(intent="Execute command", command="ls")],
        ),
        (
            (
                'first {"action": "PROPOSE", "intent": "i", "command": "ls", "mode": "write", '
                '"verify": ["x"]} then'
            ),
            [ProposeMove(intent="i", command="ls", mode="write", verify=["x"])],
        ),
        (
            '{"action": "CHALLENGE", "assumption": "a", "falsification": "f"}',
            [ChallengeMove(text="a", falsify="f")],
        ),
        (
            '{"action": "REFORMULATE", "original_id": "T1", "reformulation": "b"}',
            [ReformulateMove(original_id="T1", new_text="b")],
        ),
        ('{"action": "RESPOND", "text": "hello"}', [RespondMove(message="hello")]),
        ("ASSERT: a\nASK: b", [AssertMove(text="a"), AskMove(text="b")]),
        ("ASK: b\nASSERT: a", [AssertMove(text="a"), AskMove(text="b")]),
        ("CHALLENGE: c", [ChallengeMove(text="c")]),
        ("Let me rephrase: d", [ReformulateMove(new_text="d")]),
        ("I assume: nothing", [ChallengeMove(text="nothing")]),
        ("Let me run: ls -la", [ProposeMove(intent="ls -la", command="ls -la")]),
        ("please `cat a.txt` now", [ProposeMove(intent="Execute command", command="cat a.txt")]),
        ("nothing to see", [RespondMove(message="nothing to see")]),
        ("", [RespondMove(message="")]),
    ],
)
def test_a_reply_is_read_as_the_first_law_reads_it(text: str, moves: list[Move]) -> None:
    assert read(text) == moves


MALFORMED: list[tuple[str, list[Move]]] = [
    (
        '{"action": "PROPOSE", "command": "awk \'{print $1}\' f"}',
        [RespondMove(message='{"action": "PROPOSE", "command": "awk \'{print $1}\' f"}')],
    ),
    (
        '{"action": "ASSERT", "text": "a", "more": {"b": 1}}',
        [RespondMove(message='{"action": "ASSERT", "text": "a", "more": {"b": 1}}')],
    ),
    ("{'action': 'CHECK'}", [RespondMove(message="{'action': 'CHECK'}")]),
    ('{"action": "LINK"}', [RespondMove(message='{"action": "LINK"}')]),
    ('{"action": "DARE"}', [RespondMove(message='{"action": "DARE"}')]),
    ('{"action": "PROPOSE"}', [ProposeMove(intent="Execute command")]),
    (
        "```bash\nls -la\n```",
        [
            ProposeMove(intent="Execute command", command="bash\nls -la"),
            ProposeMove(intent="Execute command", command="ls -la"),
        ],
    ),
    ("PROPOSE: `ls`", [ProposeMove(intent="`ls`", command="`ls`")]),
    ("I propose: ls -la", [ProposeMove(intent="ls -la", command="ls -la")] * 2),
    ("task: do something", [AskMove(text="do something")]),
    (
        '[{"action": "ASK", "text": "a"}, {"action": "ASSERT", "text": "b"}]',
        [AskMove(text="a"), AssertMove(text="b")],
    ),
]


@pytest.mark.parametrize(("text", "moves"), MALFORMED)
def test_what_is_malformed_is_read_as_the_first_law_reads_it(text: str, moves: list[Move]) -> None:
    assert read(text) == moves


@pytest.mark.parametrize("text", ['{"action": 5}', '{"action": null}'])
def test_an_action_that_is_no_text_breaks_the_first_law(text: str) -> None:
    with pytest.raises(AttributeError):
        parse_move(text)
