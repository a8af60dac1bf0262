"""One of several processes of a run that ask about the same value."""

from __future__ import annotations

from typing import Any

from stanchion import Shield
from tests.approvals.origins import Origins


def attempt(given: tuple[dict[str, Any], str, str, int]) -> str | None:
    """The ticket that this process waits for; nothing where it may go ahead."""
    policy, store, value, number = given
    with Shield.load(policy, store=store, journal="memory:", guards=[Origins()]) as shield:
        run = shield.run("bot", "t", id="r1")
        return run.ticket(run.check("send", {"to": value, "body": f"number {number}"}))
