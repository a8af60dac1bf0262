"""What the docs say of the benchmark is what its table shows, and the picture of a turn is drawn
from that turn."""

import json
from pathlib import Path
from xml.etree import ElementTree

from tools.drawings.lawyer_case import turned
from tools.drawings.svg import CHAR
from tools.pages import lawyer_picture

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"
SECOND = (ROOT / "tests/golden/cli/games.txt").read_text("utf-8").split("law 2\n")[1]


def test_the_page_shows_lines_of_the_table() -> None:
    page = (ROOT / "docs/how-to/tutor.md").read_text("utf-8")
    shown = page.split("$ stanchion tutor games\n")[1].split("\n```")[0]
    assert len(shown.splitlines()) == 8
    assert set(shown.splitlines()) <= set(SECOND.splitlines())


def test_the_page_names_every_game() -> None:
    page = (ROOT / "docs/how-to/tutor.md").read_text("utf-8")
    named = {
        line.split("`")[1]
        for line in page.splitlines()
        if line.startswith("| `") and line.count("|") == 3
    }
    games = {
        one.parent.name
        for one in (ROOT / "src/stanchion/tutor/playing/benchmark").glob("*/game.yaml")
    }
    assert games <= named


def test_the_turn_of_the_picture_is_repaired_and_proves_something() -> None:
    found = turned()
    assert [one.ahead for one in found.said] == ["legal, undecidable", "legal, can bring evidence"]
    assert [one.read for one in found.said] == ["clean_json", "fence"]
    assert "Make a move that brings evidence" in found.said[0].told
    assert (found.taken, found.verdict) == (1, "legal")
    assert found.proven == ["contains(`jobs/4471.log`, `missing key: retry_limit`)"]


def test_the_picture_has_the_words_of_the_turn_and_they_fit() -> None:
    drawn = ElementTree.fromstring(lawyer_picture.render())
    texts = [text.text or "" for text in drawn.iter(f"{SVG}text")]
    said = " ".join(texts)
    assert json.loads(turned().said[0].reply)["claim"]["value"] in said
    assert "One move: legal" in said
    small = [one.text or "" for one in drawn.iter(f"{SVG}text") if one.get("font-size") == "11"]
    assert max(map(len, small[1:])) * CHAR <= lawyer_picture.COLUMN


def test_the_design_page_says_how_many_games_each_choice_of_layers_wins() -> None:
    rows = [line.split() for line in SECOND.splitlines() if line.startswith("all ")]
    wins = [row[8] for row in rows]
    page = " ".join((ROOT / "docs/design/envelope.md").read_text("utf-8").split())
    assert wins == ["0", "0", "3", "5"]
    assert (
        "the weak player wins none of them without layers or with the schema alone, three with "
        "repair"
    ) in page
    assert "and five with both" in page
