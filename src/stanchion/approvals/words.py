"""What tickets say to the agent that waits for one."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.words import Words, declare

WAITING: Final = "approval.waiting"
DENIED: Final = "approval.denied"
EXPIRED: Final = "approval.expired"
USED: Final = "approval.used"
TOO_MANY: Final = "approval.too_many"

CODES: Final = declare(
    {
        WAITING: Words(
            "ticket `{}` waits for a person, who approves it with `stanchion tickets approve {}`",
            "repeat the same call when it is approved",
        ),
        DENIED: Words(
            "ticket `{}` was denied by {}: {}",
            "do not repeat the action; do something else, or report what stands in the way",
        ),
        EXPIRED: Words(
            "ticket `{}` has expired: {}",
            "repeat the call to ask again, when somebody is there to answer; or do something else",
        ),
        TOO_MANY: Words(
            "people were asked too often by this run or this agent",
            "do without the action, or do something that needs nobody's approval; ask again later",
        ),
        USED: Words(
            "the approval of ticket `{}` was used by another call; it is for one alone",
            "look at what came of that call; repeat yours only if it has to happen twice",
        ),
    }
)
