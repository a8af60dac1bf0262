"""Shell: commands are understood as a shell would run them, and judged by what they would do."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Final

import msgspec

from stanchion.guards._own import NOWHERE, OwnPlaces
from stanchion.guards.shell.codes import CODES, FAMILIES
from stanchion.kernel.actions import Action, Category, Risk
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind, Switch
from stanchion.kernel.names import names
from stanchion.kernel.option import ACTIONS, PlainActionName
from stanchion.kernel.severity import severer
from stanchion.kernel.stages import Stage
from stanchion.readings import Reading

if TYPE_CHECKING:
    from stanchion.guards.shell.command import Command

__all__ = ["CODES", "Shell", "analyse"]

TOOLS: Final = (
    "bash", "sh", "zsh", "shell", "terminal", "exec", "execute", "command", "cmd", "powershell", "subprocess", "run",
    "*bash*", "*shell*", "*terminal*", "*run_command*", "*execute_command*", "*exec_command*", "run_cmd*", "exec_cmd*",
    "execute_code", "Bash", "Shell", "Terminal", "Exec", "*Bash*", "*Shell*", "*runCommand*", "*executeCommand*",
)  # fmt: skip
ARGUMENTS: Final = (
    "command", "commands", "cmd", "cmds", "cmdline", "command_line", "script", "shell", "bash", "code", "argv", "input",
    "keystrokes",
)  # fmt: skip
KEPT: Final = 1_024
"""How many judged texts are kept."""


class Shell(msgspec.Struct, frozen=True, dict=True):
    """Refuses shell texts that would destroy, leak, tamper or let others in, wherever in the text they say so.

    `tools` are the tools that run shell texts and `arguments` those of their arguments that hold one; where a call has
    none of these, all its texts are read. `roots` are the folders in which a run may delete. `allow` lists the only
    commands that may run at all. `families` gives a family of dangers an action of its own.
    """

    name: ClassVar[str] = "shell"
    kind: ClassVar[Kind] = Kind.PURE
    stages: ClassVar[frozenset[Stage]] = frozenset({Stage.TOOL_CALL})
    category: ClassVar[Category] = Category.SAFETY
    priority: ClassVar[int] = 10
    reads: ClassVar[frozenset[tuple[str, str]]] = frozenset({("tools", "risk")})

    tools: tuple[str, ...] = TOOLS
    arguments: tuple[str, ...] = ARGUMENTS
    roots: tuple[str, ...] = (".", "/workspace")
    allow: tuple[str, ...] | None = None
    strict: bool = False
    danger: PlainActionName = "block"
    doubt: PlainActionName = "escalate"
    note: PlainActionName = "warn"
    families: dict[str, PlainActionName] | None = None
    unclear: tuple[PlainActionName, ...] = ("warn", "escalate", "block", "block")
    malformed: PlainActionName = "allow"

    def __post_init__(self) -> None:
        if len(self.unclear) != len(Risk):
            said = f"`unclear` has {len(self.unclear)} actions"
            raise ValueError(f"{said}: write one each for tools of low, medium, high and critical risk")
        for family in self.families if self.families is not None else ():
            if family not in FAMILIES:
                known = ", ".join([f"`{name}`" for name in FAMILIES])
                raise ValueError(f"`families` has no family `{family}`: write one of {known}")

    @cached_property
    def _runs(self) -> Callable[[str], bool]:
        return lru_cache(maxsize=KEPT)(names(self.tools).__contains__)

    @cached_property
    def switches(self) -> tuple[Switch, ...]:
        """Tools that run no shell text are passed by."""
        runs = self._runs
        return ((lambda reading: runs(reading.event.tool), frozenset({True})),)

    @cached_property
    def own(self) -> OwnPlaces:
        """Where the shield keeps what is its own."""
        return NOWHERE

    def rises_with(self, _table: str, key: str, _old: Any, /) -> bool:
        """What is unclear may be answered more mildly at a higher risk."""
        return key != "risk" or all(severer(ACTIONS[mild], ACTIONS[severe]) for mild, severe in pairwise(self.unclear))

    def told(self, own: OwnPlaces) -> Shell:
        """The same guard that knows where the shield keeps what is its own."""
        made = msgspec.structs.replace(self)
        made.__dict__["own"] = own
        return made

    @cached_property
    def _judged(self) -> Any:
        from stanchion.guards.shell.verdict import Verdict

        return lru_cache(maxsize=KEPT)(Verdict(self).of)

    def judge(self, reading: Reading[ToolCall], /) -> Finding | None:
        """The worst that the call's texts would do."""
        event = reading.event
        if not self._runs(event.tool):
            return None
        worst: Finding | None = None
        for text in self._texts(event.args):
            found: Finding | None = self._judged(text, event.risk)
            if found is not None and (worst is None or found.action > worst.action):
                worst = found
        return worst

    def _texts(self, args: dict[str, Any]) -> list[str | tuple[str, ...]]:
        given = [(name, args[name]) for name in self.arguments if name in args]
        texts: list[str | tuple[str, ...]] = []
        for name, value in given if given else args.items():
            if type(value) is str:
                texts.append(value)
            elif isinstance(value, list | tuple) and value and all(type(item) is str for item in value):
                lines = len(value) == 1 or name.endswith("s") or " " in value[0]
                texts += value if lines and name != "args" else [tuple(value)]
        return texts

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        own = self.families.values() if self.families is not None else ()
        said = (self.danger, self.doubt, self.note, *self.unclear, self.malformed, *own)
        return tuple(dict.fromkeys([ACTIONS[name] for name in said]))


def analyse(text: str) -> tuple[Command, ...]:
    """The commands that a shell text would run: their words, and what they read, write, delete and send to."""
    from stanchion.guards.shell.analysis import analyse

    return analyse(text)
