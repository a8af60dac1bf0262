"""Following a script: which commands it would run, with which words, as far as its text tells."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from msgspec.structs import replace

from stanchion.readings.shell.arithmetic import NotKnown
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.kept import Keeping, PendingCommand, of_plain
from stanchion.readings.shell.known import kinds_of
from stanchion.readings.shell.outputs import output_of, shows
from stanchion.readings.shell.parse import ShellReader, quickly
from stanchion.readings.shell.partly_known import OpenText, joined, like, origin_of
from stanchion.readings.shell.patterns import fits, pieces
from stanchion.readings.shell.secret_sources import SOURCE, tells_secret
from stanchion.readings.shell.tree import (
    Branch,
    CaseClause,
    Compute,
    Count,
    ForLoop,
    FunctionClause,
    GroupClause,
    Item,
    Loop,
    Node,
    Param,
    Pipe,
    Script,
    Simple,
    StreamPart,
    Test,
    TooMuch,
    Turned,
    Word,
)
from stanchion.readings.shell.unfold import PASSED_BY, SETTINGS_PASSED_BY, UNFOLD, likely
from stanchion.readings.word_lists import Pairs, listed

WILD: Final = frozenset("*?[")
SHELL_VARIABLES: Final = listed("$SHELL $BASH ${SHELL}")
"""Variables that name a shell, whoever runs the text."""


class Walker(Keeping):
    """Follows one text and keeps the commands it would run."""

    def whole(self, text: str) -> None:
        """Follow a whole text, functions that nobody calls included."""
        self.text(text)
        self._uncalled()

    def plain(self, words: list[str]) -> None:
        """Follow a whole text that is one command of plain words, which need neither be read nor
        expanded."""
        self.meter.down()
        self.texts, self.visits = of_plain(words)
        self.within += self.visits
        self.meter.step(2 + len(words))
        self.run(PendingCommand(tuple(words)))
        self.meter.up()
        self._uncalled()

    def _uncalled(self) -> None:
        for name in [name for name in self.functions if name not in self.called]:
            self.called.add(name)
            self.under(f"function {name}", partial(self.node, self.functions[name], None))

    def text(self, text: str, given: str | None = None) -> str:
        """Follow a text that runs as a script; what it prints."""
        self.meter.down()
        self.entering = True
        script = quickly(text, self.meter)
        if script is None:
            script = self._read(text, given)
        printed = self.script(script, given)
        self.meter.up()
        return printed

    def _read(self, text: str, given: str | None) -> Script:
        """Read a text; where that is too much, what was read is followed before it says so."""
        reader = ShellReader(text, self.meter)
        depth = self.meter.depth
        try:
            script = reader.read()
        except TooMuch:
            self.meter.again(depth)
            self.script(reader.so_far if reader.so_far is not None else [], given)
            raise
        if reader.broken and not self.broken:
            self.broken = reader.broken
        return script

    def under(self, via: str, follow: Callable[[], str], privileged: bool = False) -> str:
        """Follow something that a command starts; the commands in it say so."""
        before = self.via, self.privileged
        self.via = (*self.via, via) if via else self.via
        self.privileged = self.privileged or privileged
        self.meter.down()
        printed = follow()
        self.meter.up()
        self.via, self.privileged = before
        return printed

    def start(
        self,
        via: str,
        call: PendingCommand,
        argv: tuple[str, ...],
        privileged: bool = False,
        **given: Any,
    ) -> str:
        """Follow a command that another one starts, with what else is given to it."""
        follow = replace(call, argv=argv, **given)
        return self.under(via, partial(self.run, follow), privileged)

    def printed(self, script: Script) -> str:
        """What a script prints that runs in a shell of its own."""
        env, cwd = self.words.env, self.cwd
        self.words.env = dict(env)
        self.meter.down()
        self.wanted += 1
        text = self.script(script, None)
        self.wanted -= 1
        self.meter.up()
        self.words.env, self.cwd = env, cwd
        return text

    def stream(self, part: StreamPart) -> str:
        """The file by which a script's output is read, or its input written."""
        name = f"/dev/fd/{63 + len(self.files)}"
        printed = self.printed(part.body)
        if not part.into:
            self.keep(name, printed)
        return name

    def script(self, script: Script, given: str | None) -> str:
        """Follow commands one after the other; what they print together."""
        if self.entering:
            self.entering = False
            self.texts.setdefault(self.within[-1], []).append(script)
        texts: list[str] = []
        before, holds, known = "", None, None
        for item in script:
            if not (before == "&&" and holds is False) and not (before == "||" and holds is True):
                holds = self._truth([item]) if item.after in ("&&", "||") else None
                unsure = before in ("&&", "||") and known is None
                known = holds
                self.apart += item.after == "&"
                self.maybe += unsure
                texts.append(self.node(item.node, given))
                self.maybe -= unsure
                self.apart -= item.after == "&"
            before = item.after
        return joined(texts) if texts else ""

    def node(self, node: Node, given: str | None) -> str:
        """Follow one command, simple or not; what it prints."""
        self.meter.step()
        if isinstance(node, Simple):
            self.visits[id(node)] = self.visits.get(id(node), 0) + 1
            self.within.append(id(node))
            printed = self._simple(node, given)
            self.within.pop()
            return printed
        if isinstance(node, Pipe):
            return self._pipe(node, given)
        if isinstance(node, Turned):
            return self.node(node.node, given)
        if isinstance(node, FunctionClause):
            self.functions[node.name] = node.body
            return ""
        return self._compound(node, given)

    def _pipe(self, node: Pipe, given: str | None) -> str:
        text = given
        self.apart += 1
        self.wanted += 1
        for at, part in enumerate(node.parts[:-1], 1):
            seen = all(map(shows, node.parts[at:]))
            self.seen += seen
            text = self.node(part, text)
            self.seen -= seen
        self.wanted -= 1
        text = self.node(node.parts[-1], text)
        self.apart -= 1
        return text if text is not None else ""

    def _simple(self, node: Simple, given: str | None) -> str:
        words = self.words.fields(node.words)
        if not words and not node.redirects:
            for assign in node.assigns:
                name, value = self._assign(assign)
                if name.startswith(("HIST", "LD_", "PROMPT_COMMAND", "BASH_ENV", "ENV")):
                    self.emit(PendingCommand((), None, (), ((name, value),)))
            return ""
        opens, given = self._opened(node.redirects, given) if node.redirects else ([], given)
        if not words:
            settings = tuple([self._assign(assign) for assign in node.assigns])
            self.emit(PendingCommand((), None, tuple(opens), settings))
            self._kept(opens, "")
            return ""
        settings = ()
        if node.assigns:
            env = self.words.env
            self.words.env = dict(env)
            settings = tuple([self._assign(assign) for assign in node.assigns])
            self.words.env = env
        self.wanted += bool(opens)
        printed = self.run(PendingCommand(tuple(words), given, tuple(opens), settings))
        self.wanted -= bool(opens)
        if self.others:
            self._otherwise(node, given, tuple(opens))
        return "" if opens and self._kept(opens, printed) else printed

    def _otherwise(self, node: Simple, given: str | None, opens: Pairs) -> None:
        """Follow a command with the other values that its variables may have."""
        env = self.words.env
        named = [
            part.name
            for word in node.words
            if not isinstance(word, str)
            for part in word
            if isinstance(part, Param)
        ]
        for name in [name for name in dict.fromkeys(named) if name in self.others][:2]:
            for value in self.others[name]:
                if env.get(name) == value:
                    continue
                others, self.others, self.words.env = self.others, {}, {**env, name: value}
                words = self.words.fields(node.words)
                if words:
                    self.run(PendingCommand(tuple(words), given, opens))
                self.others, self.words.env = others, env

    def run(self, call: PendingCommand) -> str:
        """Follow a command with its words; what it prints."""
        self.meter.step(1 + len(call.argv) // 4)
        first = call.argv[0]
        if first[-1:] in ("$", "#") and "@" in first and len(call.argv) > 1:
            return self.run(replace(call, argv=call.argv[1:]))
        if first in self.functions:
            return self._function(first, call)
        if any((self.links, self.files, isinstance(first, OpenText), not WILD.isdisjoint(first))):
            call = self._resolved(call)
        name = call.argv[0].rpartition("/")[2].lower()
        unfold = UNFOLD.get(name.removesuffix(".exe"))
        passing = PASSED_BY if unfold is None or "more-runs" in kinds_of(name) else []
        for pass_on in passing or (SETTINGS_PASSED_BY if call.settings else ()):
            pass_on(self, call, name)
        if unfold is not None:
            printed = unfold(self, call)
            if printed is not None:
                return printed
        self.emit(call)
        if not self.wanted:
            return ""
        made = output_of(name, call.argv[1:], call.given, self.files)
        if made is not None:
            self.meter.make(len(made))
            return made
        return self.unknown(call)

    def _resolved(self, call: PendingCommand) -> PendingCommand:
        """A command by the program that its first word stands for, and with links followed."""
        first = call.argv[0]
        if len(first) > 1 and not WILD.isdisjoint(first):
            first = likely(first, self.meter)
        if first in SHELL_VARIABLES and isinstance(first, OpenText):
            first = "sh"
        argv, opens = (first, *call.argv[1:]), call.opens
        if self.links and first != "ln":
            argv = tuple([self._followed(word) for word in argv])
            opens = tuple([(op, self._followed(path)) for op, path in opens])
        if argv != call.argv or opens != call.opens:
            call = replace(call, argv=argv, opens=opens)
        path = self._written(first) if self.files else ""
        if path:
            self.emit(call)
            call = replace(call, argv=("sh", path, *argv[1:]))
        return call

    def _written(self, first: str) -> str:
        """The file that the text wrote and that a command's name starts: by its path, or from a
        folder of `PATH`."""
        if first in self.files:
            return first
        paths = self.words.env.get("PATH", "")
        folders = paths.split(":") if isinstance(paths, str) and "/" not in first else []
        return next(
            (f"{folder}/{first}" for folder in folders[:64] if f"{folder}/{first}" in self.files),
            "",
        )

    def _followed(self, word: str) -> str:
        """A word that leads through a link that the text made, as what the link leads to."""
        for link, target in self.links.items():
            if word.startswith(f"{link}/"):
                return like(f"{target.rstrip('/')}/{word[len(link) + 1 :]}", word)
        return word

    def unknown(self, call: PendingCommand) -> str:
        """What stands for an output that is not known: where it comes from."""
        if not self.wanted:
            return ""
        command = (
            self.commands[-1]
            if self.commands and self.commands[-1].argv == call.argv
            else Command(call.argv)
        )
        reads = [f"<{path}" for path in (command.reads if command.reads else command.paths)]
        told = [SOURCE] if tells_secret(command) else []
        origin = tuple(
            dict.fromkeys([command.name, *told, *reads, *command.carries, *origin_of(call.given)])
        )
        return OpenText(f"$({command.name}…)", origin[:32])

    def _function(self, name: str, call: PendingCommand) -> str:
        self.called.add(name)
        body = self.functions[name]
        if any(
            each is body for each in self.calling
        ):  # one that got another body meanwhile does not call itself
            if self.apart:
                self.emit(call, marks=frozenset({"forks"}))
            return ""
        env = self.words.env
        before = env.get("@", [])
        env["@"] = list(call.argv[1:])
        self.calling.append(body)
        apart, self.apart = self.apart, 0
        printed = self.under("", lambda: self.node(body, call.given))
        self.apart = apart
        self.calling.pop()
        self.words.env["@"] = before
        return printed

    def _compound(self, node: Node, given: str | None) -> str:
        if isinstance(node, Simple | Pipe | FunctionClause | Turned):
            return ""
        opens, given = self._opened(node.redirects, given)
        env, cwd = self.words.env, self.cwd
        if isinstance(node, GroupClause) and node.apart:
            self.words.env = dict(env)
        unsure = isinstance(node, Branch | CaseClause | Loop | ForLoop)
        self.meter.down()
        self.maybe += unsure
        self.wanted += bool(opens)
        printed = self._inside(node, given)
        self.wanted -= bool(opens)
        self.maybe -= unsure
        self.meter.up()
        if isinstance(node, GroupClause) and node.apart:
            self.words.env, self.cwd = env, cwd
        if opens:
            self.emit(PendingCommand((), None, tuple(opens)))
            if self._kept(opens, printed):
                return ""
        return printed

    def _inside(self, node: Node, given: str | None) -> str:
        match node:
            case GroupClause():
                return self.script(node.body, given)
            case Branch():
                return self._branch(node, given)
            case ForLoop():
                return self._each(node, given)
            case Count():
                return self._count(node, given)
            case Loop():
                return self._loop(node, given)
            case CaseClause():
                return self._case(node, given)
            case Compute():
                self._truth([Item(node)])
                return ""
            case Test():
                self.words.fields(node.words)
                return ""
            case _:
                return ""

    def _truth(self, script: Script) -> bool | None:
        """Whether a condition holds, where its text tells."""
        if len(script) != 1:
            return None
        node = script[0].node
        if isinstance(node, Compute):
            try:
                return bool(self.words.number(self.words.text(node.parts)))
            except NotKnown:
                return None
        if isinstance(node, Test) and len(node.words) == 3 and node.words[1] in ("==", "=", "!="):
            return self._equal(node)
        if isinstance(node, Simple) and node.words in (["true"], [":"], ["false"]):
            return node.words != ["false"]
        return None

    def _equal(self, node: Test) -> bool | None:
        """Whether a text fits another, where both are known."""
        left, right = self.words.text(node.words[0]), self.words.text(node.words[2])
        if isinstance(left, OpenText) or isinstance(right, OpenText):
            return None
        same = left == right or (
            right.strip("\\'\"") != "" and fits(pieces(right), left, self.meter)
        )
        return same == (node.words[1] != "!=")

    def _branch(self, node: Branch, given: str | None) -> str:
        texts: list[str] = []
        for head, body in node.arms:
            holds = self._truth(head) if head else True
            if holds is False:
                continue
            if holds is None:
                texts.append(self.script(head, given))
            texts.append(self.script(body, given))
            if holds and head:
                break
        return joined(texts) if texts else ""

    def _case(self, node: CaseClause, given: str | None) -> str:
        word = self.words.text(node.word)
        texts: list[str] = []
        for patterns, body in node.arms:
            known = [self.words.text(pattern) for pattern in patterns]
            if isinstance(word, OpenText) or any(
                isinstance(pattern, OpenText) for pattern in known
            ):
                texts.append(self.script(body, given))
            elif any(fits(pieces(pattern), word, self.meter) for pattern in known):
                texts.append(self.script(body, given))
                break
        return joined(texts) if texts else ""

    def _each(self, node: ForLoop, given: str | None) -> str:
        words: list[Word] = node.words if node.words is not None else []
        values = self.words.fields(words)
        if not values:
            values = [OpenText(f"${node.name}")]
        texts: list[str] = []
        self.turning += 1
        for value in values[:TURNS]:
            pattern = "*" in value or "?" in value
            self.words.env[node.name] = OpenText(value, origin_of(value)) if pattern else value
            texts.append(self.script(node.body, given))
        self.turning -= 1
        return joined(texts)

    def _count(self, node: Count, given: str | None) -> str:
        texts: list[str] = []
        self.turning += 1
        try:
            self.words.number(self.words.text(node.begin))
            for _ in range(TURNS):
                if not self.words.number(self.words.text(node.go_on)):
                    break
                texts.append(self.script(node.body, given))
                self.words.number(self.words.text(node.step))
        except NotKnown:
            texts.append(self.script(node.body, given))
        self.turning -= 1
        return joined(texts) if texts else ""

    def _loop(self, node: Loop, given: str | None) -> str:
        texts: list[str] = []
        holds = self._truth(node.head)
        forking = any(item.after == "&" for item in node.body)
        if holds is (not node.until) and (forking or (self.apart and self.turning)):
            self.emit(PendingCommand(("while", "true")), marks=frozenset({"endless"}))
        self.turning += 1
        computed = len(node.head) == 1 and isinstance(node.head[0].node, Compute)
        for _ in range(TURNS if computed else 1):
            if holds is None:
                self.script(node.head, given)
            if computed and holds == node.until:
                break
            texts.append(self.script(node.body, given))
            if computed:
                holds = self._truth(node.head)
                if holds is None:
                    break
        self.turning -= 1
        return joined(texts) if texts else ""


TURNS: Final = 4_096
"""How often a loop is followed."""
