"""Reading what holds commands together: conditions, loops, cases, redirections."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.shell.quoted import NAME, SUMMED, WordReader
from stanchion.readings.shell.tree import (
    Branch,
    CaseClause,
    Count,
    ForLoop,
    Meter,
    Node,
    Part,
    Redirect,
    Script,
    Test,
    TextPart,
    Word,
)

BLANK: Final = regex(r"(?:[ \t\r]|\\\n)+")
REDIRECT: Final = regex(r"(\d+|\{\w+\})?(<<<|<<-?|<>|<&|>&|>>|>\||&>>|&>|<(?!\()|>(?!\())")
KEYWORD: Final = regex(
    r"(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|function|select|coproc|[{}!]|\[\[)(?=[\s;&|()<>]|$)"
)


class Compounds(WordReader):
    """Reads compound commands; the scripts in them are read by the reader of whole texts."""

    def __init__(self, text: str, meter: Meter) -> None:
        super().__init__(text, meter)
        self.so_far: Script | None = None
        self.waiting: list[tuple[Redirect, str, bool, bool]] = []

    def _script(self, words: frozenset[str], stop: str) -> Script:
        raise NotImplementedError

    def _documents(self) -> None:
        raise NotImplementedError

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
        return ForLoop(name, words, self._do(), self._redirects())

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
                return CaseClause(subject, arms, [])
        self._keyword("esac")
        return CaseClause(subject, arms, self._redirects())

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
                len(target) == 1 and target[0] == TextPart(flat(target))
            )
            self.waiting.append((redirect, flat(target), op == "<<-", quoted))
            redirect.target = [TextPart("", True)]
        into.append(redirect)
        return True


def flat(word: Word) -> str:
    """A word's characters, whatever they are."""
    return (
        word
        if isinstance(word, str)
        else "".join([part.text for part in word if isinstance(part, TextPart)])
    )


def _heads(parts: Word) -> tuple[Word, Word, Word]:
    """The three parts of a counting loop's head."""
    heads: list[list[Part]] = [[]]
    for part in parts if not isinstance(parts, str) else []:
        if isinstance(part, TextPart) and not part.quoted and ";" in part.text:
            first, *rest = part.text.split(";")
            heads[-1].append(TextPart(first))
            heads += [[TextPart(piece)] for piece in rest]
        else:
            heads[-1].append(part)
    heads += [[]] * (3 - len(heads))
    return heads[0], heads[1], heads[2]
