"""The record of a decision: canonical bytes that carry the hash of the record before them."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from holdfast.kernel.actions import NAMES
from holdfast.kernel.content import content_of
from holdfast.kernel.decision import Decision
from holdfast.kernel.events import Moment, ToolCall
from holdfast.kernel.findings import Finding
from holdfast.kernel.patches import PatchError, apply

VERSION: Final = 1

LONGEST: Final = 262_144
"""How long a record may get with its content; the content of a longer one is kept as a digest."""


class Said(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A finding as it is written down: code and arguments, the words can be made again."""

    guard: str
    action: str
    code: str
    args: tuple[Any, ...] = ()
    text: str = ""


class Entry(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """One record. `prev` is the hash of the record before; content is as it went ahead, after redaction."""

    v: int
    prev: str
    seq: int
    id: str
    run: str
    stage: str
    at: int
    action: str
    policy: str
    tenant: str = "default"
    agent: str = ""
    task: str = ""
    call: str = ""
    tool: str = ""
    content: Any = None
    findings: tuple[Said, ...] = ()
    skipped: tuple[str, ...] = ()
    shadow: tuple[Said, ...] = ()
    effects: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    with_: tuple[str, ...] = msgspec.field(default=(), name="with")
    now: int = 0
    values: tuple[int, ...] = ()
    settled: tuple[str, ...] = ()


_encode = msgspec.json.Encoder(order="deterministic").encode


def entry_of(moment: Moment, decision: Decision, seq: int, prev: str, notes: tuple[str, ...]) -> Entry:
    """The record of a decision about a moment, placed behind the record with hash `prev`."""
    event = moment.events[0]
    run = event.run
    reply = decision.inputs.reply
    content = event.args if type(event) is ToolCall else content_of(event)
    return Entry(
        VERSION,
        prev,
        seq,
        decision.id,
        run.id,
        event.stage,
        event.at,
        NAMES[decision.action],
        decision.policy,
        run.tenant,
        run.agent,
        run.task,
        event.call,
        event.tool,
        _redacted(content, decision) if decision.findings else content,
        _said(decision.findings),
        decision.skipped,
        _said(decision.shadow),
        decision.effects,
        notes,
        tuple([other.stage.value for other in moment.events[1:]]) if len(moment.events) > 1 else (),
        0 if reply is None else reply.now,
        () if reply is None else reply.values,
        () if reply is None else reply.settled,
    )


def _redacted(content: Any, decision: Decision) -> Any:
    """Content as it may be written down: every finding's patches apply, whether or not the action went ahead."""
    patches = tuple(patch for finding in decision.findings for patch in finding.patches)
    try:
        return apply(content, patches) if patches else content
    except PatchError:
        return {"$withheld": "its redaction does not fit"}


def encode(entry: Entry) -> bytes:
    """The canonical bytes: what is hashed is what is kept. Content that is too long is kept as its length and hash."""
    try:
        body = _encode(entry)
    except UnicodeEncodeError:
        entry = msgspec.convert(_spelled_out(msgspec.to_builtins(entry)), Entry)
        body = _encode(entry)
    return body if len(body) <= LONGEST else _encode(msgspec.structs.replace(entry, content=_digest(entry.content)))


def _digest(content: Any) -> dict[str, Any]:
    from hashlib import sha256

    body = _encode(content)
    return {"$bytes": len(body), "$sha256": sha256(body).hexdigest()}


def _spelled_out(value: Any) -> Any:
    """Data with the halves of characters that no encoding has written out as `\\udc00`."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_spelled_out(name): _spelled_out(item) for name, item in value.items()}
    return [_spelled_out(item) for item in value] if isinstance(value, list | tuple) else value


def _said(findings: tuple[Finding, ...]) -> tuple[Said, ...]:
    if not findings:
        return ()
    return tuple([Said(f.guard, NAMES[f.action], f.code, f.args, f.text) for f in findings])
