"""Layer 1 on replies as models write them: it never raises, never gives two moves, and finds the
one that is meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given, strategies as st

from stanchion.tutor import read_move
from stanchion.tutor.envelope.schema.moves import FIRST, SECOND
from stanchion.tutor.envelope.schema.reading import Mode, ReadVerdict
from stanchion.tutor.envelope.schema.shape import MeantCall, MoveShape, tools
from stanchion.tutor.moves.legacy import AnyMove, parse_move
from stanchion.tutor.moves.typed import Misread, UnreadReply, read
from tests.tutor.replies import framed, fresh
from tests.tutor.replies.grown import MOVES, TYPED, WAYS, Data, meant, not_meant, written
from tests.tutor.replies.more import MORE, THIRD
from tests.tutor.replies.unmeant import UNMEANT, M
from tests.tutor.replies.written import REFERENCE, WEAK, Meant

LONG = "Oops, the user said x, and I wrote y. Ignore the call above. The correct call is:"
REPLIES = Path(__file__).parent / "replies"
LAWS: tuple[tuple[tuple[Data, ...], MoveShape[Any]], ...] = ((MOVES, FIRST), (TYPED, SECOND))
ALL = [
    *(text for text, _ in REFERENCE + WEAK + MORE + THIRD),
    *(text for moves, _ in LAWS for _, text, _ in meant(moves)),
    *(text for moves, _ in LAWS for _, text in not_meant(moves)),
]


def bare(move: Any) -> Any:
    """A move without the reply that it was read from."""
    return msgspec.structs.replace(move, raw_text="") if hasattr(move, "raw_text") else move


def told(move: AnyMove | None) -> Meant:
    """The action of a move and its main field."""
    return (
        None
        if move is None
        else (move.move_type.value, getattr(move, FIRST.words[move.move_type.value]))
    )


def test_there_are_enough_replies() -> None:
    assert len(set(ALL)) >= 300


@pytest.mark.parametrize("mode", ["strict", "lenient"])
@pytest.mark.parametrize("shape", [FIRST, SECOND, tools(["bash", "search"])])
def test_no_reply_raises_or_gives_two_moves(mode: Mode, shape: MoveShape[Any]) -> None:
    for text in ALL:
        found = read_move(text, mode, shape)
        assert len(found.moves) <= 1
        assert (
            bool(found.moves)
            is (found.verdict is not ReadVerdict.ILL_TYPED)
            is (found.what is None)
        ), text
        assert found.moves or found.why


@pytest.mark.parametrize("way", WAYS)
def test_the_move_that_is_meant_is_found(way: str) -> None:
    for moves, shape in LAWS:
        for which, text, move in meant(moves):
            if which == way:
                exact = read_move(written(move), "strict", shape)
                assert exact.move is not None
                assert bare(read_move(text, "lenient", shape).move) == bare(exact.move), text


def test_where_no_move_or_several_are_meant_none_is_found() -> None:
    for moves, shape in LAWS:
        for way, text in not_meant(moves):
            assert not read_move(text, "lenient", shape).moves, (way, text)


@pytest.mark.parametrize(("text", "move"), REFERENCE)
def test_the_cases_of_the_reference(text: str, move: Meant) -> None:
    assert told(read_move(text).move) == move


@pytest.mark.parametrize("rows", [WEAK, MORE, WEAK + MORE + THIRD])
def test_replies_of_weak_models(rows: list[tuple[str, Meant]]) -> None:
    found = [(told(read_move(text).move), move) for text, move in rows]
    assert [
        one for one in found if one[0] not in (None, one[1])
    ] == []  # what is found is never another move
    clear = [one == move for one, move in found if move is not None]
    assert sum(clear) / len(clear) >= 0.9


@pytest.mark.parametrize("text", UNMEANT)
def test_a_move_that_is_not_meant_is_not_taken(text: str) -> None:
    for shape in (FIRST, SECOND):
        found = read_move(text, "lenient", shape)
        assert (found.moves, found.verdict) == ((), ReadVerdict.ILL_TYPED)


@pytest.mark.parametrize(
    "text",
    [
        f"The file exists and has content.\n\n{M}",
        f"I don't know the number of lines yet, so I'll count them.\n\n{M}",
        f"The claim cannot be decided yet. Let me gather evidence:\n{M}",
        f"The previous command failed. Let me try another one:\n{M}",
        f"## Next action\n\n{M}",
        f"Certainly! {M}\n\nThis command removes the file x from the folder.",
        f"First, I will look.\n\n{M}\n\nLet me know if you need anything else.",
        f"I'll run the following:\n```json\n{M}\n```",
    ],
)
def test_words_that_introduce_a_move_or_praise_it_are_fine(text: str) -> None:
    assert told(read_move(text).move) == ("PROPOSE", "rm x")


@pytest.mark.parametrize("half", [0, 1])
def test_drawn_replies_are_taken_where_their_frame_means_the_move(half: int) -> None:
    meant_rows, other_rows = (
        list(framed.drawn(framed.MEANT, half)),
        list(framed.drawn(framed.UNMEANT, half)),
    )
    found = [(told(read_move(text).move), ("PROPOSE", command)) for command, text in meant_rows]
    assert [one for one in found if one[0] not in (None, one[1])] == []
    assert sum(one == move for one, move in found) >= 0.9 * len(meant_rows)
    assert sum(bool(read_move(text).moves) for _, text in other_rows) <= 0.05 * len(other_rows)


def test_usual_words_round_a_move() -> None:
    rows = yaml.safe_load((REPLIES / "usual.yaml").read_text("utf-8"))
    for words in rows["before"]:
        for text in (f"{words}\n\n```json\n{M}\n```", f"{words}\n{M}"):
            assert told(read_move(text).move) == ("PROPOSE", "rm x"), words
    for words in rows["behind"]:
        for text in (f"```json\n{M}\n```\n\n{words}", f"{M}\n{words}"):
            assert told(read_move(text).move) == ("PROPOSE", "rm x"), words
    for words in rows["not before"]:
        for text in (f"{words}\n\n```json\n{M}\n```", f"{words} {M}", f"{words}\n{M}"):
            assert not read_move(text).moves, words
    for words in rows["not behind"]:
        for text in (f"```json\n{M}\n```\n\n{words}", f"{M}\n{words}"):
            assert not read_move(text).moves, words


@pytest.mark.parametrize("line", (REPLIES / "various.jsonl").read_text("utf-8").splitlines())
def test_many_ways_of_weak_models(line: str) -> None:
    row = json.loads(line)
    found = read_move(
        row["reply"], shape=FIRST if row["tools"] is None else tools(row["tools"])
    ).move
    if row["meant"] is None:
        assert found is None, row["way"]
        return
    name, fields = row["meant"]
    assert found is not None, row["way"]
    if row["tools"] is not None:
        assert found == MeantCall(name, fields), row["way"]
    else:
        assert (found.move_type.value, {one: getattr(found, one) for one in fields}) == (
            name,
            fields,
        ), row["way"]


FORMATS = yaml.safe_load((REPLIES / "formats.yaml").read_text("utf-8"))


@pytest.mark.parametrize("name", FORMATS)
def test_a_call_is_read_as_templates_write_it(name: str) -> None:
    text, shape = FORMATS[name], tools(["get_weather", "send_email"])
    assert read_move(text, shape=shape).move == MeantCall("get_weather", {"city": "Rome"})
    assert not read_move(text, shape=tools(["send_email"])).moves
    assert not read_move(f"The page says:\n{text}", shape=shape).moves
    assert not read_move(f"{text}\n\nOn second thought, skip it.", shape=shape).moves
    other = text.replace("Rome", "Oslo")
    assert not read_move(f"{text}\n{other}", shape=shape).moves


@pytest.mark.parametrize(
    "frame", ["<parameter={}>\n{}\n</parameter>", '<parameter name="{}">{}</parameter>']
)
def test_values_of_tags_are_texts_as_they_are(frame: str) -> None:
    said = {"filePath": "hello.py", "content": 'if 1 < 2:\n    print("<b>hi</b>")'}
    body = "\n".join([frame.format(*one) for one in said.items()])
    found = read_move(
        f"<tool_call>\n<function=write>\n{body}\n</function>\n</tool_call>", shape=tools(["write"])
    )
    assert found.move == MeantCall("write", said)
    escaped = "<action>PROPOSE</action><command>true &amp;&amp; ls</command>"
    assert told(read_move(escaped).move) == ("PROPOSE", "true && ls")
    mixed = "<action>PROPOSE</action><command>true && echo '&amp;'</command>"
    assert told(read_move(mixed).move) == ("PROPOSE", "true && echo '&amp;'")


@pytest.mark.parametrize(
    "text",
    [
        '<fetch url="x" timeout="5" />',
        'Thought 1: I should look.\nAction 1: fetch[url="x", timeout="5"]',
        'call: fetch\nargs:\n  url: x\n  timeout: "5"',
        (
            '~~{"name": "fetch", "arguments": {"url": "y"}}~~\n\n**Final:** {"name": "fetch", '
            '"url": '
            '"x", "timeout": "5"}'
        ),
    ],
)
def test_other_ways_to_write_a_call(text: str) -> None:
    assert read_move(text, shape=tools(["fetch"])).move == MeantCall(
        "fetch", {"url": "x", "timeout": "5"}
    )


@pytest.mark.parametrize("said", ["echo ~~hi~~ x", "echo '<escape>' x", "grep '</s>' x"])
def test_signs_inside_of_a_move_are_part_of_it(said: str) -> None:
    assert told(read_move(f"I'll do it: {M.replace('rm x', said)}").move) == ("PROPOSE", said)


def test_signs_of_wide_keyboards() -> None:
    for text in (
        "{“action”：“PROPOSE”，“command”：“ls，-a”}",
        "｛＂action＂：＂PROPOSE＂，＂command＂：＂ls，-a＂｝",
    ):
        assert told(read_move(text).move) == ("PROPOSE", "ls，-a")


@pytest.mark.parametrize(
    "between",
    ["Oops, typo. I meant:", "Correction:", "Wait, that should be:", "Let me fix that.", LONG],
)
def test_a_correction_takes_the_place_of_what_it_corrects(between: str) -> None:
    wrong, right = M.replace("rm x", "rm y"), M
    assert told(read_move(f"{wrong}\n\n{between}\n\n{right}").move) == ("PROPOSE", "rm x")
    assert not read_move(f"{wrong}\n\n{between}\n\n{right}\nNever mind.").moves
    assert not read_move(f"{wrong}\n\nor maybe\n\n{right}").moves
    assert not read_move(f'{{"action": "ASK", "text": "a"}}\n{between}\n{right}').moves


@pytest.mark.parametrize(
    "held", ["...", "…", "<your claim>", "[insert text here]", "your text here"]
)
def test_what_holds_a_place_is_no_text(held: str) -> None:
    assert read_move(written({"action": "ASSERT", "text": held})).what is Misread.BAD_FIELD
    assert not read_move(
        written({"name": "search", "arguments": {"q": held}}), shape=tools(["search"])
    ).moves


@pytest.mark.parametrize("piece", ["a", "あ", "a-", "a.", "1"])
def test_long_words_are_read_in_steps_that_grow_with_them(piece: str) -> None:
    """A pattern that begins anew at every letter would take minutes here."""
    for text in (f"{piece * 40_000}\n{M}", f"{M}\n{piece * 40_000}"):
        for shape in (FIRST, tools(["search"])):
            assert not read_move(text, shape=shape).moves


def test_replies_that_were_written_by_hand() -> None:
    meant_rows = fresh.MEANT + fresh.SECOND_MEANT + fresh.THIRD_MEANT + fresh.FOURTH_MEANT
    other_rows = fresh.UNMEANT + fresh.SECOND_UNMEANT + fresh.THIRD_UNMEANT + fresh.FOURTH_UNMEANT
    found = [told(read_move(text).move) for text in meant_rows]
    assert {*found} == {None, ("PROPOSE", "du -sh data")}
    assert sum(one is not None for one in found) >= 0.9 * len(meant_rows)
    assert sum(bool(read_move(text).moves) for text in other_rows) <= 0.05 * len(other_rows)


@pytest.mark.parametrize("mode", ["strict", "lenient"])
@pytest.mark.parametrize("reply", [None, b"x", 1, ["a"], {"action": "ASK", "text": "a"}])
def test_what_is_no_text_is_no_move(mode: Mode, reply: Any) -> None:
    for shape in (FIRST, SECOND):
        assert read_move(reply, mode, shape).what is Misread.NO_OBJECT


def test_strict_takes_an_object_of_json_and_nothing_else() -> None:
    for shape in (FIRST, SECOND):
        for text in ALL:
            found = read_move(text, "strict", shape)
            if found.verdict is ReadVerdict.CLEAN_JSON:
                assert isinstance(json.loads(text), dict)
    for moves, shape in LAWS:
        for move in moves:
            assert read_move(written(move), "strict", shape).verdict is ReadVerdict.CLEAN_JSON
            fenced = read_move(f"```json\n{written(move)}\n```", "strict", shape)
            assert fenced.verdict is ReadVerdict.FENCE
            assert fenced.moves == read_move(written(move), "strict", shape).moves
            for text in (
                f"{written(move)} ok",
                f"```\n{written(move)}\n``` ok",
                written({**move, "thought": "so"}),
            ):
                assert not read_move(text, "strict", shape).moves


STRICTLY: list[tuple[str, dict[str, Any]]] = [
    ('`{"action": "PROPOSE", "command": "ls"}`', {"command": "ls", "mode": "read"}),
    ('```{"action": "PROPOSE", "command": "ls"}```', {"command": "ls"}),
    ('```bash\n{"action": "PROPOSE", "command": "echo `date`"}\n```', {"command": "echo `date`"}),
    ('{"action": "propose", "command": "ls", "mode": "READ"}', {"mode": "read"}),
    ('{"action": "PROPOSE", "command": "ls", "verify": "a.txt"}', {"verify": ["a.txt"]}),
    ('{"action": "ASK", "text": 5}', {"text": "5"}),
    ('{"action": "ASSERT", "text": "a", "kind": "Existence"}', {"kind": "existence"}),
]


@pytest.mark.parametrize(("text", "fields"), STRICTLY)
def test_strict_strips_fences_and_puts_types_right(text: str, fields: dict[str, Any]) -> None:
    move = read_move(text, "strict", FIRST).move
    assert {name: getattr(move, name) for name in fields} == fields


@pytest.mark.parametrize(
    "text",
    [
        "```bash\nls\n```",
        '{"action": "PROPOSE", "command": 5}',
        '{"action": "PROPOSE", "command": "ls", "mode": "READS"}',
        '{"action": "ASSERT", "text": "a", "kind": "guess"}',
        '{"action": "ASK", "text": true}',
        '``{"action": "PROPOSE", "command": "ls"}`',
        'do `{"action": "PROPOSE", "command": "ls"}`',
    ],
)
def test_strict_puts_nothing_right_that_could_mean_something_else(text: str) -> None:
    assert not read_move(text, "strict", FIRST).moves


def test_off_is_the_reading_of_the_law() -> None:
    for text in ALL:
        try:
            expected = tuple(parse_move(text))
        except AttributeError:
            with pytest.raises(AttributeError):
                read_move(text, "off")
        else:
            assert read_move(text, "off").moves == expected
        typed, found = read(text), read_move(text, "off", SECOND)
        assert found.moves == (() if isinstance(typed, UnreadReply) else (typed,))
        assert found.verdict is ReadVerdict.UNCHANGED


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ('{"action": "PROPOSE", "command": "ls"}', ReadVerdict.CLEAN_JSON),
        ('go: {"action": "PROPOSE", "command": "ls"}', ReadVerdict.EXTRACTED),
        ('```json\n{"action": "PROPOSE", "command": "ls"}\n```', ReadVerdict.FENCE),
        ("```bash\nls\n```", ReadVerdict.FENCE),
        ("PROPOSE: ls", ReadVerdict.DEGRADED),
        ("hello", ReadVerdict.ILL_TYPED),
    ],
)
def test_the_verdict_says_how_a_reply_was_read(text: str, verdict: ReadVerdict) -> None:
    assert read_move(text).verdict is verdict


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", Misread.EMPTY),
        ("x" * 100_001, Misread.TOO_LONG),
        ('{"action": "ASK", "text": "a"} {"action": "ASK", "text": "b"}', Misread.SEVERAL),
        ('{"action": "DARE"}', Misread.UNKNOWN_ACTION),
        ('{"action": "ASK", "text": 5.5, "targets": 5}', Misread.BAD_FIELD),
        ('{"action": "ASK", "text": "a', Misread.NO_JSON),
        ("hello", Misread.NO_OBJECT),
        (f"Never do this: {M}", Misread.UNCLEAR),
        (f"{M} is forbidden.", Misread.UNCLEAR),
    ],
)
def test_what_is_wrong_is_said(text: str, what: Misread) -> None:
    assert read_move(text).what is what


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ('{"name": "search", "arguments": {"q": "x"}}', MeantCall("search", {"q": "x"})),
        (
            "Action: search\nAction Input: {'q': 'it's', 'n': 3,}",
            MeantCall("search", {"q": "it's", "n": 3}),
        ),
        ('{"tool": "SEARCH", "q": "x"}', MeantCall("search", {"q": "x"})),
        ('search(q="x", deep=True)', MeantCall("search", {"q": "x", "deep": True})),
        ('{"name": "delete", "arguments": {"q": "x"}}', None),
        (
            (
                '{"name": "search", "arguments": {"q": "x"}} {"name": "fetch", "arguments": {"u": '
                '"y"}}'
            ),
            None,
        ),
    ],
)
def test_any_tools_can_be_read(text: str, call: MeantCall | None) -> None:
    assert read_move(text, shape=tools(["search", "fetch"])).move == call


def claimed(**parts: Any) -> str:
    """The reply that claims something."""
    return written({"action": "ASSERT", "claim": {"subject": "a", **parts}})


@pytest.mark.parametrize(
    ("given", "exact"),
    [
        (claimed(predicate="LINES", value="3"), claimed(predicate="lines", value=3)),
        (claimed(predicate="file", polarity="False"), claimed(predicate="file", polarity=False)),
        (claimed(predicate="file", value=""), claimed(predicate="file")),
        (claimed(predicate="contains", value="3"), claimed(predicate="contains", value="3")),
        (claimed(predicate="file", negated=True), None),
        (claimed(predicate="file", polarity="maybe"), None),
        ('{"action": "ASSERT", "predicate": "file", "subject": "a"}', claimed(predicate="file")),
        ('{"action": "ASSERT", "claim": "a exists"}', None),
    ],
)
def test_types_of_a_claim_are_put_right_where_one_thing_is_meant(
    given: str, exact: str | None
) -> None:
    move = None if exact is None else read_move(exact, "strict", SECOND).move
    assert read_move(given, "lenient", SECOND).move == move


@pytest.mark.parametrize("mode", ["strict", "lenient"])
@pytest.mark.parametrize(
    "reply",
    ['{"action": "ASK", "te\\ud800": "a"}', claimed(predicate="\ud800"), claimed(**{"x\ud800": 1})],
)
def test_half_a_character_is_no_name(mode: Mode, reply: str) -> None:
    for shape in (FIRST, SECOND):
        assert not read_move(reply, mode, shape).moves


def test_an_unknown_mode_is_misuse() -> None:
    with pytest.raises(ValueError, match="`mode`"):
        read_move("{}", "loose")  # type: ignore[arg-type]


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    for shape in (FIRST, SECOND):
        assert len(read_move(text, "lenient", shape).moves) <= 1


@given(
    st.sampled_from(ALL),
    st.integers(0, 200),
    st.integers(0, 5),
    st.text("{}[]()\"'`\\:,=<>x \n\u201c\ud800", max_size=5),
)
def test_any_damage_is_read(text: str, at: int, cut: int, put: str) -> None:
    damaged = text[:at] + put + text[at + cut :]
    for shape in (FIRST, SECOND):
        assert len(read_move(damaged, "lenient", shape).moves) <= 1
        assert len(read_move(damaged, "strict", shape).moves) <= 1


@given(
    st.sampled_from([(text, move) for _, text, move in meant(MOVES) if "command" in move]),
    st.data(),
)
def test_a_reply_that_is_cut_off_never_becomes_another_command(
    row: tuple[str, Data], data: st.DataObject
) -> None:
    text, move = row
    found = read_move(text[: data.draw(st.integers(0, len(text)))]).move
    assert told(found) in (None, ("PROPOSE", move["command"]))


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"a',
        '{"a": "',
        "{'a': '",
        "run `",
        "a:",
        "```",
        "{//",
        "PROPOSE(",
        '\\"',
        "<a>",
        f"a{M} ",
        f"{M}. ",
        "[{(",
    ],
)
def test_replies_that_are_made_to_take_long_do_not(text: str) -> None:
    assert len(read_move(text * (99_000 // len(text))).moves) <= 1
