"""Guards as a user writes them: plain functions of an event, named in the policy file."""

from __future__ import annotations

from stanchion.kernel.actions import Action
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding, Patch


def hide_passwords(event: ToolCall) -> Finding | None:
    """Replace every argument named like a password before the tool sees it."""
    patches = tuple(Patch((name,), "[hidden]") for name in event.args if "password" in name)
    if not patches:
        return None
    return Finding(
        Action.REDACT,
        "demo.password",
        text="a password does not belong in a tool call",
        guidance="name a stored credential instead",
        patches=patches,
    )


def outside_mail(event: ToolCall) -> Finding | None:
    """Warn of mail to an address outside the company."""
    if str(event.args.get("to")).endswith("@our.example"):
        return None
    return Finding(
        Action.WARN,
        "demo.outside_mail",
        text="this mail leaves the company",
        guidance="send it only if it has to go",
    )


def fraud_check(event: ToolCall) -> str | None:
    """Refuse a payment far above the usual one; it forgets that there may be no earlier payment."""
    earlier: list[float] = []
    usual = sum(earlier) / len(earlier)
    return "far above the usual amount" if event.args["euros"] > 10 * usual else None
