"""Every code a finding can carry, with what the agent reads."""

import holdfast.guards
from holdfast.approvals import words as approvals
from holdfast.kernel.words import declared
from holdfast.runtime import ledger

PATH = "docs/reference/codes.md"

INTRODUCTION = """\
# Codes

A code names a reason. Codes are stable and never reused; their words may improve. `{}` stands for what the finding
is about: a tool, a limit, a guard.

| code | message | advice |
|---|---|---|
"""


def render() -> str:
    """Render one row for each code that the kernel, tickets, the effect ledger and the shipped guards declare."""
    rows = [
        f"| `{code}` | {words.message} | {words.advice} |"
        for code, words in sorted(declared().items())
        if code.split(".")[0] in _areas()
    ]
    return INTRODUCTION + "\n".join(rows) + "\n"


def _areas() -> set[str]:
    """The areas of shipped codes: what a test or an application declared besides does not belong here."""
    shipped = [guard.__module__ for guard in holdfast.guards.SHIPPED.values()]
    codes = {code for module in shipped for code in __import__(module, fromlist=["CODES"]).CODES}
    return {code.split(".")[0] for code in (*codes, *approvals.CODES, *ledger.CODES)} | {"kernel"}
