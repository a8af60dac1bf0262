"""What is kept while a text is followed: variables, files, redirections, and the commands that were
found."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from stanchion.readings.shell.arithmetic import NotKnown
from stanchion.readings.shell.command import WRITES, Command
from stanchion.readings.shell.expansion import Expanding
from stanchion.readings.shell.partly_known import OpenText, joined, origin_of
from stanchion.readings.shell.tree import (
    STEPS_A_COMMAND,
    Assign,
    Item,
    Meter,
    Node,
    Redirect,
    Script,
    Simple,
    StreamPart,
    TooMuch,
)
from stanchion.readings.word_lists import Pairs, Strings


class WrittenFiles(dict[str, str]):
    """What files hold; `./x` and `x` are the same one."""

    def __getitem__(self, path: str) -> str:
        return super().__getitem__(path.removeprefix("./"))

    def __setitem__(self, path: str, text: str) -> None:
        super().__setitem__(path.removeprefix("./"), text)

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and super().__contains__(path.removeprefix("./"))

    def get(self, path: str, default: str | None = None) -> str | None:  # type: ignore[override]  # no other default
        """What a file holds."""
        return super().get(path.removeprefix("./"), default)


ALTERNATIVES: Final = 4
"""How many values of a variable are followed besides its last one."""


FILES: Final = 256
"""How many files that a text writes are remembered."""


class PendingCommand(msgspec.Struct, frozen=True, gc=False):
    """A command that is about to run: its words, what it reads, its redirections and settings."""

    argv: Strings
    given: str | None = None
    opens: Pairs = ()
    settings: Pairs = ()

    @property
    def known(self) -> str | None:
        """What it reads, where that is known."""
        return None if isinstance(self.given, OpenText) else self.given


class FollowedText(NamedTuple):
    """The commands of a text, the part that each came of, how often each part was followed, the
    scripts in each, and the variables that were set. It is `unsure` where a name may stand for
    something else, or not all was followed."""

    commands: tuple[Command, ...]
    parts: tuple[int, ...]
    visits: dict[int, int]
    texts: dict[int, list[Script]]
    set_values: frozenset[tuple[str, str]] = frozenset()
    unsure: bool = False


def of_plain(words: list[str]) -> tuple[dict[int, list[Script]], dict[int, int]]:
    """The scripts of a text of plain words, and its one part, which is followed once."""
    node = Simple([*words], [], [])
    return {0: [[Item(node)]]}, {id(node): 1}


class Keeping:
    """Keeps what a text sets, writes and starts; how its scripts are followed is said by the
    walker."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.words = Expanding(meter, self.printed, self.stream)
        self.commands: list[Command] = []
        self.passed: list[Command] = []
        self.passing = 0
        self.tried = 0
        self.parts: list[int] = []
        """The part of the text that each command came of."""
        self.visits: dict[int, int] = {}
        self.texts: dict[int, list[Script]] = {}
        self.set_values: set[tuple[str, str]] = set()
        self.within: list[int] = [0]
        self.entering = False
        self.functions: dict[str, Node] = {}
        self.called: set[str] = set()
        self.calling: list[Node] = []
        self.files = WrittenFiles()
        self.links: dict[str, str] = {}
        self.embedded: frozenset[str] = frozenset()
        self.wrote: list[tuple[str, str]] = []
        self.via: Strings = ()
        self.privileged = False
        self.cwd = ""
        self.broken = ""
        self.unclear = ""
        """Why it is not known what a program would do with a text that it is given."""
        self.apart = 0
        self.turning = 0
        self.sockets: set[str] = set()
        self.maybe = 0
        self.wanted = 0
        self.seen = 0
        """How many of those that want an output only show it."""
        self.others: dict[str, list[str]] = {}

    def printed(self, script: Script) -> str:
        """What a script prints that runs in a shell of its own; given by the walker."""
        raise NotImplementedError

    def stream(self, part: StreamPart) -> str:
        """The file by which a script's output is read, or its input written; given by the
        walker."""
        raise NotImplementedError

    def so_far(self, sure: bool = True) -> FollowedText:
        """How the text was followed until now."""
        texts = {part: [*scripts] for part, scripts in self.texts.items()}
        unsure = not sure or bool(self.broken or self.functions)
        kept = tuple(self.commands), tuple(self.parts), dict(self.visits), texts
        return FollowedText(*kept, frozenset(self.set_values), unsure)

    def go(self, path: str) -> None:
        """Go into a folder, as `cd` does."""
        if path.startswith(("/", "~", "$")) or not self.cwd:
            self.cwd = path
        elif path != ".":
            self.cwd = f"{self.cwd.rstrip('/')}/{path}"

    def emit(self, call: PendingCommand, marks: frozenset[str] = frozenset()) -> None:
        """Keep a command."""
        marks |= self.embedded
        made = Command(
            call.argv,
            self.via,
            self.privileged,
            self.cwd,
            call.given,
            call.opens,
            call.settings,
            marks,
            taken=self.wanted - self.seen > bool(call.opens),
        )
        if self.files and (carried := self._carried(made)):
            made = msgspec.structs.replace(made, carries=carried)
        most = self.meter.limits.command_steps // STEPS_A_COMMAND
        if len(self.commands) >= most:
            raise TooMuch(f"it runs more than {most} commands")
        self.commands.append(made)
        self.parts.append(self.within[-1])
        if "copies" in made.kinds:
            self._copied(made)

    def _carried(self, command: Command) -> Strings:
        """Where the content of the files comes from that a command reads and the text wrote
        before."""
        found: list[str] = []
        for path in command.reads:
            inside = f"{path.rstrip('/')}/"
            for kept, text in self.files.items():
                if kept == path.removeprefix("./") or kept.startswith(inside.removeprefix("./")):
                    found += origin_of(text)
        return tuple(dict.fromkeys(found))

    def _copied(self, command: Command) -> None:
        """Remember that what a command writes comes from what it reads."""
        if command.name == "ln" and command.reads and command.writes and len(self.links) < FILES:
            self.links[command.writes[0].rstrip("/")] = command.reads[-1]
        if (
            "copies-plainly" in command.kinds
            and len(command.reads) == 1
            and (text := self.files.get(command.reads[0])) is not None
        ):
            for path in command.writes:
                self.keep(path, text)
        reads = [f"<{path}" for path in command.reads if path not in command.writes]
        origin = (*command.carries, *reads)
        for path in command.writes if origin else ():
            if path not in self.files and len(self.files) < FILES:
                self.files[path] = OpenText("", origin[:32])

    def keep(self, path: str, text: str) -> None:
        """Remember what a file has."""
        if len(self.files) < FILES:
            self.files[path] = text
        if text and len(self.wrote) < FILES and not path.startswith("/dev/"):
            self.wrote.append((path, text))

    def _assign(self, assign: Assign) -> tuple[str, str]:
        made = self._set(assign)
        self.set_values.add((assign.name, made[1]))
        return made

    def _set(self, assign: Assign) -> tuple[str, str]:
        env = self.words.env
        if assign.name in self.words.refs:
            assign = msgspec.structs.replace(assign, name=self.words.refs[assign.name])
        if assign.items is not None:
            items = self.words.fields(assign.items)
            before = env.get(assign.name, []) if assign.append else []
            env[assign.name] = [*([before] if isinstance(before, str) else before), *items]
            return assign.name, " ".join(items)
        value = self.words.text(assign.value)
        if assign.index is not None:
            self._assign_item(assign, value)
        elif assign.append:
            before = env.get(assign.name, "")
            env[assign.name] = joined(
                [before if isinstance(before, str) else " ".join(before), value]
            )
            self.meter.make(len(value))
        else:
            if self.maybe:
                self._remember(assign.name)
            env[assign.name] = value
        return assign.name, value

    def _remember(self, name: str) -> None:
        """Keep the value that a variable has where what changes it may not happen."""
        before = self.words.env.get(name)
        kept = self.others.setdefault(name, [])
        if isinstance(before, str) and before not in kept and len(kept) < ALTERNATIVES:
            kept.append(before)

    def _assign_item(self, assign: Assign, value: str) -> None:
        env = self.words.env
        items = env.get(assign.name, [])
        items = list(items) if isinstance(items, list) else [items]
        try:
            at = self.words.number(
                self.words.text(assign.index if assign.index is not None else "")
            )
        except NotKnown:
            return
        if 0 <= at < 1_024:
            items += [""] * (at + 1 - len(items))
            items[at] = value
            env[assign.name] = items

    def _opened(
        self, redirects: list[Redirect], given: str | None
    ) -> tuple[list[tuple[str, str]], str | None]:
        """A command's redirections, and what it reads by them."""
        opens: list[tuple[str, str]] = []
        for redirect in redirects:
            op, target = redirect.op, self.words.text(redirect.target)
            if op in ("<<", "<<-"):
                given = target
            elif op == "<<<":
                given = joined([target, "\n"])
            elif op in (">&", "<&") and (target.isdigit() or target == "-"):
                if op == "<&" and target in self.sockets:
                    given = OpenText("$(nc…)", ("nc",))
                if op == ">&" and redirect.fd in ("", "1"):
                    opens.append(("1>&", target))
            elif op in ("<", "<>"):
                if target.startswith(("/dev/tcp/", "/dev/udp/")):
                    self.sockets.add(redirect.fd)
                given = self.files.get(target, OpenText("", (f"<{target}",)))
                if not target.startswith("/dev/fd/"):
                    opens.append((op, target))
            else:
                opens.append((op if redirect.fd in ("", "1") else f"{redirect.fd}{op}", target))
        return opens, given

    def _kept(self, opens: list[tuple[str, str]], printed: str) -> bool:
        """Whether what a command prints goes elsewhere; it is remembered where it goes."""
        gone = False
        for op, target in opens:
            if op in WRITES and op != "<>":
                before = self.files.get(target) if ">>" in op else None
                self.keep(target, printed if before is None else joined([before, printed]))
                gone = True
            elif op == "1>&":
                gone = True
        return gone
