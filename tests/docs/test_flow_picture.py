"""The picture of where values come from says what the guard says, and a policy with the guard says
the same."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from stanchion import Shield
from tools.drawings.flow_cases import PASSES, STOPS, USER, Case, Origin, played
from tools.drawings.svg import CHAR
from tools.pages import flow_picture

SVG = "{http://www.w3.org/2000/svg}"
CODES = ("flow.dictated", "flow.stands_for", "flow.action", "", "", "")
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("case", "code"), [*zip(STOPS + PASSES, CODES, strict=True)], ids=lambda one: str(one)[:40]
)
def test_what_is_drawn_is_what_a_shield_decides(case: Case, code: str, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("name: drawn\nguards: [{use: flow}]\n")
    run = Shield.load(tmp_path / "policy.yaml").run(agent="clerk", task="drawn")
    run.prompt(case.prompt)
    for read in case.reads:
        assert run.check(read.tool, read.args).proceeds
        run.result(read.tool, read.args, read.result)
    decision = run.check(case.tool, case.args)
    assert decision.proceeds is (code == "")
    assert played(case).code == (decision.code if code else "") == code


def test_values_are_drawn_from_where_they_stand() -> None:
    first, second, third = [played(case).origins for case in STOPS]
    assert first == (Origin("to", 1, True),)
    assert second == (Origin("product_id", 1, True), Origin("product_id", 2, False))
    assert third == (Origin("", 1, True),)
    named, data, handed = [played(case).origins for case in PASSES]
    assert Origin("to", USER, False) in named
    assert Origin("participants", 1, False) in data
    assert handed == (Origin("to", 1, False),)


def test_all_that_is_read_is_drawn_and_only_stops_are_red() -> None:
    drawn = ElementTree.fromstring(flow_picture.render())
    texts = list(drawn.iter(f"{SVG}text"))
    said = " ".join([text.text or "" for text in texts])
    for case in STOPS + PASSES:
        assert case.title in said
        assert " ".join([case.tool, *case.args]) in said
    ends = [text.text for text in texts if text.get("text-anchor") == "end"]
    assert ends == [each for code in CODES[:3] for each in (f"stopped: {code}", "goes ahead")]
    red = [text.text or "" for text in texts if text.get("fill") == flow_picture.ASKED]
    assert any("kim@shade.example" in line for line in red)
    assert not any("kim@lake.example" in line for line in red)


def test_no_text_leaves_the_picture() -> None:
    drawn = ElementTree.fromstring(flow_picture.render())
    for text in drawn.iter(f"{SVG}text"):
        if text.get("text-anchor") == "start":
            size = float(text.get("font-size", "11")) / 11
            assert (
                float(text.get("x", "0")) + CHAR * size * len(text.text or "") <= flow_picture.WIDTH
            )


def test_the_page_shows_the_picture_and_names_every_case() -> None:
    page = (ROOT / "docs/guards/flow.md").read_text(encoding="utf-8")
    assert "(../assets/flow.svg)" in page
    for case in STOPS + PASSES:
        assert f"**{case.title}.**" in page
