"""Every code a finding can carry, with what the agent reads and what only people do."""

import stanchion.guards
from stanchion.approvals import words as approvals
from stanchion.hosts.clients import codes as clients
from stanchion.hosts.http import codes as http
from stanchion.kernel.words import KERNEL, declared
from stanchion.policy import asking, of_run, rules
from stanchion.policy.sequences import guard as sequences
from stanchion.runtime.calling import ledger
from stanchion.runtime.door import codes as door
from stanchion.runtime.remote import errors as broker

PATH = "docs/reference/codes.md"

INTRODUCTION = """\
# Codes

A code names a reason. Codes are stable and never reused; their words may improve. `{}` stands for what the finding
is about: a tool, a limit, a guard; `{1}` for the second thing, counted from 0.

The agent reads the message and the advice, and nothing else of a finding. They hold no command, no id that something
can be answered with, and nothing of where Stanchion keeps its state. What people need besides stands under detail:
`finding.detail`, `stanchion explain` and `stanchion audit show` have it.

| code | message | advice | detail |
|---|---|---|---|
"""


def render() -> str:
    """Render one row for each code that the kernel, the runtime and the shipped guards declare."""
    rows = [
        f"| `{code}` | {words.message} | {words.advice} | {words.detail} |"
        for code, words in sorted(declared().items())
        if code.split(".")[0] in _areas()
    ]
    return INTRODUCTION + "\n".join(rows) + "\n"


def _areas() -> set[str]:
    """The areas of shipped codes: what a test or an application declared besides does not belong
    here."""
    shipped = [f"stanchion.guards.{name}" for name in stanchion.guards.SHIPPED]
    codes = {code for module in shipped for code in __import__(module, fromlist=["CODES"]).CODES}
    others = (approvals, asking, broker, clients, door, ledger, http, of_run, rules, sequences)
    beside = [code for each in others for code in each.CODES]
    return {code.split(".")[0] for code in (*KERNEL, *codes, *beside)}
