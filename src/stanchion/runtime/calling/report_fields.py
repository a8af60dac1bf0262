"""The fields of reports: what a host can say of an event of any stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict


class Fields(TypedDict, total=False):
    """What `run.judge` takes, by name; each stage has its own, and `docs/reference/events.md` says
    which."""

    api_calls: int
    args: dict[str, Any]
    attempt: int
    bases: Sequence[str]
    call: str
    channel: str
    cost_usd: float
    duration_s: float
    error: BaseException | str
    fault: str
    final: bool
    headers: dict[str, str]
    index: int
    messages: list[Any]
    method: str
    model: str
    params: dict[str, Any]
    part: int
    payload: Any
    result: Any
    settled: bool
    source: str
    status: int | None
    text: str
    to: str
    tokens: int
    tool: str
    trusted: bool
    url: str


def given(**fields: Any) -> dict[str, Any]:
    """Those fields that a caller has given: `None` is what was left out."""
    return {name: value for name, value in fields.items() if value is not None}
