"""What tickets say to the agent that waits for one."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.words import Words, declare

WAITING: Final = "approval.waiting"
DENIED: Final = "approval.denied"
EXPIRED: Final = "approval.expired"
USED: Final = "approval.used"

CODES: Final = declare(
    {
        WAITING: Words(
            "a person was asked whether it may happen",
            "do something else meanwhile, and repeat the same call later: it goes ahead once that person agrees",
            "ticket `{}`",
        ),
        DENIED: Words(
            "a person was asked and said no: {2}",
            "do not repeat the action; do something else, or report what stands in the way",
            "ticket `{0}` was denied by {1}",
        ),
        EXPIRED: Words(
            "a person was asked, and the time for it is over: {1}",
            "repeat the call to ask again, when somebody is there to answer; or do something else",
            "ticket `{0}` has expired",
        ),
        USED: Words(
            "a person has agreed to this once, and another call has used it",
            "look at what came of that call; repeat yours only if it has to happen twice",
            "ticket `{}` is used",
        ),
    }
)
