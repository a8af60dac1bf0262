"""What a policy says of advice: in which words, and how much of it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec


class Advice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """In which style an agent is told what is known of its tools, and how many tokens that may take in a prompt."""

    style: Literal["concise", "expert", "friendly"] = "concise"
    tokens: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 300
