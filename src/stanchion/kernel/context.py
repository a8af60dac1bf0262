"""The context of an event: what a run has come to, as the code behind guards is given it beside the
event.

It is the same for fast and deep guards, and bounded whatever the run does. It is no input of a
decision: what the code answered is, and that is recorded, so that a decision made again needs no
context.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.kernel.actions import RiskName

LONGEST: Final = 4_000
"""How many characters of a text are kept."""
HISTORY: Final = 20
"""How many of the last things that were said are kept."""
MOST: Final = 32
"""How many sources and violations are kept, the last ones."""
MOST_TOOLS: Final = 256
"""How many tools are named."""


class _Plain(msgspec.Struct, frozen=True, gc=False):
    """Data whose texts are content, and no part of what is shown of it."""

    def __repr__(self) -> str:
        """What it is, without what it says."""
        return f"<{type(self).__name__}>"


class Said(_Plain, frozen=True, gc=False):
    """Something that was said in the run: by the `user`, by the `assistant`, or by what it
    `read`."""

    role: str
    text: str


class Source(msgspec.Struct, frozen=True, gc=False):
    """Where something came from that the run has read, and what that counts as: `user`, `trusted`,
    `records` or `content`."""

    name: str
    result: str


class ToolFacts(msgspec.Struct, frozen=True, gc=False):
    """A tool, how much harm it can do, and what is declared of it."""

    name: str
    risk: RiskName
    traits: tuple[str, ...] = ()


class Violation(msgspec.Struct, frozen=True, gc=False):
    """Something that a guard has held against the run: a warning, or worse."""

    guard: str
    code: str
    action: str


class Scope(msgspec.Struct, frozen=True, gc=False):
    """What the run is about: its task, and the tools that belong to it; `None` where the policy
    does not say which."""

    task: str = ""
    tools: tuple[str, ...] | None = None


class Context(_Plain, frozen=True, gc=False):
    """What a run has come to by the time of an event.

    `primary_source` is where the event's own content comes from: `user`, `assistant`, `tool` or
    `agent`. `contains_untrusted` says that the run has read something that is not trusted, or that
    the event brings it. `available_tools` are the tools that the agent may call, as far as the
    policy names them or the run has met them.
    """

    user_text: str = ""
    primary_source: str = "user"
    contains_untrusted: bool = False
    available_tools: tuple[ToolFacts, ...] = ()
    current_tool: ToolFacts | None = None
    max_tool_risk: RiskName = "low"
    requests_system_info: bool = False
    requests_capability_change: bool = False
    previous_violations: tuple[Violation, ...] = ()
    task_scope: Scope = Scope()
    last_assistant: str = ""
    conversation_history: tuple[Said, ...] = ()
    sources: tuple[Source, ...] = ()


def clipped(value: Any) -> str:
    """The text of something that was said, as much of it as is kept."""
    text = value if isinstance(value, str) else "" if value is None else str(value)
    return text if len(text) <= LONGEST else text[:LONGEST]
