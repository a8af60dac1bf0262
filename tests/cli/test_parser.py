"""Help: what an option says of itself is what it does."""

from __future__ import annotations

import re

import pytest

from stanchion.cli.command import GivenOnce, Parser
from stanchion.cli.main import main


@pytest.mark.parametrize(
    ("option", "several"),
    [
        ({"action": "append"}, True),
        ({"action": GivenOnce}, False),
        ({"action": "store_true"}, False),
        ({}, False),
    ],
)
def test_an_option_that_can_be_given_several_times_says_so(
    option: dict[str, object], several: bool
) -> None:
    parser = Parser(prog="p")
    parser.add_argument_group("g").add_argument("--it", help="this", **option)  # type: ignore[arg-type] # as drawn
    assert ("this (can be given several times)" in parser.format_help()) is several


def test_those_of_the_trail_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--help"]) == 0
    said = re.sub(r"\s+", " ", capsys.readouterr().out)
    for option in (
        "--agent NAME",
        "--tool NAME",
        "--stage STAGE",
        "--action ACTION",
        "--witness PLACE",
    ):
        assert re.search(rf"{option} [^-]*\(can be given several times\)", said), option
    assert not re.search(r"--(run ID|task NAME|containing TEXT) [^-]*\(can be given", said)


@pytest.mark.parametrize(
    "words",
    [
        ["show", "7", "--json", "--key", "k"],
        ["show", "--json", "7", "--key", "k"],
        ["--json", "show", "--key", "k", "7"],
        ["--key", "k", "--json", "show", "7"],
    ],
)
def test_words_keep_their_places_wherever_options_stand(words: list[str]) -> None:
    parser = Parser(prog="p")
    parser.add_argument("verb", nargs="?", default="list")
    parser.add_argument("id", nargs="?")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--key")
    args, extra = parser.parse_known_args(words)
    assert (args.verb, args.id, args.json, args.key, extra) == ("show", "7", True, "k", [])


@pytest.mark.parametrize(
    ("words", "verb", "extra"),
    [([], "list", []), (["--json"], "list", []), (["a", "b", "--json", "c"], "a", ["c"])],
)
def test_words_may_be_missing_and_one_too_many_is_left_over(
    words: list[str], verb: str, extra: list[str]
) -> None:
    parser = Parser(prog="p")
    parser.add_argument("verb", nargs="?", default="list")
    parser.add_argument("id", nargs="?")
    parser.add_argument("--json", action="store_true")
    args, left = parser.parse_known_args(words)
    assert (args.verb, left) == (verb, extra)
