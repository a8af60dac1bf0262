"""Experience as people see it: how reliable tools are, what last came of their calls, and which
calls worked."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from stanchion.experience.incident import DAY_MS
from stanchion.experience.shelf import Shelf
from stanchion.experience.tally import reliability_of

MOST: int = 20
"""How many incidents of a tool are shown."""


class IncidentView(Struct, frozen=True):
    """One outcome."""

    at_ms: int
    session_id: str
    success: bool
    error_reason: str
    context_hint: str
    call_data: Any


class PracticeView(Struct, frozen=True):
    """A call that worked."""

    fingerprint: str
    success_count: int
    failure_count: int
    last_success_data: Any


class ExperienceView(Struct, frozen=True, omit_defaults=True):
    """What is known of a tool; incidents and practices where one tool is asked for."""

    tenant: str
    tool: str
    successes: int = 0
    failures: int = 0
    rate: float | None = None
    recent: float | None = None
    low: float | None = None
    high: float | None = None
    practices: tuple[PracticeView, ...] = ()
    incidents: tuple[IncidentView, ...] = ()


def experience(shelf: Shelf, tenant: str, now_ms: int, tool: str = "") -> list[ExperienceView]:
    """What is known of the tools of a tenant, by name; of one tool all there is to show."""
    names = [name for name in shelf.tools(tenant) if tool in ("", name)]
    return [_view(shelf, tenant, name, now_ms // DAY_MS, whole=bool(tool)) for name in names]


def _view(shelf: Shelf, tenant: str, tool: str, today: int, whole: bool) -> ExperienceView:
    known = shelf.known(tenant, tool, today)
    one = reliability_of(tool, known.tally, today)
    practices = [
        PracticeView(each.fingerprint, each.success_count, each.failure_count, each.args)
        for each in known.practices
    ]
    incidents = [
        IncidentView(
            each.at_ms, each.session_id, each.success, each.error_reason, each.context_hint,
            msgspec.json.decode(each.call_data),
        )
        for each in (shelf.newest(tenant, tool, MOST) if whole else ())
    ]  # fmt: skip
    practices.sort(key=lambda each: (-each.success_count, each.fingerprint))
    return ExperienceView(
        tenant, tool, one.successes, one.failures, one.rate, one.recent, one.low, one.high,
        tuple(practices) if whole else (), tuple(incidents),
    )  # fmt: skip
