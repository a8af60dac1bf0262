"""Why somebody says no: the agent reads it, so it has to say something."""

from __future__ import annotations

from stanchion.approvals.errors import AnswerRefused
from stanchion.kernel.shown import UNSEEN


def check_reason(comment: str) -> None:
    """Raise `AnswerRefused` where a comment has no word in it that anybody could read."""
    if not any(map(str.isalnum, UNSEEN.sub("", comment))):
        raise AnswerRefused("a no needs a reason in words: the agent reads it, and does something else because of it")
