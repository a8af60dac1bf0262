"""What a record says, in words; where that was erased, that it was."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from stanchion.audit.apart import ERASED
from stanchion.audit.notes import GONE
from stanchion.audit.record import RecordedFinding
from stanchion.kernel.actions import NAMES, Action
from stanchion.kernel.words import PLACE, advice_of, detail_of, is_declared, message_of

WITHHELD: Final = "$withheld"


class Worded(NamedTuple):
    """A finding in words: why, what to do instead, and what people read beside it."""

    message: str
    advice: str
    detail: str


def worded(said: RecordedFinding, erased: bool) -> Worded:
    """A finding of a record in words. Where what was said in the record is erased, the words of its
    code stay, with `(erased)` in the place of each argument."""
    asked = said.action == NAMES[Action.ESCALATE]
    if not erased:
        message = said.text if said.text else message_of(said.code, said.args)
        return Worded(
            message, advice_of(said.code, said.args, asked), detail_of(said.code, said.args)
        )
    if not is_declared(said.code):
        return Worded(GONE, "", "")
    templates = message_of(said.code, ()), advice_of(said.code, (), asked), detail_of(said.code, ())
    return Worded(*[PLACE.sub(GONE, template) for template in templates])


def content_in_words(content: Any) -> str | None:
    """What stands for content that a record does not have, in words; `None` where it is the content
    itself."""
    if content == ERASED:
        return GONE
    if isinstance(content, dict) and content.keys() == {WITHHELD}:
        return f"(withheld: {content[WITHHELD]})"
    return None
