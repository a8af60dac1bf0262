"""Strictures: what the options of the guard may say."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, ClassVar, Final

import msgspec

from stanchion.guards._own import NOWHERE, OwnPlaces
from stanchion.guards.shell.codes import FAMILIES
from stanchion.guards.shell.consequence import Program
from stanchion.kernel.actions import Risk
from stanchion.kernel.option import PlainActionName, Stricter

OPTIONS: Final = {
    "tools": Stricter.SAME(
        "The only tools whose calls are read, by name or glob; if absent, every call that contains "
        "a command is."
    ),
    "arguments": Stricter.SAME(
        "The only arguments read as commands (a text, a list of words or a list of lines); if "
        "absent, those with a name such as `command`. If a call of a tool that runs commands has "
        "none of them, all its texts are read."
    ),
    "roots": Stricter.SAME(
        "The folders in which a run may delete files; `.` is the working directory."
    ),
    "allow": Stricter.SAME(
        "The only commands that may run, by name or glob, wrappers included; an empty list allows "
        "none. A path counts as its program's name only in a system folder. If absent, every "
        "command may run."
    ),
    "strict": Stricter.ON(
        "If `true`, risky commands that manuals show as everyday use are refused too: `docker "
        "compose down -v`, `kubectl cordon`, `git filter-repo`, `eval` of an unknown text."
    ),
    "danger": Stricter.ACTION(
        "The action for dangers: commands that do harm, and commands that `allow` does not list."
    ),
    "doubt": Stricter.ACTION(
        "The action for doubts: commands that may be meant, about which a person should decide."
    ),
    "note": Stricter.ACTION(
        "The action for notes: commands that may go ahead, but the agent should know their effect."
    ),
    "counted": Stricter.ON(
        "Whether notes count towards the third warning of a task, which waits for a person."
    ),
    "repository": Stricter.OFF(
        "If `true`, the git repository on this host is asked what a command would throw away; for "
        "tools that run on this host."
    ),
    "deadline_ms": Stricter.SAME(
        "The time for that answer, in milliseconds; if it is exceeded, the call is refused."
    ),
    "families": Stricter.SAME(
        "The action for all findings of a family; `allow` switches the family off. If absent, "
        "`danger`, `doubt` and `note` decide."
    ),
    "programs": Stricter.ONCE_SET(
        "What your own programs do, and more of what others do: by their names, `risks`, and "
        "`hits` and `misses`, commands that are such and that are none, tried when the policy is "
        "loaded. Nothing that is known is taken away; if absent, nothing is added."
    ),
    "unclear": Stricter.ACTION(
        "The actions for a command whose effect cannot be determined, for tools of low, medium, "
        "high and critical risk."
    ),
    "malformed": Stricter.LAST_ACTION(
        "The action for a text that no shell accepts and in which nothing was found; `allow` "
        "records it."
    ),
}


class Strictures(msgspec.Struct, frozen=True, dict=True):
    """The options of the guard, and where the shield keeps what is its own."""

    options: ClassVar = OPTIONS

    tools: tuple[str, ...] | None = None
    arguments: tuple[str, ...] | None = None
    roots: tuple[str, ...] = (".", "/workspace")
    allow: tuple[str, ...] | None = None
    strict: bool = False
    danger: PlainActionName = "block"
    doubt: PlainActionName = "escalate"
    note: PlainActionName = "warn"
    counted: bool = True
    repository: bool = False
    deadline_ms: Annotated[int, msgspec.Meta(ge=0)] = 2_000
    families: dict[str, PlainActionName] | None = None
    programs: dict[str, Program] | None = None
    unclear: tuple[PlainActionName, ...] = ("warn", "escalate", "block", "block")
    malformed: PlainActionName = "allow"

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
