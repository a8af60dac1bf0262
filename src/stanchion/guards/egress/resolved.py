"""Resolved names: what a request's host leads to, asked of the resolver, and judged as a written
address is."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from stanchion.kernel.actions import STOPS, Action, Category
from stanchion.kernel.events import Egress
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading
from stanchion.readings.urls import Target, url_of


class Asked(msgspec.Struct, frozen=True):
    """A question: the addresses of a host for a port, on behalf of an event. `url` says where they
    are wanted."""

    host: str
    port: int
    event: str
    url: str


class Resolved(msgspec.Struct, frozen=True):
    """Judges the addresses of a request's host as `egress` judges those that are written."""

    name: ClassVar = "egress_resolved"
    kind: ClassVar = Kind.ASKING
    deep: ClassVar = False
    call: ClassVar = "stanchion.runtime.answers.resolver:addresses"
    stages: ClassVar = frozenset({Stage.EGRESS})
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 25

    egress: Any
    """The guard of requests that it stands beside."""

    def ask(self, reading: Reading[Egress], /) -> Lookup | None:
        """Ask for the addresses of a name; nothing where there is none, or the request stops here
        as it is."""
        event = reading.event
        target = url_of(event.url)
        if not isinstance(target, Target) or target.literal is not None or not target.host:
            return None
        finding = self.egress.judge(reading)
        if finding is not None and finding.action >= STOPS:
            return None
        port = 0 if target.port is None else target.port
        return Lookup("", Asked(target.host, port, event.id, event.url), self.egress.deadline_ms)

    def judge(self, reading: Reading[Egress | Asked], value: Any, /) -> Finding | None:
        """Judge what the resolver says; an answer of any other shape is a failure, which refuses.

        That a name has no address matters only in time: what was refused for being late does not go
        anywhere. Where a shield that lets nothing leave looks no name up, there is nothing to
        judge.
        """
        if value == {"not_asked": True}:
            return None
        event = reading.event
        target = url_of(event.url)
        addresses = value["addresses"]
        if not isinstance(target, Target) or not isinstance(addresses, list):
            raise TypeError("a resolver answers with a list of addresses")
        if isinstance(event, Asked) and not addresses:
            return None
        found: Finding | None = self.egress.judged_addresses(target, addresses)
        return found

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        said: tuple[Action, ...] = self.egress.actions()
        return said
