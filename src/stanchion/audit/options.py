"""How a trail is kept."""

from __future__ import annotations

import msgspec

from stanchion.audit.keys import TrailKey
from stanchion.audit.record import Redact
from stanchion.audit.redaction import masked
from stanchion.audit.retention import Keep


class TrailOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a trail is kept. `key` seals it; `keep` says what retention leaves; the rest has good
    defaults.

    `queue_bytes` is how much may wait for the disk: above it actions are refused, and above twice
    as much what came of them is, too. `wait_s` is how long an action of high risk waits for the
    disk before it is refused.
    """

    key: TrailKey | None = None
    keep: Keep = Keep()
    segment_bytes: int = 64 * 1024 * 1024
    queue_bytes: int = 64 * 1024 * 1024
    sync_ms: float = 2.0
    head_ms: float = 50.0
    checkpoint_records: int = 10_000
    checkpoint_s: float = 60.0
    wait_s: float = 30.0
    redact: Redact = masked


USUAL = TrailOptions()
