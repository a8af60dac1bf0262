"""Control flow: which branches of a script are followed, and how often its loops."""

from __future__ import annotations

from typing import Final

from stanchion.readings.shell.arithmetic import NotKnown
from stanchion.readings.shell.kept import Call, Keeping
from stanchion.readings.shell.partly_known import Open, joined, origin_of
from stanchion.readings.shell.patterns import fits, pieces
from stanchion.readings.shell.tree import (
    Branch,
    Case,
    Compute,
    Count,
    Each,
    Function,
    Group,
    Item,
    Loop,
    Node,
    Pipe,
    Script,
    Simple,
    Test,
    Turned,
    Word,
)

TURNS: Final = 4_096
"""How often a loop is followed."""


class Control(Keeping):
    """Follows conditions, loops and groups; lists and single commands are followed by the
    walker."""

    def script(self, script: Script, given: str | None) -> str:
        """Follow commands one after the other; given by the walker."""
        raise NotImplementedError

    def _compound(self, node: Node, given: str | None) -> str:
        if isinstance(node, Simple | Pipe | Function | Turned):
            return ""
        opens, given = self._opened(node.redirects, given)
        env, cwd = self.words.env, self.cwd
        if isinstance(node, Group) and node.apart:
            self.words.env = dict(env)
        unsure = isinstance(node, Branch | Case | Loop | Each)
        self.meter.down()
        self.maybe += unsure
        self.wanted += bool(opens)
        printed = self._inside(node, given)
        self.wanted -= bool(opens)
        self.maybe -= unsure
        self.meter.up()
        if isinstance(node, Group) and node.apart:
            self.words.env, self.cwd = env, cwd
        if opens:
            self.emit(Call((), None, tuple(opens)))
            if self._kept(opens, printed):
                return ""
        return printed

    def _inside(self, node: Node, given: str | None) -> str:
        match node:
            case Group():
                return self.script(node.body, given)
            case Branch():
                return self._branch(node, given)
            case Each():
                return self._each(node, given)
            case Count():
                return self._count(node, given)
            case Loop():
                return self._loop(node, given)
            case Case():
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
        if isinstance(left, Open) or isinstance(right, Open):
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

    def _case(self, node: Case, given: str | None) -> str:
        word = self.words.text(node.word)
        texts: list[str] = []
        for patterns, body in node.arms:
            known = [self.words.text(pattern) for pattern in patterns]
            if isinstance(word, Open) or any(isinstance(pattern, Open) for pattern in known):
                texts.append(self.script(body, given))
            elif any(fits(pieces(pattern), word, self.meter) for pattern in known):
                texts.append(self.script(body, given))
                break
        return joined(texts) if texts else ""

    def _each(self, node: Each, given: str | None) -> str:
        words: list[Word] = node.words if node.words is not None else []
        values = self.words.fields(words)
        if not values:
            values = [Open(f"${node.name}")]
        texts: list[str] = []
        self.turning += 1
        for value in values[:TURNS]:
            pattern = "*" in value or "?" in value
            self.words.env[node.name] = Open(value, origin_of(value)) if pattern else value
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
            self.emit(Call(("while", "true")), marks=frozenset({"endless"}))
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
