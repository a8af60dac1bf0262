"""What is shown to people is seen as it is: nothing in it steers, turns or hides."""

import json
import sys

import pytest

from stanchion.kernel.actions import Action
from stanchion.kernel.findings import Finding
from stanchion.kernel.shown import Shown, json_safe, visible
from stanchion.kernel.words import say

HOSTILE = {
    "\x00": "\\x00",
    "\x07": "\\x07",
    "\x08": "\\x08",
    "\r": "\\r",
    "\x1b[2J": "\\x1b[2J",
    "\x7f": "\\x7f",
    "\x9b": "\\x9b",
    "\xa0": "\\xa0",
    "\xad": "\\xad",
    "\u034f": "\\u034f",
    "\u061c": "\\u061c",
    "\u115f": "\\u115f",
    "\u200b": "\\u200b",
    "\u200e": "\\u200e",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
    "\u202e": "\\u202e",
    "\u2066": "\\u2066",
    "\u2800": "\\u2800",
    "\u3164": "\\u3164",
    "\ud800": "\\ud800",
    "\ue000": "\\ue000",
    "\ufe0f": "\\ufe0f",
    "\ufeff": "\\ufeff",
    "\uffff": "\\uffff",
    "\U000e0041": "\\U000e0041",
    "\U000e0101": "\\U000e0101",
}


@pytest.mark.parametrize("char", HOSTILE, ids=HOSTILE.values())
def test_what_cannot_be_seen_is_written_out(char: str) -> None:
    assert visible(f"a{char}b") == f"a{HOSTILE[char]}b"
    assert visible(f"a{char}\n\tb", lines=True) == f"a{HOSTILE[char]}\n\tb"


@pytest.mark.parametrize("text", ["", "plain words", "Grüße, 世界 – “ok” 🎉", "a\\x1bb", "नमस्ते"])
def test_what_can_be_seen_stays(text: str) -> None:
    assert visible(text) is text


def test_line_breaks_stay_only_where_there_are_lines() -> None:
    assert visible("a\nb\tc") == "a\\nb\\tc"
    assert visible("a\nb\tc", lines=True) == "a\nb\tc"


def test_no_character_at_all_gets_through_that_a_screen_would_act_upon() -> None:
    shown = visible("".join(map(chr, range(sys.maxunicode + 1))))
    assert shown.isprintable()


@pytest.mark.parametrize("char", [one for one in HOSTILE if one != "\ud800"], ids=str.encode)
def test_json_means_the_same_and_can_be_shown(char: str) -> None:
    body = json.dumps({f"a{char}": [char, "ü"]}, ensure_ascii=False).encode()
    safe = json_safe(body)
    assert json.loads(safe) == json.loads(body)
    assert safe.decode().isprintable()
    assert json_safe(safe) == safe


def test_json_that_can_be_shown_is_left_alone() -> None:
    for body in (b'{"a":1}', '{\n  "a": "ü"\n}'.encode()):
        assert json_safe(body) == body


def test_a_message_shows_what_its_arguments_hold() -> None:
    assert say("`{}` is no tool", ("a\x1b[2K\nb",)) == "`a\\x1b[2K\\nb` is no tool"
    finding = Finding(Action.BLOCK, "x.y", text="one\ntwo\x1b", guidance="\u202ethree")
    assert (finding.message, finding.advice) == ("one\ntwo\\x1b", "\\u202ethree")


def test_an_error_shows_the_values_it_names() -> None:
    assert (
        str(Shown("there is no `a\x1b]0;x\x07`:\n try `b`"))
        == "there is no `a\\x1b]0;x\\x07`:\n try `b`"
    )
