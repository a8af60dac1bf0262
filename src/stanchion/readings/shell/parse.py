"""Reading commands: a shell text becomes a tree of what it would do, or one command of literal
words where it is no more."""

from __future__ import annotations

import re
from typing import Final, Literal

from stanchion.kernel.regex import regex
from stanchion.readings.shell.known import WORDS
from stanchion.readings.shell.limits import Meter, TooMuch
from stanchion.readings.shell.quoted import BODY, NAME, SUMMED, Spelling
from stanchion.readings.shell.tree import (
    Assign,
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
    Part,
    Pipe,
    Redirect,
    Script,
    Simple,
    Test,
    Text,
    Turned,
    Word,
)

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
OPENING: Final = frozenset(
    {"if", "for", "while", "until", "case", "function", "select", "{", "!", "[[", "coproc"}
)


class Reader(Spelling):
    """Reads a whole text; the words that stand where no shell expects them are read as commands of
    their own."""

    def __init__(self, text: str, meter: Meter) -> None:
        super().__init__(text, meter)
        self.so_far: Script | None = None
        self.waiting: list[tuple[Redirect, str, bool, bool]] = []

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
        inner = Reader(text, self.meter)
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
        return Group(body, True, self._redirects())

    def _compound(self, word: str) -> Node | None:
        match word:
            case "{":
                body = self._body("}")
                return Group(body, False, self._redirects())
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
            return Function(name, Group(self._body("}"), False, self._redirects()))
        body = self._command()
        if body is None:
            self.blame("a function has no body")
            return Simple([], [], [])
        return Function(name, body)

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
            redirect.target = [Text(body, True)] if quoted else self._body_of(body)

    def _body_of(self, body: str) -> Word:
        if "$" not in body and "`" not in body and "\\" not in body:
            return [Text(body, True)]
        inner = Reader(body, self.meter)
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

    def _close(self, stop: str) -> None:
        if self.text.startswith(stop, self.at):
            self.at += len(stop)
        else:
            self.blame(f"`{stop}` is missing")

    def _blank(self) -> str:
        """Pass blanks; the character that stands behind them."""
        text, at = self.text, self.at
        if at >= self.end:
            return ""
        char = text[at]
        if char == " ":
            at += 1
            self.at = at
            if at >= self.end:
                return ""
            char = text[at]
        if char in " \t\r\\":
            found = BLANK.match(text, at)
            if found is not None:
                at = self.at = found.end()
                return text[at] if at < self.end else ""
        return char

    def _lines(self) -> str:
        """Pass blanks, comments, ends of lines and the here-documents behind them."""
        while True:
            char = self._blank()
            if char == "#":
                self._comment()
            elif char == "\n":
                self.meter.step()
                self.at += 1
                if self.waiting:
                    self._documents()
            else:
                return char

    def _comment(self) -> None:
        """Pass a comment."""
        close = self.text.find("\n", self.at)
        self.at = self.end if close < 0 else close

    def _body(self, close: str) -> Script:
        script = self._script(frozenset({close}), "")
        self._keyword(close)
        return script

    def _keyword(self, word: str) -> None:
        self._lines()
        found = KEYWORD.match(self.text, self.at)
        if found is not None and found.group() == word:
            self.at = found.end()
        else:
            self.blame(f"`{word}` is missing")

    def _if(self) -> Node:
        arms: list[tuple[Script, Script]] = []
        ends = frozenset({"elif", "else", "fi"})
        while True:
            head = self._body("then")
            arms.append((head, self._script(ends, "")))
            self._lines()
            found = KEYWORD.match(self.text, self.at)
            word = found.group() if found is not None else ""
            if found is not None and word in ends:
                self.at = found.end()
            if word == "else":
                arms.append(([], self._body("fi")))
            elif word == "elif":
                continue
            elif word != "fi":
                self.blame("`fi` is missing")
            return Branch(arms, self._redirects())

    def _for(self) -> Node:
        if self._blank() == "(" and self.text.startswith("((", self.at):
            self.at += 2
            heads = self._until(")", SUMMED, "(")
            self._close(")")
            begin, go_on, step = _heads(heads)
            if self._blank() == ";":
                self.at += 1
            return Count(begin, go_on, step, self._do(), self._redirects())
        found = NAME.match(self.text, self.at)
        if found is None:
            self.blame("a loop has no variable")
        name = found.group() if found is not None else ""
        self.at = found.end() if found is not None else self.at
        words: list[Word] | None = None
        self._lines()
        if self.text.startswith("in", self.at) and self.text[self.at + 2 : self.at + 3] in (
            " ",
            "\t",
            "\n",
            ";",
        ):
            self.at += 2
            words = []
            self._blank()
            while (word := self.word()) is not None:
                words.append(word)
                self._blank()
        if self._blank() == ";":
            self.at += 1
        return Each(name, words, self._do(), self._redirects())

    def _do(self) -> Script:
        self._lines()
        if KEYWORD.match(self.text, self.at) is not None and self.text[self.at] == "{":
            self.at += 1
            return self._body("}")
        self._keyword("do")
        return self._body("done")

    def _case(self) -> Node:
        self._blank()
        word = self.word()
        subject = "" if word is None else word
        self._lines()
        if self.text.startswith("in", self.at):
            self.at += 2
        arms: list[tuple[list[Word], Script]] = []
        while True:
            char = self._lines()
            found = KEYWORD.match(self.text, self.at)
            if not char or (found is not None and found.group() == "esac"):
                break
            begin = self.at
            self.at += char == "("
            patterns: list[Word] = []
            while (pattern := self.word()) is not None or self._blank() == "|":
                if pattern is not None:
                    patterns.append(pattern)
                if self._blank() == "|":
                    self.at += 1
                    self._blank()
            if self._blank() == ")":
                self.at += 1
            arms.append((patterns, self._script(frozenset({"esac"}), ";;")))
            for close in (";;&", ";;", ";&"):
                if self.text.startswith(close, self.at):
                    self.at += len(close)
                    break
            if self.at == begin:
                self.blame("a `case` is malformed")
                return Case(subject, arms, [])
        self._keyword("esac")
        return Case(subject, arms, self._redirects())

    def _test(self) -> Node:
        words: list[Word] = []
        while True:
            char = self._lines()
            if not char:
                self.blame("`]]` is missing")
                break
            word = self.word()
            if word == "]]":
                break
            if word is None:
                self.at += 1
                words.append(char)
            else:
                words.append(word)
        return Test(words, self._redirects())

    def _redirects(self) -> list[Redirect]:
        found: list[Redirect] = []
        while (
            (char := self._blank()) and (char in "<>&" or char.isdigit()) and self._redirect(found)
        ):
            pass
        return found

    def _redirect(self, into: list[Redirect]) -> bool:
        match = REDIRECT.match(self.text, self.at)
        if match is None:
            return False
        self.meter.step(1 + len(into) // 16)  # guards look at each: many are too many
        self.at = match.end()
        op = match.group(2)
        self._blank()
        target = self.word()
        if target is None:
            self.blame(f"`{op}` has no target")
            return True
        redirect = Redirect(op, target, match.group(1) or "")
        if op in ("<<", "<<-"):
            quoted = not isinstance(target, str) and not (
                len(target) == 1 and target[0] == Text(flat(target))
            )
            self.waiting.append((redirect, flat(target), op == "<<-", quoted))
            redirect.target = [Text("", True)]
        into.append(redirect)
        return True


BLANK: Final = regex(r"(?:[ \t\r]|\\\n)+")
REDIRECT: Final = regex(r"(\d+|\{\w+\})?(<<<|<<-?|<>|<&|>&|>>|>\||&>>|&>|<(?!\()|>(?!\())")
KEYWORD: Final = regex(
    r"(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|function|select|coproc|[{}!]|\[\[)(?=[\s;&|()<>]|$)"
)


def flat(word: Word) -> str:
    """A word's characters, whatever they are."""
    return (
        word
        if isinstance(word, str)
        else "".join([part.text for part in word if isinstance(part, Text)])
    )


def _heads(parts: Word) -> tuple[Word, Word, Word]:
    """The three parts of a counting loop's head."""
    heads: list[list[Part]] = [[]]
    for part in parts if not isinstance(parts, str) else []:
        if isinstance(part, Text) and not part.quoted and ";" in part.text:
            first, *rest = part.text.split(";")
            heads[-1].append(Text(first))
            heads += [[Text(piece)] for piece in rest]
        else:
            heads[-1].append(part)
    heads += [[]] * (3 - len(heads))
    return heads[0], heads[1], heads[2]


OPEN: Final = frozenset("*?[]{}~")
"""Characters from which a shell may make other words, where they are not quoted."""
LONGEST: Final = 65_536


def single(text: str) -> tuple[str, ...] | None:
    """The words of the command that a text is; `None` where a shell would do more than run it as it
    stands: run several, expand something, redirect, set a variable, go on in the background."""
    if not text.strip() or len(text) > LONGEST or "\0" in text:
        return None
    reader = Reader(text, Meter(len(text)))
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
    parts = [Text(word)] if isinstance(word, str) else word
    texts = [part for part in parts if isinstance(part, Text)]
    said = "".join(part.text for part in texts)
    if len(texts) < len(parts):
        return None
    # Alone a bracket is the test of that name, and no pattern.
    plain = said in ("[", "]") or all(part.quoted or not OPEN & set(part.text) for part in texts)
    return said if plain else None
