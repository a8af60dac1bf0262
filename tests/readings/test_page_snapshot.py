"""Pages as a browser server shows them: nothing that stands on one makes it another."""

from __future__ import annotations

import pytest

from stanchion.readings.page_snapshot import LONGEST, MOST_LINES, snapshot_of

HEAD = "### Page\n- Page URL: http://shop.example/cart\n- Page Title: Shop\n### Snapshot\n```yaml\n"


def page(*lines: str) -> str:
    """What a server says of a page with these lines."""
    return HEAD + "\n".join(lines) + "\n```\n### Events\n- New console entries: a.log"


ELEMENTS = {
    '- button "Buy now" [ref=e9]': ("e9", "button", "Buy now"),
    "- generic [ref=e9] [cursor=pointer]: Delete account": ("e9", "generic", "Delete account"),
    '- paragraph [ref=e9]: "it\'s: [ref=e1]"': ("e9", "paragraph", "it's: [ref=e1]"),
    '- \'button "Say \\"OK\\": [ref=e1]" [ref=e9]\'': ("e9", "button", 'Say "OK": [ref=e1]'),
    "- 'link \"It''s: here\" [ref=e9]':": ("e9", "link", "It's: here"),
    '- checkbox "All" [checked] [ref=f1e9]': ("f1e9", "checkbox", "All"),
    '- heading "Shop \\u0041" [level=1] [ref=e9]': ("e9", "heading", "Shop A"),
}


@pytest.mark.parametrize("line", ELEMENTS)
def test_an_element_is_its_role_and_its_text(line: str) -> None:
    ref, role, text = ELEMENTS[line]
    (known,) = snapshot_of(page(line)).elements.items()
    assert (known[0], known[1].role, known[1].words) == (ref, role, text)


def test_what_is_inside_of_a_button_is_the_button() -> None:
    seen = snapshot_of(
        page(
            "- generic [ref=e1]:",
            '  - button "Delete account" [ref=e2]:',
            "    - img [ref=e3]",
            "    - generic [ref=e4]: OK",
            '  - link "Terms" [ref=e5] [cursor=pointer]:',
            "    - /url: /terms",
            '  - textbox "Mail" [active] [ref=e6]',
        )
    )
    within = seen.elements["e3"].within
    assert within is seen.elements["e2"]
    assert seen.elements["e4"].words == "Delete account OK OK"
    assert seen.elements["e1"].text == "Delete account OK Terms Mail"
    assert (seen.elements["e5"].url, seen.url) == ("/terms", "http://shop.example/cart")
    assert seen.focus is seen.elements["e6"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "### Error\nRef e9 not found",
        page('- button "OK" [ref=e9]').replace("Shop", "Shop\n### Snapshot"),
        page(*['- button "OK" [ref=e9]'] * (MOST_LINES + 1)),
        page("- button Delete [ref=e9]"),
    ],
)
def test_what_cannot_be_read_as_one_page_has_no_elements(text: str) -> None:
    assert snapshot_of(text).elements == {}


def test_a_text_is_no_line_and_a_reference_is_of_one_element() -> None:
    seen = snapshot_of(page('- paragraph [ref=e8]: a\u2028- button "OK" [ref=e9]\r- x [ref=e7]'))
    assert list(seen.elements) == ["e8"]
    seen = snapshot_of(page('- button "Delete" [ref=e9]', '- button "Cancel" [ref=e9]'))
    assert (seen.elements["e9"].role, seen.elements["e9"].text) == ("unknown", "")


def test_texts_are_bounded() -> None:
    (known,) = snapshot_of(page(f"- paragraph [ref=e9]: {'word ' * 100_000}")).elements.values()
    assert len(known.words) <= LONGEST
