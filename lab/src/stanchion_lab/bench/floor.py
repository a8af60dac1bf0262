"""The floor: the same twelve checks, the same state and the same record, written by hand in one
function."""

from __future__ import annotations

import threading
from collections import deque
from hashlib import sha256
from posixpath import normpath
from typing import Any

import msgspec

from stanchion.audit.journal import MEMORY
from stanchion.audit.record import VERSION, RecordEntry
from stanchion.stores.memory import wall_ms
from stanchion_lab.bench.guards import DROP, KEY, WriteFile

_encode = msgspec.json.Encoder(order="deterministic").encode


class Floor:
    """What a careful engineer would write for this one policy, and could not reuse for the next."""

    def __init__(self, allowed: frozenset[str], denied: frozenset[str], policy: str) -> None:
        self.allowed, self.denied, self.policy = allowed, denied, policy
        self.seq = self.steps = self.tokens = self.live = self.bucket = 0
        self.ring: dict[int, int] = {}
        self.window: tuple[int, ...] = ()
        self.holds: dict[str, int] = {}
        self.lock = threading.Lock()
        self.head = "0" * 64
        self.kept: deque[tuple[bytes, str]] = deque(maxlen=10_000)
        self.role = "implementer"

    def check(self, tool: str, args: dict[str, Any], tokens: int) -> str:
        """Judge one call and write it down; returns the action."""
        self.seq += 1
        event_id = f"r1.00.{self.seq}"
        at = wall_ms()
        action = "ALLOW"
        chars = 0
        for name, value in args.items():
            chars += len(name) + (len(value) if type(value) is str else 0)
        if chars > 1_000_000 or tool in self.denied or tool not in self.allowed:
            action = "BLOCK"
        else:
            try:
                msgspec.convert(args, WriteFile)
            except msgspec.ValidationError:
                action = "BLOCK"
            content = args["content"]
            if (
                not normpath(args["path"]).startswith("src/")
                or KEY.search(content)
                or DROP.search(content)
                or self.role != "implementer"
            ):
                action = "BLOCK"
        with self.lock:
            now = wall_ms()
            bucket = now // 3_750
            if bucket != self.bucket:
                self.ring = {b: n for b, n in self.ring.items() if b > bucket - 16}
                self.bucket, self.live = bucket, sum(self.ring.values())
            mark = hash((tool, *args.values()))
            values = (self.steps, self.tokens, self.live)
            if action == "ALLOW" and (
                self.steps + 1 > 1_000_000_000
                or self.tokens + tokens > 1_000_000_000_000
                or self.live + 1 > 1_000_000_000
                or self.window.count(mark) >= 1_000
            ):
                action = "BLOCK"
            window = self.window
            self.window = (*window[-15:], mark)
            if action == "ALLOW":
                self.steps += 1
                self.tokens += tokens
                self.live += 1
                self.ring[bucket] = self.ring.get(bucket, 0) + 1
                self.holds[event_id] = tokens
            body = _encode(
                RecordEntry(
                    VERSION, self.head, self.seq, MEMORY, "intent", at, event_id, "r1", "tool_call",
                    action, self.policy, "default", "a1", "t1", "", tool, traits=("content",),
                    content=args, amounts=(1, tokens, 0, 0, 0),
                    records=(("repeats", self.seq, window),), now=now, values=values,
                )
            )  # fmt: skip
            self.head = sha256(body).hexdigest()
            self.kept.append((body, self.head))
        return action

    def settle(self, event_id: str, tokens: int) -> None:
        """Close a hold with what was used."""
        with self.lock:
            self.tokens += tokens - self.holds.pop(event_id)
