"""Why somebody says no: the agent reads it, so it has to say something."""

from __future__ import annotations

from stanchion.approvals.errors import AnswerRefused
from stanchion.kernel.shown import UNSEEN


def says_something(text: str) -> bool:
    """Whether there is a word in it that anybody could read."""
    return any(map(str.isalnum, UNSEEN.sub("", text)))


def check_reason(comment: str) -> None:
    """Raise `AnswerRefused` where a comment has no word in it that anybody could read."""
    if not says_something(comment):
        raise AnswerRefused(
            "a no needs a reason in words: the agent reads it, and does something else because of "
            "it"
        )
