"""The line of a quiet event: the bytes of its record, of which most are the same for all events of
a run about a tool.

They are made once, from a record as it is encoded otherwise, so that both ways say the same.
"""

from __future__ import annotations

import msgspec

from stanchion.audit.apart import NO_SALT, Parts, bound
from stanchion.audit.record import (
    DEFAULT,
    GENESIS,
    KINDS,
    RISKS,
    VERSION,
    Entry,
    Quiet,
    canonical,
)
from stanchion.audit.repeated import Brief
from stanchion.kernel.actions import NAMES, Action
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Event, Moment
from stanchion.kernel.units import Amounts


class Line(msgspec.Struct, frozen=True, gc=False):
    """The parts of a record between what is each event's own: its place in the chain, its time, id
    and call, and what the store has answered."""

    kind: bytes
    run: bytes
    policy: bytes
    agent: bytes
    tool: bytes
    can: bytes


def line_of(
    event: Event, policy: str, passed: tuple[str, ...], can: tuple[int, ...], amounts: Amounts
) -> Line:
    """The line of events as this one, which are decided straight under a policy."""
    run = event.run
    tenant = DEFAULT if run.tenant == DEFAULT else run.tenant
    entry = Entry(
        VERSION, GENESIS, 0, "", KINDS[event.stage], 0, "", run.id, event.stage,
        NAMES[Action.ALLOW], policy, tenant, run.agent, run.task, "", event.tool,
        RISKS[event.risk], event.traits, passed=passed, amounts=amounts,
    )  # fmt: skip
    # What stands in a text cannot look like a field: its quotes are escaped.
    _, _, rest = canonical(entry).partition(b'"chain":""')
    kind, _, rest = rest.partition(b'0,"id":""')
    named, _, rest = rest.partition(b'"policy":"')
    agent, tool, rest = rest[len(policy) :].partition(b',"tool":')
    told = b',"can":' + canonical(can) if can else b""
    return Line(kind, named + b'"policy":"', policy.encode(), agent, tool + rest[:-1], told)


def encode_line(
    line: Line,
    quiet: Quiet,
    moment: Moment,
    decision: Decision,
    seq: int,
    prev: str,
    chain: str,
    salt: str = NO_SALT,
    brief: Brief | None = None,
) -> Parts:
    """The canonical bytes of a quiet event's record."""
    reply, settles = decision.inputs.reply, moment.settles
    policy, records, left = (
        (line.policy, quiet.records, "")
        if brief is None
        else (brief.policy.encode(), brief.records, brief.left)
    )
    said = b""
    if reply is not None:
        said = b',"now":%d' % reply.now if reply.now else b""
        if reply.values:
            said += b',"values":' + canonical(reply.values)
        if reply.settled:
            said += b',"settled":' + canonical(reply.settled)
    body = b'{"v":%d,"prev":"%b","seq":%d,"chain":"%b"%b%d,"id":%b%b%b%b%b%b%b%b%b}' % (
        VERSION, prev.encode(), seq, chain.encode(), line.kind, moment.events[0].at,
        canonical(decision.id), line.run, policy, line.agent,
        b',"call":' + canonical(quiet.call) if quiet.call else b"", line.tool,
        b',"settles":' + canonical(settles) if settles else b"", line.can, said,
    )  # fmt: skip
    kept = b'{"salt":"%b"%b%b%b}' % (
        salt.encode(),
        b"" if quiet.content is None else b',"content":' + canonical(quiet.content),
        b',"records":' + canonical(records) if records else b"",
        b',"left":"%b"' % left.encode() if left else b"",
    )
    return bound(body, kept, salt)
