"""Canaries: an adapter has its framework call a tool that must not run, and it is seen whether the
call was refused.

A canary takes a shield and a function. It has the framework call that function as the tool
`stanchion_canary`, in a run of that shield, the way a program would; a client of models asks the
model of that name, and calls the function where its request would leave. What comes of it does not
matter; it may raise, and it may be async. Its shield is in memory and refuses the call, so that
nothing of it reaches the program's own state, budgets or trail.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Final

from stanchion.audit.journal import MemoryJournal
from stanchion.hosts.contract.frameworks import TRYING
from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.tuples import NamedTuple
from stanchion.runtime.coverage.own_work import own_work
from stanchion.runtime.shield import Shield

TOOL: Final = "stanchion_canary"
HOST: Final = "stanchion-canary.invalid"
"""Where a client's canary sends its request: a name that leads nowhere."""
WITHIN_S: Final = 30.0

POLICY: Final[dict[str, Any]] = {
    "name": "canary",
    "guards": [
        {"use": "tool_denylist", "tools": [TOOL]},
        {"use": "egress", "allowed_hosts": ["allowed.invalid"]},
        {
            "use": "rule",
            "stages": ["model_call"],
            "when": f"event.model == '{TOOL}'",
            "action": "block",
        },
    ],
}

Canary = Callable[[Shield, Callable[[], str]], object]
"""Has a framework call a function as the tool `stanchion_canary`, under a shield."""


class Came(NamedTuple):
    """What came of a canary: whether it was caught, and where not, why that is known; and the
    framework's version."""

    caught: bool
    why: str = ""
    version: str = ""


def perform(canary: Canary, shield: Shield, body: Callable[[], str]) -> None:
    """Have a canary call its function, on an event loop of its own where it is async."""
    coming = canary(shield, body)
    if isinstance(coming, Coroutine):
        asyncio.run(coming)


def drive_canary(canary: Canary, within_s: float = WITHIN_S) -> Came:
    """Drive a canary in a thread of its own, because frameworks may want an event loop of their
    own."""
    journal = MemoryJournal()
    shield = Shield.load(POLICY, store="memory:", journal=journal, notify="none", metrics=False)
    TRYING.add(shield)
    ran: list[str] = []
    raised: list[BaseException] = []

    def body() -> str:
        ran.append(TOOL)
        return "the canary ran"

    def work() -> None:
        try:
            with own_work("canary"):
                perform(canary, shield, body)
        except BaseException as error:  # noqa: BLE001 - a refusal may be raised in any type of the framework
            raised.append(error)

    thread = threading.Thread(target=work, name="stanchion-canary", daemon=True)
    thread.start()
    thread.join(within_s)
    late = thread.is_alive()
    refused = any(Action[kept.read().action] > PROCEEDS for kept in journal.kept())
    shield.close()
    return _judged(bool(ran), refused, late, raised)


def _judged(ran: bool, refused: bool, late: bool, raised: list[BaseException]) -> Came:
    if ran:
        return Came(False, "the tool has run")
    if late:
        return Came(False, "it did not end in time")
    if not refused:
        said = f"; it raised `{type(raised[0]).__name__}: {str(raised[0])[:200]}`" if raised else ""
        return Came(False, f"no decision was asked for{said}")
    return Came(True)
