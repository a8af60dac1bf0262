"""What tests of bypasses share: a policy with guardrails of every kind, and tools that note what
they did."""

from __future__ import annotations

from typing import Any

from stanchion import Decision, Refused, Run

WHY = "the landlord waits for this month's rent"


def denies(name: str, *tools: str, **more: Any) -> dict[str, Any]:
    """A guardrail that refuses some tools."""
    return {"use": "tool_denylist", "id": name, "tools": list(tools), **more}


def allowing(role: str = "reviewer") -> dict[str, Any]:
    """What a guardrail says that can be bypassed."""
    return {"bypass": {"allowed": True, "requires_approval": role}}


def policy(*more: dict[str, Any], role: str = "reviewer", **terms: Any) -> dict[str, Any]:
    """A policy with a guardrail that can be bypassed, one that cannot, and one that is always
    active."""
    return {
        "name": "p",
        "guards": [
            denies("first", "pay", "stop", "wipe", **allowing(role)),
            denies("never", "leak"),
            denies("built-in", "halt_job", always=True),
            *more,
        ],
        "tools": {
            "wipe": {"effect": "irreversible"},
            "erase": {"effect": "irreversible"},
        },
        "bypass": {"safety_responses": ["stop", "halt_job"], **terms},
    }


class Deeds:
    """Tools that note what they did."""

    def __init__(self) -> None:
        self.done: list[tuple[str, Any]] = []

    def pay(self, amount: int, to: str = "") -> None:
        """Pay."""
        self.done.append(("pay", amount))

    def stop(self, pid: int) -> None:
        """Stop a process."""
        self.done.append(("stop", pid))

    def halt_job(self, job: str) -> None:
        """Stop a job."""
        self.done.append(("halt_job", job))

    def wipe(self, disk: str) -> None:
        """Wipe a disk."""
        self.done.append(("wipe", disk))

    def leak(self, what: str) -> None:
        """Tell something."""
        self.done.append(("leak", what))


def refused(run: Run, tool: Any, *args: Any, **kwargs: Any) -> Decision:
    """The decision that refuses a call."""
    try:
        run.call(tool, *args, **kwargs)
    except Refused as error:
        return error.decision
    raise AssertionError(f"{tool.__name__} was not refused")
