"""A waiting call is answered in a real browser of a phone's width, with scripts off."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ops.answering.browser import PROGRAM, browser
from tests.ops.answering.scene import scene
from tests.ops.answering.test_page import HOSTILE

pytestmark = pytest.mark.skipif(not PROGRAM, reason="there is no Chromium: install `chromium`")


def test_a_waiting_call_is_answered_on_a_phone(tmp_path: Path) -> None:
    with scene(tmp_path) as at, browser() as phone:
        phone.wide(390)
        ticket = at.asks(HOSTILE)
        for content in (HOSTILE, 5, 6):
            ticket = at.asks(content)
            phone.goes(at.link(ticket))
            assert phone.size()[0] == 390, "nothing is wider than the phone"
            if content is HOSTILE:
                continue
            if content == 5:
                phone.presses(".yes")
                assert not at.goes_ahead(5), "it takes two presses to say yes"
                phone.presses("input[type=checkbox]")
                phone.presses(".yes")
            else:
                phone.presses(".no")
            phone.loads()
            assert ("approved" if content == 5 else "denied") in phone.text("h1")
            assert at.goes_ahead(content) is (content == 5)
        phone.goes(at.link(ticket))
        assert "was already denied" in phone.text("h1")
