"""Setting a context variable for a while: inside it has the value, afterwards the one from
before."""

from __future__ import annotations

from contextvars import ContextVar, copy_context

import pytest

from stanchion.runtime.setting import setting

WORD: ContextVar[str] = ContextVar("word", default="none")


def test_the_value_from_before_is_back_whatever_happens_inside() -> None:
    with setting(WORD, "outer"):
        with pytest.raises(LookupError, match="inner"), setting(WORD, "inner"):
            raise LookupError(WORD.get())
        assert WORD.get() == "outer"
    assert WORD.get() == "none"


def test_it_may_be_left_in_another_context_than_it_was_entered_in() -> None:
    held = setting(WORD, "inside")
    copy_context().run(held.__enter__)
    held.__exit__()
    assert WORD.get() == "none"
