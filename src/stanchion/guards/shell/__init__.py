"""Shell: commands are understood as a shell would run them, and judged by what they would do."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import pairwise
from operator import attrgetter, methodcaller
from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec

from stanchion.guards._own import NOWHERE, OwnPlaces, told_once
from stanchion.guards.shell.consequence import CODES, CURES, FAMILIES, Program
from stanchion.kernel.actions import Action, Category, Risk, severer
from stanchion.kernel.contract.values import Beside, GuardGate
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.names import names
from stanchion.kernel.option import (
    ACTIONS,
    AtLeastZero,
    LastSeverer,
    Off,
    On,
    OnceSet,
    PlainActionName,
    Severer,
)
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading
from stanchion.readings.commands import JSON, Held, Naming, held, may_hold
from stanchion.readings.commands.deeds import MUTATION, deeds, may_tell
from stanchion.readings.shell import analyse

if TYPE_CHECKING:
    from stanchion.guards.shell.verdict import ShellJudge

__all__ = ["CODES", "Shell", "analyse"]

KEPT: Final = 1_024
"""How many judged texts are kept."""


def told(reading: Reading[Any]) -> tuple[Held, ...]:
    """What a call runs, and what it asks of a service."""
    asked = deeds(reading)
    commands: tuple[Held, ...] = reading.commands
    return (*commands, *asked) if asked else commands


def is_told(event: ToolCall) -> bool:
    """Whether a call may run something, or ask a service for something, whatever its texts are."""
    return may_hold(event) or may_tell(event)


class Shell(msgspec.Struct, frozen=True, dict=True):
    """Refuses shell texts that would destroy, leak, tamper or let others in, wherever in the text
    they say so.

    Every call that holds a command is read, whatever its tool is called. `tools` are the only tools
    whose calls are read, and `arguments` the only arguments that hold a command; where a call has
    none of these and its tool runs what it is given, all its texts are. `roots` are the folders in
    which a run may delete. `allow` lists the only commands that may run at all. `families` gives a
    family of dangers an action of its own. Where notes are not `counted`, an agent is told as often
    as there is something to tell, and nobody is asked because it was the third time. With
    `repository` what only a repository knows is asked of it, within the deadline: whether there is
    work in no commit, and whose branch is pushed to.
    """

    name: ClassVar = "shell"
    kind: ClassVar = Kind.PURE
    stages: ClassVar = frozenset({Stage.TOOL_CALL})
    category: ClassVar = Category.SAFETY
    priority: ClassVar = 10
    says_worst: ClassVar = True
    cures: ClassVar = CURES
    reads: ClassVar = frozenset({("tools", "risk")})

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
    deadline_ms: AtLeastZero = 2_000
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
            from stanchion.guards.shell.rules import tried

            tried(self.programs)

    @cached_property
    def own(self) -> OwnPlaces:
        """Where the shield keeps what is its own."""
        return NOWHERE

    @cached_property
    def _commands(self) -> Callable[[Reading[Any]], tuple[Held, ...]]:
        """What finds the commands of a call; what a policy names is found by itself."""
        if self.tools is None and self.arguments is None:
            return methodcaller("of", told) if self.allow is None else attrgetter("commands")
        naming = Naming(None if self.tools is None else names(self.tools), self.arguments)
        return lambda reading: held(reading.event.tool, reading.event.args, naming)

    @cached_property
    def gate(self) -> GuardGate | None:
        """What is in every call that holds a command, where the policy does not say which do."""
        if self.tools is not None or self.arguments is not None:
            return None
        return GuardGate((JSON, MUTATION), opens=is_told if self.allow is None else may_hold)

    def rises_with(self, _table: str, key: str, _old: Any, /) -> bool:
        """What is unclear may be answered more mildly at a higher risk."""
        return key != "risk" or all(
            severer(ACTIONS[mild], ACTIONS[severe]) for mild, severe in pairwise(self.unclear)
        )

    @told_once
    def told(self, own: OwnPlaces) -> Shell:
        """The same guard that knows where the shield keeps what is its own."""
        made = msgspec.structs.replace(self)
        made.__dict__["own"] = own
        return made

    def beside(self, _stages: frozenset[Stage], /) -> Beside | None:
        """What asks the repository about what would be thrown away, where that is wanted."""
        if not self.repository:
            return None
        from stanchion.guards.shell.repository import RepositoryGuard

        return Beside("repository", RepositoryGuard(self))

    @cached_property
    def verdict(self) -> ShellJudge:
        """What judges texts by these options."""
        from stanchion.guards.shell.verdict import ShellJudge

        return ShellJudge(self)

    @cached_property
    def _judged(self) -> Any:
        return lru_cache(maxsize=KEPT)(self.verdict.of)

    def texts(self, reading: Reading[ToolCall]) -> tuple[Any, ...]:
        """The shell texts of a call."""
        return tuple([command.text for command in self._commands(reading)])

    def judge(self, reading: Reading[ToolCall], /) -> Finding | None:
        """The worst that the commands of a call would do."""
        worst: Finding | None = None
        limits = reading.reader.limits
        for command in self._commands(reading):
            found: Finding | None = self._judged(command.text, reading.event.risk, limits)
            if found is None or (found.code == "shell.malformed" and not command.sure):
                continue
            if worst is None or found.action > worst.action:
                worst = found
        return worst

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        own = self.families.values() if self.families is not None else ()
        said = (self.danger, self.doubt, self.note, *self.unclear, self.malformed, *own)
        return tuple(dict.fromkeys([ACTIONS[name] for name in said]))
