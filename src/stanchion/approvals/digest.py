"""Deeds: what an approval is bound to, down to the last argument, and what a person is shown of
it."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

import msgspec

from stanchion.approvals.act import Purpose
from stanchion.kernel.content import content_of
from stanchion.kernel.declared import effect_of
from stanchion.kernel.events import Event
from stanchion.kernel.stages import Stage

FORM: Final = "stanchion-ticket-2"
"""The form of what is hashed; it changes when anything else does."""

SHORT: Final = 12
"""How many digits of a digest are a ticket's id."""

AROUND: Final = frozenset({"id", "at", "run", "call", "tool", "risk", "traits", "cleared"})
"""Fields of events that say who, when and which call, not what is done."""

CRITICAL: Final = "critical"
"""What a run at that level does is as bad as what a tool of that risk does."""

MOST_BYTES: Final = 65_536
"""How much can be shown whole; what is longer is not approved."""
BEGINS: Final = 2_000

_encode = msgspec.json.Encoder(order="deterministic").encode


class Deed(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What would be done: `what` is the hash of all of it, `parts` that of each argument of a tool,
    and `shown` that of what a person sees. `effect` and `sinks` are what is declared of the tool.
    `guards` ask for a person. Where only values are asked about, `root` is the hash of the first
    run of those that share the answer, and `declared` that of the tool's declaration."""

    stage: str
    tool: str = ""
    task: str = ""
    risk: str = "medium"
    effect: str = ""
    sinks: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    policy: str = ""
    what: str
    shown: str
    parts: dict[str, str] = {}
    root: str = ""
    declared: str = ""

    @property
    def digest(self) -> str:
        """The hash of all of that: what is signed."""
        return hashed(self)


def deed_of(
    event: Event, policy: str, guards: tuple[str, ...], shown: Any, sinks: tuple[str, ...] = ()
) -> Deed:
    """What an event would do, whole and as it was proposed, and what is shown of it. Who asks is
    not part of it: equal requests of agents that work in parallel are one."""
    run = event.run
    what = {name: getattr(event, name) for name in event.__struct_fields__ if name not in AROUND}
    return Deed(
        stage=event.stage.value,
        tool=event.tool,
        task=run.task,
        risk=CRITICAL if run.risk == CRITICAL else event.risk.name.lower(),
        effect=effect_of(event.traits),
        sinks=sinks,
        guards=tuple(sorted(guards)),
        policy=policy,
        what=hashed([FORM, run.tenant, event.stage.value, event.tool, what]),
        shown=hashed(shown),
        parts=parts_of(event),
    )


def parts_of(event: Event) -> dict[str, str]:
    """The hash of each argument of a tool's call."""
    args = content_of(event) if event.stage is Stage.TOOL_CALL else None
    return (
        {name: hashed([FORM, name, value]) for name, value in args.items()}
        if isinstance(args, dict)
        else {}
    )


def hashed(said: Any) -> str:
    """The hash of plain data."""
    return sha256(_encode(said)).hexdigest()


def bounded(content: Any) -> Any:
    """Content as a ticket keeps it: what is too long is told by its length, its hash and its
    beginning."""
    body = _encode(content)
    if len(body) <= MOST_BYTES:
        return content
    begins = body.decode("utf-8", "replace")[:BEGINS]
    return {"$bytes": len(body), "$sha256": sha256(body).hexdigest(), "$begins": begins}


def is_whole(content: Any) -> bool:
    """Whether content is kept as a whole."""
    return not (isinstance(content, dict) and content.keys() == {"$bytes", "$sha256", "$begins"})


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Something that only an operator may have done: to what (`subject`), and how (`said`, plain
    data)."""

    purpose: Purpose
    tenant: str = "default"
    subject: str = ""
    said: dict[str, Any] = {}

    @property
    def digest(self) -> str:
        """The hash of all of it: what is signed."""
        return hashed(msgspec.to_builtins(self))
