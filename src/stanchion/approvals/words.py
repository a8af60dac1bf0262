"""What tickets say to the agent that waits for one."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.words import Words, declare

WAITING: Final = "approval.waiting"
DENIED: Final = "approval.denied"
EXPIRED: Final = "approval.expired"
USED: Final = "approval.used"
EDITED: Final = "approval.edited"
EDIT_ASKS: Final = "approval.edit_asks"
EDIT_UNFIT: Final = "approval.edit_unfit"

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
        EDIT_ASKS: Words(
            "a person allowed this call with changes, and the changed call raises another question",
            "do not repeat it as it is: do something else, or report what prevents your work",
            "ticket `{}` was approved with changes, which do not answer what is asked about the "
            "changed call",
        ),
    }
)
