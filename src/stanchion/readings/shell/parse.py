"""Parsing: the tree of a shell text, and of one so plain that it needs no parser."""

from __future__ import annotations

import re
from typing import Final, Literal

from stanchion.kernel.regex import regex
from stanchion.readings.shell.compounds import KEYWORD, Compounds, flat
from stanchion.readings.shell.known import WORDS
from stanchion.readings.shell.quoted import BODY, LIVE, SUMMED
from stanchion.readings.shell.tree import (
    Assign,
    Compute,
    FunctionClause,
    GroupClause,
    Item,
    Loop,
    Meter,
    Node,
    Part,
    Pipe,
    Redirect,
    Script,
    Simple,
    TextPart,
    TooMuch,
    Turned,
    Word,
)
from stanchion.readings.word_lists import listed

PLAIN: Final = regex(
    r"[A-Za-z0-9_./-]++(?: [A-Za-z0-9_./:,@%+^-][A-Za-z0-9_./:,@%+=^-]*+)*+(?=(?:[ "
    r"\t]*+[\n;&|)])|$)(?! *\()"
)
"""A command that is nothing but plain words."""

RESERVED: Final = WORDS["reserved words"]
ASSIGN: Final = regex(r"([A-Za-z_]\w*)(?:\[([^\]]*)\])?(\+?)=", re.ASCII)
NAMED_COPROC: Final = regex(r"[ \t]*[A-Za-z_]\w*(?=[ \t]*[{(])", re.ASCII)
ENDING: Final = frozenset({"", ";", "|", "\n", ")"})
"""What ends a command, the end of the text included."""
CALLED: Final = regex(r"[ \t]*\([ \t]*\)")
OPENING: Final = listed("if for while until case function select { ! [[ coproc")


class ShellReader(Compounds):
    """Reads a whole text; the words that stand where no shell expects them are read as commands of
    their own."""

    def read(self) -> Script:
        """The whole text."""
        script = self._script(frozenset(), "")
        while self.at < self.end:
            self.blame(f"`{self.text[self.at]}` was found where a command is expected")
            self.at += 1
            script += self._script(frozenset(), "")
        return script

    def read_inner(self, text: str) -> Script:
        """The script of a text that stood in backquotes."""
        inner = ShellReader(text, self.meter)
        self.meter.down()
        script = inner.read()
        self.meter.up()
        if inner.broken:
            self.blame(inner.broken)
        return script

    def script_until(self, stop: str) -> Script:
        """The script up to a closing character, which is passed."""
        self.meter.down()
        script = self._script(frozenset(), stop)
        self._close(stop)
        self.meter.up()
        return script

    def _script(self, words: frozenset[str], stop: str) -> Script:
        """Commands up to one of the words or the closing character."""
        script: Script = []
        if self.so_far is None:
            self.so_far = script
        text = self.text
        while True:
            char = self._lines()
            if not char or (stop and text.startswith(stop, self.at)):
                return script
            if char == ")" or text.startswith(";;", self.at):
                return script
            if char in ";&|":
                self.blame(f"`{char}` was found where a command is expected")
                self.at += 1
                continue
            found = KEYWORD.match(text, self.at)
            if found is not None and found.group() not in OPENING:
                if found.group() in words:
                    return script
                self.blame(f"`{found.group()}` was found where a command is expected")
                self.at = found.end()
                continue
            begin = self.at
            node = self._pipe()
            if node is None:
                if self.at == begin:
                    return script
                continue
            script.append(Item(node, self._after()))

    def _after(self) -> Literal["", ";", "&", "&&", "||"]:
        char = self._blank()
        text = self.text
        if char == "&":
            double = text.startswith("&&", self.at)
            self.at += 2 if double else 1
            return "&&" if double else "&"
        if char == ";" and not text.startswith(";;", self.at):
            self.at += 1
            return ";"
        if char == "|" and text.startswith("||", self.at):
            self.at += 2
            return "||"
        if char == "(":
            self.blame("`(` stands where a command ends")
        return ""

    def _pipe(self) -> Node | None:
        first = self._command()
        if first is None:
            return None
        if self._blank() != "|" or self.text.startswith("||", self.at):
            return first
        parts = [first]
        while self._blank() == "|" and not self.text.startswith("||", self.at):
            self.at += 2 if self.text.startswith("|&", self.at) else 1
            self._lines()
            part = self._command()
            if part is None:
                self.blame("nothing stands behind a `|`")
                break
            parts.append(part)
        return Pipe(parts) if len(parts) > 1 else first

    def _command(self) -> Node | None:
        char = self._blank()
        self.meter.step()
        if char == "(":
            self.meter.down()
            node = self._parenthesis()
            self.meter.up()
            return node
        plain = PLAIN.match(self.text, self.at)
        if plain is not None:
            words = plain.group().split(" ")
            if words[0] not in RESERVED:
                self.at = plain.end()
                self.meter.step(len(words))
                return Simple(list(words), [], [])
        if char in "ifwucs{![e":
            found = KEYWORD.match(self.text, self.at)
            if found is not None and found.group() in OPENING:
                self.at = found.end()
                self.meter.down()
                built = self._compound(found.group())
                self.meter.up()
                return built
        return self._simple()

    def _parenthesis(self) -> Node:
        if self.text.startswith("((", self.at) and self.at not in self.no_sums:
            begin, broken = self.at, self.broken
            self.at += 2
            inner = self._until(")", SUMMED, "(")
            if self.text.startswith(")", self.at):
                self.at += 1
                return Compute(inner, self._redirects())
            self.at, self.broken = begin, broken
            self.no_sums.add(begin)
        self.at += 1
        body = self._script(frozenset(), ")")
        self._close(")")
        return GroupClause(body, True, self._redirects())

    def _compound(self, word: str) -> Node | None:
        match word:
            case "{":
                body = self._body("}")
                return GroupClause(body, False, self._redirects())
            case "!" | "coproc":
                if (
                    word == "coproc"
                    and (named := NAMED_COPROC.match(self.text, self.at)) is not None
                ):
                    self.at = named.end()
                turned = self._command()
                return None if turned is None else Turned(turned)
            case "if":
                return self._if()
            case "while" | "until":
                head = self._body("do")
                return Loop(head, self._body("done"), word == "until", self._redirects())
            case "for" | "select":
                return self._for()
            case "case":
                return self._case()
            case "function":
                self._blank()
                found = self.word()
                called = CALLED.match(self.text, self.at)
                self.at = called.end() if called is not None else self.at
                return self._function(found if isinstance(found, str) else "")
            case _:
                return self._test()

    def _function(self, name: str) -> Node:
        self._lines()
        if self.text.startswith("{", self.at) and KEYWORD.match(self.text, self.at) is None:
            self.blame("a blank is missing behind `{`")
            self.at += 1
            return FunctionClause(name, GroupClause(self._body("}"), False, self._redirects()))
        body = self._command()
        if body is None:
            self.blame("a function has no body")
            return Simple([], [], [])
        return FunctionClause(name, body)

    def _documents(self) -> None:
        """Read the bodies of here-documents, which begin here."""
        waiting, self.waiting = self.waiting, []
        for redirect, mark, tabs, quoted in waiting:
            lines: list[str] = []
            closed = False
            while self.at < self.end:
                self.meter.step()
                close = self.text.find("\n", self.at)
                close = self.end if close < 0 else close
                line = self.text[self.at : close]
                self.at = min(close + 1, self.end)
                line = line.lstrip("\t") if tabs else line
                if line == mark:
                    closed = True
                    break
                lines.append(line + "\n")
            if not closed and not lines:
                self.blame("a here-document has no end")
            body = "".join(lines)
            redirect.target = [TextPart(body, True)] if quoted else self._body_of(body)

    def _body_of(self, body: str) -> Word:
        if "$" not in body and "`" not in body and "\\" not in body:
            return [TextPart(body, True)]
        inner = ShellReader(body, self.meter)
        parts: list[Part] = []
        self.meter.down()
        inner.quoted(parts, "", BODY)
        self.meter.up()
        return parts

    def _simple(self) -> Node | None:
        words: list[Word] = []
        assigns: list[Assign] = []
        redirects: list[Redirect] = []
        text = self.text
        begin = self.at
        while (char := self._blank()) not in ENDING:
            if char == "&" and not text.startswith("&>", self.at):
                break
            if char == "#":
                self._comment()
                break
            if (char in "<>&{" or char.isdigit()) and self._redirect(redirects):
                continue
            if char == "(":
                called = CALLED.match(text, self.at)
                if len(words) == 1 and called is not None:
                    self.at = called.end()
                    return self._function(flat(words[0]))
                self.blame("`(` was found where a word is expected")
                break
            if not words and (found := ASSIGN.match(text, self.at)) is not None:
                assigns.append(self._assign(found))
                continue
            word = self.word()
            if word is None:
                break
            words.append(word)
        if self.at == begin:
            self.blame(f"`{text[begin : begin + 1]}` was found where a command is expected")
            self.at += 1
            return None
        return Simple(words, assigns, redirects)

    def _assign(self, found: re.Match[str]) -> Assign:
        self.at = found.end()
        name, index, append = found.group(1), found.group(2), bool(found.group(3))
        if not self.text.startswith("(", self.at):
            value = self.word()
            return Assign(name, "" if value is None else value, None, index, append)
        self.at += 1
        items: list[Word] = []
        while (char := self._lines()) and char != ")":
            word = self.word()
            if word is None:
                self.blame("an array is malformed")
                break
            items.append(word)
        self._close(")")
        return Assign(name, "", items, None, append)


OPEN: Final = frozenset("*?[]{}~")
"""Characters from which a shell may make other words, where they are not quoted."""
LONGEST: Final = 65_536


def single(text: str) -> tuple[str, ...] | None:
    """The words of the command that a text is; `None` where a shell would do more than run it as it
    stands: run several, expand something, redirect, set a variable, go on in the background."""
    if not text.strip() or len(text) > LONGEST or "\0" in text:
        return None
    reader = ShellReader(text, Meter(len(text)))
    try:
        script = reader.read()
    except TooMuch:
        return None
    if reader.broken or len(script) != 1 or script[0].after:
        return None
    node = script[0].node
    if not isinstance(node, Simple) or node.assigns or node.redirects or not node.words:
        return None
    words = [_literal(word) for word in node.words]
    known = [word for word in words if word is not None]
    return tuple(known) if len(known) == len(words) else None


def _literal(word: Word) -> str | None:
    parts = [TextPart(word)] if isinstance(word, str) else word
    texts = [part for part in parts if isinstance(part, TextPart)]
    said = "".join(part.text for part in texts)
    if len(texts) < len(parts):
        return None
    # Alone a bracket is the test of that name, and no pattern.
    plain = said in ("[", "]") or all(part.quoted or not OPEN & set(part.text) for part in texts)
    return said if plain else None


LONGEST_QUICK: Final = 512
"""Longer texts are seldom so simple."""

Joint = Literal[";", "&", "&&", "||"]
JOINTS: Final[dict[str, Joint]] = {";": ";", "&": "&", "&&": "&&", "||": "||"}

_TOKEN: Final = regex(
    r"""\ *(?:
    ([A-Za-z0-9_./:,@%+^*?~-][A-Za-z0-9_./:,@%+=^*?~\[\]-]*+)(?=[ ;|&]|\Z)
    |'([^']*)'(?=[ ;|&]|\Z)
    |"([^"\\$`]+)"(?=[ ;|&]|\Z)
    |(&&|\|\||\|(?!&)|;(?!;)|&(?!>))
    |([0-9]?)(>>?|>&)\ ?([A-Za-z0-9_./-]+)(?=[ ;|&]|\Z)
    )""",
    re.VERBOSE,
)
"""A word, a quoted one, what joins commands, or a redirection to a plain word."""


def quickly(text: str, meter: Meter) -> Script | None:
    """The whole text as the reader reads it, with as many steps; `None` where it takes the reader
    to tell."""
    if len(text) > LONGEST_QUICK:
        return None
    script: Script = []
    parts: list[Node] = []
    words: list[Word] = []
    redirects: list[Redirect] = []
    at, end, steps = 0, len(text.rstrip(" ")), 0
    match = _TOKEN.match
    joint = ""
    while at < end:
        found = match(text, at)
        if found is None:
            return None
        at = found.end()
        match found.lastindex:
            case 4 | 7 if not words:
                return None
            case 1:
                word = found[1]
                if not words and (redirects or "=" in word or word in RESERVED):
                    return None
                words.append(word if LIVE.isdisjoint(word) else [TextPart(word)])
                steps += 1
            case 4:
                parts.append(Simple(words, [], redirects))
                words, redirects = [], []
                joint = found[4]
                if joint != "|":
                    script.append(Item(_piped(parts), JOINTS[joint]))
                    parts = []
                steps += 1
            case 7:
                redirects.append(Redirect(found[6], found[7], found[5]))
                steps += 2
            case kind:
                words.append([TextPart(found[2] if kind == 2 else found[3], True)])
                steps += (2 if kind == 2 else 4) + (at < len(text))
    if words:
        parts.append(Simple(words, [], redirects))
        script.append(Item(_piped(parts)))
        steps += 1
    elif joint not in (";", "&"):
        return None
    if meter.steps + steps > meter.left:
        return None
    meter.steps += steps
    return script


def _piped(parts: list[Node]) -> Node:
    return Pipe(parts) if len(parts) > 1 else parts[0]
