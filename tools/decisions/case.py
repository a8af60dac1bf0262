"""Cases: runs, and what happens in them in order, under one policy. A case is data: it is the same
in every process."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import msgspec

PolicySource = str | dict[str, Any]


class Judge(msgspec.Struct, frozen=True, tag="judge"):
    """A host reports an event and has it judged. With `of_call` it is about the last call of the
    same tool."""

    stage: str
    fields: dict[str, Any]
    run: str = ""
    advance_ms: int = 0
    of_call: bool = False


class Call(msgspec.Struct, frozen=True, tag="call"):
    """A tool is called through the run. It answers with `answers` in turn, and fails where one has
    an `error`."""

    tool: str
    args: dict[str, Any]
    answers: tuple[dict[str, Any], ...]
    run: str = ""
    advance_ms: int = 0


class Stream(msgspec.Struct, frozen=True, tag="stream"):
    """A reply comes in pieces and is passed on behind the hold-back."""

    pieces: tuple[str, ...]
    channel: str = "text"
    final: bool | None = None
    run: str = ""
    advance_ms: int = 0


class Model(msgspec.Struct, frozen=True, tag="model"):
    """A model is called through the run. It answers with `replies` in turn, the last one again and
    again."""

    messages: tuple[dict[str, Any], ...]
    replies: tuple[str, ...]
    model: str = ""
    run: str = ""
    advance_ms: int = 0


Step = Judge | Call | Stream | Model


class Case(msgspec.Struct, frozen=True):
    """A story under one policy: its name, its runs by the names that steps use, and the steps.

    `tools` are definitions that the shield is given before. `lost` numbers the batches for which
    the store is out of reach; `addresses` is what names resolve to, everything else to nothing.
    """

    name: str
    policy: PolicySource
    steps: tuple[Step, ...]
    runs: dict[str, dict[str, Any]] = msgspec.field(default_factory=lambda: {"": {}})
    tools: tuple[dict[str, Any], ...] = ()
    safe_mode: bool = False
    lost: tuple[int, ...] = ()
    addresses: dict[str, tuple[str, ...]] = {}


def given(case: Case) -> str:
    """A short hash of what a case is: another one is another case, whatever comes of it."""
    data = msgspec.structs.asdict(case) | {"steps": [_plain(step) for step in case.steps]}
    return sha256(json.dumps(data, sort_keys=True, default=repr).encode()).hexdigest()[:8]


def _plain(step: Step) -> list[Any]:
    return [type(step).__name__, msgspec.structs.asdict(step)]
