"""The digest: what an approval is bound to, down to the last argument."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.kernel.events import Event

FORM: Final = "stanchion-ticket-1"
"""The form of what is hashed; it changes when anything else does."""

SHORT: Final = 12
"""How many digits of a digest are a ticket's id."""

AROUND: Final = frozenset({"id", "at", "run", "call", "tool", "risk", "traits", "cleared"})
"""Fields of events that say who, when and which call, not what is done."""

MOST_BYTES: Final = 32_768
"""How much of what is asked a ticket shows."""
BEGINS: Final = 2_000

_encode = msgspec.json.Encoder(order="deterministic").encode


def digest_of(event: Event, policy: str) -> str:
    """The hash of an action, whole and as it was proposed: whose, with what, and under which policy.

    The run is not part of it: an approval lets the same action through when it is asked for again, by whichever run
    of the same agent and task.
    """
    from hashlib import sha256

    run = event.run
    what = {name: getattr(event, name) for name in event.__struct_fields__ if name not in AROUND}
    body = _encode([FORM, run.tenant, run.agent, run.task, event.stage.value, event.tool, policy, what])
    return sha256(body).hexdigest()


def bounded(content: Any) -> Any:
    """Content as a ticket keeps it: what is too long is told by its length, its hash and its beginning."""
    from hashlib import sha256

    body = _encode(content)
    if len(body) <= MOST_BYTES:
        return content
    begins = body.decode("utf-8", "replace")[:BEGINS]
    return {"$bytes": len(body), "$sha256": sha256(body).hexdigest(), "$begins": begins}
