"""A user's own guards, as the tables and tests name them in policies: functions and objects, sync
and async."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from stanchion import Action, Finding, Patch


def no_force(event: Any) -> str | None:
    """Refuse, in words, a command that forces."""
    return "do not force; rebase instead" if "--force" in event.args.get("command", "") else None


def graded(event: Any) -> Finding | None:
    """Give the action that the call's argument names."""
    name = event.args.get("action")
    return (
        None
        if name is None
        else Finding(Action[name.upper()], "house.graded", text=f"the house says {name}")
    )


def hide_password(event: Any) -> Finding | None:
    """Take a password out of the arguments."""
    if event.args.get("password") in (None, "***"):
        return None
    return Finding(Action.REDACT, "house.password", patches=(Patch(("password",), "***"),))


def crashes(event: Any) -> None:
    """Fail on every event that names a reason; the reason is a secret."""
    if "reason" in event.args:
        raise RuntimeError(event.args["reason"])


def nonsense(event: Any) -> Any:
    """Answer what no guard may answer."""
    return event.args.get("answer")


def long_reply(event: Any) -> str | None:
    """Refuse replies that go on."""
    return "say it shorter" if len(event.text) > 5 else None


class Rules:
    """A guard that is an object."""

    def judge(self, event: Any) -> str | None:
        """Refuse what lies outside the house."""
        return None if event.args.get("path", "").startswith("/house/") else "stay in the house"


class Waiting:
    """A guard that has to wait for its answer."""

    async def judge(self, event: Any) -> str | None:
        """Refuse after having let others work."""
        await asyncio.sleep(0)
        return no_force(event)


rules = Rules()
waiting = Waiting()


def never(_event: Any, stop: threading.Event) -> None:
    """A guard that gives no answer as long as anybody may want one."""
    stop.wait(5)
