"""Strictures: what the options of the guard may say."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated

import msgspec

from stanchion.guards._own import NOWHERE, OwnPlaces
from stanchion.guards.shell.codes import FAMILIES
from stanchion.guards.shell.consequence import Program
from stanchion.kernel.actions import Risk
from stanchion.kernel.option import (
    LastSeverer,
    Off,
    On,
    OnceSet,
    PlainActionName,
    Severer,
)


class Strictures(msgspec.Struct, frozen=True, dict=True):
    """The options of the guard, and where the shield keeps what is its own."""

    tools: tuple[str, ...] | None = None
    """The only tools whose calls are read, by name or glob; if absent, every call that contains a
    command is."""
    arguments: tuple[str, ...] | None = None
    """The only arguments read as commands (a text, a list of words or a list of lines); if absent,
    those with a name such as `command`. If a call of a tool that runs commands has none of them,
    all its texts are read."""
    roots: tuple[str, ...] = (".", "/workspace")
    """The folders in which a run may delete files; `.` is the working directory."""
    allow: tuple[str, ...] | None = None
    """The only commands that may run, by name or glob, wrappers included; an empty list allows
    none. A path counts as its program's name only in a system folder. If absent, every command may
    run."""
    strict: On[bool] = False
    """If `true`, risky commands that manuals show as everyday use are refused too: `docker compose
    down -v`, `kubectl cordon`, `git filter-repo`, `eval` of an unknown text."""
    danger: PlainActionName = "block"
    """The action for dangers: commands that do harm, and commands that `allow` does not list."""
    doubt: PlainActionName = "escalate"
    """The action for doubts: commands that may be meant, about which a person should decide."""
    note: PlainActionName = "warn"
    """The action for notes: commands that may go ahead, but the agent should know their effect."""
    counted: On[bool] = True
    """Whether notes count towards the third warning of a task, which waits for a person."""
    repository: Off[bool] = False
    """If `true`, the git repository on this host is asked what a command would throw away; for
    tools that run on this host."""
    deadline_ms: Annotated[int, msgspec.Meta(ge=0)] = 2_000
    """The time for that answer, in milliseconds; if it is exceeded, the call is refused."""
    families: dict[str, PlainActionName] | None = None
    """The action for all findings of a family; `allow` switches the family off. If absent,
    `danger`, `doubt` and `note` decide."""
    programs: OnceSet[dict[str, Program] | None] = None
    """What your own programs do, and more of what others do: by their names, `risks`, and `hits`
    and `misses`, commands that are such and that are none, tried when the policy is loaded. Nothing
    that is known is taken away; if absent, nothing is added."""
    unclear: Severer[tuple[PlainActionName, ...]] = ("warn", "escalate", "block", "block")
    """The actions for a command whose effect cannot be determined, for tools of low, medium, high
    and critical risk."""
    malformed: LastSeverer[PlainActionName] = "allow"
    """The action for a text that no shell accepts and in which nothing was found; `allow` records
    it."""

    def __post_init__(self) -> None:
        if len(self.unclear) != len(Risk):
            said = f"`unclear` has {len(self.unclear)} actions"
            raise ValueError(
                f"{said}: write one each for tools of low, medium, high and critical risk"
            )
        for family in self.families if self.families is not None else ():
            if family not in FAMILIES:
                known = ", ".join([f"`{name}`" for name in FAMILIES])
                raise ValueError(f"`families` has no family `{family}`: write one of {known}")

        if self.programs is not None:
            from stanchion.guards.shell.added import tried

            tried(self.programs)

    @cached_property
    def own(self) -> OwnPlaces:
        """Where the shield keeps what is its own."""
        return NOWHERE
