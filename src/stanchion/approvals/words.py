"""What tickets say to the agent that waits for one."""

from __future__ import annotations

from typing import Final

from stanchion.approvals.errors import AnswerRefused
from stanchion.kernel.shown import UNSEEN
from stanchion.kernel.words import Words, declare

WAITING: Final = "approval.waiting"
DENIED: Final = "approval.denied"
EXPIRED: Final = "approval.expired"
USED: Final = "approval.used"
EDITED: Final = "approval.edited"
EDIT_ASKS: Final = "approval.edit_asks"
EDIT_UNFIT: Final = "approval.edit_unfit"
FULL: Final[dict[str, str]] = {
    "tickets_for_a_run": "people.run_full",
    "tickets_a_minute": "people.too_often",
    "questions_for_a_task": "people.questions_spent",
}
"""The code for each limit of tickets."""
NOBODY: Final = "people.nobody"

CODES: Final = declare(
    {
        WAITING: Words(
            "a person has been asked about this",
            "do something else in the meantime, then repeat the same call: it goes ahead once that "
            "person allows it",
            "ticket `{}`",
        ),
        DENIED: Words(
            "a person was asked and said no: {2}",
            "do not repeat the action; do something else, or report what prevents your work",
            "ticket `{0}` was denied by {1}",
        ),
        EXPIRED: Words(
            "a person was asked, but the request has expired: {1}",
            "repeat the call to ask again, when somebody is there to answer; or do something else",
            "ticket `{0}` has expired",
        ),
        USED: Words(
            "a person approved this once, and another call has already used the approval",
            "check the result of that call; repeat yours only if it must happen twice",
            "ticket `{}` is used",
        ),
        EDITED: Words(
            "a person changed this call before it went ahead, to {1}",
            "go on from what was done, which is not what you asked for; do not repeat the call to "
            "get the rest of it",
            "ticket `{0}` was approved with changes",
        ),
        EDIT_UNFIT: Words(
            "a person allowed this call with changes, and it cannot be changed here",
            "do something else, or report what prevents your work",
            "ticket `{}` was approved with changes, and the host of this run cannot carry out "
            "`REDACT`",
        ),
        "people.run_full": Words(
            "this run has asked people {} times, which is all that it may, so nobody is asked",
            "go on without it, or report what prevents your work",
        ),
        "people.too_often": Words(
            "people were asked more than {} times within a minute, so nobody is asked now",
            "do something else first, and repeat the call in a minute",
        ),
        "people.questions_spent": Words(
            "a person would have to say whether this is right, and a task puts no more than {} "
            "such questions",
            "go on with what the user asked for, and report what you could not do",
        ),
        NOBODY: Words(
            "a person would have to be asked, and nobody is there who could answer",
            "go on without it, and report what you could not do",
            "`escalation.attended` is `false`, or no operator has a role of the ticket and "
            "the key that it takes: `stanchion operators add NAME` adds one",
        ),
        EDIT_ASKS: Words(
            "a person allowed this call with changes, and the changed call raises another question",
            "do not repeat it as it is: do something else, or report what prevents your work",
            "ticket `{}` was approved with changes, which do not answer what is asked about the "
            "changed call",
        ),
    }
)


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
