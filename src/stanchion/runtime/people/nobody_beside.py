"""Whether an answer without a key can count: only where no agent sits beside whoever gives it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stanchion.approvals.errors import AnswerRefused

if TYPE_CHECKING:
    from stanchion.runtime.people.grounds import Answered


def nobody_beside(shield: Answered) -> None:
    """Raise `AnswerRefused` where an answer without a key would be given beside an open run: in its
    process, below it, or at its terminal."""
    if shield.presence is None:
        return
    from stanchion.runtime.standing.live import beside, live_runs
    from stanchion.runtime.standing.processes import asker

    try:
        found = beside(live_runs(shield.presence.state), asker())
    except OSError as error:
        raise AnswerRefused(f"it is not known which runs are open: {error}; use a key") from None
    if found is not None:
        raise AnswerRefused(
            f"process {found.pid} has an open run, and this process belongs to it: answer at "
            f"another terminal, or "
            "use a key"
        )
