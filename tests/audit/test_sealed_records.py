"""A quiet record that waits to be bound says what was decided, whatever its guards do later."""

from __future__ import annotations

import pytest

from stanchion.audit.record import Quiet


def test_a_record_that_waits_does_not_change_with_what_it_was_judged_on() -> None:
    value = {"count": 1}
    sealed = Quiet("r", "r.1", "", {"path": "a"}, (("own", 1, value), ("none", 2, None))).sealed()
    value["count"] = 2
    assert bytes(sealed.records[0][2]) == b'{"count":1}'
    assert sealed.records[1] == ("none", 2, None)


def test_what_cannot_be_written_is_told_at_once() -> None:
    with pytest.raises(UnicodeEncodeError):
        Quiet("r", "r.1", "", None, (("own", 1, {"said": "\ud800"}),)).sealed()
